#!/usr/bin/env python3
"""Timelines of real runs: valid JSON, names first, slices nest or are disjoint per track, arrows are
paired, no time before 0, and the filters hold.

    timeline.py STEPSIM
"""
import collections
import gzip
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def check(trace, nodes, pipeline):
    events = trace["traceEvents"]
    assert trace["displayTimeUnit"] == "ms"
    phases = [event["ph"] for event in events]
    names = list(itertools.takewhile(lambda phase: phase == "M", phases))
    assert names and "M" not in phases[len(names):], "names come first"
    tracks = collections.defaultdict(list)
    flows = collections.defaultdict(list)
    for event in events[len(names):]:
        assert event["ts"] >= 0, event
        assert event["pid"] in nodes, (event["pid"], nodes)
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)  # whole nanoseconds
            tracks[event["pid"], event["tid"]].append((start, -round(event["dur"] * 1000)))
        elif event["ph"] in "sf":
            flows[event["cat"], event["id"]].append(event)
    assert set(pid for pid, _ in tracks) == set(nodes)
    for track, slices in tracks.items():
        stack = []
        for start, minus in sorted(slices):
            end = start - minus
            while stack and stack[-1] <= start:
                stack.pop()
            assert not stack or end <= stack[-1], f"{pipeline}: slices cross on track {track}"
            stack.append(end)
    for pair in flows.values():
        assert [event["ph"] for event in pair] == ["s", "f"] and pair[1]["bp"] == "e", pair
        assert pair[0]["ts"] <= pair[1]["ts"], pair
    return sum(len(slices) for slices in tracks.values())


def check_pipeline(trace, width, iterations):
    """An arrow comes from the end of the exchange of iteration t - K to the start of iteration t, which
    applies its gradient; layers follow each other."""
    spans = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            spans[event["pid"], event["args"]["iteration"]].append(event)
    arrows = collections.defaultdict(dict)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf" and event["name"].startswith("gradient "):
            arrows[event["id"]][event["ph"]] = event
    found = {(pair["s"]["pid"], int(pair["s"]["name"].split()[1])): pair for pair in arrows.values()}
    pairs = [(node, t) for node in range(4) for t in range(iterations)]
    assert set(found) == {(node, t - width) for node, t in pairs if t >= width}
    for node, t in pairs:
        layers = [event for event in spans[node, t] if event["cat"] in ("forward", "backward")]
        assert [event["cat"] for event in layers] == ["forward"] * 2 + ["backward"] * 2
        for one, two in zip(layers, layers[1:]):
            assert abs(one["ts"] + one["dur"] - two["ts"]) < 0.002, (one, two)
        if t >= width:
            pair = found[node, t - width]
            exchange = next(event for event in spans[node, t - width] if event["cat"] == "communication")
            assert abs(pair["s"]["ts"] - exchange["ts"] - exchange["dur"]) < 0.002, pair
            assert pair["f"]["ts"] == layers[0]["ts"], pair
            assert (pair["s"]["tid"], pair["f"]["tid"]) == (exchange["tid"], layers[0]["tid"])


def check_program(stepsim, folder, scenario):
    """A program file is drawn like the scenario that it is the program of, its ranks as nodes."""
    program, out = folder / "p.json", folder / "t.json"
    subprocess.run([stepsim, "program", scenario, "-o", program], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    drawn = []
    for file in (scenario, program):
        subprocess.run([stepsim, "run", file, "--timeline", out, "--timeline-nodes", "0,1", "--timeline-iterations",
                        "0-2", "-o", "/dev/null"], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
        trace = json.loads(out.read_text())
        slices = check(trace, range(2), file)
        for event in trace["traceEvents"]:
            for name in ("algorithm", "bucket", "bytes"):  # of buckets, which only the scenario has
                event.get("args", {}).pop(name, None)
        drawn.append([event for event in trace["traceEvents"] if event["ph"] == "X" or event["name"] == "thread_name"])
    assert drawn[0] == drawn[1], scenario
    return slices


def main(stepsim):
    slices = 0
    with tempfile.TemporaryDirectory() as name:
        for schedule, collective, extra in itertools.product(
                ["wfbp", "single", "ddp", "horovod", "mg_wfbp", "eager", "optimal"],
                ["ring", "mst"],
                [[], ["--set", "/training/input_s=0.05"],
                 ["--set", "/communication/next_forward=barrier"],
                 ["--set", "/training/update_s=0.01", "--set", "/cluster/nodes=1"]]):
            out = pathlib.Path(name) / "t.json.gz"
            subprocess.run(
                [stepsim, "run", "examples/two-layers.scenario.json", "--set",
                 f"/communication/schedule={schedule}", "--set",
                 f"/communication/collective={collective}", *extra, "--timeline", out, "-o",
                 "/dev/null"], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
            nodes = range(1 if "/cluster/nodes=1" in extra else 4)
            slices += check(json.loads(gzip.decompress(out.read_bytes())), nodes, f"{schedule} {collective} {extra}")
        plain = pathlib.Path(name) / "t.json"
        for width, bandwidth in itertools.product([1, 2, 3], [1e8, 1.25e9, 1e11]):
            command = [stepsim, "run", "examples/two-layers.scenario.json", "--set",
                       "/training/algorithm=pipe_sgd", "--set",
                       f"/training/pipeline_width={width}", "--set", "/training/iterations=6",
                       "--set", "/communication/schedule=single", "--set",
                       f"/cluster/network/bandwidth_Bps={bandwidth}", "--timeline", plain,
                       "--timeline-iterations", "0-5", "-o", "/dev/null"]
            subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
            trace = json.loads(plain.read_text())
            slices += check(trace, range(4), f"pipe_sgd {width}")
            check_pipeline(trace, width, 6)
        command = [stepsim, "run", "examples/two-layers.scenario.json", "--timeline", plain,
                   "--timeline-nodes", "1,3", "--timeline-iterations", "1-1", "-o", "/dev/null"]
        subprocess.run(command, cwd=ROOT, check=True)
        # 2 forwards, 2 backwards and 2 messages on each of 2 nodes
        assert check(json.loads(plain.read_text()), [1, 3], "filters") == 2 * (2 + 2 + 2)
        for scenario in ("diloco", "llama8b"):
            slices += check_program(stepsim, pathlib.Path(name), f"examples/{scenario}.scenario.json")
        command = [stepsim, "run", "examples/sharded.program.json", "--timeline", plain, "-o", "/dev/null"]
        subprocess.run(command, cwd=ROOT, check=True)
        # The ten operations of three iterations on each of eight ranks
        assert check(json.loads(plain.read_text()), range(8), "program") == 10 * 3 * 8
    print(f"{slices} slices")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
