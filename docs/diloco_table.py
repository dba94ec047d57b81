#!/usr/bin/python3
"""Bandwidth between two islands at which training computes a given part of the time, in Gbit/s: published by the
authors of Streaming DiLoCo (arXiv 2502.12996, table 5) and found with `stepsim solve`.

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


def bandwidths(stepsim, file, training, step_s):
    """In Gbit/s, one for each of SHARES."""
    found = []
    for share in SHARES:
        target = f"iteration_time_s={step_s / share!r}" if training == "data parallel" else f"utilization={share}"
        done = subprocess.run([stepsim, "solve", file, "--for", "/cluster/network/bandwidth_Bps", "--between",
                               "0.1Gbps,1000Gbps", "--points", "17", "--target", target, "--json", "--quiet"],
                              check=True, stdout=subprocess.PIPE)
        crossing, = json.loads(done.stdout)["crossings"]
        found.append(8e-9 * crossing["value"])
    return found


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
                found = bandwidths(stepsim, file, training, step_s)
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
