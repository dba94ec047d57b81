#!/usr/bin/env python3
"""The recorded steps of public training jobs of several GPUs, and what stepsim study says of them.

    docs/trace_gap.py                 the table of docs/trace_gap.csv
    docs/trace_gap.py DATA STEPSIM    makes docs/trace_gap.csv again from the public files in DATA
                                      (kineto/ and traces/; traces/README.md says where they are published)
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "trace_gap.csv"
JOBS = {
    "ResNet-18, DDP": "traces/resnet18_ddp_mi300x_bf16_checkpoint.json.gz",
    "ResNet-50, DDP": "kineto/resnet50_ddp_2xA100_nccl_meta.json.gz",
    "DLRM": "traces/dlrm_rank3of8_a100.json.gz",
    "DLRM, compiled": "traces/dlrm_rank1of2_v100_compiled_graphs.json.gz",
    "DLRM, CUDA graphs": "kineto/dlrm_rank0of16_inputdims.json.gz",
    "DLRM, all ranks": "traces/dlrm_8ranks_v100_kineto.tar.gz",
}
PARTS = ("host", "input", "waiting", "exchange", "other_collectives", "rest")
TIMES = ("measured_s", "before_s", "ideal_s", *PARTS, "step_s", "second_half_s", "second_half_predicted_s")


def studied(stepsim, files, folder):
    done = subprocess.run([stepsim, "study", *files, "--gpus", "8", "--json", "-o", folder], text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)["trace"]


def before(stepsim, folder, trace):
    """What init and run say of the trace on its own machine, without anything carried."""
    subprocess.run([stepsim, "init", "--trace", "kernels.json", "--cluster", trace["node_type"], "--nodes",
                    str(trace["nodes"]), "--gpus-per-node", str(trace["gpus_per_node"]), "-o", "before.json"],
                   cwd=folder, check=True, capture_output=True)
    done = subprocess.run([stepsim, "run", "before.json", "--json"], cwd=folder, check=True, text=True,
                          capture_output=True)
    return json.loads(done.stdout)["summary"]["iteration_time_s"]


def row_of(name, path, stepsim):
    with tempfile.TemporaryDirectory() as folder:
        files = [path]
        if path.name.endswith(".tar.gz"):
            subprocess.run(["tar", "xzf", path, "-C", folder], check=True)
            files = sorted(pathlib.Path(folder).glob("*/*.json"))
        out = pathlib.Path(folder) / "out"
        trace = studied(stepsim, files, out)
        times = {**trace, **{part["part"]: part["seconds"] for part in trace["gap"]},
                 "before_s": before(stepsim, out, trace)}
    return {"job": name, "machine": f"{trace['nodes']} x {trace['node_type']}",
            "gpus": trace["nodes"] * trace["gpus_per_node"], "steps": trace["steps"],
            **{key: "" if times[key] is None else f"{times[key]:.9g}" for key in TIMES}}


def make(data, stepsim):
    rows = [row_of(name, pathlib.Path(data) / path, pathlib.Path(stepsim).resolve())
            for name, path in JOBS.items()]
    with FILE.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table():
    print(f"{'':18}{'GPUs':>4} {'measured':>9} {'before':>8} {'kernels':>8} {'host':>7} {'input':>6} "
          f"{'waiting':>8} {'exchange':>9} {'others':>7} {'rest':>7} {'carried':>8} {'2nd half':>9} {'predicted':>10}")
    with FILE.open() as rows:
        for row in csv.DictReader(rows):
            ms = {key: float(row[key] or "nan") * 1e3 for key in TIMES}
            halves = f"{ms['second_half_s']:9.2f} {ms['second_half_predicted_s']:10.2f}"
            print(f"{row['job']:18}{row['gpus']:>4} {ms['measured_s']:9.2f} {ms['before_s']:8.2f} "
                  f"{ms['ideal_s']:8.2f} {ms['host']:7.2f} {ms['input']:6.2f} {ms['waiting']:8.2f} "
                  f"{ms['exchange']:9.2f} {ms['other_collectives']:7.2f} {ms['rest']:7.2f} {ms['step_s']:8.2f} "
                  f"{halves.replace('nan', '  -')}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        make(*sys.argv[1:])
    else:
        table()
