#!/usr/bin/python3
"""The tables of docs/pytorch.md, from tests/torchbed/measured.csv.

usage: tests/torchbed/tables.py kinds|beds|halves|worst|noise|logged|zero|more|gain|beliefs
"""
import json
import math
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import campaign  # noqa: E402
import conditions  # noqa: E402
import predict  # noqa: E402

LARGEST = 8  # conditions whose errors are listed


def error(row):
    return row["predicted_s"] / row["measured_s"] - 1


def percentile(values, share):
    return sorted(values)[math.ceil(share * len(values)) - 1]


def percent(value, signed=False):
    return f"{100 * value:{'+' if signed else ''}.1f} %"


def bed_of(row):
    shape = row["shape"]
    text = f"{shape['ranks']} x {shape['rate_mbps']} Mb/s"
    if shape["slow"]:
        text += f", rank {shape['slow'][0]} {shape['slow'][1]} Mb/s"
    return text + (f", uplink {shape['uplink_mbps']} Mb/s" if shape["uplink_mbps"] else "")


def computing(row):
    """Seconds of a step (of a round of local SGD) in which the slowest rank computes."""
    settings = row["condition"]["settings"]
    return (row["shape"]["compute_s"] * settings.get("micro_batches", 1) * settings.get("period", 1) *
            settings.get("straggler", (0, 1))[1])


def table(head, lines):
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |")


def first_rows():
    return [row for row in campaign.read()[0] if row["piece"] in conditions.PIECES]


def grouped(name, key):
    """Errors of all rows by what `key` says of a row, and of all."""
    rows = first_rows()
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    lines = []
    for word, of in [*groups.items(), ("all", rows)]:
        errors = [abs(error(row)) for row in of]
        alone = [abs(row["alone_s"] / row["measured_s"] - 1) for row in of]
        beyond = [row["measured_s"] / computing(row) - 1 for row in of]
        of_beyond = [abs(row["predicted_s"] - row["measured_s"]) / (row["measured_s"] - computing(row)) for row in of]
        same = [row["bucket_bytes"] == row["predicted_bucket_bytes"] for row in of if campaign.has_buckets(row)]
        lines.append((word, len(of), percent(statistics.median(errors)), percent(percentile(errors, 0.9)),
                      percent(max(errors)), percent(statistics.median(map(error, of)), True),
                      percent(statistics.median(row["spread"] for row in of)), f"+ {100 * statistics.median(beyond):.0f} %",
                      percent(statistics.median(of_beyond)),
                      f"{percent(statistics.median(alone))} / {percent(percentile(alone, 0.9))}",
                      f"{sum(same)} of {len(same)}" if same else "-"))
    table((name, "conditions", "median", "90th percentile", "largest", "median with sign", "spread of steps",
           "step over computing", "error of that part, median",
           "without the queue, median / 90th percentile", "equal buckets"), lines)


def different(rows):
    """How many conditions differ in their bed, model, cap or settings."""
    def settings(row):
        return {key: value for key, value in row["condition"]["settings"].items() if key != "steps"}

    return len({json.dumps([row["shape"], row["condition"]["model"], row["condition"]["cap_mib"], settings(row)])
                for row in rows})


def kinds():
    grouped("kind", lambda row: row["condition"]["kind"])
    print(f"\n{different(first_rows())} of these conditions are different.")


def beds():
    grouped("bed", bed_of)


def halves():
    """Before and after the rule was written down."""
    names = list(conditions.PIECES)
    later = names[names.index(conditions.RULE_WRITTEN_BEFORE):]
    grouped("measured", lambda row: "after the rule" if row["piece"] in later else "before the rule")


def of_exchanges(row):
    """Error of the exchanges of a step, which were measured without layers, too."""
    return percent(row["predicted_exchanges_s"] / predict.lower_quartile(row["exchanges"]) - 1, True) if row["exchanges"] else "-"


def worst():
    rows = sorted(first_rows(), key=lambda row: -abs(error(row)))[:LARGEST]
    table(("bed", "condition", "buckets", "predicted [ms]", "measured [ms]", "error", "without the queue",
           "error of its exchanges alone", "spread"),
          [(bed_of(row), row["condition"]["name"], len(row["bucket_bytes"]) or "-", f"{1e3 * row['predicted_s']:.1f}",
            f"{1e3 * row['measured_s']:.1f}", percent(error(row), True),
            percent(row["alone_s"] / row["measured_s"] - 1, True), of_exchanges(row), percent(row["spread"]))
           for row in rows])


def noise():
    """The same condition in two beds, and the prediction from the first one's calibration."""
    rows = campaign.read()[0]
    first = {(row["piece"], row["condition"]["name"]): row for row in rows}
    lines, moved = [], []
    for row in rows:
        if row["piece"] in conditions.AGAIN:
            old = first[conditions.AGAIN[row["piece"]]["again"], row["condition"]["name"]]
            change = row["measured_s"] / old["measured_s"] - 1
            moved.append(abs(change))
            minutes = (campaign.time_of(row) - campaign.time_of(old)).total_seconds() / 60
            lines.append((bed_of(row), row["condition"]["name"], f"{1e3 * old['measured_s']:.1f}",
                          f"{1e3 * row['measured_s']:.1f}", f"{minutes:.0f}", percent(change, True), percent(error(old), True),
                          percent(error(row), True)))
    table(("bed", "condition", "first [ms]", "again [ms]", "minutes later", "change", "error, first", "error, again"), lines)
    print(f"\nChange: median {percent(statistics.median(moved))}, largest {percent(max(moved))}, of {len(moved)} conditions")


def logged():
    """Launches and ends of single buckets, where a hook logs them."""
    lines = []
    for row in first_rows():
        if row["logged"]:
            launches = [1e3 * (told[1] - seen[1]) for told, seen in zip(row["predicted_logged"], row["logged"], strict=True)]
            ends = [told[2] / seen[2] - 1 for told, seen in zip(row["predicted_logged"], row["logged"], strict=True)]
            lines.append((bed_of(row), row["condition"]["name"], row["condition"]["settings"].get("threads", 2), len(launches),
                          f"{statistics.median(map(abs, launches)):.2f}", f"{max(launches, key=abs):+.2f}",
                          percent(statistics.median(map(abs, ends))), percent(max(ends, key=abs), True),
                          percent(ends[0], True), percent(ends[-1], True)))
    table(("bed", "condition", "threads of gloo", "buckets", "launch, median error [ms]", "largest [ms]",
           "end, median error", "largest", "first bucket", "last bucket"), lines)


def broadcasts(shape, condition):
    """Their number in a step: one per rank, or one per tensor."""
    layers = conditions.job(shape, condition)["layers"]
    return shape["ranks"] if condition["settings"]["zero"] == "view" else sum(len(layer["tensors"]) for layer in layers)


def extremes(seconds):
    """The shortest and the longest, in ms."""
    return f"{1e3 * min(seconds):.0f} and {1e3 * max(seconds):.0f}" if seconds else "-"


def zero():
    """ZeroRedundancyOptimizer: the step of DDP and the broadcasts behind its update."""
    rows = [row for row in campaign.read()[0] if row["piece"] in conditions.SHARDED]
    table(("bed", "condition", "broadcasts", "predicted [ms]", "measured [ms]", "error", "all broadcasts alone",
           "error of the step [ms]", "its broadcasts, predicted [ms]", "in its steps, shortest and longest [ms]",
           "without a step, shortest and longest [ms]", "spread"),
          [(bed_of(row), row["condition"]["name"], broadcasts(row["shape"], row["condition"]),
            f"{1e3 * row['predicted_s']:.1f}", f"{1e3 * row['measured_s']:.1f}", percent(error(row), True),
            percent(row["alone_s"] / row["measured_s"] - 1, True), f"{1e3 * (row['predicted_s'] - row['measured_s']):+.0f}",
            f"{1e3 * row['predicted_exchanges_s']:.0f}", extremes(row["updates"]), extremes(row["exchanges"]), percent(row["spread"]))
           for row in rows])
    errors = [abs(error(row)) for row in rows]
    print(f"\nError without sign: median {percent(statistics.median(errors))}, largest {percent(max(errors))}, of "
          f"{len(rows)} conditions")


def more():
    """Join, post-local SGD and scripts of ours: a span is an epoch, a round or a step."""
    rows = [row for row in campaign.read()[0] if row["piece"] in conditions.FRAMEWORK]
    table(("bed", "kind", "condition", "predicted [ms]", "measured [ms]", "error", "without the queue", "spread",
           "equal buckets"),
          [(bed_of(row), row["condition"]["kind"], row["condition"]["name"], f"{1e3 * row['predicted_s']:.1f}",
            f"{1e3 * row['measured_s']:.1f}", percent(error(row), True), percent(row["alone_s"] / row["measured_s"] - 1, True),
            percent(row["spread"]), ("yes" if row["bucket_bytes"] == row["predicted_bucket_bytes"] else "no")
            if campaign.has_buckets(row) else "-") for row in rows])
    errors = [abs(error(row)) for row in rows]
    print(f"\nError without sign: median {percent(statistics.median(errors))}, largest {percent(max(errors))}, of "
          f"{len(rows)} conditions")
    for piece, tables in campaign.read()[1].items():
        for _, seconds in tables.get(conditions.GTOPK_UNSENT, []):
            print(f"Selecting and merging of gTop-k in one bucket, timed with nothing sent ({piece}): {1e3 * seconds:.1f} ms")


def by_name(piece):
    return {row["condition"]["name"]: row for row in campaign.read()[0] if row["piece"] == piece}


def change(rows, new, old, key):
    return rows[new][key] / rows[old][key] - 1


def plan_changes():
    """(model, kind of advice, row of DDP's default, row of the advised buckets, predicted change, measured change) of all
    plans."""
    for piece in conditions.ADVISED.values():
        rows = by_name(piece)
        for name in map(conditions.short, conditions.GAIN_MODELS):
            old, *plans = (f"{name} cap={of}" for of in ("25 default", "tuned", "list"))
            for plan, word in zip(plans, ("one cap", "list")):
                yield (name, word, rows[old], rows[plan],
                       *(change(rows, plan, old, key) for key in ("predicted_s", "measured_s")))


def gain():
    """The advised caps and lists beside DDP's defaults, measured and predicted."""
    found = list(plan_changes())
    table(("bed", "model", "advice", "buckets, default", "buckets, advised", "default [ms]", "advised [ms]", "predicted change",
           "measured change"),
          [(bed_of(old), name, word, len(old["bucket_bytes"]), len(plan["bucket_bytes"]), f"{1e3 * old['measured_s']:.1f}",
            f"{1e3 * plan['measured_s']:.1f}", percent(told, True), percent(seen, True))
           for name, word, old, plan, told, seen in found])
    apart = [abs(told - seen) for *_, told, seen in found]
    print(f"\nPredicted and measured changes are {100 * statistics.median(apart):.1f} points apart (median), at most "
          f"{100 * max(apart):.1f}; {sum(each <= 0.02 for each in apart)} of {len(apart)} are within 2 points, and "
          f"{sum(seen > 0 for *_, seen in found)} advised steps are slower than the default.")


def beliefs():
    """What is often said of DDP, by measurement and by prediction."""
    lines = []

    def row(belief, piece, new, old):
        rows = by_name(piece)
        lines.append((belief, bed_of(rows[old]), f"{new} against {old}", percent(change(rows, new, old, "measured_s"), True),
                      percent(change(rows, new, old, "predicted_s"), True)))

    for name in ("resnet50", "alexnet", "bert_base"):
        for piece in ("2x100 a", "4x50 a", "8x25 a"):
            rows = by_name(piece)
            best = min((1, 5, 1000), key=lambda cap: rows[f"{name} cap={cap}"]["measured_s"])
            row("25 MiB is the best cap", piece, f"{name} cap={best}", f"{name} cap=25")
    for name in ("resnet50", "alexnet", "bert_base"):
        row("the fp16 hook halves the step", "4x50 hooks", f"{name} cap=25 fp16", f"{name} cap=25")
    rows = by_name("4x50 hooks")
    added = {key: [rows[f"resnet50 cap=25{more}"][key] - computing(rows[f"resnet50 cap=25{more}"])
                   for more in ("", " no_sync 4")] for key in ("measured_s", "predicted_s")}
    lines.append(("accumulation over 4 micro-batches quarters communication", bed_of(rows["resnet50 cap=25"]),
                  "what a step takes over its computing, per micro-batch, resnet50 no_sync 4 against none",
                  *[percent(new / 4 / old - 1, True) for old, new in added.values()]))
    table(("belief", "bed", "compared", "measured", "predicted"), lines)


if __name__ == "__main__":
    {"kinds": kinds, "beds": beds, "halves": halves, "worst": worst, "noise": noise, "logged": logged, "zero": zero,
     "more": more, "gain": gain, "beliefs": beliefs}[sys.argv[1]]()
