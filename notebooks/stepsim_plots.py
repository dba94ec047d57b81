"""What the notebooks, the quickstart and the figures of the documentation share: reading sweeps and
traces, one look per schedule, the two plots of a sweep and the picture of a timeline.

Only the standard library and matplotlib; colours are those of the program's drawings and pages, whose
table is read here. Every line has a marker and dashes of its own as well, so that a print in grey still tells
them apart, and the handles of a legend are long enough to show the dashes.
"""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap

from matplotlib.container import ErrorbarContainer
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

WORDS = {"wfbp": "one message per gradient", "single": "one message after backward",
         "ddp": "PyTorch's buckets", "horovod": "Horovod's fusion buffer and cycle",
         "mg_wfbp": "greedy merge (MG-WFBP)", "optimal": "the best merge",
         "eager": "all that is ready"}

SOLID, DASHED, DOTTED = "-", (0, (4, 2)), (0, (1, 1.5))
DASH_DOT, LONG_DASHES = (0, (6, 2, 1, 2)), (0, (9, 3))

# Name -> colour, and what has the colour of a rank wherever it is shown.
_TABLE = (pathlib.Path(__file__).parents[1] / "sim/plot/colours.hpp").read_text()
COLOURS = dict(re.findall(r'Colour\{"([^"]+)", "(#\w+)"', _TABLE))
COLOURS |= {word: COLOURS[f"rank {rank}"] for word, rank in re.findall(r'Thing\{"(\w+)", (\d)\}', _TABLE)}

# schedule -> (colour, marker, dashes)
LOOKS = {
    "wfbp": (COLOURS["wfbp"], "o", SOLID), "single": (COLOURS["single"], "s", DASHED), "ddp": (COLOURS["ddp"], "^", DASH_DOT),
    "horovod": (COLOURS["more 0"], "v", SOLID), "mg_wfbp": (COLOURS["mg_wfbp"], "D", DOTTED),
    "optimal": (COLOURS["optimal"], "*", LONG_DASHES), "eager": (COLOURS["more 1"], "P", DASHED),
}
OTHER_LOOKS = [(COLOURS["rank 4"], "x", DASH_DOT), (COLOURS["rank 3"], "<", LONG_DASHES), (COLOURS["rank 1"], ">", DOTTED),
               (COLOURS["rank 0"], "h", SOLID)]
HANDLE_LENGTH = 5.5 # of a legend, in letters: the longest dashes twice


def look(schedule, index=0):
    return LOOKS.get(schedule) or OTHER_LOOKS[index % len(OTHER_LOOKS)]


def named(schedule):
    """What the schedule does, for a legend."""
    return WORDS.get(schedule, schedule)


def legend_entries(axis):
    """(handles, labels) without bars of errors, which would hide the dashes."""
    handles, labels = axis.get_legend_handles_labels()
    return [h[0] if isinstance(h, ErrorbarContainer) else h for h in handles], labels


def read_json(file):
    file = pathlib.Path(file)
    opener = gzip.open if file.read_bytes()[:2] == b"\x1f\x8b" else open
    with opener(file, "rt", encoding="utf-8") as stream:
        return json.load(stream)


def read_sweep(file):
    """(header, points) of a sweep file in JSON Lines; points that failed are left out. ValueError for
    a record without the value of an axis."""
    lines = [json.loads(line) for line in pathlib.Path(file).read_text("utf-8").splitlines()]
    header = next(line for line in lines if line["record"] == "header")
    for number, line in enumerate(lines, 1):
        for field in (axis["field"] for axis in header["axes"] if line["record"] == "point"):
            name = field.rsplit("/", 1)[1]
            if name not in line and field not in line:
                raise ValueError(f"line {number} has no {name}, an axis of the sweep")
    points = [line for line in lines if line["record"] == "point" and line["status"] == "ok"]
    return header, points


def scenario_of(file):
    """(scenario, the folder its file names are relative to) of a sweep, its results or a scenario."""
    file = pathlib.Path(file)
    if file.suffix == ".jsonl":
        scenario = read_sweep(file)[0]["scenario"]
    else:
        tree = read_json(file)
        scenario = tree.get("scenario", tree)
    if isinstance(scenario, dict):
        return scenario, file.parent
    return read_json(file.parent / scenario), (file.parent / scenario).parent


def trace_of(file):
    """The trace that a sweep, its results or a scenario names; None where it names none."""
    scenario, folder = scenario_of(file)
    trace = scenario["workload"].get("trace")
    return read_json(folder / trace) if trace else None


def provenance(trace):
    """Where the layer times come from, in a few words for a title."""
    ranks = trace.get("ranks") or 1
    device = trace.get("device") or "unknown device"
    return f"{trace['name']}: layer times {trace['provenance']}, from a run on {ranks} x {device}"


def origin(trace):
    """The same for the title of a picture."""
    return f"layer times of a run on {trace.get('ranks') or 1} x {trace.get('device') or 'an unknown device'}"


def rate(bytes_per_second):
    """12.5e9 -> "100 Gb/s"."""
    return f"{bytes_per_second * 8 / 1e9:g} Gb/s"


def values(points, key):
    """The different values of a field, in the order in which they come."""
    return list(dict.fromkeys(point[key] for point in points))


def network(point):
    """What a reader calls the network of a point: the name it was given, else its bandwidth."""
    return point.get("name") or rate(point["bandwidth_Bps"])


def networks(points):
    return list(dict.fromkeys(map(network, points)))


def settings_of(header, point):
    """{pointer: value}: what makes the sweep's scenario into this point."""
    return {axis["field"]: point[axis["field"].rsplit("/", 1)[1]] for axis in header["axes"]}


def log_ticks(axis, places, text="{:g}"):
    """A logarithmic axis with a tick at each of the places and nowhere else."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda place, _: text.format(place)))


def wrapped(text, width):
    """Lines of at most so many letters, for a narrow place."""
    return "\n".join(textwrap.wrap(text, width))


def compute_of(points):
    """The iteration time without any communication, seconds."""
    return min(point["compute_s"] for point in points)


def plot_sweep(figure, points, title):
    """Small multiples: a column per network; above iteration time, below scaling efficiency."""
    columns = networks(points)
    schedules = values(points, "schedule")
    nodes = values(points, "nodes")
    axes = figure.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False)
    for column, name in enumerate(columns):
        top, bottom = axes[0][column], axes[1][column]
        for index, schedule in enumerate(schedules):
            color, marker, dashes = look(schedule, index)
            line = [p for p in points if network(p) == name and p["schedule"] == schedule]
            style = dict(color=color, marker=marker, markersize=5, linewidth=1.6, linestyle=dashes,
                         label=named(schedule))
            top.plot([p["nodes"] for p in line], [1e3 * p["iteration_time_s"] for p in line], **style)
            bottom.plot([p["nodes"] for p in line], [100 * p["scaling_efficiency"] for p in line],
                        **style)
        top.axhline(1e3 * compute_of(points), color="black", linewidth=0.8, linestyle=":",
                    label="computation alone")
        top.set_title(name, fontsize=10)
        top.set_yscale("log")
        top.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        for axis in (top, bottom):
            log_ticks(axis.xaxis, nodes)
            axis.tick_params(axis="x", labelsize=8)
            axis.grid(True, which="major", color=COLOURS["grid"], linewidth=0.6)
            axis.set_axisbelow(True)
        bottom.set_ylim(0, 104)
        bottom.set_xlabel("nodes")
    axes[0][0].set_ylabel("iteration time [ms]")
    axes[1][0].set_ylabel("scaling efficiency [%]")
    figure.suptitle(title, fontsize=10)
    figure.legend(*legend_entries(axes[0][0]), loc="lower center", ncol=3, frameon=False, fontsize=9,
                  handlelength=HANDLE_LENGTH)
    figure.tight_layout(rect=(0, 0.1, 1, 0.98))
    return axes


def knee(line, target):
    """The last point of a curve that begins above the target and falls below it; None for others."""
    above = [p["scaling_efficiency"] >= target for p in line]
    return line[above.index(False) - 1] if above[0] and not all(above) else None


def plot_efficiency(axis, points, target=0.9):
    """How far training scales, with the knee: the last node count at the target. A curve for each
    schedule, or, of points with one schedule, for each network."""
    nodes = values(points, "nodes")
    by_network = len(values(points, "schedule")) == 1
    name_of = network if by_network else lambda p: p["schedule"]
    for index, name in enumerate(networks(points) if by_network else values(points, "schedule")):
        color, marker, dashes = list(LOOKS.values())[index] if by_network else look(name, index)
        line = [p for p in points if name_of(p) == name]
        axis.plot([p["nodes"] for p in line], [100 * p["scaling_efficiency"] for p in line],
                  color=color, marker=marker, markersize=6, linewidth=1.8, linestyle=dashes,
                  label=named(name))
        if last := knee(line, target):
            axis.annotate(f"knee: {last['nodes']} nodes", (last["nodes"], 100 * last["scaling_efficiency"]),
                          xytext=(-58, -34), textcoords="offset points", fontsize=9,
                          arrowprops={"arrowstyle": "->", "color": "black"})
    axis.axhline(100 * target, color="black", linewidth=0.8, linestyle=":")
    axis.text(nodes[0], 100 * target - 1.5, f"{100 * target:g} %", va="top", fontsize=9)
    log_ticks(axis.xaxis, nodes)
    axis.set_ylim(0, 104)
    axis.set_xlabel("nodes, one GPU each")
    axis.set_ylabel("scaling efficiency [%]")
    axis.grid(True, which="major", color=COLOURS["grid"], linewidth=0.6)
    axis.set_axisbelow(True)
    beside = {"loc": "center left", "bbox_to_anchor": (1, 0.5)} # curves of networks can lie anywhere
    axis.legend(frameon=False, fontsize=9, handlelength=HANDLE_LENGTH,
                **(beside if by_network else {"loc": "lower left"}))


def edges(places):
    """Borders of the cells around places on a logarithmic axis, halfway between them."""
    between = [(a * b) ** 0.5 for a, b in zip(places, places[1:])]
    return [places[0] ** 2 / between[0], *between, places[-1] ** 2 / between[-1]]


def by_cell(points, x="bandwidth_Bps", y="nodes"):
    """(values of x, values of y, {(x, y): the points there, fastest first})."""
    cells = {}
    for point in sorted(points, key=lambda point: point["iteration_time_s"]):
        cells.setdefault((point[x], point[y]), []).append(point)
    return sorted({place[0] for place in cells}), sorted({place[1] for place in cells}), cells


def plot_winners(axis, cells, xs, ys, alike=0.02, unsure=()):
    """A map of cells in the colour of the fastest schedule; grey where the next one takes at most
    `alike` longer, hatched in the cells of `unsure`. Returns the patches of a legend."""
    lefts, bottoms = edges(xs), edges(ys)
    seen = {}
    for (column, row), (best, *others) in cells.items():
        ties = bool(others) and others[0]["iteration_time_s"] <= (1 + alike) * best["iteration_time_s"]
        color = COLOURS["band"] if ties else look(best["schedule"])[0]
        i, j = xs.index(column), ys.index(row)
        corner, size = (lefts[i], bottoms[j]), (lefts[i + 1] - lefts[i], bottoms[j + 1] - bottoms[j])
        axis.add_patch(Rectangle(corner, *size, facecolor=color, linewidth=0, alpha=1 if ties else 0.75))
        seen.setdefault("" if ties else named(best["schedule"]), color)
        if (column, row) in unsure and not ties:
            axis.add_patch(Rectangle(corner, *size, fill=False, hatch="///", edgecolor="white", linewidth=0))
    axis.set(xlim=(lefts[0], lefts[-1]), ylim=(bottoms[0], bottoms[-1]))
    log_ticks(axis.xaxis, xs)
    log_ticks(axis.yaxis, ys)
    entries = [Patch(facecolor=color, alpha=0.75, label=f"fastest: {name}") for name, color in sorted(seen.items()) if name]
    if "" in seen:
        entries.append(Patch(facecolor=seen[""], label=f"grey: two or more within {100 * alike:g} %"))
    if unsure:
        entries.append(Patch(facecolor="grey", edgecolor="white", hatch="///", label="hatched: led by more, but not sure"))
    return entries


def plot_contours(axis, value, xs, ys, levels, text="{:g} %", color="black"):
    """Lines of equal value({x, y}) with their numbers over a map of the same cells."""
    drawn = axis.contour(xs, ys, [[value[column, row] for column in xs] for row in ys], levels=levels,
                         colors=color, linewidths=1.4)
    for label in axis.clabel(drawn, fmt=lambda level: text.format(level), fontsize=9, inline_spacing=1):
        label.set(rotation=0, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    return drawn


def slices(timeline):
    """[{process, thread, name, start_s, end_s, args}] of the complete events of a timeline file."""
    events = timeline["traceEvents"]
    process, thread = {}, {}
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_name":
            process[event["pid"]] = event["args"]["name"]
        if event["ph"] == "M" and event["name"] == "thread_name":
            thread[event["pid"], event["tid"]] = event["args"]["name"]
    return [{"process": process.get(e["pid"], str(e["pid"])),
             "thread": thread.get((e["pid"], e["tid"]), str(e["tid"])),
             "name": e["name"], "category": e.get("cat", ""), "start_s": e["ts"] / 1e6, "end_s": (e["ts"] + e["dur"]) / 1e6,
             "args": e.get("args", {})} for e in events if e["ph"] == "X"]




def plot_timeline(axis, found, process, window_s=None):
    """One node as horizontal bars, a row per thread; messages carry their number."""
    found = [s for s in found if s["process"] == process]
    start, end = window_s or (min(s["start_s"] for s in found), max(s["end_s"] for s in found))
    found = [s for s in found if s["end_s"] > start and s["start_s"] < end]
    threads = values(found, "thread")
    seen = {}
    for s in found:
        color = COLOURS.get(s["category"], COLOURS["rest"])
        row = len(threads) - 1 - threads.index(s["thread"])
        left, right = max(s["start_s"], start), min(s["end_s"], end)
        # Layers touch each other, messages get an edge that keeps them apart.
        bar = axis.barh(row, 1e3 * (right - left), left=1e3 * (left - start), height=0.7, color=color,
                        edgecolor="white", linewidth=0.4 * (s["category"] == "communication"))
        seen.setdefault(s["category"], bar)
        if s["category"] == "communication" and right - left > 0.02 * (end - start):
            axis.text(1e3 * ((left + right) / 2 - start), row, str(s["args"].get("bucket", "")),
                      ha="center", va="center", fontsize=7)
    axis.set_yticks(range(len(threads)), labels=threads[::-1])
    axis.set_xlim(0, 1e3 * (end - start))
    axis.set_xlabel("time [ms]")
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    return seen


def run_with_timeline(stepsim, file, settings):
    """(result, slices of node 0 in one steady iteration) of the scenario of `file`, changed."""
    scenario, folder = scenario_of(file)
    with tempfile.TemporaryDirectory() as scratch:
        picture = pathlib.Path(scratch, "timeline.json.gz")
        program = shutil.which(stepsim) or stepsim
        command = [pathlib.Path(program).resolve(), "run", "-", "--json", "--quiet", "--timeline", picture,
                   "--timeline-nodes", "0", "--timeline-iterations", "1-1"]
        for pointer, value in settings.items():
            command += ["--set", f"{pointer}={value}"]
        done = subprocess.run(command, input=json.dumps(scenario).encode(), cwd=folder, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout), slices(read_json(picture))


def compare_timelines(figure, stepsim, sweep_file, header, points):
    """One iteration of node 0 of each point (they differ in schedule) on the same time axis."""
    found = {point["schedule"]: run_with_timeline(stepsim, sweep_file, settings_of(header, point))
             for point in points}
    starts = {k: min(s["start_s"] for s in each) for k, (_, each) in found.items()}
    longest = max(max(s["end_s"] for s in each) - starts[k] for k, (_, each) in found.items())
    axes = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
    seen = {}
    for axis, (schedule, (result, each)) in zip(axes, found.items()):
        window = (starts[schedule], starts[schedule] + longest)
        seen.update(plot_timeline(axis, each, each[0]["process"], window))
        summary = result["summary"]
        words = named(schedule)
        axis.set_title(f"{words[0].upper()}{words[1:]}: "
                       f"{1e3 * summary['iteration_time_s']:.1f} ms, of it "
                       f"{1e3 * summary['exposed_communication_s']:.1f} ms exposed communication",
                       fontsize=10, loc="left")
        if axis is not axes[-1]:
            axis.set_xlabel("")
    figure.suptitle(f"One iteration on {points[0]['nodes']} nodes, {network(points[0])}; "
                    f"{origin(trace_of(sweep_file))}", fontsize=10)
    figure.legend(seen.values(), seen.keys(), loc="lower center", ncol=len(seen), frameon=False,
                  fontsize=9)
    figure.tight_layout(rect=(0, 0.05, 1, 0.99))
    return axes
