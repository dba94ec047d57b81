#!/usr/bin/python3
"""The picture of docs/contention.md, docs/images/contention.png, from docs/contention.csv.

usage: docs/contention_figure.py
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))
sys.dont_write_bytecode = True

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import contention_plots as plots
import pictures


def main():
    results = plots.study.read()
    figure, axes = plt.subplots(2, 2, figsize=(12, 8), dpi=100)
    plots.q1(axes[0][0], results, bounded=True)
    plots.q14(axes[0][1], results)
    plots.q8(axes[1][0], results)
    plots.q9_permutation(axes[1][1], results)
    figure.tight_layout()
    pictures.save(figure, "contention.png")


if __name__ == "__main__":
    main()
