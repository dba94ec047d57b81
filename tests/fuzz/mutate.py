#!/usr/bin/env python3
"""Damaged copies of our own files through `check`, `run`, `plan`, `collective` and `import`: each
gives an answer or one clean error, never a crash, a hang or a partial output.

    mutate.py STEPSIM [--seed N] [--seconds S] [--count N]

Mutations: byte flips, cuts, doubled or removed pieces, removed keys, values replaced by awkward ones.
Deterministic: mutation i of seed N is the same on every machine; the seed is printed. With --seconds
(default 25) it ends early; --count is what a fast machine does in that time.
"""
import argparse
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIME_LIMIT_S = 30
CLEAN_EXITS = {0, 1, 2, 3, 4}
AWKWARD = [0, -1, 1, 0.5, 1e308, -1e308, 1e-308, 2**53, 2**63, -(2**63), 1e19, "", "x", "25Gbps", None,
           True, [], {}, [[]], "/", "..", "\u0000"]


def seeds():
    """The files that are mutated, with the command that reads each."""
    pairs = []
    for folder, limit in (("examples", 100), ("topologies", 8), ("models", 3), ("traces", 2)):
        files = sorted((ROOT / folder).glob("*.json"), key=lambda p: (p.stat().st_size, p.name))
        pairs += [(path, json.loads(path.read_text())) for path in files[:limit]]
    pairs += [(path, None) for path in sorted((ROOT / "tests/golden/input").glob("*.xml"))]
    return pairs


def paths_of(tree, prefix=()):
    """Paths of all members and elements."""
    found = []
    items = tree.items() if isinstance(tree, dict) else (
        enumerate(tree) if isinstance(tree, list) else ())
    for key, value in items:
        found.append(prefix + (key,))
        if len(found) < 5000:
            found += paths_of(value, prefix + (key,))
    return found


def mutate_tree(tree, rng):
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        paths = paths_of(tree)
        if not paths:
            break
        path = rng.choice(paths)
        parent = tree
        for key in path[:-1]:
            parent = parent[key]
        action = rng.random()
        if action < 0.3:
            del parent[path[-1]]
        elif action < 0.8:
            parent[path[-1]] = rng.choice(AWKWARD)
        elif action < 0.9 and isinstance(parent, dict):
            parent[str(path[-1]) + rng.choice(["x", "s", "_"])] = parent.pop(path[-1])
        elif isinstance(parent, list):
            parent.insert(path[-1], copy.deepcopy(parent[path[-1]]))
    return json.dumps(tree).encode()


def mutate_bytes(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if not data:
            break
        at = rng.randrange(len(data))
        action = rng.random()
        if action < 0.5:
            data[at] ^= 1 << rng.randrange(8)
        elif action < 0.7:
            del data[at:]
        elif action < 0.85:
            del data[at:at + rng.randrange(1, 20)]
        else:
            data[at:at] = data[at:at + rng.randrange(1, 20)]
    return bytes(data)


def command_for(tree, name):
    if tree is None:
        return ["import", "nccl-topology", name, "-o", "out.json"]
    kind = tree.get("kind")
    if kind == "scenario":
        return ["run", name, "-o", "out.json", "--json"]
    if kind == "problem":
        return ["plan", name, "-o", "out.json", "--json"]
    if kind == "links":
        return ["collective", "--op", "allreduce", "--algorithm", "ring,lp", "--ranks", "4", "--bytes",
                "1kB", "--latency", "1us", "--bandwidth", "1GB/s", "--links", name, "-o", "out.json"]
    if kind in ("topology", "network_calibration"):
        return ["topologies", "show", "./" + name]
    if kind == "model":
        return ["models", "show", "./" + name]
    if kind == "sweep":
        return ["sweep", name, "--dry-run"]
    return ["check", name, "--json"]


def trouble(stepsim, arguments, folder):
    """What is wrong with the answer to one command, or None."""
    before = set(folder.rglob("*"))
    try:
        done = subprocess.run([stepsim] + arguments, cwd=folder, capture_output=True,
                              timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"no answer in {TIME_LIMIT_S} s"
    error = done.stderr.decode(errors="replace")
    left = set(folder.rglob("*")) - before
    for path in left:
        path.unlink()
    if done.returncode not in CLEAN_EXITS:
        return f"exit {done.returncode}: {error[-2000:]}"
    if "internal error" in error:
        return error
    if done.returncode and left:
        return f"left behind {[p.name for p in left]}"
    if done.returncode and arguments[0] != "check" and not error.startswith("error: "):
        return f"exit {done.returncode} without an error: {error}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--count", type=int, default=1500)
    options = parser.parse_args()
    stepsim = str(pathlib.Path(options.stepsim).resolve())
    files = seeds()
    assert files, "no example files"
    ends = time.monotonic() + options.seconds
    failures = 0
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path, tree in files:  # what examples refer to
            (folder / path.name).write_bytes(path.read_bytes())
        for index in range(options.count):
            if time.monotonic() > ends:
                break
            rng = random.Random(f"{options.seed}/{index}")
            path, tree = files[index % len(files)]
            data = (mutate_tree(tree, rng) if rng.random() < 0.6 and tree is not None
                    else mutate_bytes(path.read_bytes(), rng))
            target = folder / f"mutant{path.suffix}"
            target.write_bytes(data)
            arguments = (["check", target.name] if rng.random() < 0.3 and tree is not None
                         else command_for(tree, target.name))
            wrong = trouble(stepsim, arguments, folder)
            done += 1
            if wrong:
                failures += 1
                kept = pathlib.Path(tempfile.gettempdir()) / (
                    f"stepsim-mutant-{options.seed}-{index}{path.suffix}")
                kept.write_bytes(data)
                print(f"seed {options.seed} mutation {index} of {path.name}: "
                      f"stepsim {' '.join(arguments)}: {wrong}\n  kept as {kept}")
    print(f"seed {options.seed}: {done} mutants of {len(files)} files, {failures} failures")
    return 1 if failures or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
