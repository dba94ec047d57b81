#!/usr/bin/python3
"""The picture of docs/pytorch.md, docs/images/pytorch.png, from tests/torchbed/measured.csv.

usage: tests/torchbed/figure.py
"""
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "docs")]

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import pictures
import tables

GROUPS = (("equal links", "o", "tab:blue", {"plain", "option", "logged", "gain"}),
          ("slow link or uplink", "s", "tab:orange", {"slow link", "slow uplink"}),
          ("hooks: fp16, PowerSGD", "^", "tab:green", {"fp16 hook", "PowerSGD"}),
          ("accumulation, local SGD", "D", "tab:red", {"accumulation", "local SGD"}),
          ("slow or varying ranks, one collective at a time", "x", "0.2", {"straggler", "jitter", "one at a time"}))


def main():
    rows = tables.first_rows()
    low, high = 0.9 * min(row["measured_s"] for row in rows), 1.1 * max(row["measured_s"] for row in rows)
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 6), dpi=100)
    for name, marker, color, kinds in GROUPS:
        of = [row for row in rows if row["condition"]["kind"] in kinds]
        style = {"linestyle": "", "marker": marker, "color": color, "markersize": 5, "label": f"{name} ({len(of)})"}
        left.plot([row["measured_s"] for row in of], [row["predicted_s"] for row in of], **style)
        right.plot([row["measured_s"] for row in of], [100 * tables.error(row) for row in of], **style)
    left.plot([low, high], [low, high], color="0.5", linewidth=0.8)
    for share, shade in ((0.1, "0.93"), (0.05, "0.85")):
        left.fill_between([low, high], [(1 - share) * low, (1 - share) * high], [(1 + share) * low, (1 + share) * high],
                          color=shade, zorder=0, label=f"within {100 * share:.0f} %")
        right.axhspan(-100 * share, 100 * share, color=shade, zorder=0)
    left.set(xscale="log", yscale="log", xlabel="measured step [s]", ylabel="predicted step [s]",
             title="Steps of PyTorch, measured and predicted")
    right.set(xscale="log", xlabel="measured step [s]", ylabel="predicted / measured - 1 [%]", title="Error of the prediction")
    right.axhline(0, color="0.5", linewidth=0.8)
    ticks = [each for each in (0.2, 0.3, 0.4, 0.6, 0.8, 1, 1.5, 2, 3) if low < each < high]
    for axis in (left.xaxis, left.yaxis, right.xaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_minor_formatter(lambda *_: "")
    left.legend(handlelength=3, fontsize=9)
    figure.tight_layout()
    pictures.save(figure, "pytorch.png")


if __name__ == "__main__":
    assert {kind for *_, kinds in GROUPS for kind in kinds} >= {row["condition"]["kind"] for row in tables.first_rows()}
    main()
