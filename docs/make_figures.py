#!/usr/bin/python3
"""The pictures of the documentation, from committed inputs: docs/images/*.png and study.svg.

usage: docs/make_figures.py [--bin build]     (runs the quickstart's sweep if results/ has none)
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))
sys.dont_write_bytecode = True

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import pictures
import stepsim_plots as plots

SWEEP = ROOT / "examples/quickstart.sweep.json"
STUDIED = "resnet50.ddp.2xa100"


def main_sweep(stepsim):
    results = ROOT / "results/quickstart.jsonl"
    results.parent.mkdir(exist_ok=True)
    subprocess.run([stepsim, "sweep", SWEEP, "-o", results, "--force", "--quiet"], check=True)
    return plots.read_sweep(results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=ROOT / "build", type=pathlib.Path)
    stepsim = parser.parse_args().bin.resolve() / "stepsim"
    (ROOT / "docs/images").mkdir(exist_ok=True)
    header, points = main_sweep(stepsim)

    shown = [p for p in points if p["nodes"] == 8 and plots.network(p).startswith("25 GbE")
             and p["schedule"] in ("wfbp", "ddp", "optimal")]
    figure = plt.figure(figsize=(11, 5), dpi=110)
    plots.compare_timelines(figure, stepsim, SWEEP, header, shown)
    pictures.save(figure, "timeline.png")
    with tempfile.TemporaryDirectory() as folder:  # the picture at the top of the README
        subprocess.run([stepsim, "study", STUDIED, "-o", f"{folder}/out", "--quiet"], check=True, stderr=subprocess.DEVNULL)
        shutil.copy(f"{folder}/out/steps.svg", ROOT / "docs/images/study.svg")


if __name__ == "__main__":
    main()
