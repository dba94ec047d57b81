#!/usr/bin/python3
"""Every plot of the documentation and of the notebooks can be read in grey and by a newcomer: curves
differ in their markers, handles of legends show whole dashes, axes have names, and no word is internal.

usage: figures_test.py          (exit 77 without matplotlib)
"""
import inspect
import itertools
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "notebooks"))
try:
    import matplotlib  # noqa: F401
except ImportError:
    print("skipped: no matplotlib")
    sys.exit(77)
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

import contention_plots
import dlcp_plots
import stepsim_plots

# Numbers of arms, scenarios and formulas, symbols that only a specification explains.
INTERNAL = re.compile(r"\barms? \d|\b[EFQ]\d+\b|\btau\b|\bhand(ed)?.over\b|\b[NSPpqn] = |\bneed\b"
                      r"|mg_wfbp|\bwfbp\b|\bddp\b")
MOST_CURVES = 5
LEAST_HANDLE = 5


def new_figure():
    figure = Figure()
    FigureCanvasAgg(figure)
    return figure


def sweep_axes():
    """The plot of a sweep, of made-up points."""
    schedules = ["wfbp", "single", "ddp", "mg_wfbp", "optimal"]
    points = [{"schedule": schedule, "nodes": nodes, "bandwidth_Bps": rate, "compute_s": 1e-2,
               "iteration_time_s": 1e-2 * (k + 2) * nodes, "scaling_efficiency": 1 / nodes / (k + 1)}
              for k, schedule in enumerate(schedules) for nodes in (2, 4) for rate in (1e9, 1e10)]
    figure = new_figure()
    axes = stepsim_plots.plot_sweep(figure, points, "title")
    handles = figure.legends[0].handlelength
    alone = new_figure().add_subplot()
    stepsim_plots.plot_efficiency(alone, [p for p in points if p["bandwidth_Bps"] == 1e9])
    by_network = new_figure().add_subplot()
    stepsim_plots.plot_efficiency(by_network, [p for p in points if p["schedule"] == schedules[0]])
    return [("sweep", axis, handles) for axis in axes.flat] + [
        (name, axis, axis.get_legend().handlelength)
        for name, axis in (("efficiency", alone), ("efficiency by network", by_network))]


def study_axes(module, results, extra):
    """The plots of a study, one per function (axis, results, ...) of the module."""
    for name, function in inspect.getmembers(module, inspect.isfunction):
        parameters = list(inspect.signature(function).parameters)
        if function.__module__ != module.__name__ or parameters[:2] != ["axis", "results"] or name == "over_drain":
            continue
        for arguments in extra.get(name, [{}]):
            axis = new_figure().add_subplot()
            function(axis, results, **arguments)
            yield f"{module.__name__}.{name}", axis, axis.get_legend().handlelength


def look_of(line):
    """What is left of a curve in grey: its marker and whether that is filled, or its dashes."""
    marker = str(line.get_marker())
    filled = to_rgba(line.get_markerfacecolor()) != to_rgba("white")
    return (marker, filled) if marker != "None" else line.get_linestyle()


def words_of(axis):
    yield from (axis.get_title(), axis.get_xlabel(), axis.get_ylabel())
    yield from (text.get_text() for text in axis.texts)
    yield from axis.get_legend_handles_labels()[1]
    for each in (axis.xaxis, axis.yaxis):
        yield from (text.get_text() for text in each.get_ticklabels())


def has_names(axis, each):
    """Whether an axis is labelled, or its ticks are words."""
    texts = [text.get_text() for text in each.get_ticklabels()]
    return bool(each.get_label().get_text()) or any(re.search("[A-Za-z]{3}", text) for text in texts)


def problems_of(name, axis, handle_length):
    axis.figure.canvas.draw()
    for words in words_of(axis):
        if INTERNAL.search(words):
            yield f"{name}: internal word: {words!r}"
    handles, labels = axis.get_legend_handles_labels()
    handles = [h[0] if isinstance(h, ErrorbarContainer) else h for h in handles]
    curves = [(label, handle) for label, handle in zip(labels, handles) if hasattr(handle, "get_marker")]
    for (a, one), (b, other) in itertools.combinations(curves, 2):
        if look_of(one) == look_of(other):
            yield f"{name}: {a!r} and {b!r} look alike in grey: {look_of(one)}"
    if len([1 for _, handle in curves if isinstance(look_of(handle), tuple)]) > MOST_CURVES:
        yield f"{name}: more than {MOST_CURVES} curves"
    if handle_length < LEAST_HANDLE:
        yield f"{name}: handles of the legend are {handle_length} long, at least {LEAST_HANDLE} show the dashes"
    if name != "sweep" and not (has_names(axis, axis.xaxis) and has_names(axis, axis.yaxis)):
        yield f"{name}: an axis without a name"


def colours_outside_the_table():
    """Colours that are spelled in a program, a page or a notebook: sim/plot/colours.hpp has them all."""
    files = subprocess.run(["git", "ls-files", "sim", "web", "notebooks", "docs/*.py", "python"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    return [f"{name}: {found}" for name in files if name != "sim/plot/colours.hpp"
            for found in re.findall(r"#[0-9a-fA-F]{6}\b|\"#(?!fff|000)[0-9a-fA-F]{3}\"", (ROOT / name).read_text(errors="replace"))]


def main():
    contention, dlcp = contention_plots.study.read(), dlcp_plots.ablation.read()
    more = {"q1": [{}, {"bounded": True}], "q12": [{}, {"packets": 4000}], "q13": [{}, {"network": "1 MiB in all"}],
            "q14_training": [{}, {"file": "ring"}],
            "arms": [{"point": ("E1", "resnet50, 10G, S = 10"), "title": "ten servers"},
                     {"point": ("E2", "resnet50, 10G, ring"), "title": "ring"}]}
    plots = [*study_axes(contention_plots, contention, more), *study_axes(dlcp_plots, dlcp, more), *sweep_axes()]
    problems = [problem for plot in plots for problem in problems_of(*plot)] + colours_outside_the_table()
    print("\n".join(problems) or f"{len(plots)} plots: nothing found")
    return 1 if problems or len(plots) < 25 else 0


if __name__ == "__main__":
    sys.exit(main())
