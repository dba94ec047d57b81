#!/usr/bin/python3
"""Measures steps of stock PyTorch in beds, and predicts them with stepsim.

usage: tests/torchbed/campaign.py [--bin DIR] [--out FOLDER]             an hour; writes the files below
       tests/torchbed/campaign.py --quick                                two minutes; prints, writes nothing
       tests/torchbed/campaign.py --list | --measure PIECE .. | --show PIECE .. | --samples PIECE | --write

A piece that FOLDER (build/torchbed) has is not measured again; --write keeps the committed rows of pieces that it has
not; --samples prints the all-reduces of its bed as samples for `stepsim-calibrate fit`. The files:
tests/torchbed/measured.csv (a row per condition), calibrations.json (collectives alone by piece),
docs/images/pytorch.png, and the tables of docs/pytorch.md.
Needs root, ip, tc with tbf, and torch with gloo for /usr/bin/python3. Exit code 77 where something is missing.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import conditions  # noqa: E402
import predict  # noqa: E402
import tables  # noqa: E402
from bed import Bed, MissingTool, Stopped  # noqa: E402

ROOT = HERE.parents[1]
PYTHON = os.environ.get("TORCH_PYTHON", "/usr/bin/python3")
SHAPE = ("ranks", "rate_mbps", "slow", "uplink_mbps", "compute_s", "gradient_bytes")
COLUMNS = ("piece", *SHAPE, "name", "kind", "model", "cap_mib", "settings", "started", "measured_s", "spread", "busy",
           "predicted_s", "alone_s", "exchanges", "updates", "predicted_exchanges_s", "bucket_bytes", "predicted_bucket_bytes",
           "logged", "predicted_logged")

TEXT = ("piece", "name", "kind", "model", "started")  # every other column is JSON


def campaign_pieces():
    return {**conditions.PIECES, **conditions.SHARDED, **conditions.FRAMEWORK, **conditions.AGAIN}


def pieces():
    return {**campaign_pieces(), **conditions.QUICK, **conditions.LIVE}


def pooled(by_job, rounds):
    """Of every job what its ranks answered, with the lists of all rounds one after another."""
    jobs = len(by_job) // rounds
    lists = ("spans", "logged", "exchanges_alone", "updates")
    return [[{**of_rank[0], **{key: sum((each[key] for each in of_rank), []) for key in lists if key in of_rank[0]}}
             for of_rank in zip(*by_job[job::jobs], strict=True)] for job in range(jobs)]


def measure(name, out):
    """Measures one piece, and keeps {"shape", "started", "load", "calibration", "results"} in out/NAME.json."""
    shape = pieces()[name]
    calibrations = conditions.calibrations(shape)
    parts = [(key, part) for key, measured in calibrations.items() for part in measured]
    jobs = [*[[part] for _, part in parts],
            *[[conditions.job(shape, each) for each in group] for group in conditions.in_turn(shape)]]
    started, begin, load = datetime.datetime.now(datetime.timezone.utc), time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "jobs.json")
        path.write_text(json.dumps([[{**each, "round": k} for each in group] for k in range(conditions.ROUNDS) for group in jobs]),
                        encoding="utf-8")
        with Bed(shape) as bed:
            bed.run([PYTHON, HERE / "rank.py", path, pathlib.Path(scratch, "rank")], 600)
        ranks = [[json.loads(line) for line in pathlib.Path(scratch, f"rank.{rank}.jsonl").open(encoding="utf-8")]
                 for rank in range(shape["ranks"])]
    by_job = pooled(list(zip(*ranks, strict=True)), conditions.ROUNDS)
    found = {"shape": {key: shape[key] for key in SHAPE}, "started": started.isoformat(timespec="seconds"),
             "load": load, "conditions": shape["conditions"],
             "calibration": {key: sum((predict.times(part["at_once"], [rank["spans"] for rank in results])
                                       for (of, part), results in zip(parts, by_job) if of == key), [])
                             for key in calibrations}, "results": by_job[len(parts):]}
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    print(f"{name}: {len(shape['conditions'])} conditions in {time.monotonic() - begin:.0f} s", flush=True)


def exchanges(results, key="exchanges_alone"):
    """Of every repetition the seconds from when the last rank asks for the exchanges of a step, without layers, until the last
    has its results; `updates`: of every step, for what an optimizer broadcasts in it."""
    return [max(end for _, end in each) - max(start for start, _ in each)
            for each in zip(*[rank.get(key, []) for rank in results])]


def figures(condition, results):
    """Measured time of a step, its spread (quartiles), and of every bucket [bytes, launch, end]. The lower quartile of steps
    counts, as that of exchanges alone does, and where ranks vary the mean."""
    steps = [statistics.mean(each) for each in zip(*[rank["spans"] for rank in results])]
    measured = statistics.mean(steps) if condition["settings"].get("jitter_cv") else predict.lower_quartile(steps)
    low, _, high = statistics.quantiles(steps, n=4, method="inclusive")
    spread = (high - low) / measured
    logged = [[rows[0][0], *[predict.lower_quartile([max(row[k] for row in rows) for rows in column]) for k in (1, 2)]]
              for bucket in zip(*[zip(*rank["logged"]) for rank in results])
              for rows, column in [(bucket[0], list(zip(*bucket)))]]
    return measured, spread, logged


def rows_of(names, out):
    """Rows of the measured pieces without predictions, and {piece: calibration}."""
    rows, calibrations = [], {}
    for name in names:
        found = json.loads((out / f"{name}.json").read_text("utf-8"))
        calibrations[name] = found["calibration"]
        for condition, results in zip(found["conditions"], found["results"], strict=True):
            seconds, spread, logged = figures(condition, results)
            rows.append({"piece": name, "shape": found["shape"], "condition": condition, "started": found["started"],
                         "measured_s": seconds, "spread": spread, "busy": results[0].get("busy"),
                         "exchanges": exchanges(results), "updates": exchanges(results, "updates"),
                         "bucket_bytes": results[0]["buckets"],
                         "logged": logged})
    return rows, calibrations


def read():
    """The committed rows, as rows_of gives them, with predictions."""
    rows = []
    with open(HERE / "measured.csv", newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            for key in line.keys() - set(TEXT):
                line[key] = json.loads(line[key])
            row = {key: line[key] for key in COLUMNS if key not in SHAPE}
            row["shape"] = {key: line[key] for key in SHAPE}
            row["condition"] = {key: line[key] for key in ("name", "kind", "model", "cap_mib", "settings")}
            rows.append(row)
    return rows, json.loads((HERE / "calibrations.json").read_text("utf-8"))


def renewed(names, out):
    """Rows of all pieces: those that `out` has as it has them, the others as they are committed."""
    rows, calibrations = read()
    measured = [name for name in names if (out / f"{name}.json").exists()]
    rows = [row for row in rows if row["piece"] in names and row["piece"] not in measured]
    new_rows, new_calibrations = rows_of(measured, out)
    calibrations.update(new_calibrations)
    return (sorted(rows + new_rows, key=lambda row: names.index(row["piece"])),
            {name: calibrations[name] for name in names})


def predicted(rows, calibrations, stepsim):
    for row, answer in zip(rows, predict.predicted(stepsim, rows, calibrations)):
        row["predicted_s"], row["alone_s"] = answer["seconds"], answer["alone_s"]
        row["predicted_exchanges_s"] = answer["exchanges_s"] if row["exchanges"] else None
        row["predicted_bucket_bytes"] = [bucket[0] for bucket in answer["buckets"]]
        row["predicted_logged"] = answer["buckets"] if row["logged"] else []
    return rows


def written(rows, calibrations):
    with open(HERE / "measured.csv", "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(COLUMNS)
        for row in rows:
            flat = {**row, **row["shape"], **row["condition"]}
            lines.writerow([flat[key] if key in TEXT else json.dumps(flat[key]) for key in COLUMNS])
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(table)}" for name, table in calibrations.items())
    (HERE / "calibrations.json").write_text("{\n" + text + "\n}\n", encoding="utf-8")


def samples(name, out):
    """CSV of the times of all-reduces alone and in a queue, as FOLDER has them or else as they are committed. Gloo sends them
    around a ring."""
    path = out / f"{name}.json"
    measured = json.loads(path.read_text("utf-8"))["calibration"] if path.exists() else read()[1][name]
    return "\n".join(["op,algorithm,ranks,bytes,time_s,start_up",
                      *[f"allreduce,ring,{pieces()[name]['ranks']},{size},{seconds},{start_up}"
                        for start_up in ("alone", "queue") for size, seconds in measured[start_up]]])


def advise(stepsim, out):
    """Writes what `stepsim tune --emit ddp` proposes for DDP's defaults, from the calibrations of two pieces."""
    found = {}
    for source in conditions.ADVISED:
        calibration = json.loads((out / f"{source}.json").read_text("utf-8"))["calibration"]
        for name in conditions.GAIN_MODELS:
            asked = predict.scenario(pieces()[source], conditions.one(name, 25), calibration, queued=True,
                                     at_once=False)
            done = subprocess.run([stepsim, "tune", "-", "--emit", "ddp"], input=json.dumps(asked), capture_output=True,
                                  text=True, check=True)
            answer = json.loads(done.stdout)
            found.setdefault(source, {})[name] = {key: answer[key] for key in ("bucket_cap_mb", "bucket_cap_mb_list")}
    conditions.ADVICE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    conditions.add_advised()


def has_buckets(row):
    """Averaged parameters, and buckets of PowerSGD and gTop-k, have no bytes to compare."""
    return row["condition"]["kind"] not in ("local SGD", "PowerSGD", "DiLoCo", "gTop-k")


def shown(rows):
    for row in rows:
        same = "" if not has_buckets(row) else (
            ", the same" if row["bucket_bytes"] == row["predicted_bucket_bytes"] else ", OTHERS PREDICTED")
        print(f"{row['piece']:14} {row['condition']['name']:42} measured {row['measured_s']:.4f} s, predicted "
              f"{row['predicted_s']:.4f} s, error {100 * tables.error(row):+6.2f} %, spread {100 * row['spread']:4.1f} %, "
              f"{len(row['bucket_bytes'])} buckets{same}")
    errors = [abs(tables.error(row)) for row in rows]
    print(f"{len(errors)} conditions, |error|: median {tables.percent(statistics.median(errors))}, 90th percentile "
          f"{tables.percent(tables.percentile(errors, 0.9))}, largest {tables.percent(max(errors))}")


def time_of(row):
    return datetime.datetime.fromisoformat(row["started"])


def wait_for(name, out):
    """Sleeps until it is late enough after the first measurement of what `name` repeats."""
    source = pieces()[name].get("again")
    if source:
        first = datetime.datetime.fromisoformat(json.loads((out / f"{source}.json").read_text("utf-8"))["started"])
        passed = (datetime.datetime.now(datetime.timezone.utc) - first).total_seconds()
        time.sleep(max(0.0, pieces()[name]["wait_s"] - passed))


def measured(name, options):
    """Measures one piece when its time has come; whether that worked."""
    wait_for(name, options.out)
    if name in conditions.ADVISED.values():
        advise(options.bin / "stepsim", options.out)
    try:
        measure(name, options.out)
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build", help="folder of stepsim")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "torchbed", help="folder of results")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--measure", metavar="PIECE", nargs="+", choices=pieces())
    parser.add_argument("--show", metavar="PIECE", nargs="+", choices=pieces())
    parser.add_argument("--samples", metavar="PIECE", choices=campaign_pieces())
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    everything = list(campaign_pieces())
    if options.list:
        print("\n".join(everything))
        return 0
    if options.samples:
        print(samples(options.samples, options.out))
        return 0
    wanted = options.measure or (list(conditions.QUICK) if options.quick else
                                 [] if options.show or options.write else everything)
    failed = False
    try:
        for name in wanted:
            if options.measure or not (options.out / f"{name}.json").exists():
                failed |= not measured(name, options)
    except MissingTool as problem:
        print(f"skipped: {problem}", file=sys.stderr)
        return 77
    except (KeyboardInterrupt, Stopped):
        return 130
    if options.measure or failed:
        return int(failed)
    names = options.show or (list(conditions.QUICK) if options.quick else everything)
    if options.write:
        rows, calibrations = renewed(names, options.out)
    else:
        rows, calibrations = rows_of(names, options.out)
    shown(predicted(rows, calibrations, options.bin / "stepsim"))
    if not options.quick and not options.show:
        written(rows, calibrations)
        subprocess.run([sys.executable, HERE / "figure.py"], check=True)
        subprocess.run([sys.executable, ROOT / "docs" / "update_outputs.py", "--bin", options.bin,
                        ROOT / "docs" / "pytorch.md"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
