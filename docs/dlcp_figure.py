#!/usr/bin/python3
"""The picture of docs/dlcp.md, docs/images/dlcp.png, from docs/dlcp.csv.

usage: docs/dlcp_figure.py
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "notebooks"))
sys.dont_write_bytecode = True

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import dlcp_plots as plots
import pictures


def main():
    results = plots.ablation.read()
    figure, axes = plt.subplots(2, 2, figsize=(13, 9.5), dpi=100)
    plots.arms(axes[0][0], results, ("E1", "resnet50, 10G, S = 10"),
               "ResNet-50, 10 workers, ten servers, 10 Gb/s")
    plots.ladder(axes[0][1], results)
    plots.gains(axes[1][0], results)
    plots.networks(axes[1][1], results)
    figure.tight_layout()
    pictures.save(figure, "dlcp.png")


if __name__ == "__main__":
    main()
