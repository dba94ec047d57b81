#!/usr/bin/env python3
"""Equal workers by every route are equal.

    equal_workers_test.py STEPSIM [--only BASE]

A straggler whose factor is 1 or 1.0000000001, equal factors for all workers, a tiny coefficient of
variation or a list of equal random factors make workers as equal as no variability at all. So every
summary number must stay, whatever the training algorithm, compression, placement and network;
formulas and bounds for equal workers may be absent then. Twice the time of every worker is twice
the time of every layer.
"""
import argparse
import fnmatch
import pathlib
import sys

from bases import (SERVER, all_bases, base, communication, compression, merged, network, training)
from keys_test import check_all

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TOLERANCE = 1e-6  # the factors differ from 1 by at most 1e-9
# For equal workers only, or of random factors only.
MAY_BE_ABSENT = {"closed_form_s", "closed_form_is_bound", "lower_bound_s", "iteration_time_low_s", "interval_level",
                 "iteration_time_high_s", "merge", "paper_form_s"}


def straggler(worker, factor):
    return {"worker": worker, "factor": factor}


def routes(workers):
    return {
        "one straggler of factor 1": {"stragglers": [straggler(0, 1)]},
        "one straggler of factor 1.0000000001": {"stragglers": [straggler(0, 1.0000000001)]},
        "the last worker": {"stragglers": [straggler(workers - 1, 1.0000000001)]},
        "all workers": {"stragglers": [straggler(w, 1.0000000001) for w in range(workers)]},
        "a tiny coefficient of variation": {"compute_cv": 1e-10},
        "equal random factors": {"distribution": "empirical", "factors": [3, 3], "compute_cv": 1},
    }


def more_bases():
    """Servers in every placement with every codec, and what overlaps an exchange."""
    bases = {}
    codecs = {"none": {}, "fp16": compression("fp16"), "truncate16": compression("truncate16"),
              "quantize8": compression("quantize8", encode_Bps=1e9, decode_Bps=2e9),
              "custom_codec": compression("custom_codec", ratio=3, encode_Bps=1e9, count_scale_bytes=True),
              "agreed scales": compression("quantize8", encode_Bps=1e9, scale_agreement=True)}
    placements = {"dedicated": {}, "two dedicated": training(servers=2),
                  "colocated": training(placement="colocated"),
                  "two colocated": training(placement="colocated", servers=2),
                  "sharded": training(placement="sharded")}
    for codec, part in codecs.items():
        for place, keys in placements.items():
            bases[f"{place} server, {codec}"] = base(SERVER, keys, communication(schedule="single"), part)
            if codec == "none":
                bases[f"{place} server on a flow network"] = base(
                    SERVER, keys, communication(schedule="single"), network("flow"))
        if codec != "agreed scales":
            bases[f"async, {codec}"] = base(SERVER, training(mode="async"), part, communication(schedule=None))
    single = base(SERVER, communication(schedule="single"))
    bases["server, copies"] = merged(single, {"training": {"sync_s": 1e-3, "host_copy_Bps": 1e9},
                                              "communication": {"copy_bandwidth_Bps": 1e9}})
    bases["server, barrier"] = merged(single, communication(next_forward="barrier"))
    bases["server, no overlap"] = merged(single, communication(overlap_backward=False))
    bases["server, paper form"] = merged(single, communication(cost_form="paper"))
    bases["server, closed form"] = merged(single, {"method": "closed_form"})
    bases["server, update"] = merged(single, training(update_s=2e-3))
    return bases


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, bool) or not isinstance(a, (int, float)):
        return a == b
    if not isinstance(b, (int, float)):
        return False
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) + 1e-9


def differences(plain, varied):
    found = []
    for key, value in plain["summary"].items():
        other = varied["summary"].get(key)
        if key in MAY_BE_ABSENT or key == "staleness_histogram":
            continue
        if value is None and other == 0:  # no waiting, no staleness
            continue
        if not same(value, other):
            found.append(f"{key} {value} -> {other}")
    for key, value in {"buckets": len(plain["buckets"])}.items():
        if len(varied[key]) != value:
            found.append(f"{key}: {value} -> {len(varied[key])}")
    return found


def doubled(scenario):
    """The times of every layer and the update twice as long."""
    result = merged(scenario, {})
    layers = [dict(layer, forward_s=2 * layer["forward_s"], backward_s=2 * layer["backward_s"])
              for layer in scenario["workload"]["layers"]]
    result["workload"] = {"layers": layers}
    given = scenario["training"]
    twice = {key: 2 * given[key] for key in ("update_s", "outer_update_s") if key in given}
    return merged(result, training(**twice))


def check(run, name, scenario):
    code, plain, _, errors, _ = run(scenario)
    if code != 0:
        return [f"{name}: {errors.strip()}"]
    cluster = scenario["cluster"]
    workers = cluster["nodes"] * cluster.get("gpus_per_node", 1)
    problems = []
    for route, keys in routes(workers).items():
        code, varied, _, errors, _ = run(merged(scenario, {"variability": keys}))
        wrong = [errors.strip()] if code != 0 else differences(plain, varied)
        problems += [f"{name}: {route}: {each}" for each in wrong]
    coded = scenario["communication"].get("compression", {})
    layers = scenario["workload"].get("layers")
    # Schedules merge by the times of one worker.
    if layers and not name.startswith("schedule") and not ({"encode_Bps", "decode_Bps", "costs"} & set(coded)):
        _, plain, _, _, _ = run(doubled(scenario))
        twice = {"stragglers": [straggler(w, 2) for w in range(workers)]}
        code, varied, _, errors, _ = run(merged(scenario, {"variability": twice}))
        keys = ("iteration_time_s", "compute_s", "communication_s", "wire_bytes")
        if code != 0:
            problems.append(f"{name}: all workers twice as slow: {errors.strip()}")
        problems += [f"{name}: all workers twice as slow: {key} {plain['summary'][key]} -> "
                     f"{varied['summary'][key]}" for key in keys
                     if code == 0 and not same(plain["summary"][key], varied["summary"][key])]
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--only", default="*", help="bases, with wildcards")
    args = parser.parse_args()
    bases = {name: scenario for name, scenario in all_bases(REPOSITORY).items()
             if not isinstance(scenario["workload"], list) and "variability" not in scenario
             and not name.startswith("packet")}
    bases.update(more_bases())
    bases = {n: s for n, s in bases.items() if fnmatch.fnmatchcase(n, args.only)}
    return check_all(args.stepsim, check, bases, words="equal workers")


if __name__ == "__main__":
    sys.exit(main())
