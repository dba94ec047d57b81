#!/usr/bin/python3
"""Refits the factors of typical conditions from the rows of reproduce/scoreboard/rows.csv, which the program predicts.

    fit_conditions.py                     the refitted factors beside the shipped ones
    fit_conditions.py -o mine.json        also writes them as a file of kind conditions
    fit_conditions.py --leave-out source  refits without each source, and without the second file, predicts their rows, and
                                          writes out_of_source.csv
    fit_conditions.py --table             the errors of that file by situation

The fit is the most probable set of factors (MAP). A residual is ln(step / measured) / 0.05 under a pseudo-Huber loss
(delta 3), and a row weighs 1 / sqrt(rows of its source), so that one source does not outvote all others. The prior of a
factor is normal with the shipped spread between sites, and a factor stays within two spreads of its middle. That is
PRIOR, which no row has a part in; --leave-out refits with the shipped factors as prior, too, as `stepsim fit-conditions`
does. These were fitted to all rows: what no other source tells (servers, host reduction, IP over InfiniBand) they know
from the source that is left out. Rows
whose predicted share of communication is 10 % or less move the losses of computing alone. Steps are linear in the
factors (logarithms but for those of computing), by secants of half a spread to each side of the shipped factors that
the program computes; what a refit gives for a row is computed by the program again.
"""
import argparse
import concurrent.futures
import csv
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
import predict

SHIPPED = predict.ROOT / "topologies/conditions/typical.json"
COLUMNS = ("row", "step_s", "shipped_prior_step_s", "publisher_step_s", "first_file_step_s")  # of OUT_OF_SOURCE
OUT_OF_SOURCE = predict.ROOT / "reproduce/scoreboard/out_of_source.csv"
PLAIN = {"l_0", "l_1", "l_low", "q"}  # their spread is that of the value; of all others, of the logarithm
LEAST = {"s_net": 1, "s_bus": 1, "l_0": 0, "l_1": 0, "l_low": 0, "q": 0}
# Values that need none of the rows. Round ones: shares of a ring, what one connection carries, latencies of the shipped
# profiles, the cycle of Horovod. From logs of nccl-tests that others published: e_pcie, the median over seven machines
# whose cards exchange through host memory, as without a PCIe switch nearly all do (busbw over 0.76 of the line: 0.33, 0.33,
# 0.41 on PCIe 3, 0.04, 0.75 on 4, 0.58, 0.73 on 5; issues 384, 445, 1603 and 1639 of NVIDIA/nccl among them), and
# e_rdma_pcie, 6.0 and 5.7 of 12.5 GB/s (issues 465 and 243).
PRIOR = {"e_pcie": 0.41, "e_nvlink": 0.8, "e_xgmi": 0.7, "e_tcp": 1, "c_tcp": 2.5e9, "c_cloud": 1.25e9,
         "e_rdma_pcie": 0.48, "e_rdma_one": 0.8, "e_rdma_many": 0.8, "e_ps": 1, "e_host": 0.5, "e_sched": 1,
         "a_nccl": 5e-5, "a_horovod": 1e-3, "a_server": 2e-4, "a_sched": 1e-3, "h_tcp": 3e-5, "h_rdma": 8e-6,
         "s_net": 1.1, "s_bus": 1.1, "l_0": 0.02, "l_1": 0.01, "l_low": 0.03, "q": 0.5}
ERROR = 0.05       # of a step whose factors are known
DELTA = 3          # residuals beyond it count by their size, not by their square
COMMUNICATION = 0.1
BOUND = 2          # spreads
MOVES = 0.02       # a row is evidence of a factor that moves it by so much per 100 %
# What was collected after the factors of the first 26 sources were known.
SECOND_FILE = ("azure-tf", "azure-pytorch", "lambda", "csc", "mxnet-p2", "llm-foundry-h100", "bagua-net")

# Who published several sources, measured on the same machines; all other sources stand alone.
PUBLISHERS = ("azure-", "dle-", "dlperf-", "tf-docs-")


def publisher(source):
    return next((each for each in PUBLISHERS if source.startswith(each)), source)


def coordinate(name, value):
    return value if name in PLAIN else math.log(value)


def value_of(name, at):
    return max(LEAST.get(name, 0), at if name in PLAIN else math.exp(at))


class Steps:
    """Steps of rows under factors, by the program; everything is a logarithm."""

    def __init__(self, stepsim, rows):
        self.stepsim, self.rows = stepsim, rows

    def run(self, jobs):
        """[(ln step, names of the factors that counted)] of jobs (row, {factor: value})."""
        lines = [json.dumps(row["typical_scenario"] | {"conditions": {"kind": "typical", "factors": factors}})
                 for row, factors in jobs]
        done = subprocess.run([self.stepsim, "run", "--lines", "-", "--quiet"], input="\n".join(lines) + "\n",
                              check=True, text=True, stdout=subprocess.PIPE)
        results = map(json.loads, done.stdout.splitlines())
        return [(math.log(result["summary"]["iteration_time_s"]), list(result["scenario"]["conditions"]["factors"]))
                for result in results]

    def of(self, jobs):
        size = max(1, math.ceil(len(jobs) / (8 * os.cpu_count())))
        parts = [jobs[i:i + size] for i in range(0, len(jobs), size)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [each for part in pool.map(self.run, parts) for each in part]

    def linear(self, factors):
        """For every row ln step with the factors, and its change per coordinate of those that count."""
        middle = {name: each["value"] for name, each in factors.items()}
        steps = self.of([(row, middle) for row in self.rows])
        jobs, ends = [], []
        for i, (row, (_, names)) in enumerate(zip(self.rows, steps)):
            for name in names:
                at, half = coordinate(name, middle[name]), factors[name]["tau"] / 2
                for moved in (value_of(name, at + half), value_of(name, at - half)):
                    jobs.append((row, middle | {name: moved}))
                    ends.append((i, name, coordinate(name, moved)))
        slopes = [{} for _ in self.rows]
        moved = [step for step, _ in self.of(jobs)]
        for k in range(0, len(ends), 2):
            i, name, high = ends[k]
            slopes[i][name] = (moved[k] - moved[k + 1]) / (high - ends[k + 1][2])
        return [step for step, _ in steps], slopes


def solved(matrix, right):
    """The solution of linear equations, by elimination."""
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    size = len(rows)
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, size):
            share = rows[k][i] / rows[i][i]
            if share:
                rows[k] = [a - share * b for a, b in zip(rows[k], rows[i])]
    for i in reversed(range(size)):
        rows[i][size] = (rows[i][size] - sum(rows[i][k] * rows[k][size] for k in range(i + 1, size))) / rows[i][i]
    return [row[size] for row in rows]


class Fit:
    """The linear model of all rows around the shipped factors."""

    def __init__(self, rows, factors, steps, slopes, prior=PRIOR):
        self.names = [name for name in factors if any(name in each for each in slopes)]
        self.tau = [factors[name]["tau"] for name in self.names]
        self.shipped = [coordinate(name, factors[name]["value"]) for name in self.names]
        self.prior = [coordinate(name, prior[name]) for name in self.names]
        self.low = [max(p - BOUND * t, coordinate(name, LEAST[name]) if name in LEAST else -math.inf)
                    for name, p, t in zip(self.names, self.prior, self.tau)]
        self.high = [p + BOUND * t for p, t in zip(self.prior, self.tau)]
        place = {name: j for j, name in enumerate(self.names)}
        of_source = {}
        for row in rows:
            of_source[row["source"]] = of_source.get(row["source"], 0) + 1
        self.rows = []  # source, weight, ln(step / measured) with shipped factors, [(factor, slope)]
        for row, step, slope in zip(rows, steps, slopes):
            computing = row["measured_step_s"] * (1 + row["err_linear"])
            hidden = 1 - computing / math.exp(step) <= COMMUNICATION
            moves = [(place[name], each) for name, each in slope.items() if name in PLAIN or not hidden]
            self.rows.append((row["source"], of_source[row["source"]] ** -0.5,
                              step - math.log(row["measured_step_s"]), moves))

    def without(self, *sources):
        """The factors fitted without the rows of these sources, in their coordinates."""
        rows = [row for row in self.rows if row[0] not in sources]
        at = list(self.shipped)
        for _ in range(100):
            before = at
            at = self.next(rows, at)
            if max(abs(a - b) / t for a, b, t in zip(at, before, self.tau)) < 1e-10:
                break
        return at

    def next(self, rows, at):
        """One step of reweighted least squares; factors that would leave their bounds stay on them."""
        size = len(at)
        matrix = [[0.0] * size for _ in range(size)]
        right = [0.0] * size
        for j in range(size):
            matrix[j][j] = self.tau[j] ** -2
            right[j] = self.prior[j] * self.tau[j] ** -2
        change = [a - s for a, s in zip(at, self.shipped)]
        for _, weight, residual, moves in rows:
            now = (residual + sum(slope * change[j] for j, slope in moves)) / ERROR
            weight = weight / ERROR ** 2 / math.sqrt(1 + (now / DELTA) ** 2)
            target = sum(slope * self.shipped[j] for j, slope in moves) - residual
            for j, slope in moves:
                right[j] += weight * slope * target
                for k, other in moves:
                    matrix[j][k] += weight * slope * other
        fixed = {}
        while True:
            free = [j for j in range(size) if j not in fixed]
            found = solved([[matrix[j][k] for k in free] for j in free],
                           [right[j] - sum(matrix[j][k] * value for k, value in fixed.items()) for j in free])
            new = {j: min(self.high[j], max(self.low[j], value)) for j, value in zip(free, found)}
            out = {j: new[j] for j, value in zip(free, found) if new[j] != value}
            if not out:
                return [fixed[j] if j in fixed else new[j] for j in range(size)]
            fixed.update(out)

    def values(self, at):
        return {name: value_of(name, each) for name, each in zip(self.names, at)}


def factor_table(fit, factors, at):
    yield "factor        shipped   refitted   spreads apart   rows   sources"
    for j, (name, value) in enumerate(fit.values(at).items()):
        sources = [source for source, _, _, moves in fit.rows if any(k == j and abs(s) > MOVES for k, s in moves)]
        apart = (at[j] - fit.shipped[j]) / fit.tau[j]
        yield (f"{name:11s} {factors[name]['value']:9.3g} {value:10.3g} {apart:+15.1f} {len(sources):6d} "
               f"{len(set(sources)):9d}")


def out_of_source(rows, steps, factors, linear):
    """{row: [step in seconds by the factors that were fitted without its source; the same with the shipped factors as
    prior; by those that were fitted without all sources of its publisher; without the second file, of whose rows it is]}"""
    shipped = {name: each["value"] for name, each in factors.items()}
    fits = Fit(rows, factors, *linear), Fit(rows, factors, *linear, shipped)
    sources = list(dict.fromkeys(row["source"] for row in rows))
    by_source = {source: [shipped | fit.values(fit.without(source)) for fit in fits] for source in sources}
    for source, found in by_source.items():
        apart = fits[0].without(*(each for each in sources if publisher(each) == publisher(source)))
        found.append(shipped | fits[0].values(apart))
    of_first = shipped | fits[0].values(fits[0].without(*SECOND_FILE))
    ordered = sorted(rows, key=lambda row: sources.index(row["source"]))
    jobs = [(row, found) for row in ordered
            for found in [*by_source[row["source"]], *([of_first] if row["source"] in SECOND_FILE else [])]]
    found = {row["row"]: [] for row in ordered}
    for (row, _), (step, _) in zip(jobs, steps.of(jobs)):
        found[row["row"]].append(math.exp(step))
    return found


def figures(rows, error, interval):
    errors = [row[error] for row in rows]
    sizes = list(map(abs, errors))
    inside = sum(interval(row)[0] <= row["measured_step_s"] <= interval(row)[1] for row in rows)
    return (f"{100 * statistics.median(sizes):6.1f} {100 * error_table.quantile(sizes, 0.9):6.1f} "
            f"{100 * sum(each < 0 for each in errors) / len(rows):5.0f} {100 * inside / len(rows):6.0f}")


def situation_table(rows):
    """Errors of the shipped factors and out of source; the interval moves along with the prediction."""
    def shipped(row):
        return [row["typical_step_s"] * row["typical"] / row[end] for end in ("typical_high", "typical_low")]

    def moved(step):
        return lambda row: [end * row[step] / row["typical_step_s"] for end in shipped(row)]

    yield f"{'':36s}      | factors fitted to all rows | out of source              | the same, shipped prior"
    yield f"{'situation':36s} rows {3 * '| median    p90  opt. inside '}".rstrip()
    groups = [("all rows", rows)]
    for key in ("situation", "communication"):
        for name in dict.fromkeys(row[key] for row in rows):
            groups.append((name, [row for row in rows if row[key] == name]))
    second = [row for row in rows if row["source"] in SECOND_FILE]
    groups += [("first file", [row for row in rows if row["source"] not in SECOND_FILE]), ("second file", second)]
    for name, each in groups:
        yield (f"{name:36s} {len(each):4d} | {figures(each, 'err_typical', shipped)} | {figures(each, 'err_out', moved('out_s'))}"
               f" | {figures(each, 'err_known', moved('known_s'))}")
    for name, each, error in (("second file, fitted to the first", second, "first"),
                              ("all rows, publisher left out", rows, "apart"),
                              ("of these, communication above 15 %", [row for row in rows if "above" in row["communication"]],
                               "apart")):
        yield f"{name:36s} {len(each):4d} | {figures(each, f'err_{error}', moved(f'{error}_s'))}"


def committed():
    with open(OUT_OF_SOURCE, newline="", encoding="utf-8") as file:
        return {row["row"]: [float(row[name]) for name in COLUMNS[1:] if row[name]] for row in csv.DictReader(file)}


def with_out_of_source(rows, found):
    for row in rows:
        for name, step in zip(("out", "known", "apart", "first"), found[row["row"]]):
            row[f"{name}_s"] = step
            row[f"err_{name}"] = step / row["measured_step_s"] - 1
    return rows


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--stepsim", default=predict.STEPSIM)
    parser.add_argument("--leave-out", choices=["source"])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    return parser.parse_args()


def main():
    chosen = arguments()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for row in predict.predictions(chosen.stepsim, folder=folder)[0] if "typical_scenario" in row]
        if chosen.table:
            print("\n".join(situation_table(with_out_of_source(rows, committed()))))
            return
        shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))
        factors = shipped["factors"]
        steps = Steps(chosen.stepsim, rows)
        linear = steps.linear(factors)
        fit = Fit(rows, factors, *linear)
        if chosen.leave_out:
            found = out_of_source(rows, steps, factors, linear)
            with open(OUT_OF_SOURCE, "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                writer.writerows([name, *(f"{step:.9g}" for step in each), *(len(COLUMNS) - 1 - len(each)) * [""]]
                                 for name, each in found.items())
            print("\n".join(situation_table(with_out_of_source(rows, found))))
            return
    at = fit.without()
    print("\n".join(factor_table(fit, factors, at)))
    if chosen.output:
        for name, value in fit.values(at).items():
            factors[name]["value"] = value
        shipped |= {"name": "refitted", "note": "Refitted by tests/reality/fit_conditions.py."}
        chosen.output.write_text(json.dumps(shipped, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
