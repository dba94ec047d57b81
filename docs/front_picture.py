#!/usr/bin/env python3
"""The picture that the what-if page shows without JavaScript: the sweep it is made of, and the picture.

    front_picture.py STEPSIM [FOLDER]

Writes examples/front.sweep.json and docs/images/front.svg, or both into FOLDER. The band of the
picture is 200 runs in which latency and bandwidth of the network lie anywhere between 1/1.25 and
1.25 times those of the profile 25g-tcp, whose values are assumed, and computing times vary by 2 %.
The draws are points of an additive recurrence that fills the square evenly (the R2 sequence of
M. Roberts, step 1/g and 1/g^2 with g^3 = g + 1), so that the file is the same on every machine.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SWEEP, PICTURE = "front.sweep.json", "front.svg"
FACTOR = 1.25
DRAWS = 200
CV = 0.02
PLOT = ["--x", "nodes", "--y", "samples_per_s", "--by", "schedule", "--where", "name=nominal",
        "--band", "name=draw", "--ideal", "--knee", "--y-scale", "log10",
        "--title", "ResNet-50 on 25 Gb/s: adding GPUs pays up to 128",
        "--setting", "Measured trace, 32 images a GPU, ring; network assumed to a factor of 1.25 each way",
        "--x-title", "GPUs", "--label", "ddp=DDP's buckets", "--label", "optimal=best merge",
        "--band-label", "5 to 95 % of 200 runs"]


def sweep(profile):
    """The sweep as text, a line per axis."""
    g = 1.32471795724474602596
    latencies, bandwidths = [profile["latency_s"]], [profile["bandwidth_Bps"]]
    for i in range(1, DRAWS + 1):
        u, v = (0.5 + i / g) % 1, (0.5 + i / g**2) % 1
        latencies.append(float(f"{profile['latency_s'] * FACTOR ** (2 * u - 1):.5g}"))
        bandwidths.append(float(f"{profile['bandwidth_Bps'] * FACTOR ** (2 * v - 1):.5g}"))
    drawn = {
        "/name": ["nominal"] + ["draw"] * DRAWS,
        "/cluster/network/latency_s": latencies,
        "/cluster/network/bandwidth_Bps": bandwidths,
        "/variability/compute_cv": [0] + [CV] * DRAWS,
        "/seed": list(range(1, DRAWS + 2)),
    }
    axes = {"/cluster/nodes": [2**i for i in range(10)],
            "/communication/schedule": ["ddp", "optimal"], **drawn}
    tree = {
        "$schema": "../schemas/sweep.schema.json", "schema_version": 1, "kind": "sweep",
        "name": "how many GPUs pay: ResNet-50 on 25 GbE, DDP's buckets and the best merge, with 200 "
                "draws of what is not known of the network; docs/front_picture.py writes this file",
        "scenario": {
            "schema_version": 1, "kind": "scenario", "name": "ResNet-50 on 25 GbE",
            "workload": {"trace": "../traces/resnet50.1gpu.json", "batch_size": 32},
            "cluster": {"nodes": 8, "network": {"calibration": "25g-tcp"}},
            "communication": {"collective": "ring", "schedule": "ddp"}},
    }
    lines = [f'  "{key}": {json.dumps(value)},' for key, value in tree.items()]
    rows = [f'    {{"field": "{field}", "values": {json.dumps(values)}}}' for field, values in axes.items()]
    return ("{\n" + "\n".join(lines) + '\n  "axes": [\n' + ",\n".join(rows) + "\n  ],\n"
            f'  "zip": [{json.dumps(list(drawn))}]\n}}\n')


def make(stepsim, sweep_file, picture):
    """Runs the two commands; the sweep's records go to a scratch file."""
    with tempfile.TemporaryDirectory() as folder:
        records = f"{folder}/front.jsonl"
        subprocess.run([stepsim, "sweep", str(sweep_file), "-o", records, "--quiet"], check=True,
                       stderr=subprocess.DEVNULL)
        subprocess.run([stepsim, "plot", records, *PLOT, "-o", str(picture), "--quiet"], check=True)


def main():
    stepsim = str(pathlib.Path(sys.argv[1]).resolve())
    profile = json.loads((ROOT / "topologies/25g-tcp.calibration.json").read_text())["network"]
    folder = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    sweep_file = folder / SWEEP if folder else ROOT / "examples" / SWEEP
    sweep_file.write_text(sweep(profile))
    # Names of files in the sweep are relative to examples/.
    make(stepsim, ROOT / "examples" / SWEEP, folder / PICTURE if folder else ROOT / "docs/images" / PICTURE)


if __name__ == "__main__":
    main()
