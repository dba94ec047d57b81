#!/usr/bin/python3
"""Predicts every published speed of reproduce/scoreboard/rows.csv with `stepsim reproduce scoreboard` and prints how
far off it is. The rules are those of the program (reproduce/scoreboard/rules.md).
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import error_table

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = ROOT / "reproduce/scoreboard/rows.csv"
STEPSIM = shutil.which("stepsim") or ROOT / "build/stepsim"


def predictions(stepsim=STEPSIM, rows=ROWS, folder=None):
    """(rows with their prediction, {reason: number of rows without one}). Beside the columns of the program a row
    has the errors of error_table. `folder` keeps the layer tables that the scenarios of the rows name."""
    if folder is None:
        with tempfile.TemporaryDirectory() as scratch:
            return predictions(stepsim, rows, scratch)
    done = subprocess.run([stepsim, "reproduce", "scoreboard", "--rows", rows, "-o", folder, "--json", "--quiet"],
                          check=True, stdout=subprocess.PIPE)
    lines = (pathlib.Path(folder) / "scoreboard.jsonl").read_text(encoding="utf-8").splitlines()
    found = [row for row in map(json.loads, lines) if "predicted" in row]
    for row in found:
        row["err"] = row["predicted_step_s"] / row["measured_step_s"] - 1
        row["err_linear"] = row["alone_error"] / 100
        if "typical" in row:
            row["err_typical"] = row["typical_step_s"] / row["measured_step_s"] - 1
    return found, {each["reason"]: each["rows"] for each in json.loads(done.stdout)["not_predicted"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--stepsim", default=STEPSIM)
    parser.add_argument("--rows", default=ROWS, type=pathlib.Path)
    chosen = parser.parse_args()
    for line in error_table.table(*predictions(chosen.stepsim, chosen.rows)):
        print(line)


if __name__ == "__main__":
    main()
