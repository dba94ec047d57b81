#!/usr/bin/python3
"""Crashes, hangs and lost files that users found, each as the property that was broken, where inputs_test.py
and outputs_test.py do not ask for it. Wrong answers are in tests/cli/regressions_test.py.

usage: regressions_test.py STEPSIM [WORD]
"""
import json
import pathlib
import resource
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import LAYERS, SCENARIO, cases_in, changed, check, run_cases  # noqa: E402


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
            workload={"model": "lstm_ptb", "batch_size": 32, "device": {"flops_Ps": 1e-300, "utilization": 1}},
            cluster={"nodes": 1}, communication={"schedule": schedule}))
        place.refused("run", "c.json", code=1, says="beyond the range of numbers")


def long_runs_are_estimated_first(place):
    """a run of hours is refused by its estimate at once, not begun without a word"""
    place.write("c.json", changed(
        workload={"layers": [dict(LAYERS[0], gradient_bytes=1 << 53)]}, method="events",
        limits={"simulated_s": 1e300}, communication={"collective": "lp", "schedule": "single"},
        cluster={"nodes": 65, "gpus_per_node": 8, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}}))
    place.run("run", "c.json", code=1, preexec_fn=processor_time(60))
    place.refused("run", "c.json", "--quiet", code=1, says="CPU time, more than")


def a_linear_pipeline_is_planned_in_seconds(place):
    """a linear pipeline without latency and with slow adding is run in a few seconds of CPU time"""
    layers = [dict(LAYERS[0], forward_s=1e-3, backward_s=2e-3, gradient_bytes=1_500_000 * (i + 1)) for i in range(20)]
    place.write("c.json", changed(
        workload={"layers": layers}, communication={"collective": "lp", "schedule": "horovod"},
        cluster={"nodes": 64, "network": {"latency_s": 0, "bandwidth_Bps": 1e11, "reduction_Bps": 2e9}}))
    place.run("run", "c.json", "--quiet", code=0, preexec_fn=processor_time(4))


def messages_to_servers_are_planned_in_seconds(place):
    """the best merge for servers on machines of several GPUs is planned in seconds of CPU time, which the estimate
    counts"""
    layers = [dict(LAYERS[0], forward_s=1e-4, backward_s=2e-4, gradient_bytes=40_000 * (i + 1)) for i in range(80)]
    place.write("c.json", changed(
        workload={"layers": layers}, communication={"schedule": "optimal"},
        training={"algorithm": "parameter_server", "placement": "sharded"},
        cluster={"nodes": 8, "gpus_per_node": 4, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}}))
    place.run("run", "c.json", "--quiet", code=0, preexec_fn=processor_time(4))
    place.refused("run", "c.json", "--quiet", "--max-seconds", "0.05", code=1, says="CPU time, more than")


# Files

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
