#!/usr/bin/python3
"""How well steps are predicted with a slowdown of overlap: the table of docs/accuracy.md.

Every network is predicted by constants that `stepsim fit-overlap` fits to the others on the same link.
"""
import json
import math
import pathlib
import shutil
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPSIM = shutil.which("stepsim") or ROOT / "build/stepsim"
DATA = {"16 V100, 48 steps": ["v100-10gbe", "v100-ib-56g"], "32 GPUs, 18 steps": ["ddl-10gbe", "ddl-ib-100g"]}
MODELS = [("published a and b, no slowdown", "startup_s,per_byte_s,compute"), ("a and b fitted, no slowdown", "compute"),
          ("a, b and slowdown fitted", "")]
SCHEDULES = 3  # rows of one case


def fitted(name, keep):
    command = [STEPSIM, "fit-overlap", ROOT / f"reproduce/overlap/{name}.steps.json", "--leave-out", "/workload/model", "--json"]
    done = subprocess.run(command + (["--keep", keep] if keep else []), check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def errors(steps):
    return sorted(100 * abs(step["held_out_s"] / step["step_s"] - 1) for step in steps)


def right(steps):
    """Cases whose best schedule by prediction is the best one measured."""
    cases = [steps[i:i + SCHEDULES] for i in range(0, len(steps), SCHEDULES)]
    # Of schedules that are predicted to take equally long, but for rounding, the first.
    best = [min(range(SCHEDULES), key=lambda i: float(f"{case[i]['held_out_s']:.9g}")) ==
            min(range(SCHEDULES), key=lambda i: case[i]["step_s"]) for case in cases]
    return f"{sum(best)} / {len(best)}"


def main():
    print(f"{'steps':18}  {'model, one network left out at a time':38} median   p90   max   best schedule")
    for data, names in DATA.items():
        for model, keep in MODELS:
            fits = [fitted(name, keep) for name in names]
            steps = [step for fit in fits for step in fit["steps"]]
            sizes = errors(steps)
            print(f"{data:18}  {model:38} {statistics.median(sizes):5.1f} {sizes[math.ceil(0.9 * len(sizes)) - 1]:6.1f}"
                  f" {sizes[-1]:5.1f}   {right(steps)}")
        for network in sorted({step["left_out"] for step in steps}):
            sizes = errors([step for step in steps if step["left_out"] == network])
            print(f"{'':18}  {'  ' + network:38} {statistics.median(sizes):5.1f} {sizes[math.ceil(0.9 * len(sizes)) - 1]:6.1f} {sizes[-1]:5.1f}")
        for name, fit in zip(names, fits):
            print(f"{'':18}    {name}: a {fit['startup_s']:.3g} s, b {fit['per_byte_s']:.3g} s/B, slowdown {fit['compute']:.3g} fitted to all rows")


if __name__ == "__main__":
    main()
