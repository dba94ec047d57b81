#!/usr/bin/python3
"""Llama-3.1-8B by torchtitan on 8 and 128 H100: published tokens per second and GPU, and what `stepsim run` says.

Computing time is set so that 8 GPUs take the published step; the times of links are assumptions: 30 us and
370 GB/s for a collective of 8 GPUs, 100 us and 360 GB/s for one of 128.

usage: docs/torchtitan_table.py [--stepsim build/stepsim]
"""
import argparse
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
# pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md.
PUBLISHED = [("bf16", 5762, 5605), ("compile", 6667, 6514), ("compile, float8", 8532, 8380)]
TOKENS = 2 * 8192  # of a step, per GPU
BLOCK_FLOP, OUTPUT_FLOP = 503_316_480, 1_050_673_152  # of a token, forward
FLOP = 32 * BLOCK_FLOP + OUTPUT_FLOP
MODEL = [("tok_embeddings", 0, 525_336_576), *[(f"layers.{i}", BLOCK_FLOP, 218_112_000) for i in range(32)],
         ("output", OUTPUT_FLOP, 525_340_672)]
# GPUs -> start-up of a collective [s], seconds per byte of its vector.
LINKS = {8: (3e-5, 7 / 8 / 370e9), 128: (1e-4, 15 / 16 / 360e9)}


def step(stepsim, gpus, compute_s, cv):
    """Seconds of an iteration; a ring of n ranks has n - 1 steps and moves (n - 1) / n of the bytes."""
    startup, per_byte = LINKS[gpus]
    network = {"latency_s": startup / (gpus - 1), "bandwidth_Bps": (gpus - 1) / gpus / per_byte}
    layers = [{"name": name, "forward_s": compute_s / 3 * flop / FLOP, "backward_s": compute_s * 2 / 3 * flop / FLOP,
               "gradient_bytes": 4 * parameters, "dtype": "float32"} for name, flop, parameters in MODEL]
    scenario = {"kind": "scenario", "workload": {"layers": layers}, "cluster": {"nodes": gpus, "network": network},
                "training": {"iterations": 200 if cv else 2,
                             "sharding": {"strategy": "full_shard", "preset": "torchtitan", "communicators": 2}},
                "variability": {"compute_cv": cv}}
    done = subprocess.run([stepsim, "run", "-", "--json", "--quiet"], input=json.dumps(scenario), text=True,
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["summary"]["iteration_time_s"]


def lost(stepsim, measured, cv):
    """Per cent of the speed of 8 GPUs that 128 lose."""
    compute = measured
    for _ in range(4):
        compute *= measured / step(stepsim, 8, compute, cv)
    return 100 * (measured / step(stepsim, 128, compute, cv) - 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or ROOT / "build/stepsim")
    stepsim = parser.parse_args().stepsim
    print(f"{'':15}  {'tokens/s per GPU':^16}  {'128 GPUs against 8 [%]':^41}")
    print(f"{'':15}  {'8 GPUs':>7}  {'128':>7}  {'published':>9}  {'no spread':>9}  {'cv 1 %':>8}  {'cv 2 %':>8}")
    for name, few, many in PUBLISHED:
        rows = [lost(stepsim, TOKENS / few, cv) for cv in (0, 0.01, 0.02)]
        print(f"{name:15}  {few:7}  {many:7}  {100 * (many / few - 1):9.2f}  {rows[0]:9.2f}  {rows[1]:8.2f}  "
              f"{rows[2]:8.2f}")


if __name__ == "__main__":
    main()
