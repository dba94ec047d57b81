#!/usr/bin/python3
"""Layer-wise all-reduces of ResNet-50 over 10 Gb/s Ethernet (ddl-benchmarks, four GPUs per machine): how far off a
step is where the latency between machines holds the ports, and where it is a delay (LogGP).

usage: delays.py [STEPSIM]
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import predict
import rules

ROWS = ["ddl-benchmarks-006", "ddl-benchmarks-007", "ddl-benchmarks-008"]


def two_levels(row, latency_s, delay_s):
    """The cluster of a row with links of their own inside machines, one interface per machine."""
    bus, fabric = rules.bus_of(row, rules.VARIANTS["blind"]), rules.fabric_of(row, rules.VARIANTS["blind"])
    cluster = rules.two_level_cluster(row, bus, fabric, 1)
    cluster["network"] |= {"latency_s": latency_s, "delay_s": delay_s}
    return cluster


def step_s(stepsim, scenario):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "scenario.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        done = subprocess.run([stepsim, "run", file, "--json"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)["summary"]["iteration_time_s"]


def show(stepsim, folder):
    rows = {row["row"]: row for row in predict.read_rows(predict.SCOREBOARD, "all", "")}
    tables = rules.Tables(predict.ROOT / "models", folder)
    latency_s = rules.TCP_LATENCY_S
    print("        measured   error of the step, %")
    print("GPUs   step [ms]   one ring   latency   half of it delay   delay")
    for name in ROWS:
        row = rows[name]
        flat = rules.scenario_of(row, rules.VARIANTS["blind"], tables)
        measured = rules.measured_step_s(row)
        errors = [step_s(stepsim, flat)]
        for share in (0, 0.5, 1):
            cluster = two_levels(row, (1 - share) * latency_s, share * latency_s)
            errors.append(step_s(stepsim, flat | {"cluster": cluster}))
        ring, latency, half, delay = [100 * (each / measured - 1) for each in errors]
        print(f"{row['gpus']:>4s} {1e3 * measured:11.1f} {ring:+10.1f} {latency:+9.1f} {half:+18.1f} {delay:+7.1f}")


def main():
    stepsim = sys.argv[1] if len(sys.argv) > 1 else shutil.which("stepsim") or predict.ROOT / "build/stepsim"
    with tempfile.TemporaryDirectory() as folder:
        show(stepsim, pathlib.Path(folder))


if __name__ == "__main__":
    main()
