#!/usr/bin/python3
"""Layer-wise all-reduces of ResNet-50 over 10 Gb/s Ethernet (ddl-benchmarks, four GPUs per machine): how far off a
step is where the latency between machines holds the ports, and where it is a delay (LogGP).

usage: delays.py [STEPSIM]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import predict

RULES = json.loads((predict.ROOT / "reproduce/scoreboard/figures.json").read_text(encoding="utf-8"))["tables"][0]["predict"]
ROWS = ["ddl-benchmarks-006", "ddl-benchmarks-007", "ddl-benchmarks-008"]


def two_levels(row, latency_s, delay_s):
    """The cluster of a row with links of their own inside machines, one interface per machine."""
    rate = row["gbps_per_node"] / 8 * 1e9 * RULES["fabrics"][row["fabric"]]["share"]
    return {"nodes": row["nodes"], "gpus_per_node": row["gpus_per_node"], "nics_per_node": 1,
            "network": {**row["scenario"]["cluster"]["network"], "bandwidth_Bps": rate, "latency_s": latency_s,
                        "delay_s": delay_s},
            "intra_network": {"latency_s": RULES["bus_latency_s"], "bandwidth_Bps": RULES["buses"][row["intra"]]}}


def step_s(stepsim, scenario):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "scenario.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        done = subprocess.run([stepsim, "run", file, "--json"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
    return json.loads(done.stdout)["summary"]["iteration_time_s"]


def main():
    stepsim = sys.argv[1] if len(sys.argv) > 1 else predict.STEPSIM
    rows = {row["row"]: row for row in predict.predictions(stepsim)[0]}
    latency_s = RULES["fabrics"]["tcp"]["latency_s"]
    print("        measured   error of the step, %")
    print("GPUs   step [ms]   one ring   latency   half of it delay   delay")
    for name in ROWS:
        row = rows[name]
        flat, measured = row["scenario"], row["measured_step_s"]
        errors = [step_s(stepsim, flat)]
        for share in (0, 0.5, 1):
            cluster = two_levels(row, (1 - share) * latency_s, share * latency_s)
            errors.append(step_s(stepsim, flat | {"cluster": cluster}))
        ring, latency, half, delay = [100 * (each / measured - 1) for each in errors]
        print(f"{row['gpus']:4d} {1e3 * measured:11.1f} {ring:+10.1f} {latency:+9.1f} {half:+18.1f} {delay:+7.1f}")


if __name__ == "__main__":
    main()
