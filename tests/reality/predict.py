#!/usr/bin/python3
"""Predicts every published speed of reproduce/scoreboard/rows.csv with stepsim and prints how far off it is.

The rules (rules.py) hold for all rows and were written before the first comparison. Rows that differ in
numbers only become one sweep. Sweeps, scaled layer tables and the predictions of every row
(results-VARIANT.json) go into the folder --out.
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import error_table
import rules

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCOREBOARD = ROOT / "reproduce/scoreboard"

# What may differ between the rows of one sweep.
AXES = ["/cluster/nodes", "/cluster/network/latency_s", "/cluster/network/bandwidth_Bps",
        "/workload/measured/forward_s", "/workload/measured/backward_s", "/training/servers",
        "/cluster/gpus_per_node", "/cluster/nics_per_node", "/cluster/intra_network/bandwidth_Bps"]


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or ROOT / "build/stepsim")
    parser.add_argument("--models", default=ROOT / "models", type=pathlib.Path, help="folder of layer tables")
    parser.add_argument("--rows", default=SCOREBOARD, type=pathlib.Path, help="folder of rows.csv")
    parser.add_argument("--out", default=ROOT / "results/reality", type=pathlib.Path)
    parser.add_argument("--variant", default="blind", choices=rules.VARIANTS)
    parser.add_argument("--params", type=pathlib.Path, metavar="FILE",
                        help="a variant with shares of the rates by kind of link, which is not blind")
    parser.add_argument("--subset", default="all", help="only families of that name in split.json of --rows")
    parser.add_argument("--only", default="", metavar="SOURCE", help="only sources that begin so, by commas")
    parser.add_argument("--no-priority", action="store_true", help="leave out priority schedules, the slowest")
    parser.add_argument("--reuse", action="store_true", help="keep the results of sweeps that did not change")
    parser.add_argument("--quiet", action="store_true", help="no table")
    return parser.parse_args()


def read_rows(folder, subset, only):
    with open(folder / "rows.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if subset != "all":
        split = json.loads((folder / "split.json").read_text(encoding="utf-8"))
        rows = [row for row in rows if split.get(row["family"]) == subset]
    return [row for row in rows if row["source"].startswith(tuple(only.split(",")))]


def value_at(tree, pointer):
    """The value at a JSON pointer, or None."""
    for key in pointer.strip("/").split("/"):
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


def common_part(scenario):
    """What rows of one sweep have in common, as text: the scenario without the values of the axes."""
    tree = json.loads(json.dumps(scenario))
    for pointer in AXES:
        if value_at(tree, pointer) is not None:
            *folders, key = pointer.strip("/").split("/")
            value_at(tree, "/".join(folders))[key] = "axis"
    return json.dumps(tree, sort_keys=True)


def is_priority(scenario):
    return scenario["communication"]["schedule"] == "priority"


def sweep_of(group):
    """One sweep with a point per (row, scenario) of the group."""
    scenarios = [scenario for _, scenario in group]
    axes = [pointer for pointer in AXES if value_at(scenarios[0], pointer) is not None]
    names = " ".join(row["row"] for row, _ in group)
    return {"schema_version": 1, "kind": "sweep", "name": f"rows {names}"[:900], "scenario": scenarios[0],
            "axes": [{"field": pointer, "values": [value_at(s, pointer) for s in scenarios]} for pointer in axes],
            "zip": [axes]}


def run_sweep(sweep, name, chosen):
    """(records of the points, None), or (None, reason) where the sweep is refused."""
    folder = chosen.out / "sweeps"
    folder.mkdir(parents=True, exist_ok=True)
    file, records = folder / f"{name}.sweep.json", folder / f"{name}.jsonl"
    text = json.dumps(sweep, indent=1)
    unchanged = file.exists() and file.read_text(encoding="utf-8") == text
    if not (chosen.reuse and unchanged and records.exists()):
        file.write_text(text, encoding="utf-8")
        done = subprocess.run([chosen.stepsim, "sweep", file, "-o", records, "--force", "--quiet"], text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or ["no message"])[-1]
    lines = map(json.loads, records.read_text(encoding="utf-8").splitlines())
    return [each for each in lines if each.get("record") == "point"], None


def add_prediction(row, scenario, point):
    """Adds the columns of a result to the row; `skip` where the point has no time."""
    step_s = point.get("iteration_time_s")
    if step_s is None:
        row["skip"] = str(point.get("error") or point.get("status") or "no time")[:160]
        return
    samples = 1 if rules.counts_steps(row) else rules.samples_of(row)
    forward_s, backward_s = scenario["workload"]["measured"].values()
    measured_s = rules.measured_step_s(row)
    row |= {"it_pred": step_s, "it_meas": measured_s, "pred": samples / step_s,
            "compute": forward_s + backward_s, "bwd": backward_s, "comm": point.get("communication_s"),
            "err": step_s / measured_s - 1, "err_linear": (forward_s + backward_s) / measured_s - 1}


def predict(rows, variant, chosen):
    """Adds a prediction to every row, or the reason why there is none."""
    tables = rules.Tables(chosen.models, chosen.out.resolve() / "models")
    groups = {}
    for row in rows:
        if not row["base_measured"]:
            row["skip"] = "no single-GPU figure"
            continue
        scenario = rules.scenario_of(row, variant, tables)
        if chosen.no_priority and is_priority(scenario):
            row["skip"] = "priority not run"
            continue
        groups.setdefault(common_part(scenario), []).append((row, scenario))
    for common, group in groups.items():
        name = f"{variant.name}-{hashlib.sha1(common.encode()).hexdigest()[:10]}"
        points, reason = run_sweep(sweep_of(group), name, chosen)
        for i, (row, scenario) in enumerate(group):
            if points is None:
                row["skip"] = reason[:160]
            else:
                add_prediction(row, scenario, points[i])


def main():
    chosen = options()
    if not os.access(chosen.stepsim, os.X_OK):
        sys.exit(f"{chosen.stepsim}: no such program (--stepsim)")
    variant = rules.variant_of_file(chosen.params) if chosen.params else rules.VARIANTS[chosen.variant]
    rows = read_rows(chosen.rows, chosen.subset, chosen.only)
    if not rows:
        sys.exit(f"{chosen.rows}: no such row")
    predict(rows, variant, chosen)
    words = [variant.name, *[w for w in (chosen.subset, chosen.only) if w not in ("all", "")]]
    (chosen.out / f"results-{'-'.join(words)}.json").write_text(json.dumps(rows, indent=0), encoding="utf-8")
    if not chosen.quiet:
        print("\n".join(error_table.table(variant.name, rows)))


if __name__ == "__main__":
    main()
