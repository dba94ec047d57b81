#!/usr/bin/python3
"""The study of contention on the packet network: scenarios Q1 to Q14 through the command line.

usage: docs/contention_study.py [--bin build] [--only Q1,Q2]      simulates, writes docs/contention.csv
       docs/contention_study.py --check [--seeds 1,2] [--only ..] simulates, compares with the file
       docs/contention_study.py --table Q1                        prints a table from the file
       docs/contention_study.py --claims                          prints what is claimed and what is seen

A row of the file is one metric of one point; `values` are those of seeds 1, 2, 3 .. in order, in
seconds, packets or shares. Scenarios and points: contention_scenarios.py; claims: contention_claims.py;
tables: contention_tables.py.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import contention_claims
import contention_tables
from contention_scenarios import SCENARIOS, command

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/contention.csv"
FIELDS = ["scenario", "arm", "x", "metric", "values"]


def number(value):
    return f"{value:.5g}"


def packed(values):
    """Numbers with spaces between; a number that all seeds give is written once, as in 0*20."""
    if len(values) > 1 and len(set(values)) == 1:
        return f"{number(values[0])}*{len(values)}"
    return " ".join(map(number, values))


def unpacked(text):
    value, star, count = text.partition("*")
    return [float(value)] * int(count) if star else [float(value) for value in text.split()]


class Results:
    """{(scenario, arm, x): {metric: {seed: value}}}, points in the order of the study."""

    def __init__(self):
        self.points = {}

    def add(self, scenario, arm, x, seed, metrics):
        point = self.points.setdefault((scenario, arm, x), {})
        for metric, value in metrics.items():
            point.setdefault(metric, {})[seed] = float(number(value))

    def values(self, scenario, arm, x, metric):
        """One per seed."""
        return list(self.points[scenario, arm, x][metric].values())

    def xs(self, scenario, arm):
        return [x for (q, a, x) in self.points if q == scenario and a == arm]

    def arms(self, scenario):
        return list(dict.fromkeys(a for (q, a, _) in self.points if q == scenario))


def x_of(text):
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value == int(value) else value


def read(file=RESULTS):
    results = Results()
    with open(file, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            for seed, value in enumerate(unpacked(row["values"]), start=1):
                results.add(row["scenario"], row["arm"], x_of(row["x"]), seed, {row["metric"]: value})
    return results


def write(results, file=RESULTS):
    with open(file, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(FIELDS)
        for (scenario, arm, x), metrics in results.points.items():
            for metric, values in metrics.items():
                writer.writerow([scenario, arm, x, metric, packed(list(values.values()))])


def simulate(binaries, keep=lambda point, seed: True):
    """Results of the chosen points and seeds."""
    tasks = [(point, seed) for point in SCENARIOS for seed in point.seeds if keep(point, seed)]

    def run(task):
        point, seed = task
        done = subprocess.run([binaries / "stepsim", *command(point, seed)[1:], "--json", "--quiet"],
                              cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command(point, seed))}: {done.stderr}")
        return point.measure(json.loads(done.stdout), point)

    results = Results()
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1)) as pool:
        for (point, seed), metrics in zip(tasks, pool.map(run, tasks)):
            results.add(point.scenario, point.arm, point.x, seed, metrics)
    return results


def differences(new, old):
    """Texts of the values that are not those of the file."""
    for key, metrics in new.points.items():
        for metric, values in metrics.items():
            known = old.points.get(key, {}).get(metric, {})
            for seed, value in values.items():
                if known.get(seed) != value:
                    yield f"{', '.join(map(str, key))}, {metric}, seed {seed}: {value:g}, not {known.get(seed)}"


def listed(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--only", type=listed)
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in listed(text)])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--claims", action="store_true")
    options = parser.parse_args()
    if options.table or options.claims:
        lines = contention_tables.table(read(), options.table) if options.table else (
            contention_claims.lines(read()))
        for line in lines:
            print(line.rstrip())
        return 0
    new = simulate(options.bin.resolve(),
                   lambda point, seed: (not options.only or point.scenario in options.only)
                   and (not options.seeds or seed in options.seeds))
    if options.check:
        found = list(differences(new, read()))
        print("\n".join(found[:20]))
        print(f"{len(new.points)} points, {len(found)} values differ from {RESULTS.name}")
        return 1 if found else 0
    if options.seeds:
        sys.exit("--seeds goes with --check: the file holds all seeds")
    if options.only: # the rest stays as it is
        merged = {**read().points, **new.points}
        order = dict.fromkeys((point.scenario, point.arm, point.x) for point in SCENARIOS)
        new.points = {key: merged[key] for key in order if key in merged}
    write(new)
    print(f"{len(new.points)} points: {RESULTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
