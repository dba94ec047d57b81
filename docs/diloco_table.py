#!/usr/bin/python3
"""Bandwidth between two islands at which training computes a given part of the time, in Gbit/s: published by the
authors of Streaming DiLoCo (arXiv 2502.12996, table 5) and found with `stepsim sweep`.

Equal layers, forward a third of the step, no latency, a message per layer; rounds of 100 steps, fragments of three
layers, 16 bits a value, or 4 bits and one overlapped step. Data parallel training exchanges every gradient.

usage: docs/diloco_table.py [--stepsim build/stepsim]
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARES = [0.5, 0.8, 0.9, 0.95, 0.99]
MODELS = [("1B", 24, 0.1, 1e9), ("10B", 48, 0.8, 1e10), ("100B", 108, 4.9, 1e11)]  # layers, step [s], parameters
PUBLISHED = {
    "data parallel": [[86.8, 152.6, 184.2, 222.3, 569.0], [104.8, 222.3, 222.3, 268.3, 471.5],
                      [184.2, 323.8, 390.7, 390.7, 471.5]],
    "streaming": [[1.4, 5.2, 9.1, 16.0, 28.1], [1.7, 5.2, 9.1, 13.3, 19.3], [2.4, 6.2, 9.1, 11.0, 19.3]],
    "overlapped": [[0.4, 0.9, 1.7, 2.0, 3.0], [0.4, 0.9, 1.4, 1.4, 1.7], [0.5, 0.9, 1.1, 1.1, 1.4]]}
TRAININGS = {
    "data parallel": {"algorithm": "sync_sgd"},
    "streaming": {"algorithm": "diloco", "local_steps": 100, "outer_gate": "layer", "outer_value_bytes": 2},
    "overlapped": {"algorithm": "diloco", "local_steps": 100, "outer_gate": "layer", "outer_value_bytes": 0.5,
                   "overlap_steps": 1}}
GRID = 10 ** (4 / 49)  # published values stand on a grid of 49 steps for four decades


def scenario(layers, step_s, parameters, training):
    each = round(parameters / layers)
    rounds = {} if training == "data parallel" else {"fragments": layers // 3}
    return {"kind": "scenario", "allow_unusual": True, "limits": {"simulated_s": 1e9},
            "workload": {"layers": [{"name": f"layers.{i}", "forward_s": step_s / layers / 3,
                                     "backward_s": step_s / layers * 2 / 3, "gradient_bytes": 2 * each,
                                     "dtype": "bfloat16"} for i in range(layers)]},
            "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
            "communication": {"collective": "ring", **({} if rounds else {"schedule": "wfbp"})},
            "training": {**TRAININGS[training], **rounds, "iterations": 1}}


def computing_shares(stepsim, file, inverse):
    """The part of the time that computing takes, for each time of a bit [ns]."""
    rates = ",".join(repr(1e9 / 8 / each) for each in inverse)
    points = file.with_name("points.jsonl")
    subprocess.run([stepsim, "sweep", file, "--over", f"/cluster/network/bandwidth_Bps={rates}", "--quiet", "--force",
                    "-o", points], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    records = [json.loads(line) for line in points.read_text().splitlines()]
    return [r["compute_s"] / r["iteration_time_s"] for r in records if "iteration_time_s" in r]


def bandwidths(stepsim, file):
    """In Gbit/s, one for each of SHARES. The time of a step is piecewise linear in the time of a bit."""
    inverse = [10 ** (-3 + k / 10) for k in range(46)]
    found = [0.0] * len(SHARES)
    for width in (0, 1e-2, 1e-3, 1e-6):
        if width:
            inverse = sorted(each * factor for each in found for factor in (1 - width, 1, 1 + width))
        points = sorted(zip(inverse, (1 / share for share in computing_shares(stepsim, file, inverse))))
        for index, share in enumerate(SHARES):
            for (x0, t0), (x1, t1) in zip(points, points[1:]):
                if t0 < 1 / share <= t1:
                    found[index] = x0 + (1 / share - t0) / (t1 - t0) * (x1 - x0)
                    break
    return [1 / each for each in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or ROOT / "build/stepsim")
    stepsim = parser.parse_args().stepsim
    print(f"{'Gbit/s for a share of computing of':34}" + "".join(f"{100 * share:14.0f} %" for share in SHARES))
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "islands.scenario.json"
        for training, rows in PUBLISHED.items():
            for (name, layers, step_s, parameters), published in zip(MODELS, rows):
                file.write_text(json.dumps(scenario(layers, step_s, parameters, training)))
                found = bandwidths(stepsim, file)
                cells = "".join(f"{each:8.4g} ({given:5.4g})" for each, given in zip(found, published))
                print(f"{f'{training}, {name}, {layers} layers':34}{cells}")
                for each, given in zip(found, published):
                    on_grid = GRID ** round(math.log(given / 0.1, GRID)) / 10
                    ratios.append(each / on_grid)
    cells = sum(1 <= ratio < GRID for ratio in ratios)
    near = sum(1 / GRID < ratio < GRID * GRID for ratio in ratios)
    print(f"published in brackets, on a grid of steps of {100 * (GRID - 1):.1f} %: {cells} of {len(ratios)} in its "
          f"cell, {near} within one more step")


if __name__ == "__main__":
    main()
