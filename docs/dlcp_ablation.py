#!/usr/bin/python3
"""Which part of DLCP carries its gain: arms from TCP to dlcp, with servers (E1) and in a ring (E2).

usage: docs/dlcp_ablation.py [--bin build] [--jobs 2] [--only E1,E2]  simulates, writes docs/dlcp.csv
       docs/dlcp_ablation.py --check [--only ..]                      simulates, compares with the file
       docs/dlcp_ablation.py --table E1                               prints a table from the file
       docs/dlcp_ablation.py --claims                                 what is claimed and what is seen
       docs/dlcp_ablation.py --commands E1                            the command line of every point

A point is one network and model under one arm: `stepsim run examples/dlcp.scenario.json --set .. --seed N`.
A row of the file is one metric of one point, values by seed as in contention_study.py.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
import contention_study as study

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs/dlcp.csv"
SCENARIO = "examples/dlcp.scenario.json"
PACKET = "/cluster/network/packet"
TRANSPORT = f"{PACKET}/transport"
WORKERS = 10

# 50,000 values in a slice, four slices under way.
SLICES = {"schedule": "priority", "partition_bytes": 200000, "credit_bytes": 800000}
WHOLE = {"schedule": "wfbp"}
ONE_PATH, SPRAY = "ecmp", "spray_random"


def arm(kind, order=WHOLE, paths=ONE_PATH, **transport):
    return {TRANSPORT: {"kind": kind, **transport}, f"{PACKET}/load_balancing": paths,
            "/communication": order}


def dlcp(bound=0.1, order=WHOLE, paths=SPRAY, priority=True, drop=True, **more):
    return arm("dlcp", order, paths, loss_bound_push=bound, priority=priority, selective_drop=drop,
               **more)


ARMS = {"1 fifo, reno": arm("reno"),
        "2 priority, reno": arm("reno", SLICES),
        "3 priority, dctcp": arm("dctcp", SLICES),
        "4 dlcp, bounded loss": dlcp(paths=ONE_PATH, priority=False, drop=False),
        "5 + queue by layer": dlcp(paths=ONE_PATH, drop=False),
        "6 + selective drop": dlcp(paths=ONE_PATH),
        "7 + spraying": dlcp(),
        "8 the same, p = 0": dlcp(bound=0)}
TCP = [name for name in ARMS if name[0] in "123"]
FULL = "7 + spraying"
# What the list of arms leaves out: dlcp over the slices of arms 2 and 3, also with all layers in one
# queue; TCP with the least timeout that Linux has. A key set later wins, as in `late`.
SLICED, ONE_QUEUE = "9 arm 7 in slices", "10 arm 9, one queue"
MORE = {SLICED: dlcp(order=SLICES), ONE_QUEUE: dlcp(order=SLICES, priority=False)}


def late(settings, rto_s=0.2):
    return {**settings, f"{TRANSPORT}/rto_min_s": rto_s, f"{TRANSPORT}/rto_initial_s": rto_s}


LATE = {f"{name}, RTO 200 ms": late(ARMS[name]) for name in TCP}
EVERY = {**ARMS, **MORE, **LATE}
# Fair sharing, nothing lost, no headers: what is left when the network does no harm.
FLUID = {"flows, whole": {"/cluster/network": {"model": "flow"}, "/communication": WHOLE},
         "flows, slices": {"/cluster/network": {"model": "flow"}, "/communication": SLICES}}

# VGG-16: 16 layers by their multiply-adds at half of a V100's 15.7 TFLOP/s; ResNet-50: a V100's trace.
MODELS = {"resnet50": {},
          "vgg16": {"/workload": {"model": "vgg16", "batch_size": 32,
                                  "device": {"flops_Ps": 1.57e13, "utilization": 0.5}}}}


def rate(gigabit):
    """The same buffer in time; thresholds follow the bandwidth by themselves."""
    if gigabit == 10:
        return {}
    return {"/cluster/topology/bandwidth_Bps": gigabit * 1.25e8,
            f"{PACKET}/buffer": {"scope": "port", "packets": 10 * gigabit}}


def servers(count, place="dedicated"):
    hosts = WORKERS + (count if place == "dedicated" else 0)
    return {"/training/servers": count, "/training/placement": place, "/cluster/topology/hosts": hosts}


RING = {"/training": {"algorithm": "sync_sgd", "iterations": 3, "discard_iterations": 1},
        "/cluster/topology/hosts": WORKERS}


def merged(*parts):
    """Settings in the order in which they apply; an exchange by ring is part of the communication."""
    settings = {}
    for part in parts:
        settings.update(part)
    if settings.get("/training") == RING["/training"]:
        settings["/communication"] = {**settings["/communication"], "collective": "ring"}
    return settings


@dataclasses.dataclass(frozen=True)
class Point:
    scenario: str
    arm: str
    x: str | float
    settings: dict
    seeds: tuple


def seeds(count):
    return tuple(range(1, count + 1))


def command(point, seed, program="stepsim"):
    words = [program, "run", SCENARIO]
    for pointer, value in point.settings.items():
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        words += ["--set", f"{pointer}={text}"]
    return [*words, "--seed", str(seed)]


def measure(result):
    """Times are those of steady iterations, counts of the last; drops of all."""
    summary = result["summary"]
    total = {key: sum(tensor[key] for tensor in result["tensors"])
             for key in ("timeouts", "retransmissions", "duplicates")}
    metrics = {"iteration_s": summary["iteration_time_s"],
               "exposed_s": summary["exposed_communication_s"], "p99_s": summary["fct"]["p99_s"],
               "loss": summary["loss_fraction"] or 0, **total,
               "hops": result["packet_hops"] or 0,
               "drops": sum(count or 0 for link in result["links"] for count in link["drops"].values())}
    if summary.get("time_to_accuracy_s") is not None:
        metrics["accuracy_s"] = summary["time_to_accuracy_s"]
    return {metric: value for metric, value in metrics.items() if value is not None}


HEADLINE = [*TCP, FULL, SLICED]


def arms_of(x):
    """Behind one switch there is one path, so arm 6 is arm 7: it is run where that is claimed. In a
    ring TCP has no timeouts. Every arm at 10 Gb/s with one server, ten, and in a ring of ResNet-50."""
    claimed = x in ("resnet50, 10G, S = 10", "resnet50, 10G, ring")
    full = claimed or (", 10G, S = 1" in x)
    return [(name, settings) for name, settings in EVERY.items()
            if (claimed or name[0] != "6") and not ("ring" in x and name in LATE)
            and (name in HEADLINE or full)]


def e1():
    for model, gigabit, count, runs in (
            ("resnet50", 10, 1, 5), ("resnet50", 10, 2, 3), ("resnet50", 10, 5, 3), ("resnet50", 10, 10, 5),
            ("vgg16", 10, 1, 1), ("vgg16", 10, 2, 1), ("vgg16", 10, 5, 1), ("vgg16", 10, 10, 1),
            ("resnet50", 25, 10, 3), ("vgg16", 25, 10, 1)):
        x = f"{model}, {gigabit}G, S = {count}"
        for name, settings in arms_of(x):
            yield Point("E1", name, x, merged(MODELS[model], rate(gigabit), servers(count), settings),
                        seeds(runs))
    x = "resnet50, 10G, on workers"
    for name, settings in arms_of(x):
        yield Point("E1", name, x, merged(servers(WORKERS, "colocated"), settings), seeds(3))


def e2():
    for model, gigabit, runs in (("resnet50", 10, 3), ("vgg16", 10, 1), ("resnet50", 25, 1)):
        x = f"{model}, {gigabit}G, ring"
        for name, settings in arms_of(x):
            yield Point("E2", name, x, merged(MODELS[model], rate(gigabit), RING, settings), seeds(runs))


def fluid():
    """No packets, so nothing of chance but the computing times."""
    for name, settings in FLUID.items():
        for count in (1, 10):
            yield Point("flows", name, f"resnet50, 10G, S = {count}",
                        merged(servers(count), settings), seeds(1))
        yield Point("flows", name, "resnet50, 10G, ring", merged(RING, settings), seeds(1))


# What the network is given: RTO_min, buffer, thresholds, size of packets.
SHOWN = [*TCP, FULL, SLICED]


def networks():
    base = "RTO_min 10 ms, 100 packets"
    yield base, {}
    for rto in (0.001, 0.2):
        yield f"RTO_min {1e3 * rto:g} ms", late({}, rto)
    for packets in (20, 50, 200, 1000):
        yield f"buffer {packets} packets", {f"{PACKET}/buffer": {"scope": "port", "packets": packets}}
    yield "thresholds / 6", {f"{PACKET}/mark_packets": 11,
                             f"{PACKET}/drop_packets": {"droppable": 3, "middle": 8}}
    yield "1500-byte packets", {f"{PACKET}/mtu_wire_bytes": 1500}


def sensitivity():
    for network, changes in networks():
        for name in SHOWN:
            timer = any("rto" in pointer for pointer in changes)
            by_dlcp = "dlcp" in json.dumps(EVERY[name])
            if timer and by_dlcp:
                continue # has none
            own = {pointer: value for pointer, value in changes.items()
                   if by_dlcp or pointer != f"{PACKET}/drop_packets"} # TCP has no classes
            yield Point("networks", name, network, merged(servers(WORKERS), EVERY[name], own),
                        seeds(3 if network != "1500-byte packets" else 1))


def e5():
    """One worker's link up loses packets at random."""
    for shape, parts in (("S = 10", servers(WORKERS)), ("ring", RING)):
        for loss in (0, 1e-4, 1e-3, 1e-2):
            for name in ("1 fifo, reno", "3 priority, dctcp", FULL) if shape != "ring" else (
                    "1 fifo, reno", FULL):
                faults = {f"{PACKET}/faults": {"link_loss": [{"link": "h0>switch", "probability": loss}]}}
                yield Point("E5", name, f"{shape}, {100 * loss:g} %",
                            merged(parts, EVERY[name], faults if loss else {}), seeds(3))


# All assumed: 90 epochs of 1,281,167 images in batches of 10 x 32, no harm to 1 %, twice the epochs at 20 %.
CONVERGENCE = {"epochs_lossless": 90, "iterations_per_epoch": 4004, "x1": 0.01, "x2": 0.2, "beta": 1}


def e6():
    for loss in (0, 0.05):
        faults = {f"{PACKET}/faults": {"link_loss": [{"link": "h0>switch", "probability": loss}]}}
        for bound in (0, 0.05, 0.1, 0.2, 0.3):
            yield Point("E6", f"q = {loss:g}", bound,
                        merged(servers(WORKERS), dlcp(bound), faults if loss else {},
                               {"/training/convergence": CONVERGENCE}), seeds(3))


POINTS = [*e1(), *e2(), *fluid(), *sensitivity(), *e5(), *e6()]


def simulate(stepsim, jobs, keep=lambda point, seed: True, progress=lambda: None):
    """Results of the chosen points and seeds; equal commands run once."""
    tasks = [(point, seed) for point in POINTS for seed in point.seeds if keep(point, seed)]
    texts = list(dict.fromkeys(shlex.join(command(*task, stepsim)) for task in tasks))

    def run(text):
        done = subprocess.run([*shlex.split(text), "--json", "--quiet"], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"{text}: {done.stderr}")
        progress()
        return measure(json.loads(done.stdout))

    results = study.Results()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = dict(zip(texts, pool.map(run, texts)))
    for point, seed in tasks:
        results.add(point.scenario, point.arm, point.x, seed,
                    found[shlex.join(command(point, seed, stepsim))])
    return results


def read():
    return study.read(RESULTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--jobs", default=max(1, (os.cpu_count() or 1) - 1), type=int)
    parser.add_argument("--only", type=study.listed)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--claims", action="store_true")
    parser.add_argument("--commands")
    options = parser.parse_args()
    if options.commands:
        for point in POINTS:
            if point.scenario == options.commands:
                print(shlex.join(command(point, point.seeds[0])))
        return 0
    if options.table or options.claims:
        import dlcp_claims
        import dlcp_tables
        lines = dlcp_tables.table(read(), options.table) if options.table else (
            dlcp_claims.lines(read()))
        for line in lines:
            print(line.rstrip())
        return 0
    new = simulate(str(options.bin.resolve() / "stepsim"), options.jobs,
                   lambda point, seed: not options.only or point.scenario in options.only,
                   lambda: print(".", end="", file=sys.stderr, flush=True))
    print(file=sys.stderr)
    if options.check:
        found = list(study.differences(new, read()))
        print("\n".join(found[:20]))
        print(f"{len(new.points)} points, {len(found)} values differ from {RESULTS.name}")
        return 1 if found else 0
    if options.only and RESULTS.exists(): # the rest stays as it is
        merged_points = {**read().points, **new.points}
        order = dict.fromkeys((point.scenario, point.arm, point.x) for point in POINTS)
        new.points = {key: merged_points[key] for key in order if key in merged_points}
    study.write(new, RESULTS)
    print(f"{len(new.points)} points: {RESULTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
