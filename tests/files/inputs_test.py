#!/usr/bin/python3
"""Files as inputs: which of them belong to the identity of a sweep, what is said of those that cannot
be read, headers and texts that are made to hurt, and standard descriptors that are closed or full.

usage: inputs_test.py STEPSIM [WORD]
"""
import gzip
import itertools
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import LAYERS, ROOT, SCENARIO, Skipped, check, run_cases  # noqa: E402

sys.path.insert(0, str(ROOT / "tests"))
from pointers import assigned  # noqa: E402

NASTY = "a\x1b[31mb\nerror: fake\u202e\x7f\u0085"
SHOWN = "a\\x1b[31mb\\nerror: fake\\u202e\\x7f\\u0085"


def limited(mebibytes):
    """Memory of a command; the program alone maps about 100 MiB."""
    def before():
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
    return before


def changed_deeply(tree, factor):
    """Every time and rate times `factor`."""
    if isinstance(tree, dict):
        return {key: value * factor if isinstance(value, (int, float)) and not isinstance(value, bool)
                and key.endswith(("_s", "_Bps")) else changed_deeply(value, factor) for key, value in tree.items()}
    return [changed_deeply(each, factor) for each in tree] if isinstance(tree, list) else tree


TOPOLOGY = {"schema_version": 1, "kind": "topology", "name": "net", "preset": "star", "hosts": 16,
            "bandwidth_Bps": 1.25e9, "latency_s": 1e-6}
COST = {"kind": "cost", "name": "c", "op": "allreduce", "ranks": 4, "table": [[1e3, 1e-4], [1e6, 1e-3], [1e9, 1.0]]}
MODEL = {"model": "named.json", "batch_size": 32, "device": {"flops_Ps": 1e13, "utilization": 0.5}}


def shipped(path):
    return json.loads((ROOT / path).read_text())


def scenario_with(**changes):
    tree = json.loads(json.dumps(SCENARIO))
    for key, value in changes.items():
        if key == "workload":
            tree["workload"] = value
        else:
            tree["cluster"][key] = value
    return tree


def named_files():
    """Every key that names a file: what the file holds, a scenario, and an axis."""
    flow = {"model": "flow"}
    axis = ("/training/iterations", [3, 4])
    trace = shipped("traces/googlenet.k80.json")
    other_changes = lambda tree: changed_deeply(tree, 3)  # noqa: E731
    model = shipped("models/resnet50.json")

    def slower(tree):
        return dict(tree, table=[[size, 2 * time] for size, time in tree["table"]])

    calibration = shipped("topologies/10g-tcp.calibration.json")
    yield "trace", trace, other_changes, scenario_with(workload={"trace": "named.json"}), axis
    yield ("trace of a list of jobs", trace, other_changes,
           scenario_with(workload=[{"trace": "named.json", "nodes": 2}] * 2, topology="star_16", network=flow), axis)
    yield ("trace in an axis", trace, other_changes, scenario_with(),
           ("/workload", [{"layers": LAYERS}, {"trace": "named.json"}]))
    yield "model", model, lambda tree: dict(tree, source="another"), scenario_with(workload=MODEL), axis
    yield ("calibration", calibration, other_changes, scenario_with(network={"calibration": "named.json"}), axis)
    yield "cost", COST, slower, scenario_with(network={"cost": "named.json"}), axis
    yield ("topology", TOPOLOGY, other_changes, scenario_with(topology={"file": "named.json"}, network=flow), axis)
    yield ("topology, short form", TOPOLOGY, other_changes, scenario_with(topology="./named.json", network=flow), axis)
    yield ("topology in an axis", TOPOLOGY, other_changes,
           scenario_with(topology="star_16", network=flow),
           ("/cluster/topology", ["star_16", "./named.json"]))
    yield ("topology in an axis over the cluster", TOPOLOGY, other_changes, scenario_with(),
           ("/cluster", [scenario_with()["cluster"], scenario_with(topology="./named.json", network=flow)["cluster"]]))


def contents(place):
    """the content of every named file belongs to a sweep: --resume and merge see a change"""
    folder = place.path("below")
    folder.mkdir()
    for what, content, change, scenario, (field, values) in named_files():
        sweep = {"kind": "sweep", "scenario": scenario, "axes": [{"field": field, "values": values}]}
        named = folder / "named.json"
        named.write_text(json.dumps(content))
        (folder / "sweep.json").write_text(json.dumps(sweep))

        def run(output, *flags, code=0):
            return place.run("sweep", "below/sweep.json", "-o", output, "--quiet", *flags, code=code)

        run("o.jsonl", "--force")
        whole = place.path("o.jsonl").read_bytes()
        check(b'"status":"error"' not in whole, what, whole)
        part = whole[:whole.rindex(b"\n", 0, -1) + 1]
        place.write("o.jsonl", part)
        run("p.jsonl", "--shard", "0/2", "--force")
        named.write_text(json.dumps(content, indent=3))  # the same content
        run("o.jsonl", "--resume")
        check(place.path("o.jsonl").read_bytes() == whole, what, "resumed to something else")
        run("p.jsonl", "--shard", "1/2", "--force")
        place.run("merge", "p.shard-0-of-2.jsonl", "p.shard-1-of-2.jsonl", "-o", "m.jsonl", code=0)
        check(place.path("m.jsonl").read_bytes() == whole, what, "merged to something else")

        named.write_text(json.dumps(change(content)))
        place.write("o.jsonl", part)
        place.refused("sweep", "below/sweep.json", "-o", "o.jsonl", "--quiet", "--resume", code=3,
                      says="o.jsonl: belongs to another sweep")
        check(place.path("o.jsonl").read_bytes() == part, what, "was written")
        run("p.jsonl", "--shard", "1/2", "--force")
        place.refused("merge", "p.shard-0-of-2.jsonl", "p.shard-1-of-2.jsonl", "-o", "m.jsonl",
                      code=3, says="not the same sweep")


def unreadable(place):
    """a named file that cannot be read: the message has the scenario, the pointer and the file"""
    flow = {"model": "flow"}
    for pointer, tree in (
            ("/workload/trace", scenario_with(workload={"trace": "absent.json"})),
            ("/workload/1/trace", scenario_with(
                workload=[{"layers": LAYERS, "nodes": 2}, {"trace": "absent.json", "nodes": 2}],
                topology="star_16", network=flow)),
            ("/workload/model", scenario_with(workload=dict(MODEL, model="absent.json"))),
            ("/cluster/network/calibration", scenario_with(network={"calibration": "absent.json"})),
            ("/cluster/network/cost", scenario_with(network={"cost": "absent.json"})),
            ("/cluster/topology/file", scenario_with(topology={"file": "absent.json"}, network=flow))):
        place.write("n.json", tree)
        says = f"n.json: {pointer}: cannot read absent.json: no such file or directory"
        place.refused("run", "n.json", code=3, says=says)
        done = place.run("check", "n.json", code=3)
        check(says in done.stdout.decode(), done.stdout)
        tree = json.loads(place.run("check", "n.json", "--json", code=3).stdout)
        check(tree["files"][0]["errors"][0]["pointer"] == pointer, tree)
    place.write("n.json", scenario_with(topology={"file": "absent.json"}, network=flow))
    place.path("absent.json").mkdir()
    place.refused("run", "n.json", code=3, says="cannot read absent.json: is a directory")
    place.refused("run", "s.json", "--set", '/cluster/topology={"file":"none.json"}', "--set",
                  "/cluster/network/model=flow", code=2,
                  says=["--set", "/cluster/topology/file", "cannot read none.json"])
    place.write("p.json", {"kind": "problem", "ready_s": [0, 1], "bytes": [1, 2], "cost": "none.json"})
    place.refused("plan", "p.json", code=3, says="p.json: /cost: cannot read none.json")
    place.write("w.json", {"kind": "sweep", "scenario": "none.json", "axes": [{"field": "/seed", "values": [1]}]})
    place.refused("sweep", "w.json", code=3, says="w.json: /scenario: cannot read none.json")


def headers(place):
    """merge: absurd headers are one line, and nothing is left behind"""
    place.sweep("whole.jsonl", nodes="2,3")
    place.sweep("whole.csv", nodes="2,3")
    huge = "9000000000000000000"
    for name in ("whole.jsonl", "whole.csv"):
        rows = place.path(name).read_text().splitlines(True)
        records = 1 if name.endswith("jsonl") else 2
        for kept in (len(rows), len(rows) - 1):
            for key, old, values in (("shards", 1, [0, -1, huge, "1.5", '"1"', "null"]),
                                     ("shard", 0, [1, -1, huge]),
                                     ("points_total", 2, [0, -1, huge]),
                                     ("values", "[2,3]", ["[]", "{}", "7"]),
                                     ("axes", "[{", ["7,\"x\":[{"])):
                for value in values:
                    before = f'"{key}":{old}'
                    check(before in rows[0], before, rows[0])
                    bad = rows[0].replace(before, f'"{key}":{value}')
                    place.write("bad", "".join([bad] + rows[1:kept]))
                    names = place.names()
                    place.refused("merge", "bad", "-o", "out", code=3, says="error: bad:1: ", preexec_fn=limited(1000))
                    check(place.names() == names, place.names())
        # Large, but possible: time and memory by the records.
        bad = rows[0].replace('"points_total":2', '"points_total":1999999999').replace(
            '"shards":1', '"shards":1000000000')
        place.write("bad", "".join([bad] + rows[1:records + 1]))
        done = place.run("merge", "bad", "-o", "out", code=4, preexec_fn=limited(1000))
        check(b"1999999998 of 1999999999 points are missing: 1-1999999998;" in done.stderr and
              b"more shards" in done.stderr, done.stderr)
        check("out" not in place.names(), place.names())


def bombs(place):
    """gzip of zeros to every importer: an end at a limit, in little memory"""
    bomb = place.path("z.gz")
    member = gzip.compress(bytes(64 << 20), 1)
    bomb.write_bytes(member * 16)  # 1 GiB
    for form in ("osu", "caffe-log", "nccl-tests", "layer-table", "nccl-topology", "kineto", "auto"):
        flags = ["--ranks", "4"] if form in ("osu", "nccl-tests") else []
        place.refused("import", form, "z.gz", *flags, "-o", "z.json", code=3, says="z.gz:", preexec_fn=limited(500))
        check(place.names() == ["s.json", "z.gz"], place.names())
    place.refused("run", "z.gz", code=3, says="z.gz:", preexec_fn=limited(500))


def long_logs(place):
    """logs with long tails and long lines are read a line at a time"""
    rows = "# OSU MPI Allreduce Latency Test v7.0\n" + "".join(f"{1 << i} {1.5 * (i + 1)}\n" for i in range(3, 20))
    log = rows + "noise of the job between the rows\n" * 1_200_000  # 40 MB
    place.path("log.gz").write_bytes(gzip.compress(log.encode(), 1))
    place.run("import", "osu", "log.gz", "--ranks", "4", "-o", "o.json", "--quiet", code=0, preexec_fn=limited(80))
    place.write("short.log", rows)
    place.run("import", "osu", "short.log", "--ranks", "4", "-o", "p.json", "--quiet", code=0)
    sets = [json.loads(place.path(name).read_text())["sets"] for name in ("o.json", "p.json")]
    check(sets[0] == sets[1], "the tail changed the samples")
    place.write("one-line.log", rows + "x" * (2 << 20))
    place.refused("import", "osu", "one-line.log", "--ranks", "4", "-o", "q.json", code=3,
                  says=f"one-line.log:{rows.count(chr(10)) + 1}: line longer than 1048576 bytes")


def long_keys(place):
    """memory of a JSON file is in proportion to the file, however long its keys are"""
    key = "k" * 3_000_000
    for below in ("[" + "0," * 2999 + "0]", '{"a":{"b":[' + "{}," * 999 + "{}]}}"):
        place.write("c.json", '{"kind":"scenario","' + key + '":' + below + "}")
        done = place.run("check", "c.json", code=3, preexec_fn=limited(200))
        check(len(done.stdout) < 10_000 and b"unknown key" in done.stdout, done.stdout[-300:])


def line_count(done):
    return done.stdout.decode().count("\n"), done.stderr.decode().count("\n")


def control_characters(data):
    text = data.decode()
    return [c for c in text if (ord(c) < 32 and c != "\n") or c in "\x7f\x85\u202e"]


def names_in(tree, pointer=""):
    """Pointers of texts that users choose."""
    found = []
    items = tree.items() if isinstance(tree, dict) else (
        ((str(i), each) for i, each in enumerate(tree)) if isinstance(tree, list) else ())
    for key, value in items:
        if isinstance(value, str) and key in ("name", "label", "note", "description", "id", "title",
                                              "licence", "attribution", "device", "importer"):
            found.append(pointer + "/" + key)
        found += names_in(value, pointer + "/" + key)
    return found


def escapes(place):
    """escape sequences and line breaks in names, keys and paths are shown by their numbers"""
    plain = "ab"
    flow = scenario_with(topology=dict(TOPOLOGY), network={"model": "flow"})
    flow["workload"] = [{"name": "one", "layers": LAYERS, "nodes": 2},
                        {"name": "two", "layers": LAYERS, "nodes": 2}]
    problem = {"kind": "problem", "name": "p", "ready_s": [0, 1], "bytes": [1e6, 2e6],
               "cost": {"startup_s": 1e-5, "per_byte_s": 1e-9}}
    documents = [
        (dict(SCENARIO, name="n"), [["run"], ["run", "--format", "csv"], ["check"], ["run", "--json"],
                                    ["compare", "--over", "/cluster/nodes=2,3"],
                                    ["sweep", "--over", "/cluster/nodes=2,3"],
                                    ["solve", "--vary", "/cluster/nodes=1..16", "--target",
                                     "speedup=1.5"],
                                    ["tune"]]),
        (flow, [["run"], ["check"]]),
        (problem, [["plan"], ["plan", "--json"], ["check"]]),
        (dict(TOPOLOGY), [["topologies", "show"], ["topologies", "show", "--dot", "-"], ["check"]]),
        (shipped("models/alexnet.json"), [["models", "show"], ["check"]]),
        (shipped("traces/googlenet.k80.json"), [["check"]]),
        (shipped("topologies/10g-tcp.calibration.json"), [["topologies", "show"], ["check"]]),
    ]
    for path in sorted((ROOT / "examples").glob("*.json")):
        tree = json.loads(path.read_text())
        kind = tree.get("kind")
        if kind in ("flows", "sparse_semantics", "compression_breakeven", "program"):
            command = {"flows": ["flows"], "sparse_semantics": ["semantics"], "program": ["explain"],
                       "compression_breakeven": ["compare", "--break-even"]}[kind]
            documents.append((tree, [command, ["check"]]))
    count = 0
    for tree, commands in documents:
        for pointer in names_in(tree)[:6]:
            for command in commands:
                done = {}
                for text in (plain, NASTY):
                    name = place.write("x.json", assigned(tree, pointer, text))
                    words = [*command]
                    words.insert(2 if command[0] in ("topologies", "models") else 1, "./" + name)
                    done[text] = place.run(*words)
                check(done[plain].returncode == done[NASTY].returncode, command, pointer, done[NASTY])
                for data in (done[NASTY].stdout, done[NASTY].stderr):
                    if "csv" not in command:
                        check(not control_characters(data), command, pointer, repr(data))
                check("csv" in command or line_count(done[plain]) == line_count(done[NASTY]), command,
                      pointer, done[NASTY].stdout, done[NASTY].stderr, "instead of",
                      done[plain].stdout, done[plain].stderr)
                count += done[NASTY].returncode == 0
    check(count > 20, "only", count, "commands worked")
    # Errors: keys, values, paths, flags.
    place.write("k.json", dict(SCENARIO, **{NASTY: 1}))
    place.refused("run", "k.json", code=3, says=["unknown key", SHOWN])
    place.write("k.json", dict(SCENARIO, kind=NASTY))
    place.refused("run", "k.json", code=3, says="\\x1b[31m")
    name = NASTY + ".json"
    place.write(name, dict(SCENARIO, seed="x"))
    place.refused("run", name, code=3, says=SHOWN + ".json: /seed")
    place.refused("run", "none" + NASTY, code=3, says="none" + SHOWN)
    place.refused("run", "s.json", "--set", f"/{NASTY}=1", code=2, says="\\x1b[31m")
    place.refused("run", "s.json", "--" + NASTY, code=2, says="\\x1b[31m")
    place.refused(NASTY, code=2, says="\\x1b[31m")
    place.refused("merge", name, "-o", "out", code=3, says=SHOWN)
    place.refused("run", "s.json", "-o", "none/" + NASTY, code=1, says=SHOWN)
    place.refused("sweep", "s.json", "--over", f"/x{NASTY}=1", "-o", "o.jsonl", code=2, says="\\x1b[31m")
    done = place.run("check", name, "s.json")
    check(done.stdout.count(b"\n") == 2 and not control_characters(done.stdout), done.stdout)


def closed_descriptors(place):
    """descriptors 0 to 2 that are closed do not become the output"""
    place.sweep("whole.jsonl")
    whole = place.path("whole.jsonl").read_bytes()
    for closed in itertools.chain.from_iterable(itertools.combinations((0, 1, 2), n) for n in (1, 2, 3)):
        line = " ".join(f"{number}>&-" for number in closed)
        command = (f'"$0" sweep s.json --over /cluster/nodes=2,3,4,5 -o o.jsonl --force {line}; '
                   f'echo $? > code')
        subprocess.run(["sh", "-c", command, place.stepsim], cwd=place.folder, check=True, capture_output=True)
        check(place.path("code").read_text() == "0\n", closed, place.path("code").read_text())
        check(place.path("o.jsonl").read_bytes() == whole, closed, "wrote into the output")
    done = subprocess.run(["sh", "-c", '"$0" run s.json >&-', place.stepsim], cwd=place.folder,
                          capture_output=True, check=False)
    check(done.returncode == 1 and b"standard output: write failed" in done.stderr, done)


def full_output(place):
    """help, versions and lists to a full disk are errors"""
    def before():
        import signal
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for arguments in (["--help"], ["help"], ["run", "--help"], ["help", "run"], ["--version"],
                      ["models", "list"], ["run", "s.json"],
                      ["sweep", "s.json", "--over", "/cluster/nodes=2,3"]):
        with open(place.path("out"), "wb") as out:
            place.refused(*arguments, code=1, says="standard output: write failed: File too large",
                          stdout=out, stderr=subprocess.PIPE, preexec_fn=before)


def data_folder(place):
    """a data folder that is not there is an error that names it"""
    program = place.path("bin")
    program.mkdir()
    shutil.copy(place.stepsim, program / "stepsim")
    unshare = shutil.which("unshare")
    if os.geteuid() != 0 or not unshare:
        raise Skipped("no privilege to change the root")
    root = place.path("root")
    root.mkdir()
    shutil.copy(place.stepsim, root / "stepsim")
    libraries = subprocess.run(["ldd", place.stepsim], capture_output=True, text=True, check=False)
    for word in libraries.stdout.split():
        if word.startswith("/"):
            (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(word, root / word[1:])
    place.write("root/m.json", scenario_with(workload=dict(MODEL, model="resnet50")))
    for arguments in (["models", "list"], ["topologies", "list"], ["run", "m.json"],
                      ["topologies", "show", "star_16"]):
        done = subprocess.run(["chroot", str(root), "/stepsim", *arguments], capture_output=True, check=False)
        error = done.stderr.decode()
        check(done.returncode == 3 and error.count("\n") == 1 and not done.stdout and
              "cannot read the folder of the" in error, arguments, done)


def few_threads(place):
    """a sweep goes on with the threads that the system starts"""
    place.sweep("whole.jsonl", nodes="2:200:+1")
    whole = place.path("whole.jsonl").read_bytes()
    warned = 0
    for mebibytes in (200, 250, 300, 350, 400):
        # Threads take most of the memory; where they leave too little for the points, that is said.
        done = place.run("sweep", "s.json", "--over", "/cluster/nodes=2:200:+1", "-o", "o.jsonl",
                         "--force", "--quiet", "--jobs", "64", preexec_fn=limited(mebibytes))
        if done.returncode != 0:
            check(done.returncode == 1 and b"out of memory" in done.stderr, mebibytes, done.stderr)
            continue
        check(place.path("o.jsonl").read_bytes() == whole, "another file with", mebibytes, "MiB")
        warned += b"of --jobs could not be started: the sweep ran with fewer" in done.stderr
    check(warned > 0, "all threads were started")


if __name__ == "__main__":
    run_cases([contents, unreadable, headers, bombs, long_logs, long_keys, escapes,
               closed_descriptors, full_output, data_folder, few_threads])
