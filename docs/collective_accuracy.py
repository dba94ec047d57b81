#!/usr/bin/python3
"""The section "Collectives of NCCL" of docs/accuracy.md: predictions beside public measurements of nccl-tests.

usage: docs/collective_accuracy.py [--data measurements.csv.gz] [--bin build] [--check]

The measurements are figures of other people's logs, a table with the columns system, op, nodes, gpus_per_node,
bytes, time_us, config, nccl_version. Rewrites what stands between the markers of the section; --check changes
nothing and exits 1 where the section is out of date, 77 where there are no measurements. The page holds summaries of errors and
names the source of each; measured rows are not in it.
"""
import argparse
import collections
import csv
import gzip
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import textwrap

import page_section

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/accuracy.md"
KIB, MIB = 1 << 10, 1 << 20
LEAST_POINTS = 6  # of a fit
OPERATIONS = {"allreduce", "allgather", "reduce_scatter", "broadcast", "reduce", "alltoall"}  # of the model

Point = collections.namedtuple("Point", "op shape bytes seconds")
System = collections.namedtuple("System", "words preset keep source")

ANY = {}
SYSTEMS = {
    "h100-x1": System("10 nodes of 8 H100, 400 Gb/s a GPU", "dgx_h100", ANY,
                      "xxrjun/nccl-tests-cluster"),
    "h100-x-awsbatch": System("one node of 8 H100", "p5", ANY, "awslabs/awsome-distributed-training"),
    "h100-p5readme": System("2 nodes of 8 H100, EFA", "p5", ANY, "awslabs/awsome-distributed-training"),
    "a100-p4de": System("2 nodes of 8 A100, EFA", "p4d", ANY, "awslabs/awsome-distributed-training"),
    "a100-superbench": System("one node of 8 A100", "dgx_a100", ANY, "microsoft/superbenchmark"),
    "a100-abci": System("1 to 16 nodes of 8 A100, 4 cards of 200 Gb/s", "a100x8n4", ANY,
                        "aistabci/abci2.0benchmark"),
    "a100-polaris": System("2 to 64 nodes of 4 A100, Slingshot", "polaris",
                           {"config": "s5", "nccl_version": "2.18", "most_nodes": 64},
                           "argonne-lcf/alcf-nccl-tests"),
    "mi300x-aac8": System("one node of 8 MI300X, RCCL", "mi300x", ANY, "hisohara/ai-scripts"),
    "h100-coreweave": System("8 nodes of 8 H100", "dgx_h100", ANY, "coreweave/nccl-tests"),
    "gb200-coreweave": System("1, 2 and 20 racks of 72 GB200", "gb200_nvl72", ANY, "coreweave/nccl-tests"),
}
SIZES = [("below 64 KiB", 0, 64 * KIB), ("64 KiB to 1 MiB", 64 * KIB, MIB), ("1 to 32 MiB", MIB, 32 * MIB),
         ("32 MiB and more", 32 * MIB, math.inf)]


def shape_text(shape):
    return f"{shape[0]}x{shape[1]}"


def points_of(rows, system, keep):
    """Median time of every (operation, shape, size) of a system."""
    times = collections.defaultdict(list)
    for row in rows:
        if row["system"] != system or row["op"] not in OPERATIONS or any(row[key] != keep[key] for key in ("config", "nccl_version") if key in keep):
            continue
        shape = int(row["nodes"]), int(row["gpus_per_node"])
        if shape[0] <= keep.get("most_nodes", math.inf) and float(row["time_us"]) > 0:
            times[row["op"], shape, int(row["bytes"])].append(float(row["time_us"]) * 1e-6)
    return [Point(*key, statistics.median(each)) for key, each in sorted(times.items())]


def version_of(rows, system, keep):
    """The flags for the oldest release that the rows name; none where they name none."""
    found = {row["nccl_version"] for row in rows if row["system"] == system and row["nccl_version"] and all(
        row[key] == keep[key] for key in ("config", "nccl_version") if key in keep)}
    oldest = min(found, key=lambda version: [int(part) for part in version.split(".")], default="")
    return ["--library-version", ".".join(oldest.split(".")[:2])] if oldest else []


def usable(point):
    """What a fit takes: 8 bytes and more, and at least 4 for each rank of an all-gather or reduce-scatter."""
    if point.bytes < 8:
        return False
    per_rank = point.op in ("allgather", "reduce_scatter")
    return not per_rank or point.bytes >= 4 * point.shape[0] * point.shape[1]


class Tool:
    """The programs, in a folder of their own."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder, self.fits = binaries, pathlib.Path(folder), 0
        self.version = []  # of the library that is predicted, as flags

    def printed(self, program, *arguments):
        done = subprocess.run([self.binaries / program, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{program} {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def fitted(self, points, preset):
        """The file of a fit to these points."""
        self.fits += 1
        table, file = self.folder / f"{self.fits}.csv", self.folder / f"{self.fits}.library.json"
        with open(table, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow("system op nodes gpus_per_node bytes time_us".split())
            for point in points:
                writer.writerow(["fit", point.op, *point.shape, point.bytes, repr(point.seconds * 1e6)])
        self.printed("stepsim-calibrate", "fit-library", table, "--preset", preset, *self.version, "-o", file,
                     "--quiet")
        return file

    def errors(self, points, preset, file=None, residual="none"):
        """[(point, predicted / measured - 1)]"""
        groups = collections.defaultdict(list)
        for point in points:
            groups[point.op, point.shape].append(point)
        result = []
        for (op, shape), each in groups.items():
            library = ["--library", file, "--residual", residual] if file else []
            text = self.printed("stepsim", "collective", "--op", op, "--algorithm", "library", "--preset", preset,
                                *self.version, *library, "--shape", shape_text(shape), "--bytes",
                                ",".join(str(point.bytes) for point in each), "--json", "--quiet")
            records = map(json.loads, text.splitlines())
            seconds = {record["bytes"]: record["seconds"] for record in records}
            result += [(point, seconds[point.bytes] / point.seconds - 1) for point in each]
        return result


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered), math.ceil(share * len(ordered))) - 1]


def summary(errors):
    """ "median / 90th percentile / worst", % """
    sizes = [abs(error) for _, error in errors]
    if not sizes:
        return "–"
    parts = [statistics.median(sizes), quantile(sizes, 0.9), max(sizes)]
    return " / ".join(f"{100 * part:.1f}" if part < 0.0995 else f"{100 * part:.0f}" for part in parts)


def left_out(tool, points, preset):
    """Errors on each shape of a fit without it; with one shape alone, on every second size of a fit to the others."""
    shapes = sorted({point.shape for point in points})
    parts = [lambda p, shape=shape: p.shape == shape for shape in shapes]
    if len(shapes) == 1:
        sizes = sorted({(point.op, point.bytes) for point in points})
        place = {size: i % 2 for i, size in enumerate(sizes)}
        parts = [lambda p, odd=odd: place[p.op, p.bytes] == odd for odd in (0, 1)]
    errors = []
    for part in parts:
        tested = [point for point in points if part(point)]
        trained = [point for point in points if not part(point)]
        errors += tool.errors(tested, preset, tool.fitted(trained, preset))
    return errors


def half_split(points):
    """(trained, tested): every second size of every operation and shape."""
    trained, tested = [], []
    groups = collections.defaultdict(list)
    for point in points:
        groups[point.op, point.shape].append(point)
    for each in groups.values():
        trained += each[0::2]
        tested += each[1::2]
    return trained, tested


def paragraph(text):
    return textwrap.fill(text, 170, break_long_words=False, break_on_hyphens=False)


def table(headings, rows):
    return ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def section(tool, data):
    columns = {name: [] for name in ("sheet", "all", "out", "half", "corrected")}
    systems = []
    for name, system in SYSTEMS.items():
        points = [point for point in points_of(data, name, system.keep) if usable(point)]
        if not points:
            continue
        tool.version = version_of(data, name, system.keep)
        cells = {"sheet": tool.errors(points, system.preset)}
        if len(points) >= 2 * LEAST_POINTS:
            file = tool.fitted(points, system.preset)
            cells["all"] = tool.errors(points, system.preset, file)
            cells["out"] = left_out(tool, points, system.preset)
            trained, tested = half_split(points)
            half = tool.fitted(trained, system.preset)
            cells["half"] = tool.errors(tested, system.preset, half)
            cells["corrected"] = tool.errors(tested, system.preset, half, "kriging")
        for column, errors in cells.items():
            columns[column] += errors
        systems.append([system.words, f"[{system.source}](https://github.com/{system.source})", str(len(points)),
                        *(summary(cells.get(column, [])) for column in columns)])
    lines = [paragraph("Predicted against measured times of nccl-tests in public logs: median / 90th percentile / worst of "
             "\\|predicted / measured - 1\\|, %. *Sheet*: the node type and published constants alone. *All*: fitted "
             "to all rows of the system, error on the same rows. *Shape left out*: each shape predicted by a fit to "
             "the others; every second size, where there is one shape. *Half*: fitted to every second size of every "
             "shape, error on the other sizes; *corrected* by the residuals of the sizes that were measured."), ""]
    headings = ["rows", "sheet", "all", "shape left out", "half", "half, corrected"]
    lines += table(["system", "source", *headings], systems)
    lines += table(["operation", *headings],
                   [[op, str(len([1 for p, _ in columns["sheet"] if p.op == op])),
                     *(summary([e for e in errors if e[0].op == op]) for errors in columns.values())]
                    for op in sorted({point.op for point, _ in columns["sheet"]})])
    lines += table(["size", *headings],
                   [[words, str(len([1 for p, _ in columns["sheet"] if low <= p.bytes < high])),
                     *(summary([e for e in errors if low <= e[0].bytes < high]) for errors in columns.values())]
                    for words, low, high in SIZES])
    return lines + few_shapes(tool, data) + far_shapes(tool, data)


def few_shapes(tool, data):
    """Three shapes of one system predict its others."""
    system = SYSTEMS["h100-x1"]
    points = [point for point in points_of(data, "h100-x1", system.keep) if usable(point)]
    chosen = [(1, 8), (10, 1), (10, 8)]
    trained = [point for point in points if point.shape in chosen]
    tested = [point for point in points if point.shape not in chosen]
    if not trained or not tested:
        return []
    tool.version = version_of(data, "h100-x1", system.keep)
    errors = tool.errors(tested, system.preset, tool.fitted(trained, system.preset))
    others = len({point.shape for point in tested})
    return [paragraph(f"Three shapes are enough on the first system: from logs of one node, of one GPU on each of ten nodes and of "
                      f"all ten nodes, the {others} other shapes ({len(tested)} rows) are predicted within {summary(errors)} %."), ""]


def far_shapes(tool, data):
    """32 GPUs of one system predict up to 2,160."""
    system = SYSTEMS["a100-polaris"]
    points = [point for point in points_of(data, "a100-polaris", {"config": "s5"}) if usable(point)]
    trained = [point for point in points if point.shape == (8, 4)]
    tested = [point for point in points if point.shape[0] in (128, 256, 540)]
    if not trained or not tested:
        return []
    tool.version = version_of(data, "a100-polaris", {"config": "s5"})
    errors = tool.errors(tested, system.preset, tool.fitted(trained, system.preset))
    shapes = sorted({point.shape for point in tested})
    operations = sorted({point.op for point in tested})
    lines = [paragraph("How far a fit to 32 GPUs (8 nodes of 4 A100, Slingshot) carries: median / worst error on 512, 1,024 and "
             "2,160 GPUs of the same machine, with sign, %. Nothing of these sizes is in the fit, and congestion of "
             "the fabric is not in the model."), ""]
    rows = []
    for words, low, high in SIZES:
        row = [words]
        for shape in shapes:
            for op in operations:
                each = [error for point, error in errors
                        if point.shape == shape and point.op == op and low <= point.bytes < high]
                row.append(f"{100 * statistics.median(each):+.0f} / {100 * max(each, key=abs):+.0f}" if each else "–")
        rows.append(row)
    headings = ["size", *(f"{shape_text(shape)} {op}" for shape in shapes for op in operations)]
    return lines + table(headings, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", default=ROOT / "../shared/data/collectives/measurements.csv.gz", type=pathlib.Path)
    parser.add_argument("--bin", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.data.exists():
        print(f"{options.data}: no such file: nothing to compare with")
        return 77 if options.check else 1
    with gzip.open(options.data, "rt", encoding="utf-8", newline="") as file:
        data = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        return page_section.renewed(PAGE, "collectives", section(Tool(options.bin.resolve(), folder), data), options.check)


if __name__ == "__main__":
    sys.exit(main())
