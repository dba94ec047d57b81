#!/usr/bin/python3
"""Crashes, hangs and lost files that users found, each as the property that was broken. Wrong
answers are in tests/cli/regressions_test.py.

usage: regressions_test.py STEPSIM [WORD]
"""
import gzip
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import (LAYERS, ROOT, SCENARIO, Skipped, cases_in, changed,  # noqa: E402
                     check, run_cases, text)

SLOW = dict(SCENARIO, method="events", training={"iterations": 9})


def memory(mebibytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))


def processor_time(seconds):
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


# Crashes, time and memory

def an_axis_may_go_through_a_list(place):
    """an axis through a list works in sweep, compare and solve as --set does in run"""
    jobs = changed(cluster={"topology": "star_16", "network": {"model": "flow"}},
                   workload=[{"layers": LAYERS, "nodes": 2}] * 2)
    for tree, pointer, values in (
            (SCENARIO, "/workload/layers/0/gradient_bytes", ("20MB", "40MB")),
            (changed(variability={"stragglers": [{"worker": 0, "factor": 2}]}),
             "/variability/stragglers/0/factor", ("2", "3")),
            (jobs, "/workload/1/layers/0/gradient_bytes", ("20MB", "40MB"))):
        place.write("c.json", tree)
        times = []
        for value in values:
            done = place.run("run", "c.json", "--set", f"{pointer}={value}", "--json", code=0)
            times.append(json.loads(done.stdout)["summary"]["iteration_time_s"])
        axis = f"{pointer}={','.join(values)}"
        place.run("sweep", "c.json", "--over", axis, "-o", "o.jsonl", "--force", "--quiet", code=0)
        records = place.path("o.jsonl").read_text().splitlines()[1:]
        found = [json.loads(record)["iteration_time_s"] for record in records]
        check(found == times, pointer, found, times)
        place.run("compare", "c.json", "--over", axis, "--quiet", code=0)
    place.run("solve", "s.json", "--for", "/workload/layers/0/gradient_bytes", "--between", "1MB,90MB",
              "--target", "iteration_time_s=0.1", "--quiet", code=0)


def times_beyond_numbers_are_one_line(place):
    """layers that never end are refused in one line by every schedule"""
    for schedule in ("asc_wfbp", "wfbp", "mg_wfbp", "optimal", "single"):
        place.write("c.json", changed(
            workload={"model": "lstm_ptb", "batch_size": 32,
                      "device": {"flops_Ps": 1e-300, "utilization": 1}},
            cluster={"nodes": 1}, communication={"schedule": schedule}))
        place.refused("run", "c.json", code=1, says="beyond the range of numbers")


def absurd_headers_are_refused(place):
    """merge refuses counts of shards and points that cannot be, in one line and without a file"""
    place.sweep("whole.jsonl", nodes="2,3")
    head, first, _ = place.path("whole.jsonl").read_text().splitlines(True)
    huge = "9000000000000000000"
    for shards, points in (("0", "2"), ("1", huge), (huge, huge), (huge, "2")):
        place.write("bad", head.replace('"shards":1', f'"shards":{shards}')
                    .replace('"points_total":2', f'"points_total":{points}') + first)
        names = place.names()
        error = place.refused("merge", "bad", "-o", "out", code=3, says="error: bad:1: ",
                              preexec_fn=memory(1000))
        check(error.startswith("error: bad:1: "), shards, points, error)
        check(place.names() == names, place.names())


def a_sweep_needs_no_more_threads_than_there_are(place):
    """a sweep goes on with fewer threads where the system gives no more"""
    place.run("sweep", "s.json", "--over", "/cluster/nodes=2:300:+1", "-o", "o.jsonl", "--quiet",
              "--jobs", "64", code=0, preexec_fn=memory(400))
    check(place.path("o.jsonl").read_bytes().count(b"\n") == 300, "points are missing")


def a_bomb_is_read_a_line_at_a_time(place):
    """a compressed log that unpacks to far more than the memory ends at a limit"""
    place.path("z.gz").write_bytes(gzip.compress(bytes(64 << 20), 1) * 16)
    place.refused("import", "osu", "z.gz", "--ranks", "4", "-o", "z.json", code=3, says="z.gz:",
                  preexec_fn=memory(500))


def memory_of_json_follows_the_file(place):
    """a JSON file with one long key above many values needs memory in proportion to its size"""
    place.write("c.json", '{"kind":"scenario","' + "k" * 3_000_000 + '":[' + "0," * 2999 + "0]}")
    done = place.run("check", "c.json", code=3, preexec_fn=memory(300))
    check("unknown key" in text(done), text(done)[-300:])


def long_runs_are_estimated_first(place):
    """a run of hours is refused by its estimate at once, not begun without a word"""
    place.write("c.json", changed(
        workload={"layers": [dict(LAYERS[0], gradient_bytes=1 << 53)]}, method="events",
        limits={"simulated_s": 1e300}, communication={"collective": "lp", "schedule": "single"},
        cluster={"nodes": 65, "gpus_per_node": 8,
                 "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}}))
    place.run("run", "c.json", code=1, preexec_fn=processor_time(60))
    place.refused("run", "c.json", "--quiet", code=1, says="CPU time, more than")


def a_linear_pipeline_is_planned_in_seconds(place):
    """a linear pipeline without latency and with slow adding is run in a few seconds of CPU time"""
    layers = [dict(LAYERS[0], forward_s=1e-3, backward_s=2e-3, gradient_bytes=1_500_000 * (i + 1))
              for i in range(20)]
    place.write("c.json", changed(
        workload={"layers": layers}, communication={"collective": "lp", "schedule": "horovod"},
        cluster={"nodes": 64, "network": {"latency_s": 0, "bandwidth_Bps": 1e11,
                                          "reduction_Bps": 2e9}}))
    place.run("run", "c.json", "--quiet", code=0,
              preexec_fn=processor_time(4))


# Files

def files_inside_files_belong_to_a_sweep(place):
    """--resume refuses records from before a topology or the trace of a job changed"""
    net = {"schema_version": 1, "kind": "topology", "name": "net", "preset": "star", "hosts": 16,
           "bandwidth_Bps": 1.25e9, "latency_s": 1e-6}
    trace = json.loads((ROOT / "traces/googlenet.k80.json").read_text())
    trace.pop("granularity", None)
    flow = {"model": "flow"}
    for content, change, scenario in (
            (net, {"bandwidth_Bps": 1.25e8},
             changed(cluster={"topology": {"file": "named.json"}, "network": flow})),
            (trace, {"layers": [dict(each, backward_s=1) for each in trace["layers"]]},
             changed(workload=[{"trace": "named.json", "nodes": 2}] * 2,
                     cluster={"topology": "star_16", "network": flow}))):
        place.write("named.json", content)
        place.write("c.json", scenario)
        flags = ["sweep", "c.json", "--over", "/training/iterations=3,4", "-o", "o.jsonl", "--quiet"]
        place.run(*flags, "--force", code=0)
        part = b"".join(place.path("o.jsonl").read_bytes().splitlines(True)[:2])
        place.write("o.jsonl", part)
        place.write("named.json", dict(content, **change))
        place.refused(*flags, "--resume", code=3, says="o.jsonl: belongs to another sweep")
        check(place.path("o.jsonl").read_bytes() == part, "the file was changed")


def one_sweep_has_one_writer(place):
    """of two sweeps that resume one file, the second names the first and writes nothing"""
    place.write("slow.json", SLOW)
    flags = ["sweep", "slow.json", "--over", "/cluster/nodes=2:300:+1", "-o", "o.jsonl", "--quiet",
             "--jobs", "1", "--resume"]
    first = place.start_until(signal.SIGSTOP, 4000, "o.jsonl", *flags)
    try:
        place.refused(*flags, code=1, says=f"o.jsonl: is being written by process {first.pid} (")
    finally:
        first.send_signal(signal.SIGCONT)
        first.communicate()
    points = [json.loads(line)["point"] for line in
              place.path("o.jsonl").read_bytes().splitlines()[1:]]
    check(points == list(range(299)), "records are missing or doubled")


def a_closed_standard_error_is_no_output_file(place):
    """a sweep with standard error closed writes its records alone into the output"""
    flags = ["sweep", "s.json", "--over", "/cluster/nodes=1,2", "-o", "o.jsonl"]
    place.run(*flags, code=0)
    whole = place.path("o.jsonl").read_bytes()
    place.run(*flags, "--force", code=0, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(2))
    check(place.path("o.jsonl").read_bytes() == whole, "messages are in the file:",
          place.path("o.jsonl").read_bytes()[len(whole):])


def what_an_output_is_stays(place):
    """outputs go through links, into pipes and keep the mode of the file that they replace"""
    place.sweep("whole.jsonl", nodes="2,3")
    whole = place.path("whole.jsonl").read_bytes()
    for command in (["merge", "whole.jsonl", "--force", "-o", "link.jsonl"],
                    ["run", "s.json", "--quiet", "--force", "-o", "link.json"]):
        for before in (b"old", None):
            real, link = place.path("real"), place.path(command[-1])
            for path in (real, link):
                path.unlink(missing_ok=True)
            if before:
                real.write_bytes(before)
                real.chmod(0o600)
            link.symlink_to("real")
            place.run(*command, code=0)
            check(link.is_symlink() and real.exists() and real.read_bytes() != before, command,
                  "replaced a link to", before)
            mode = stat.S_IMODE(real.stat().st_mode)
            check(not before or mode == 0o600, command, "changed the mode to", oct(mode))
    os.mkfifo(place.path("pipe"))
    with open(os.open(place.path("pipe"), os.O_RDWR), "rb", buffering=0) as pipe:
        place.run("merge", "whole.jsonl", "-o", "pipe", code=0)
        check(stat.S_ISFIFO(place.path("pipe").stat().st_mode), "a pipe was replaced by a file")
        os.set_blocking(pipe.fileno(), False)
        check(pipe.read(len(whole) + 1) == whole, "the pipe got something else")


def a_folder_that_cannot_be_made_is_one_line(place):
    """reproduce into a place where no folder can be made names it and the reason"""
    place.write("file", "")
    place.refused("reproduce", "lp", "--quick", "-o", "file/x", code=1, says="file/x: cannot be made: ")
    place.refused("reproduce", "lp", "--quick", "-o", "/proc/x", code=1,
                  says="error: /proc/x: No such file or directory")


def cells_of_csv_are_no_formulas(place):
    """text that a spreadsheet would compute has an apostrophe before it, and is read back without"""
    names = ["=1+1", "@home", "+a", "-b", "c"]
    place.run("sweep", "s.json", "--over", "/name=" + ",".join(names), "-o", "o.csv", "--quiet", code=0)
    header, _, *rows = place.path("o.csv").read_text().splitlines()
    cells = [row.split(",")[2] for row in rows]
    check(cells == ["'=1+1", "'@home", "'+a", "'-b", "c"], cells)
    for name in names:
        place.run("plot", "o.csv", "--x", "point", "--y", "iteration_time_s", "--where", f"name={name}",
                  "-o", "p.svg", "--force", code=0)


def an_input_is_not_replaced(place):
    """run refuses to write its result over its own scenario"""
    before = place.path("s.json").read_bytes()
    place.refused("run", "s.json", "-o", "s.json", code=2, says="-o s.json: is an input too")
    check(place.path("s.json").read_bytes() == before, "the input was replaced")


def a_killed_writer_leaves_nothing_for_ever(place):
    """what a killed --resume left behind is removed by the next one"""
    place.write("slow.json", SLOW)
    flags = ["sweep", "slow.json", "--over", "/cluster/nodes=2:60:+1", "-o", "o.jsonl", "--quiet",
             "--jobs", "1"]
    place.run(*flags, code=0)
    place.write("o.jsonl", place.path("o.jsonl").read_bytes().replace(b'"status":"ok"',
                                                                      b'"status":"error"'))
    place.start_until(signal.SIGKILL, 1, "o.jsonl.unfinished", *flags, "--resume")
    check(place.names() == ["o.jsonl", "o.jsonl.unfinished", "s.json", "slow.json"], place.names())
    place.run(*flags, "--resume", code=0)
    check(place.names() == ["o.jsonl", "s.json", "slow.json"], place.names())


def a_result_is_on_the_disk_before_its_name_is(place):
    """the content of a result is flushed to the disk before the rename, the folder after it"""
    if shutil.which("strace") is None:
        raise Skipped("no strace")
    done = subprocess.run(["strace", "-f", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2",
                           *place.command("run", "s.json", "-o", "r.json")], cwd=place.folder,
                          capture_output=True, timeout=600, check=False)
    error = done.stderr.decode()
    if done.returncode != 0 and "ptrace" in error.lower():
        raise Skipped("no privilege to trace")
    calls = re.findall(r"(?m)^(?:\[pid +\d+\] )?(\w+)\(", error)
    check(calls == ["fsync", "rename", "fsync"], calls)


def names_of_users_are_shown_escaped(place):
    """escape sequences and line breaks in keys and names neither reach the terminal nor add lines"""
    place.write("c.json", dict(SCENARIO, **{"x\nerror: fake": 1}))
    lines = text(place.run("check", "c.json", code=3)).splitlines()
    check(len(lines) == 1 and "x\\nerror: fake" in lines[0], lines)
    place.write("c.json", dict(SCENARIO, name="a\x1b[31mb\nc"))
    shown = text(place.run("run", "c.json", code=0))
    check("\x1b" not in shown and "a\\x1b[31mb\\nc" in shown, repr(shown[:80]))


def a_full_output_is_an_error(place):
    """help that cannot be written is an error, and so are models that cannot be found"""
    for words in (["--help"], ["run", "--help"], ["models", "list"]):
        with open("/dev/full", "wb") as full:
            done = place.run(*words, stdout=full, stderr=subprocess.PIPE)
        check(done.returncode == 1 and b"No space left" in done.stderr, words, done.returncode,
              done.stderr)
    if os.geteuid() != 0:
        return  # the second half needs chroot
    libraries = subprocess.run(["ldd", place.stepsim], capture_output=True, text=True, check=True)
    for library in re.findall(r"/\S+", libraries.stdout):
        target = place.path("root") / library[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    shutil.copy(place.stepsim, place.path("root") / "stepsim")
    done = subprocess.run(["/stepsim", "models", "list"], capture_output=True, check=False,
                          preexec_fn=lambda: (os.chroot(place.path("root")), os.chdir("/")))
    check(done.returncode == 3 and b"models: cannot read" in done.stderr, done.returncode, done)


def a_named_file_that_is_absent_is_found_by_its_pointer(place):
    """a file that cannot be read is named together with the scenario and the key that ask for it"""
    flow = {"model": "flow"}
    for pointer, tree in (
            ("/workload/trace", changed(workload={"trace": "absent.json"})),
            ("/cluster/topology/file", changed(cluster={"topology": {"file": "absent.json"},
                                                        "network": flow})),
            ("/cluster/network/calibration", changed(
                cluster={"network": {"calibration": "absent.json"}}))):
        place.write("c.json", tree)
        for command in ("run", "check"):
            done = place.run(command, "c.json", code=3)
            said = text(done) + done.stderr.decode()
            check(f"c.json: {pointer}: cannot read absent.json: " in said, said)


def lines_reach_a_terminal_whole(place):
    """an error, a warning or a note is one write, so that lines of several processes do not mix"""
    for arguments, code, word in ((("run", "no.json"), 3, "error: "),
                                  (("run", "s.json", "--no-such"), 2, "error: "),
                                  (("compare", "s.json", "--over", "/communication/schedule=wfbp,single"), 0, "assumed: ")):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            place.run(*arguments, code=code, stdout=subprocess.DEVNULL, stderr=theirs)
            theirs.close()
            writes = []
            while written := ours.recv(65536):
                writes.append(written.decode())
        check(any(each.startswith(word) for each in writes), arguments, "wrote", writes)
        check(all(each.endswith("\n") for each in writes), arguments, "wrote", writes)


if __name__ == "__main__":
    run_cases(cases_in(globals()))
