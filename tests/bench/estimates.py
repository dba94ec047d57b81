#!/usr/bin/env python3
"""How far the estimates of work, which --max-seconds refuses by, are from processor seconds: a net of
collectives over algorithm, level and ranks, and runs, as a Markdown table.

usage: estimates.py BUILD_DIR [MOST_SECONDS]      (20 s; BUILD_DIR is a release build of this tree)
Every case is estimated; those of at most MOST_SECONDS are run. The exit status is 1 if an estimate is wrong by more
than three times where it or the run exceeds half a second. Times depend on the machine, so that this is no
test.
"""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

STEPSIM = pathlib.Path(sys.argv[1]).resolve() / "stepsim"
MOST_S = float(sys.argv[2]) if len(sys.argv) > 2 else 20
COUNTED_S = 0.5
WITHIN = 3
FLAT = ("ring", "recursive_doubling", "double_binary_tree", "mst", "be", "bruck", "lp", "swing", "auto")
NODES_OF_8 = ("--gpus-per-node", "8", "--intra-latency", "2us", "--intra-bandwidth", "100GB/s")
LINK = ("--latency", "5us", "--bandwidth", "1.25GB/s")


def command_seconds(command, folder):
    """(processor seconds, standard error, exit status)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([STEPSIM, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr, done.returncode


def estimate(command, folder):
    _, text, status = command_seconds([*command, "--max-seconds", "1e-9"], folder)
    found = re.search(r"takes about ([\d.e+-]+) (s|h) of CPU", text)
    if found is None:
        return None if status else 0.0
    return float(found[1]) * (3600 if found[2] == "h" else 1)


def leaf_spine(hosts):
    return {"preset": "leaf_spine", "leaves": max(hosts // 16, 1), "hosts_per_leaf": 16, "spines": 4, "bandwidth_Bps": 1.25e9,
            "latency_s": 1e-6}


def scenario(nodes, algorithm, **cluster):
    layers = [{"name": f"l{i}", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 400012 + 100000 * i} for i in range(6)]
    return {"kind": "scenario", "workload": {"layers": layers}, "limits": {"simulated_s": 1e7},
            "cluster": {"nodes": nodes, "network": {"latency_s": 5e-6, "bandwidth_Bps": 1.25e9}, **cluster},
            "communication": {"schedule": "wfbp", "collective": algorithm}, "training": {"iterations": 2}}


def cases(folder):
    def collective(algorithm, ranks, *more):
        return ["collective", "--op", "allreduce", "--algorithm", algorithm, "--ranks", str(ranks), "--bytes", "100MB", *LINK, *more]

    def run(tree, name, *more):
        (folder / name).write_text(json.dumps(tree))
        return ["run", name, "--json", *more]
    for algorithm in FLAT:
        for method in ("auto", "max_plus", "events"):
            for ranks in (256, 1024, 4096, 16_384, 65_536, 262_144):
                yield f"{algorithm}, {method}", ranks, collective(algorithm, ranks, "--method", method)
    for algorithm in ("ring", "hierarchical", "hierarchical_leader", "two_level", "mst", "recursive_doubling", "double_binary_tree", "lp"):
        for method in ("auto", "max_plus", "events"):
            for ranks in (64, 512, 2048, 8192):
                yield f"{algorithm} on nodes of 8, {method}", ranks, collective(algorithm, ranks, *NODES_OF_8, "--method", method)
    for algorithm in ("ring", "recursive_doubling", "double_binary_tree"):
        for hosts in (64, 256, 1024, 4096):
            fabric = {"network": {"model": "flow"}, "topology": leaf_spine(hosts)}
            yield f"run, {algorithm} on a leaf-spine", hosts, run(scenario(hosts, algorithm, **fabric), f"fabric_{algorithm}_{hosts}.json")
    for algorithm in ("ring", "double_binary_tree", "lp", "recursive_doubling"):
        for nodes in (256, 1024, 4096):
            for method in ("max_plus", "events"):
                yield (f"run, {algorithm}, {method}", nodes,
                       run(scenario(nodes, algorithm), f"run_{algorithm}_{nodes}.json", "--method", method))
    for nodes in (16, 64, 256):
        packet = {"network": {"model": "packet", "packet": {"transport": "dctcp"}}, "topology": leaf_spine(nodes)}
        yield "run, ring by packets", nodes, run(scenario(nodes, "ring", **packet), f"packets_{nodes}.json")


def main():
    wrong = 0
    print("| case | ranks | estimate | processor time | |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words, ranks, command in cases(folder):
            expected = estimate(command, folder)
            if expected is None or expected > MOST_S:
                continue  # refused for another reason, or too long to look
            seconds, text, status = command_seconds([*command, "--max-seconds", "1e9"], folder)
            if status:
                print(f"{words}, {ranks}: {text}", file=sys.stderr)
                continue
            if max(expected, seconds) <= COUNTED_S:
                continue
            ratio = max(expected / seconds, seconds / max(expected, 1e-9))
            wrong += ratio > WITHIN
            print(f"| {words} | {ranks:,} | {expected:.2g} s | {seconds:.2g} s | {'' if ratio <= WITHIN else f'{ratio:.1f}x'} |", flush=True)
    print(f"\n{wrong} estimates are wrong by more than {WITHIN} times", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
