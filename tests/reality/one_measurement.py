#!/usr/bin/python3
"""What one measured step buys, and how often a stated order is right: the published speeds again, each predicted by
factors that were fitted without its source (fit_conditions.py --leave-out source).

    one_measurement.py [--stepsim STEPSIM] [--update]      --update writes the table into docs/accuracy.md

A series is one model, batch, precision and method of a source on one kind of machine and network. Asked for another
number of GPUs of a series, the prediction is multiplied by measured / predicted of the nearest smaller measured row,
as `run --measured-total --at` does. A site is one kind of machine, network and framework of a source. Else `fit-conditions` fits the factors to the one row.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import error_table
import fit_conditions
import predict

PAGE = predict.ROOT / "docs/accuracy.md"
MARKERS = "<!-- one measurement -->", "<!-- end of one measurement -->"
SERIES = ("source", "model", "batch_per_gpu", "seq_len", "grad_accum", "precision", "framework", "method", "fabric",
          "gbps_per_node", "gpu", "intra", "base_measured", "base_gpus")
SITE = ("source", "framework", "gpu", "fabric", "gbps_per_node", "intra")
METHODS = ("model", "gpus", "nodes", "fabric", "gbps_per_node", "batch_per_gpu")
QUANTILE, STATED = 1.2816, 0.05  # of the paired interval, and the least difference that is stated (CON 4)
REST = 2 * 0.035 ** 2
TIE = 1.02  # measured steps within 2 % have no order


def grouped(rows, keys):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row.get(key) for key in keys)].append(row)
    return groups.values()


def line(words, pairs):
    """pairs: (error before, error after one measurement) of rows."""
    out = f"| {words} | {len(pairs)} |"
    for errors in zip(*pairs):
        sizes = list(map(abs, errors))
        out += f" {100 * statistics.median(sizes):.1f} / {100 * error_table.quantile(sizes, 0.9):.1f} |"
    return out


def error(row, step):
    return step / row["measured_step_s"] - 1


def nearest_smaller(rows, row, counts):
    """The row of the series with the next smaller number of what `counts` counts."""
    smaller = [each for each in rows if counts(each) < counts(row)]
    return max(smaller, key=counts, default=None)


def scaled(rows, counts):
    """(error without, error with the nearest smaller row measured)"""
    for series in grouped(rows, SERIES):
        for row in series:
            measured = nearest_smaller(series, row, counts)
            if measured is not None:
                yield row["err_out"], error(row, row["out_s"] * measured["measured_step_s"] / measured["out_s"])


class Refit:
    """The factors that fit-conditions finds from one row, from where they are without the row's source."""

    def __init__(self, stepsim, folder, factors_of):
        self.stepsim, self.folder, self.factors_of = stepsim, pathlib.Path(folder), factors_of

    def scenario(self, row, conditions):
        return row["typical_scenario"] | {"conditions": {"kind": "typical", "file": str(conditions)}}

    def start(self, source):
        path = self.folder / f"{source}.conditions.json"
        if not path.exists():
            path.write_text(json.dumps(self.factors_of[source]), encoding="utf-8")
        return path

    def errors(self, job):
        """(error without, error with `measured` measured) of rows."""
        measured, rows = job
        name = measured["row"].replace("/", "_")
        steps = {"schema_version": 1, "kind": "measured_steps", "source": measured["row"], "rows": [
            {"scenario": self.scenario(measured, self.start(measured["source"])), "step_s": measured["measured_step_s"]}]}
        found = self.folder / f"{name}.fitted.json"
        subprocess.run([self.stepsim, "fit-conditions", "-", "--quiet", "-o", str(found), "--force"], check=True, text=True,
                       input=json.dumps(steps), stdout=subprocess.DEVNULL)
        lines = "\n".join(json.dumps(self.scenario(row, found)) for row in rows)
        done = subprocess.run([self.stepsim, "run", "--lines", "-", "--quiet"], input=lines + "\n", check=True, text=True,
                              stdout=subprocess.PIPE)
        after = [json.loads(each)["summary"]["iteration_time_s"] for each in done.stdout.splitlines()]
        return [(row["err_out"], error(row, step)) for row, step in zip(rows, after)]

    def all(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [pair for pairs in pool.map(self.errors, jobs) for pair in pairs]


def sites(rows, order):
    """The row of each site that is largest in `order`, and the others."""
    for site in grouped(rows, SITE):
        if len(site) > 1:
            measured = max(site, key=order)
            yield measured, [row for row in site if row is not measured]


def inside_a_machine(rows):
    """Of each series the largest run inside a machine, and those on several."""
    for series in grouped(rows, SERIES):
        inside = [row for row in series if row["nodes"] == 1]
        several = [row for row in series if row["nodes"] > 1]
        if inside and several:
            yield max(inside, key=lambda row: row["gpus"]), several


def share(row):
    """Of the step that is predicted: what is no computing."""
    return 1 - row["measured_step_s"] * (1 + row["err_linear"]) / row["out_s"]


class Orders:
    """How often a stated order is right: methods on the same machines, out of source. `spreads`: of each row the change of
    ln step by one spread of a factor, {factor: change}, from the linear steps of fit_conditions.py."""

    def __init__(self, rows, spreads):
        self.pairs = self.stated = self.right = self.contained = self.members = self.groups = 0
        for group in grouped([row for row in rows if row["source"] == "ddl-benchmarks"], METHODS):
            self.groups += 1
            beaten = {self.loser(x, y, spreads) for i, x in enumerate(group) for y in group[:i]}
            best = min(group, key=lambda row: row["measured_step_s"])["row"]
            self.contained += best not in beaten
            self.members += sum(row["row"] not in beaten for row in group)

    def loser(self, x, y, spreads):
        """The row of a pair that is slower by a stated order."""
        a, b = spreads[x["row"]], spreads[y["row"]]
        ratio = math.log(x["out_s"] / y["out_s"])
        deviation = math.sqrt(REST + sum((a.get(name, 0) - b.get(name, 0)) ** 2 for name in {*a, *b}))
        stated = abs(ratio) > max(QUANTILE * deviation, STATED)
        measured = math.log(x["measured_step_s"] / y["measured_step_s"])
        if abs(measured) > math.log(TIE):
            self.pairs += 1
            self.stated += stated
            self.right += stated and (ratio > 0) == (measured > 0)
        return (x if ratio > 0 else y)["row"] if stated else None

    def text(self):
        return (f"Orders of seven methods on the same machines: {self.stated} of {self.pairs} pairs are stated, "
                f"{100 * self.right / self.stated:.0f} % of them rightly. On average "
                f"{self.members / self.groups:.1f} of the 7 methods remain possible winners, among them the measured best in "
                f"{self.contained} of {self.groups} groups.")


def spreads_of(rows, slopes, factors):
    return {row["row"]: {name: slope * factors[name]["tau"] for name, slope in each.items()} for row, each in zip(rows, slopes)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--stepsim", default=predict.STEPSIM)
    parser.add_argument("--update", action="store_true")
    chosen = parser.parse_args()
    stepsim = chosen.stepsim
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for row in predict.predictions(stepsim, folder=folder)[0] if "typical_scenario" in row]
        fit_conditions.with_out_of_source(rows, fit_conditions.committed())
        shipped = json.loads(fit_conditions.SHIPPED.read_text(encoding="utf-8"))
        steps = fit_conditions.Steps(stepsim, rows)
        linear = steps.linear(shipped["factors"])
        fit = fit_conditions.Fit(rows, shipped["factors"], *linear)
        factors_of = {}
        for source in dict.fromkeys(row["source"] for row in rows):
            found = fit.values(fit.without(source))
            factors_of[source] = shipped | {"name": "out of source", "factors": {
                name: each | ({"value": found[name]} if name in found else {}) for name, each in shipped["factors"].items()}}
        refit = Refit(stepsim, folder, factors_of)
        inside = [row for row in rows if row["nodes"] == 1]
        several = [row for row in rows if row["nodes"] > 1]
        gpus, nodes = lambda row: row["gpus"], lambda row: row["nodes"]
        orders = Orders(rows, spreads_of(rows, linear[1], shipped["factors"]))
        text = "\n".join([
            "| asked | rows | no measurement | one measurement |", "|---|---|---|---|",
            line("more GPUs in a machine, from a run in it", list(scaled(inside, gpus))),
            line("more machines, from a run on several", list(scaled(several, nodes))),
            line("several machines, from a run inside one", refit.all(inside_a_machine(rows))),
            line("all rows of a site, from the one with the largest share of communication", refit.all(sites(rows, share))),
            line("the same, from the one with most GPUs", refit.all(sites(rows, gpus))), "", orders.text()])
    print(text)
    if chosen.update:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(MARKERS[0])[0], page.split(MARKERS[1])[1]
        PAGE.write_text(f"{before}{MARKERS[0]}\n{text}\n{MARKERS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
