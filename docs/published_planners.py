#!/usr/bin/python3
"""The public GoogLeNet/K80 layer log (traces/googlenet.k80.json) under the constants of the MG-WFBP
authors, every planner by `stepsim plan`: when the last gradient arrives, and the speed-up.

usage: docs/published_planners.py [--stepsim build/stepsim]
"""
import argparse
import itertools
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLANNERS = ["wfbp", "single", "mg_wfbp", "optimal", "eager"]
# alpha, beta and gamma of the authors' simulator; a and b of its ring ("2 N alpha" as written there).
ALPHA, BETA, GAMMA = 45.25e-6, 1.2 / (9.0 * 2**30 / 8), 160 / (16e9 * 4)


def problem(trace, workers):
    layers = [l for l in reversed(trace["layers"]) if l["gradient_bytes"]]
    return {"schema_version": 1, "kind": "problem",
            "ready_s": list(itertools.accumulate(l["backward_s"] for l in layers)),
            "bytes": [l["gradient_bytes"] for l in layers],
            "cost": {"startup_s": 2 * workers * ALPHA,
                     "per_byte_s": 2 * (workers - 1) / workers * BETA + (workers - 1) / workers * GAMMA}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or ROOT / "build/stepsim")
    stepsim = parser.parse_args().stepsim
    trace = json.loads((ROOT / "traces/googlenet.k80.json").read_text())
    forward = sum(l["forward_s"] for l in trace["layers"])
    backward = sum(l["backward_s"] for l in trace["layers"])
    print(f"{'':>7}  {'last gradient arrives [s]':^49}   {'speed-up':^39}")
    print("workers" + "".join(f"{p:>10}" for p in PLANNERS) + "  " + "".join(f"{p:>8}" for p in PLANNERS))
    for workers in (4, 8, 32, 64, 512, 2048):
        done = subprocess.run([stepsim, "plan", "-", "--json", "--planners", ",".join(PLANNERS)],
                              input=json.dumps(problem(trace, workers)), text=True, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        found = json.loads(done.stdout)["planners"]
        finish = [found[p]["finish_s"] for p in PLANNERS]
        print(f"{workers:>7}" + "".join(f"{f:10.6f}" for f in finish) + "  " + "".join(
            f"{workers * (forward + backward) / (forward + f):8.3f}" for f in finish))


if __name__ == "__main__":
    main()
