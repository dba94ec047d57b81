#!/usr/bin/python3
"""Estimated steps of models on GPUs next to published ones (reproduce/estimates): error of the time of a
micro-batch, in per cent of the measured one. Communication is left out of the estimate.

usage: docs/estimate_table.py [--stepsim build/stepsim]
"""
import argparse
import csv
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "models"))
import generate  # noqa: E402
from recipes import Recipe  # noqa: E402
from sequence_networks import gpt2  # noqa: E402

VOCABULARY = 50368
# Width and blocks of the models, scripts/train/yamls of mosaicml/llm-foundry.
MODELS = {"125m": (768, 12), "350m": (1024, 24), "760m": (1536, 24), "1b": (2048, 24), "3b": (2560, 32),
          "7b": (4096, 32), "13b": (5120, 40), "30b": (7168, 48), "70b": (8192, 80)}
# Models of up to 8 GPUs that the constants of a family were fitted to.
FITTED = {"a100": ("350m", "1b", "7b"), "h100": ("1b", "7b")}


def model_file(folder, model, length):
    """The shape of GPT-2 with a padded vocabulary and a position per token."""
    width, blocks = MODELS[model]
    lines = [line.replace("50257", str(VOCABULARY)).replace("wpe 1024", f"wpe {length}")
             for line in gpt2(blocks, width)]
    recipe = Recipe(f"mpt_{model}", "gpt2", "llm-foundry", tuple(lines), sequence_length=length,
                    max_sequence_length=length, causal=True)
    path = folder / f"{model}-{length}.json"
    path.write_text(generate.format_table(generate.model_table(recipe)))
    return path


def estimate(stepsim, folder, row):
    """Seconds of a micro-batch, and the factors between which measured ones lie. The update is shared by
    the GPUs and by the micro-batches of a step."""
    model = model_file(folder, row["model"], int(row["sequence_length"]))
    scenario = {"kind": "scenario", "cluster": {"nodes": 1}, "communication": {"schedule": "single"},
                "training": {"iterations": 2},
                "workload": {"model": str(model), "gpu": row["gpu"], "dtype": row["dtype"],
                             "batch_size": int(row["micro_batch"]), "recompute": row["recompute"]}}
    done = subprocess.run([stepsim, "run", "-", "--json", "--quiet"], input=json.dumps(scenario), text=True,
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    summary = json.loads(done.stdout)["summary"]
    shares = int(row["gpus"]) * int(row["accumulation"])
    seconds = summary["forward_s"] + summary["backward_s"] + summary["update_s"] / shares
    return seconds, *(summary[key] / summary["compute_s"] for key in ("compute_low_s", "compute_high_s"))


def measured(row):
    """Seconds of a micro-batch."""
    tokens = int(row["micro_batch"]) * int(row["sequence_length"]) * int(row["gpus"])
    return tokens / float(row["tokens_per_s"])


def line(name, errors, inside):
    sizes = sorted(abs(error) for error in errors)
    at_90 = sizes[math.ceil(0.9 * len(sizes)) - 1]
    print(f"{name:36} {len(errors):4} {100 * statistics.median(sizes):7.1f} {100 * at_90:6.1f} "
          f"{100 * sizes[-1]:6.1f} {100 * statistics.mean(errors):+6.1f} {inside:9}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or ROOT / "build/stepsim")
    stepsim = pathlib.Path(parser.parse_args().stepsim).resolve()
    rows = list(csv.DictReader((ROOT / "reproduce/estimates/rows.csv").open()))
    ratios, inside = [], []  # [row] measured over estimated, whether that lies in the interval
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            seconds, low, high = estimate(stepsim, pathlib.Path(folder), row)
            ratios.append(measured(row) / seconds)
            inside.append(low <= ratios[-1] <= high)
    print(f"{'':36} {'rows':>4} {'median':>7} {'p90':>6} {'max':>6} {'mean':>6} {'in range':>9}")

    def show(name, chosen):
        line(name, [1 / ratios[n] - 1 for n in chosen], sum(inside[n] for n in chosen))

    for family, fitted in FITTED.items():
        of = [n for n, row in enumerate(rows) if row["gpu"].startswith(family) and row["dtype"] == "bf16"]
        base = [n for n in of if rows[n]["model"] in fitted and int(rows[n]["gpus"]) <= 8]
        show(f"{family}, fitted to these", base)
        show(f"{family}, other models and GPU counts", [n for n in of if n not in base])
    show("h100, fp8, its form chosen", [n for n, row in enumerate(rows) if row["dtype"] == "fp8"])
    show("all", range(len(rows)))
    # One factor per model, GPU and format: that of the row in the middle.
    groups = {}
    for n, row in enumerate(rows):
        groups.setdefault((row["gpu"], row["model"], row["dtype"]), []).append(n)
    errors = [ratios[group[len(group) // 2]] / ratios[n] - 1
              for group in groups.values() for n in group if n != group[len(group) // 2]]
    line("scaled to one measured row", errors, sum(0.85 <= 1 / (1 + error) <= 1.15 for error in errors))


if __name__ == "__main__":
    main()
