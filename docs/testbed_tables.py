#!/usr/bin/python3
"""The tables of docs/testbed.md, from what docs/testbed_measure.sh measured.

usage: docs/testbed_tables.py errors|worst|library|conditions|replay
"""
import gzip
import json
import math
import pathlib
import re
import statistics
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "testbed"
LEAST_BYTES = 16000  # sizes are moved by up to 5 %
WORSE = 0.20
GOALS = {"median": 0.05, "p90": 0.20, "largest": 0.40}


def beds(suffix):
    """[((ranks, Mb/s), file)] by capacity."""
    found = []
    for file in FOLDER.glob(f"*.{suffix}"):
        ranks, rate = map(int, re.match(r"(\d+)x(\d+)mbps", file.name).groups())
        found.append(((ranks, rate), file))
    return sorted(found, key=lambda bed: (bed[0][0] * bed[0][1], bed[0]))


def rows_of(file):
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["bytes"] >= LEAST_BYTES]


def error(row):
    return row["predicted_s"] / row["measured_s"] - 1


def percent(value, signed=False):
    return f"{100 * value:{'+' if signed else ''}.1f} %"


def errors():
    print("| ranks | links | rows | median | 90th percentile | largest | both ways, one peer "
          "| two peers | load before | |")
    print("|" + "---|" * 10)
    for (ranks, rate), file in beds("errors.jsonl.gz"):
        rows = rows_of(file)
        sizes = sorted(abs(error(row)) for row in rows if "start_up_bound" not in row["flags"])
        median, p90, largest = (statistics.median(sizes), sizes[math.ceil(0.9 * len(sizes)) - 1],
                                sizes[-1])
        calibration = FOLDER.parent.parent / f"topologies/testbed-{ranks}x{rate}mbps.calibration.json"
        duplex = json.loads(calibration.read_text("utf-8"))["links"][0]["duplex"]
        bound = any("host_bound" in row["flags"] for row in rows)
        good = (median <= GOALS["median"] and p90 <= GOALS["p90"] and largest <= GOALS["largest"])
        verdict = "host_bound" if bound else "goals met" if good else "goals missed"
        print(f"| {ranks} | {rate} Mb/s | {len(rows)} | {percent(median)} | {percent(p90)} "
              f"| {percent(largest)} | x {duplex['exchange']:.2f} | x {duplex['shift']:.2f} "
              f"| {rows[0]['transport']['load_average']:.2f} | {verdict} |")


def worst():
    print("| ranks | links | operation | bytes | predicted [ms] | measured [ms] | least [ms] | error |")
    print("|" + "---|" * 8)
    for (ranks, rate), file in beds("errors.jsonl.gz"):
        for row in sorted(rows_of(file), key=lambda row: -abs(error(row))):
            if abs(error(row)) > WORSE and "host_bound" not in row["flags"]:
                print(f"| {ranks} | {rate} Mb/s | {row['op']} {row['algorithm']} | {row['bytes']} "
                      f"| {1e3 * row['predicted_s']:.4g} | {1e3 * row['measured_s']:.4g} "
                      f"| {1e3 * row['min_s']:.4g} | {percent(error(row), True)} |")


def library():
    print("| ranks | links | operation | algorithm of the library | rows | median | 90th percentile "
          "| largest |")
    print("|" + "---|" * 8)
    for (ranks, rate), file in beds("library.jsonl.gz"):
        rows = [row for row in rows_of(file)
                if not {"start_up_bound", "host_bound"} & set(row["flags"])]
        for op, algorithm in sorted({(row["op"], row["algorithm"]) for row in rows}):
            sizes = sorted(abs(error(row)) for row in rows
                           if (row["op"], row["algorithm"]) == (op, algorithm))
            print(f"| {ranks} | {rate} Mb/s | {op} | {algorithm.removeprefix('library_')} "
                  f"| {len(sizes)} | {percent(statistics.median(sizes))} "
                  f"| {percent(sizes[math.ceil(0.9 * len(sizes)) - 1])} | {percent(sizes[-1])} |")
        sizes = sorted(abs(error(row)) for row in rows)
        print(f"| {ranks} | {rate} Mb/s | all | all | {len(sizes)} "
              f"| {percent(statistics.median(sizes))} "
              f"| {percent(sizes[math.ceil(0.9 * len(sizes)) - 1])} | {percent(sizes[-1])} |")


def conditions():
    print("| ranks | links | condition | operation | algorithm | rows | median | 90th percentile "
          "| largest | host_bound |")
    print("|" + "---|" * 10)
    for (ranks, rate), file in beds("conditions.jsonl.gz"):
        condition = file.name.split(".")[0].split("-")[1]
        counted = [row for row in rows_of(file) if "start_up_bound" not in row["flags"]]
        rows = [row for row in counted if "host_bound" not in row["flags"]]
        names = sorted({(row["op"], row["algorithm"]) for row in rows})
        for op, algorithm in [*names, ("all", "all")]:
            sizes = sorted(abs(error(row)) for row in rows
                           if op == "all" or (row["op"], row["algorithm"]) == (op, algorithm))
            print(f"| {ranks} | {rate} Mb/s | {condition} | {op} | {algorithm} | {len(sizes)} "
                  f"| {percent(statistics.median(sizes))} "
                  f"| {percent(sizes[math.ceil(0.9 * len(sizes)) - 1])} | {percent(sizes[-1])} "
                  f"| {len(counted) - len(rows) if op == 'all' else ''} |")


def replay():
    print("| ranks | links | schedule | messages | predicted [ms] | measured [ms] | least .. most "
          "[ms] | error | place predicted | place |")
    print("|" + "---|" * 10)
    found = []
    for (ranks, rate), file in beds("replay.json"):
        rows = json.loads(file.read_text("utf-8"))["schedules"]
        places = {key: {row["schedule"]: 1 + place for place, row in
                        enumerate(sorted(rows, key=lambda row: row[key]))}
                  for key in ("predicted_s", "measured_s")}
        for row in rows:
            found.append(abs(error(row)))
            print(f"| {ranks} | {rate} Mb/s | {row['schedule']} | {len(row['buckets'])} "
                  f"| {1e3 * row['predicted_s']:.1f} | {1e3 * row['measured_s']:.1f} "
                  f"| {1e3 * row['min_s']:.1f} .. {1e3 * row['max_s']:.1f} "
                  f"| {percent(error(row), True)} | {places['predicted_s'][row['schedule']]} "
                  f"| {places['measured_s'][row['schedule']]} |")
    print(f"\n|error|: median {percent(statistics.median(found))}, largest {percent(max(found))}, "
          f"of {len(found)} runs")


if __name__ == "__main__":
    {"errors": errors, "worst": worst, "library": library, "conditions": conditions,
     "replay": replay}[sys.argv[1]]()
