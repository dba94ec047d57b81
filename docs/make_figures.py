#!/usr/bin/python3
"""The pictures of the documentation, from committed inputs: docs/images/*.png.

usage: docs/make_figures.py [--bin build]     (runs the quickstart's sweep if results/ has none)
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))
sys.dont_write_bytecode = True

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import stepsim_plots as plots

SWEEP = ROOT / "examples/quickstart.sweep.json"


def sweep_figure(stepsim, file):
    results = ROOT / "results/quickstart.jsonl"
    results.parent.mkdir(exist_ok=True)
    subprocess.run([stepsim, "sweep", SWEEP, "-o", results, "--force", "--quiet"], check=True)
    _, points = plots.read_sweep(results)
    figure = plt.figure(figsize=(11, 5.8), dpi=110)
    plots.plot_sweep(figure, points, f"What-if sweep of {plots.provenance(plots.trace_of(SWEEP))}")
    figure.savefig(file, metadata={"Software": None})


def timeline_figure(stepsim, file):
    figure = plt.figure(figsize=(11, 5), dpi=110)
    plots.compare_timelines(figure, stepsim, SWEEP, nodes=8, bandwidth=25e9 / 8)
    figure.savefig(file, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default=ROOT / "build", type=pathlib.Path)
    stepsim = parser.parse_args().bin.resolve() / "stepsim"
    images = ROOT / "docs/images"
    images.mkdir(exist_ok=True)
    sweep_figure(stepsim, images / "sweep.png")
    timeline_figure(stepsim, images / "timeline.png")


if __name__ == "__main__":
    main()
