#!/usr/bin/python3
"""Configurations that others trained with, beside what `stepsim plan-training` proposes for the same GPUs and samples
of an update: the rank of theirs, and what ours is predicted to gain.

usage: docs/published_configurations.py BINARY [--check]

Rewrites what stands between the markers of docs/accuracy.md; --check changes nothing and exits 1 where that is out of
date. Rows: MosaicML's of 64 GPUs and 2048 tokens (reproduce/estimates/rows.csv), and TORCHTITAN below.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs"))
import estimate_table  # noqa: E402
import page_section  # noqa: E402

PAGE = ROOT / "docs/accuracy.md"
NODES = {"a100-40": "p4d", "a100-80": "dgx_a100", "h100": "dgx_h100"}  # machines with eight of the GPU
# torchtitan at 9dec370 and b5bcd76: benchmarks/llama3_h100_202412_torchtitan.md for 8 and 128 H100 of 96 GB, whose tables
# for the 70B and 405B models add tensor and pipeline parallelism; docs/performance.md at 9dec370 for 64 A100.
TORCHTITAN = [("llama3_8b", "h100", 8, 2, 8192), ("llama3_8b", "h100", 128, 2, 8192), ("llama2_7b", "a100-80", 64, 1, 4096),
              ("llama3_8b", "a100-80", 64, 1, 8192), ("llama2_13b", "a100-80", 64, 2, 4096), ("llama2_70b", "a100-80", 64, 1, 4096)]


def mosaic(folder):
    # Their models have fused_crossentropy.
    for row in csv.DictReader((ROOT / "reproduce/estimates/rows.csv").open()):
        if (row["dtype"], row["sequence_length"], row["gpus"]) == ("bf16", "2048", "64"):
            model = estimate_table.model_file(folder, row["model"], 2048)
            yield (f"MPT {row['model']}", {"model": str(model), "loss": "compiled"}, row["gpu"], 64, int(row["micro_batch"]),
                   int(row["accumulation"]), row["recompute"], {})


def torchtitan():
    for model, gpu, gpus, batch, length in TORCHTITAN:
        yield (model, {"model": model, "sequence_length": length, "loss": "eager"}, gpu, gpus, batch, 1, "selective_op",
               {"gpu_memory_bytes": 96 * 2**30} if gpu == "h100" else {})


def scenario(workload, gpu, gpus, batch, parts, recompute, cluster):
    return {"kind": "scenario", "conditions": "typical",
            "workload": {**workload, "gpu": gpu, "dtype": "bf16", "batch_size": batch, "recompute": recompute},
            "cluster": {"preset": NODES[gpu], "nodes": gpus // 8, **cluster}, "communication": {"collective": "library"},
            "training": {"iterations": 2, "micro_batches": parts, "sharding": {"strategy": "full_shard", "preset": "fsdp2"}}}


def words(row):
    recompute = "" if row["recompute"] == "none" else f", recompute {row['recompute']}"
    groups = f" of {row['shard_ranks']}" if row["shard_ranks"] else ""
    units = {None: "", "block": f", {row['blocks']} blocks a unit", "all": ", one unit", "optimal": ", planned units"}[row["wrapping"]]
    units = "" if row["blocks"] == 1 else units
    return f"{row['strategy']}{groups}, {row['micro_batches']} x {row['batch_size']}{recompute}{units}"


def cells(stepsim, name, workload, gpu, gpus, batch, parts, recompute, cluster):
    tree = scenario(workload, gpu, gpus, batch, parts, recompute, cluster)
    done = subprocess.run([stepsim, "plan-training", "-", "--json", "--quiet"], input=json.dumps(tree), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return [name, f"{gpus} {gpu}", f"full_shard, {parts} x {batch}", "nothing is predicted to fit", "", "", ""]
    rows = json.loads(done.stdout)["rows"]
    key = ("full_shard", parts, recompute, 1)
    found = [n for n, row in enumerate(rows)
             if (row["strategy"], row["micro_batches"], row["recompute"], row["blocks"]) == key]
    theirs = f"full_shard, {parts} x {batch}{'' if recompute == 'none' else f', recompute {recompute}'}"
    best = rows[0]
    if not found:
        return [name, f"{gpus} {gpu}", theirs, "not run: it needs more memory than a GPU has", words(best), "", ""]
    row = rows[found[0]]
    fits = {True: "", None: " (may not fit)", False: " (does not fit)"}
    gain = 1 - best["iteration_time_s"] / row["iteration_time_s"]
    low, high = (best[f"iteration_time_{end}_s"] / best["iteration_time_s"] for end in ("low", "high"))
    told = "yes" if row["not_told_apart"] is None else "no"
    return [name, f"{gpus} {gpu}", theirs + fits[row["memory_fits"]], f"{found[0] + 1} of {len(rows)}",
            words(best) + fits[best["memory_fits"]], f"{100 * gain:.1f}", told]


def section(stepsim):
    with tempfile.TemporaryDirectory() as folder:
        rows = [cells(stepsim, *each) for each in [*torchtitan(), *mosaic(pathlib.Path(folder))]]
    heads = ["model", "GPUs", "theirs", "predicted rank", "ours", "predicted gain [%]", "told apart"]
    return ["| " + " | ".join(line) + " |" for line in [heads, ["---"] * len(heads), *rows]]


if __name__ == "__main__":
    sys.exit(page_section.main(__doc__, PAGE, "published", section))
