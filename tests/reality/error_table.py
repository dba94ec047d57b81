"""The error table of predictions: by source, then by situation.

A row that was predicted has `err`, `err_linear` and, where the program predicts it under typical conditions,
`err_typical`: predicted over measured time of a step, less 1; `err_linear` is that without communication.
"""
import math
import statistics

COMMUNICATION_SHARE = 0.15  # of the measured step, from which on a row counts as bound by communication
FABRICS = {"intra only": "none", "tcp": "tcp", "rdma": "rdma", "ipoib": "ipoib"}
HEADER = (f"{'source':30s} rows  median     p90   worst    mean  opt. | linear    p90 better "
          "| typical: rows median    p90  opt. inside | worst row")


def quantile(values, share):
    """The smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered), math.ceil(share * len(ordered))) - 1]


def size(row):
    return abs(row["err"])


def typical(rows):
    """The same figures under typical conditions, and the share of rows inside the interval."""
    mine = [row for row in rows if "err_typical" in row]
    if not mine:
        return f"{0:13d} {'-':>6s} {'-':>6s} {'-':>5s} {'-':>6s}"
    errors = [row["err_typical"] for row in mine]
    sizes = list(map(abs, errors))
    too_fast = sum(error < 0 for error in errors) / len(mine)
    inside = sum(row["typical_low"] <= row["measured"] <= row["typical_high"] for row in mine) / len(mine)
    return (f"{len(mine):13d} {100 * statistics.median(sizes):6.1f} {100 * quantile(sizes, 0.9):6.1f} "
            f"{100 * too_fast:5.0f} {100 * inside:6.0f}")


def line(name, rows):
    """One line: all figures are per cent."""
    errors = [size(row) for row in rows]
    linear = [abs(row["err_linear"]) for row in rows]
    mean = statistics.mean(row["err"] for row in rows)
    too_fast = sum(row["err"] < 0 for row in rows) / len(rows)
    better = sum(e < l - 1e-9 for e, l in zip(errors, linear)) / len(rows)
    return (f"{name:30s} {len(rows):4d} {100 * statistics.median(errors):7.1f} "
            f"{100 * quantile(errors, 0.9):7.1f} {100 * max(errors):7.1f} {100 * mean:+7.1f} {100 * too_fast:5.0f} | "
            f"{100 * statistics.median(linear):6.1f} {100 * quantile(linear, 0.9):6.1f} {100 * better:6.0f} | "
            f"{typical(rows)} | {max(rows, key=size)['row']}")


def situations(rows):
    """(name, rows) by the share of communication and by network, without those that have no row."""
    hard = [row for row in rows if row["err_linear"] < -COMMUNICATION_SHARE]
    easy = [row for row in rows if row["err_linear"] >= -COMMUNICATION_SHARE]
    found = [(f"communication > {100 * COMMUNICATION_SHARE:.0f} % of step", hard),
             (f"communication <= {100 * COMMUNICATION_SHARE:.0f} %", easy)]
    for name, fabric in FABRICS.items():
        found.append((f"fabric {name}", [row for row in rows if row["fabric"] == fabric]))
    return [(name, each) for name, each in found if each]


def table(predicted, reasons):
    """The lines of the table of all rows; `reasons`: how many rows were not predicted, by the reason."""
    by_source = {}
    for row in predicted:
        by_source.setdefault(row["source"], []).append(row)
    yield ("error of iteration time, % of measured; opt. = share of rows predicted too fast; linear = the same "
           "error when communication is ignored;")
    yield "typical = the same error under typical conditions; inside = share of rows in the interval of 80 %"
    yield HEADER
    for source, each in by_source.items():
        yield line(source, each)
    if predicted:
        yield line("ALL ROWS", predicted)
        medians = [statistics.median(map(size, each)) for each in by_source.values()]
        yield f"median over sources of the median error: {100 * statistics.median(medians):.1f} %"
    for name, each in situations(predicted):
        yield line(name, each)
    for reason, rows in reasons.items():
        yield f"{rows} rows not predicted: {reason}"
