#!/usr/bin/python3
"""First steps that led users astray, each as what must be said or done instead: imports, units,
flags and tables. Wrong answers are in regressions_test.py.

usage: first_steps_test.py STEPSIM [WORD]
"""
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "files"), str(TESTS / "fuzz")]
import samples  # noqa: E402
from harness import (LAYERS, SCENARIO, Skipped, cases_in, changed, check, run_cases,  # noqa: E402
                     text)


def sizes_need_no_unit_and_scenarios_take_units(place):
    """sizes may be plain numbers, keys of scenarios may have units, doubtful units are asked about"""
    def flags(size, bandwidth="25Gbps"):
        return ["collective", "--op", "allreduce", "--algorithm", "ring", "--ranks", 8, "--bytes", size, "--latency", "10us",
                "--bandwidth", bandwidth, "--quiet"]
    for sizes in (("1048576", "1MiB"), ("1e6", "1MB")):
        tables = [text(place.run(*flags(size), code=0)) for size in sizes]
        check(tables[0] == tables[1], sizes, tables)
    place.refused(*flags("1MB", bandwidth="10"), code=2, says="--bandwidth 10: unit missing")
    times = []
    for latency, bandwidth in ((5e-5, 3.125e9), ("50us", "25Gbps")):
        place.write("c.json", changed(cluster={"network": {"latency_s": latency, "bandwidth_Bps": bandwidth}}))
        done = place.run("run", "c.json", "--json", code=0)
        times.append(json.loads(done.stdout)["summary"]["iteration_time_s"])
    check(times[0] == times[1], times)


def tables_speak_in_words(place):
    """no overlap of 1e-13 %, and heads of columns are words, not pointers"""
    for nodes in range(2, 14):
        place.write("c.json", changed(
            cluster={"nodes": nodes, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
            workload={"layers": [dict(LAYERS[0], forward_s=0.0129, backward_s=0.02536)] * 3}))
        shown = text(place.run("run", "c.json", code=0))
        check("\noverlap       0 % of" in shown, re.findall("overlap.*", shown))
    shown = text(place.run(
        "compare", "s.json", "--set", '/communication/compression={"method":"topk","density":0.01}',
        "--over", "/communication/compression/method=topk,gtopk_tree", code=0))
    check(shown.startswith("method "), shown.splitlines()[0])


def machines_of_amd_are_read(place):
    """the topology file of RCCL, version 2 with xGMI links, is imported"""
    gpu = ('<pci busid="0:{0}.0" class="0x038000" link_speed="16.0 GT/s PCIe" link_width="16">'
           '<gpu dev="{0}" rank="{0}" gcn="gfx90a"><xgmi target="0:{1}.0" count="3"/></gpu></pci>')
    cpu = ('<cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="1">'
           f'{gpu.format(1, 2)}{gpu.format(2, 1)}</cpu>')
    place.write("m.xml", f'<system version="2">{cpu}</system>')
    place.run("import", "nccl-topology", "m.xml", "-o", "m.json", "--quiet", code=0)


def layers_of_buckets_count_layers(place):
    """buckets name their layers by their place in the model, layers without gradients included"""
    sizes = (1000, 0, 1000)
    place.write("c.json", changed(workload={"layers": [dict(LAYERS[0], gradient_bytes=size) for size in sizes]}))
    done = place.run("run", "c.json", "--json", code=0)
    found = json.loads(done.stdout)["buckets"][0]["layers"]
    check(found == [1, 3], found)


def a_fit_at_its_bound_says_so(place):
    """a fitted startup of 0, the least that is allowed, is marked as lying at its bound"""
    fit = pathlib.Path(place.stepsim).with_name("stepsim-calibrate")
    if not fit.exists():
        raise Skipped("no stepsim-calibrate next to stepsim")
    place.write("o.txt", "# OSU MPI Latency Test\n# Size          Latency (us)\n" + "".join(
        f"{1 << i} {2 ** i * 1e-3 - 0.5}\n" for i in range(16, 28)))
    place.run("import", "osu", "o.txt", "--ranks", 2, "-o", "o.json", "--quiet", code=0)
    place.stepsim = str(fit)
    fitted = text(place.run("fit", "o.json", "--force", "--json", code=0))
    check('"startup_s": 0' in fitted, "no startup at its bound:", fitted)
    check("at_bound" in fitted, "a startup at its bound is not marked")


def a_table_of_ones_own_gives_sizes(place):
    """import --model FILE takes gradient sizes from a layer table, and an unknown name says so"""
    recording = json.loads(samples.kineto())
    for event in recording["traceEvents"]:
        event["args"].pop("Input Dims", None)
    place.write("raw.json", recording)
    tensors = [{"name": "weight", "shape": [5, 2]}]
    place.write("mine.model.json", {
        "schema_version": 1, "kind": "model", "name": "mine", "family": "mine", "source": "by hand",
        "input": {"channels": 3, "height": 8, "width": 8},
        "totals": {"elements": 20, "tensors": 2, "layers": 2, "macs": 200},
        "layers": [{"name": f"l{i}", "kind": "conv", "macs": 100, "scales_with": "sample",
                    "tensors": tensors} for i in (1, 2)]})
    place.run("import", "kineto", "raw.json", "--model", "./mine.model.json", "-o", "t.json", code=0)
    sizes = [layer["gradient_bytes"] for layer in json.loads(place.path("t.json").read_text())["layers"]]
    check(sizes == [40, 40], sizes)
    place.refused("import", "kineto", "raw.json", "--model", "mine", "-o", "u.json", code=2,
                  says=["unknown model mine", "docs/file-formats.md"])


def traces_of_2021_are_read(place):
    """steps that are operators are found, and operators without sequence numbers are matched by name"""
    recording = json.loads(samples.kineto())
    for event in recording["traceEvents"]:
        if event["cat"] == "user_annotation":
            event["cat"] = "cpu_op"
    place.write("marks.json", recording)
    place.run("import", "kineto", "marks.json", "-o", "t.json", code=0)
    for event in recording["traceEvents"]:
        event["args"].pop("Sequence number", None)
    place.write("old.json", recording)
    place.refused("import", "kineto", "old.json", "-o", "u.json", code=3,
                  says="2 of 2 backward nodes match no forward operator")
    for event, name in zip((e for e in recording["traceEvents"] if "evaluate" in e["name"] and
                            "Conv" in e["name"]), ("Linear", "Conv2D") * 3):
        event["name"] = event["name"].replace("Conv", name)
    place.write("named.json", recording)
    place.run("import", "kineto", "named.json", "-o", "v.json", code=0)


def what_is_no_trace_is_named(place):
    """a topology, an archive, a spreadsheet and a text given to import kineto are called what they are"""
    place.write("m.xml", '<system version="1"><cpu numaid="0"/></system>')
    place.write("x.xlsx", b"PK\x03\x04" + bytes(200))
    place.write("t.tar", b"rank0.json".ljust(257, b"\0") + b"ustar" + bytes(250))
    place.write("n.txt", "some notes\n")
    for name, says in (("m.xml", "stepsim import nccl-topology"), ("x.xlsx", "spreadsheet"),
                       ("t.tar", "tar archive"), ("n.txt", "not JSON")):
        place.refused("import", "kineto", name, "-o", "o.json", code=3, says=says)


def archives_are_opened_or_listed(place):
    """a packed archive with one file is that file, one with several is an error that lists them"""
    def packed(name, *files):
        with tarfile.open(place.path(name), "w:gz") as archive:
            for file, content in files:
                info = tarfile.TarInfo(file)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    packed("one.tgz", ("._trace.et", b"xattr"), ("a/trace.et", samples.chakra()))
    place.run("import", "auto", "one.tgz", "-o", "t.json", "--quiet", code=0)
    trace = json.loads(place.path("t.json").read_text())
    check([bucket["bytes"] for bucket in trace["buckets"]] == [4000, 8000], trace["buckets"])
    packed("two.tgz", ("a.json", samples.kineto()), ("b.json", samples.kineto()))
    for form in ("kineto", "pytorch-et", "chakra", "auto"):
        place.refused("import", form, "two.tgz", "-o", "u.json", code=3,
                      says="two.tgz: tar archive of 2 files: unpack it and give the files that belong together: "
                           "a.json, b.json")


def a_trace_may_come_through_a_pipe(place):
    """an execution trace is read from standard input as from a file"""
    content = samples.execution_trace()
    place.write("et.json", content)
    place.run("import", "pytorch-et", "et.json", "-o", "of_file.json", "--quiet", code=0)
    done = subprocess.run([place.stepsim, "import", "pytorch-et", "-", "-o", "of_pipe.json", "--quiet"], input=content,
                          cwd=place.folder, capture_output=True, timeout=600)
    check(done.returncode == 0, done.stderr)
    layers = [json.loads(place.path(name).read_text())["layers"] for name in ("of_file.json", "of_pipe.json")]
    check(layers[0] == layers[1] and layers[0], layers)


def workloads_of_other_simulators_run(place):
    """traces of Chakra and workloads of ASTRA-sim are imported, and run takes the result"""
    place.write("c.et", samples.chakra())
    place.write("c.json", samples.chakra_json())
    place.write("w.txt", samples.astra_text())
    forms = (("chakra", "c.et"), ("chakra", "c.json"),
             ("astra-text", "w.txt", "--drop-other-communication"))
    for form, name, *flags in forms:
        place.run("import", form, name, *flags, "-o", "t.json", "--quiet", "--force", code=0)
        place.run("check", "t.json", code=0)
        place.write("s2.json", changed(workload={"trace": "t.json"}))
        place.run("run", "s2.json", "--quiet", code=0)
    place.run("import", "chakra", "c.et", "--ranks", 8, "-o", "c.samples.json", "--quiet", code=0)
    place.run("check", "c.samples.json", code=0)


def warnings_of_ranks_are_said_once(place):
    """eight ranks with the same warning give one line, with how many others have it"""
    for rank in range(4):
        place.write(f"rank{rank}.json", samples.kineto())
    done = place.run("import", "kineto", *(f"rank{k}.json" for k in range(4)), "--skip-steps", 9,
                     "-o", "t.json", code=0)
    lines = [line for line in done.stderr.decode().splitlines() if "skipped as warm-up" in line]
    check(len(lines) == 1 and "rank0 and 3 other files: only" in lines[0], lines)


def keys_are_found_by_name(place):
    """keys takes a part of a name, and a misspelt one is answered by a near one"""
    shown = text(place.run("keys", "nics", code=0))
    check("/cluster/nics_per_node" in shown, shown)
    place.refused("keys", "bandwith", code=2, says="did you mean bandwidth")
    lines = text(place.run("keys", code=0)).splitlines()
    check(max(map(len, lines)) < 240, max(lines, key=len))


def a_compressor_of_ones_own_is_a_row(place):
    """compare --rows puts scenarios of their own next to the algorithms, by their names"""
    custom = {"method": "custom", "name": "mine", "bytes_per_worker": "n * density * 8", "density": 0.01,
              "exchange": "allgather", "merge_s": "10us"}
    place.write("mine.json", changed(name="mine", communication={"schedule": "single", "compression": custom}))
    done = place.run("compare", "s.json", "--algorithms", "single,topk", "--rows", "mine.json", "--over",
                     "/cluster/nodes=4,8", "--json", code=0)
    rows = json.loads(done.stdout)["rows"]
    check([row["algorithm"] for row in rows].count("mine") == 2 and len(rows) == 2 * 3, rows)
    alone = json.loads(place.run("run", "mine.json", "--set", "/cluster/nodes=8", "--json", code=0).stdout)
    row = next(row for row in rows if row["algorithm"] == "mine" and row["nodes"] == 8)
    check(row["iteration_time_s"] == alone["summary"]["iteration_time_s"], row, alone["summary"])
    both = json.loads(place.run("compare", "s.json", "--rows", "mine.json", "--json", code=0).stdout)["rows"]
    check(len(both) == 2 and "mine" in [row["algorithm"] for row in both], both)
    for command in (["tune", "mine.json", "--knob", "schedule"],
                    ["compare", "mine.json", "--over", "/communication/compression/exchange=ring,server,tree"]):
        place.run(*command, code=0)
    methods = "/communication/compression/method=none,topk,custom"
    for command in ("compare", "sweep"):  # beside other methods, in one grid
        words = [command, "mine.json", "--over", methods, "--over", "/cluster/nodes=4,8", "-o", f"{command}.jsonl"]
        place.run(*words, code=0)
    points = [json.loads(line) for line in (place.folder / "sweep.jsonl").read_text().splitlines()]
    point = next(p for p in points if p.get("method") and p["nodes"] == 8
                 and p["/communication/compression/method"] == "custom")
    check(point["iteration_time_s"] == alone["summary"]["iteration_time_s"], point)
    drawn = json.loads(place.run("plot", "sweep.jsonl", "--x", "nodes", "--y", "iteration_time_s", "--by",
                                 "/communication/compression/method", "--json", code=0).stdout)
    check([c["label"] for c in drawn["curves"]] == ["none", "topk", "custom"], drawn)
    place.run("report", "sweep.jsonl", "-o", "sweep.html", code=0)
    # Where does it take as long as at the middle density? The step grows with the bytes of a worker.
    middle = json.loads(place.run("run", "mine.json", "--set", "/communication/compression/density=0.02", "--json",
                                  code=0).stdout)["summary"]["iteration_time_s"]
    crossings = json.loads(place.run("solve", "mine.json", "--for", "/communication/compression/density", "--between",
                                     "0.01,0.05", "--target", f"iteration_time_s={middle!r}", "--json",
                                     code=0).stdout)["crossings"]
    check(len(crossings) == 1 and abs(crossings[0]["value"] / 0.02 - 1) < 1e-3, crossings)
    curve = json.loads(place.run("tune", "mine.json", "--set", "/communication/schedule=ddp", "--knob", "bucket_bytes",
                                 "--json", code=0).stdout)["curve"]
    check(len(curve) > 1, curve)
    place.refused("run", "mine.json", "--set", "/communication/compression/ratio=4", code=2, says="custom_codec")
    for level in ("alpha_beta", "flow"):  # whose hosts are those of the workers
        words = ["run", "mine.json", "--set", "/communication/compression/exchange=server", "--set",
                 f"/cluster/network/model={level}"]
        place.run(*words, code=0) if level == "alpha_beta" else place.refused(*words, code=2, says="server")


def what_rows_leave_out_is_told(place):
    """compare names the keys that have no meaning in some of its rows, and says nothing where all of them count"""
    algorithms = "/training/algorithm=sync_sgd,parameter_server"
    shown = place.run("compare", "s.json", "--set", "/communication/collective=be", "--over", algorithms, code=0)
    check("left out: collective has no meaning for parameter_server" in shown.stderr.decode(), shown.stderr)
    for words in (["--over", algorithms, "--over", "/communication/collective=be"], ["--over", "/cluster/nodes=2,4"]):
        shown = place.run("compare", "s.json", *words, code=0)
        check("left out" not in shown.stderr.decode(), shown.stderr)


def keys_of_other_files_are_told(place):
    """keys --kind shows the keys of any kind of file, and a misspelt kind is answered"""
    shown = text(place.run("keys", "/layers", "--kind", "trace", code=0))
    check("gradient_bytes" in shown, shown)
    for kind in ("result", "model", "topology", "sweep", "point"):
        check("/" in text(place.run("keys", "--kind", kind, code=0)), kind)
    check("sha256" in text(place.run("keys", "sha256", "--kind", "result", code=0)))
    place.refused("keys", "--kind", "traces", code=2, says='did you mean "trace"')
    place.refused("keys", "--rules", "--kind", "trace", code=2, says="--rules")


def lists_need_no_word(place):
    """models and topologies alone list, and a part of a name is answered by its family"""
    for command in ("models", "topologies"):
        check(text(place.run(command, code=0)) == text(place.run(command, "list", code=0)), command)
    place.write("n.json", {**SCENARIO, "cluster": {"nodes": 4, "network": "infiniband"}})
    error = place.refused("run", "n.json", code=3, says=["100g-ib", "400g-ib"])
    check("1g-tcp" not in error, error)


def a_reader_that_stops_is_no_error(place):
    """stepsim keys | head ends without a word, with the code of a closed pipe; a full disk is told"""
    sweep = ["sweep", "s.json", "--over", "/cluster/nodes=2,3", "--format", "csv", "--quiet"]
    for words in (["keys"], ["run", "s.json", "--json"], sweep):
        read, write = os.pipe()
        os.close(read)
        done = place.run(*words, stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        check((done.returncode, done.stderr) == (141, b""), words, done.returncode, done.stderr)
    with open("/dev/full", "wb") as full:
        done = place.run("keys", stdout=full, stderr=subprocess.PIPE, code=1)
    check(b"No space left" in done.stderr, done.stderr)


def results_replace_results_only(place):
    """-o renews a result of the same kind, keeps other files, and --force replaces them"""
    compare = ["compare", "s.json", "--over", "/cluster/nodes=2,3", "-o"]
    for name in ("c.json", "c.csv", "c.txt"):
        place.run(*compare, name, code=0)
        place.run(*compare, name, code=0)
    place.refused("run", "s.json", "-o", "c.json", code=2, says="holds another kind of file")
    place.run("run", "s.json", "-o", "c.json", "--force", code=0)
    place.run("run", "s.json", "-o", "c.json", code=0)
    place.write("empty.json", "")
    place.run("run", "s.json", "-o", "empty.json", code=0)
    place.write("raw.json", samples.kineto())
    place.refused("import", "layer-table", place.write("l.csv", "name,params,forward_s,backward_s\na,9,1,1\n"),
                  "-o", "raw.json", code=2, says="--force")


def updates_are_in_the_timeline(place):
    """the gap between communication and forward is the update, and is drawn"""
    place.write("u.json", changed(training={"update_s": 3e-3}))
    place.run("run", "u.json", "--timeline", "t.json", "--timeline-nodes", 0, code=0)
    spans = [event for event in json.loads(place.path("t.json").read_text())["traceEvents"]
             if event["ph"] == "X" and event["cat"] == "update"]
    check(spans and all(abs(span["dur"] - 3e3) < 1e-2 for span in spans), spans)


def the_report_shows_any_sweep(place):
    """quickstart_report.py takes results of one's own, and says what it cannot show in a line"""
    report = TESTS.parent / "notebooks/quickstart_report.py"
    if subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], capture_output=True).returncode:
        raise Skipped("no matplotlib")

    def shown(name, *more):
        return subprocess.run(["/usr/bin/python3", report, name, "--stepsim", place.stepsim, *more],
                              cwd=place.folder, capture_output=True, text=True, timeout=600)
    place.sweep("own.jsonl", nodes="2,4")
    done = shown("own.jsonl")
    check(done.returncode == 0 and "4 nodes" in done.stdout and "own.png" in place.names(), done.stderr)
    check("single" in shown("own.jsonl", "--all").stdout)
    place.run("sweep", "s.json", "--over", "/training/iterations=2,3", "-o", "other.jsonl", code=0)
    for name in ("other.jsonl", "s.json"):
        done = shown(name)
        check(done.returncode == 1 and done.stderr.count("\n") == 1, name, done.stderr)


if __name__ == "__main__":
    run_cases(cases_in(globals()))
