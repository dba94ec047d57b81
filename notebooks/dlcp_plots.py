"""The plots of the ablation of DLCP (docs/dlcp.md), from its results.

A bar or marker is a median over seeds, a line through it the interval of docs/contention_tables.py.
"""
import pathlib
import sys

from matplotlib.ticker import FuncFormatter, NullLocator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import dlcp_ablation as ablation
import dlcp_tables as tables
from contention_tables import interval, median
from stepsim_plots import COLOURS, DASH_DOT, DASHED, DOTTED, HANDLE_LENGTH, LONG_DASHES, SOLID, legend_entries

RENO, DCTCP, DLCP, SLICED, GREY = COLOURS["rank 1"], COLOURS["rank 3"], COLOURS["rank 0"], COLOURS["rank 2"], COLOURS["guide"]
FULL = ablation.FULL

# Arm -> what a reader calls it.
WORDS = {"1 fifo, reno": "TCP Reno, whole tensors", "2 priority, reno": "TCP Reno, slices by priority",
         "3 priority, dctcp": "DCTCP, slices by priority", "4 dlcp, bounded loss": "DLCP: bounded loss only",
         "5 + queue by layer": "+ queue by layer", "6 + selective drop": "+ selective drop",
         FULL: "+ random paths: all of DLCP", "8 the same, p = 0": "all of DLCP, no loss allowed",
         ablation.SLICED: "all of DLCP, slices", ablation.ONE_QUEUE: "the same, one queue"}
SHORT = {**WORDS, FULL: "DLCP, whole tensors", ablation.SLICED: "DLCP, slices"}
MODELS = {"resnet50": "ResNet-50", "vgg16": "VGG-16"}


def words(arm):
    """As WORDS; with the timeout where it is not 10 ms."""
    name, late, _ = arm.partition(", RTO 200 ms")
    return WORDS[name] + (", timeout 200 ms" if late else "")


def condition(text):
    """"resnet50, 10G, S = 1" -> "ResNet-50, 10 Gb/s, 1 server"."""
    model, speed, exchange = text.split(", ")
    count = exchange.removeprefix("S = ")
    if count != exchange:
        exchange = f"{count} server{'s' if count != '1' else ''}"
    return ", ".join([MODELS[model], speed.replace("G", " Gb/s"), exchange.replace("on workers", "servers on workers")])


def network(text):
    """"RTO_min 1 ms" -> "timeout 1 ms"."""
    return text.replace("RTO_min", "timeout").replace("10 ms, 100", "10 ms, buffer 100").replace(
        "thresholds", "marking thresholds")


def color(arm):
    if arm in ablation.MORE:
        return SLICED
    return DCTCP if "dctcp" in arm else RENO if "reno" in arm else DLCP


def plain(axis, ticks):
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xticks(ticks)
    axis.xaxis.set_minor_locator(NullLocator())


def finish(axis, x, title, legend=None):
    axis.set_xlabel(x)
    axis.set_title(title, fontsize=10)
    axis.grid(True, axis="x", color=COLOURS["grid"], linewidth=0.6)
    axis.set_axisbelow(True)
    if legend:
        axis.legend(*legend_entries(axis), fontsize=8, loc=legend, frameon=False, handlelength=HANDLE_LENGTH)


def spread(values, scale):
    middle, (low, high) = median(values), interval(values)
    return scale * middle, [[scale * (middle - low)], [scale * (high - middle)]]


def arms(axis, results, point, title):
    """A bar per arm; what is right of the line is not hidden behind computing."""
    names = [name for name in ablation.EVERY if tables.has(results, point, name)]
    for row, name in enumerate(names):
        width, error = spread(tables.seconds(results, point, name), 1e3)
        axis.barh(row, width, xerr=error, height=0.7, color=color(name), capsize=3,
                  alpha=0.45 if name in ablation.LATE else 1)
        axis.annotate(f"{width:.0f}", (width + error[1][0], row), textcoords="offset points", xytext=(4, 0),
                      va="center", fontsize=8)
    computing = 1e3 * (median(tables.seconds(results, point, FULL))
                       - median(tables.seconds(results, point, FULL, "exposed_s")))
    axis.axvline(computing, color="black", linewidth=0.9, linestyle=":", label="computing alone")
    axis.set_yticks(range(len(names)), map(words, names), fontsize=8)
    axis.invert_yaxis()
    axis.margins(x=0.12)
    finish(axis, "iteration [ms]", title, "lower right")


def ladder(axis, results):
    """Whole tensors, step by step from TCP to all of dlcp."""
    steps = ["1 fifo, reno", "4 dlcp, bounded loss", "5 + queue by layer", FULL, "8 the same, p = 0"]
    looks = {"resnet50, 10G, S = 1": (GREY, "o", SOLID), "resnet50, 10G, S = 10": (DLCP, "^", DASHED),
             "vgg16, 10G, S = 1": (COLOURS["more 0"], "D", DASH_DOT), "vgg16, 10G, S = 10": (RENO, "s", DOTTED),
             "resnet50, 10G, ring": (COLOURS["rank 4"], "P", LONG_DASHES)}
    for x, (shade, marker, dashes) in looks.items():
        point = "E2" if x.endswith("ring") else "E1", x
        base = tables.seconds(results, point, steps[0])
        each = [[t / b for t, b in zip(tables.seconds(results, point, arm), base)] for arm in steps]
        axis.plot(range(len(steps)), [median(values) for values in each], color=shade, marker=marker,
                  linestyle=dashes, label=condition(x))
    axis.set_xticks(range(len(steps)), ["TCP Reno", "bounded\nloss", "+ queue\nby layer", "+ selective\ndrop",
                                        "the same,\nno loss allowed"], fontsize=8)
    axis.set_ylim(0, 1.1)
    axis.set_ylabel("iteration / iteration of TCP Reno")
    finish(axis, "parts of DLCP, whole tensors", "What each part adds", "lower left")
    axis.grid(True, axis="y", color=COLOURS["grid"], linewidth=0.6)


def gains(axis, results):
    """Over the fastest of the arms with TCP, by condition."""
    rows = [(q, x) for q in ("E1", "E2") for x in tables.conditions(results, q)]
    looks = {(FULL, False): (DLCP, "^", "whole tensors, TCP timeout 10 ms"),
             (ablation.SLICED, False): (SLICED, "o", "slices, TCP timeout 10 ms"),
             (FULL, True): (DLCP, "^", "whole tensors, 200 ms"),
             (ablation.SLICED, True): (SLICED, "o", "slices, 200 ms")}
    for shift, ((arm, late), (shade, marker, label)) in zip((-0.2, -0.07, 0.07, 0.2), looks.items()):
        for row, point in enumerate(rows):
            base = tables.best_tcp(results, point, late)
            if base is None:
                continue
            found = tables.ratios(results, point, arm, base)
            middle, error = spread(found, 1)
            axis.errorbar([middle], [row + shift], xerr=error, color=shade, marker=marker, markersize=6,
                          markerfacecolor="white" if late else shade, capsize=2, linestyle="none",
                          label=label if row == 0 else None)
    axis.axvline(1, color="black", linewidth=0.9)
    axis.axvline(tables.PAPER_RATIO, color=GREY, linewidth=1.2, linestyle="--",
                 label="published, servers: up to 1.84")
    axis.axvline(1.11, color=GREY, linewidth=1.2, linestyle=":", label="published, ring: about 1.11")
    axis.set_yticks(range(len(rows)), [condition(x) for _, x in rows], fontsize=8)
    axis.invert_yaxis()
    axis.set_xscale("log")
    plain(axis, [0.5, 0.7, 1, 1.5, 2, 3, 5])
    axis.set_xlim(right=10) # room for the legend
    finish(axis, "iteration of the fastest TCP / iteration of DLCP", "Gain over TCP")
    axis.legend(*legend_entries(axis), fontsize=7, loc="center right", bbox_to_anchor=(1, 0.44), framealpha=0.9,
                handlelength=HANDLE_LENGTH)


def networks(axis, results):
    rows = tables.conditions(results, "networks")
    looks = {"2 priority, reno": (RENO, "s"), "3 priority, dctcp": (DCTCP, "D"), FULL: (DLCP, "^"),
             ablation.SLICED: (SLICED, "o")}
    for shift, (arm, (shade, marker)) in zip((-0.24, -0.08, 0.08, 0.24), looks.items()):
        for row, x in enumerate(rows):
            middle, error = spread(tables.seconds(results, tables.at_network(results, x, arm), arm), 1e3)
            axis.errorbar([middle], [row + shift], xerr=error, color=shade, marker=marker, capsize=2,
                          linestyle="none", label=SHORT[arm] if row == 0 else None)
    axis.set_yticks(range(len(rows)), map(network, rows), fontsize=8)
    axis.invert_yaxis()
    axis.set_xscale("log")
    plain(axis, [100, 150, 200, 300, 500, 1000])
    finish(axis, "iteration [ms]", "ResNet-50, ten servers: what the network is given", "lower right")


def line(axis, xs, each, shade, label, marker, dashes):
    ends = [spread(values, 1e3) for values in each]
    bars = [[error[side][0] for _, error in ends] for side in (0, 1)]
    axis.errorbar(xs, [middle for middle, _ in ends], yerr=bars, color=shade, marker=marker, linestyle=dashes,
                  markerfacecolor="white" if "ring" in label else shade, capsize=3, label=label)


def lossy(axis, results):
    looks = {"1 fifo, reno": (RENO, "o", SOLID), "3 priority, dctcp": (DCTCP, "D", DASHED), FULL: (DLCP, "^", DASH_DOT)}
    losses = ["0 %", "0.01 %", "0.1 %", "1 %"]
    for shape, exchange in (("S = 10", "10 servers"), ("ring", "ring")):
        for arm, (shade, marker, dashes) in looks.items():
            if tables.has(results, ("E5", f"{shape}, 0 %"), arm):
                line(axis, range(len(losses)),
                     [tables.seconds(results, ("E5", f"{shape}, {loss}"), arm) for loss in losses], shade,
                     f"{SHORT[arm]}, {exchange}", marker, dashes)
    axis.set_xticks(range(len(losses)), losses)
    axis.set_yscale("log")
    axis.set_ylabel("iteration [ms]")
    axis.set_ylim(80, 1500)
    axis.set_yticks([100, 200, 500, 1000])
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_locator(NullLocator())
    finish(axis, "loss of one worker's link", "Grey failure", "upper left")
    axis.grid(True, axis="y", color=COLOURS["grid"], linewidth=0.6)


def bounds(axis, results):
    looks = {"q = 0": (DLCP, "^", SOLID), "q = 0.05": (RENO, "o", DASHED)}
    for name, (shade, marker, dashes) in looks.items():
        xs = tables.conditions(results, "E6")
        line(axis, [float(x) for x in xs], [tables.seconds(results, ("E6", x), name) for x in xs], shade,
             f"one link loses {100 * float(name.split()[2]):g} %", marker, dashes)
    axis.set_ylabel("iteration [ms]")
    axis.set_ylim(bottom=0)
    finish(axis, "loss bound", "What the bound buys: less than seeds differ", "lower left")
