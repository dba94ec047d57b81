#!/usr/bin/env python3
"""Damaged copies of our own files through every command that reads one: each gives an answer or one
clean error, never a crash, a hang, memory out of proportion or a partial output.

    mutate.py STEPSIM [--target WORD] [--seed N|moving] [--seconds S] [--count N]

Targets (targets.py): our files through the command of their kind, shards through `merge`, outputs
through `sweep --resume`, inputs of every importer, results through what reads results.
Mutations: byte flips, cuts, doubled or removed pieces, removed keys, values replaced by awkward ones.
Deterministic: mutation i of seed N is the same on every machine; the seed is printed. `moving` is
another seed for each commit. With --seconds (default 25, for each seed) it ends early; --count is what a
fast machine does in that time.
"""
import argparse
import copy
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[i]) for i in (0, 1)]
import targets  # noqa: E402
from moving_seed import moving_seed  # noqa: E402

TIME_LIMIT_S = 30
MEMORY_LIMIT = 2 << 30
CLEAN_EXITS = {0, 1, 2, 3, 4}
AWKWARD = [0, -1, 1, 0.5, 1e308, -1e308, 1e-308, 2**53, 2**63, -(2**63), 1e19, "", "x", "25Gbps", None,
           True, [], {}, [[]], "/", "..", "\u0000"]


def paths_of(tree, prefix=()):
    """Paths of all members and elements."""
    found = []
    items = tree.items() if isinstance(tree, dict) else (enumerate(tree) if isinstance(tree, list) else ())
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
            parent[path[-1]] = copy.deepcopy(rng.choice(AWKWARD)) # it may be changed in its turn
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


def mutate_lines(data, rng):
    """Lines of JSON: one of them changed as a tree, or lines left out, doubled, swapped."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    action = rng.random()
    if action < 0.6:
        head = b"# " if lines[at].startswith(b"# ") else b""
        try:
            tree = json.loads(lines[at][len(head):])
        except ValueError: # a row of CSV
            return mutate_bytes(data, rng)
        lines[at] = head + mutate_tree(tree, rng) + b"\n"
    elif action < 0.75:
        del lines[at]
    elif action < 0.9:
        lines.insert(at, lines[at])
    else:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    return b"".join(lines)


def mutant(seed, rng):
    if rng.random() < 0.4 or seed.shape == "bytes":
        return mutate_bytes(seed.content, rng)
    if seed.shape == "lines":
        return mutate_lines(seed.content, rng)
    return mutate_tree(json.loads(seed.content), rng)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def trouble(program, arguments, folder, has_sanitizer):
    """What is wrong with the answer to one command, or None."""
    before = set(folder.rglob("*"))
    try:
        done = subprocess.run([program] + arguments, cwd=folder, capture_output=True,
                              timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL,
                              preexec_fn=None if has_sanitizer else limited)
    except subprocess.TimeoutExpired:
        return f"no answer in {TIME_LIMIT_S} s"
    error = done.stderr.decode(errors="replace")
    left = set(folder.rglob("*")) - before
    for path in left:
        path.unlink()
    if done.returncode not in CLEAN_EXITS:
        return f"exit {done.returncode}: {error[-2000:]}"
    if "internal error" in error or "out of memory" in error:
        return error
    # A sweep keeps the points that are done; a fit that misses its target (4) is written and graded so.
    if done.returncode not in (0, 4) and left and arguments[0] != "sweep":
        return f"left behind {[p.name for p in left]}"
    if any("unfinished" in path.name for path in left):
        return f"left behind {[p.name for p in left]}"
    if done.returncode and arguments[0] != "check" and "error: " not in error and (
            "missed" not in error and "graded fail" not in error):
        return f"exit {done.returncode} without an error: {error}"
    return None


def fuzz(options, programs, target, seed):
    """Number of mutants and of failures."""
    has_sanitizer = b"__asan_init" in pathlib.Path(programs["stepsim"]).read_bytes()
    failures = done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        seeds = targets.TARGETS[target](programs, folder)
        assert seeds, "nothing to mutate"
        ends = time.monotonic() + options.seconds
        for index in range(options.count):
            if time.monotonic() > ends:
                break
            rng = random.Random(f"{seed}/{index}")
            source = seeds[index % len(seeds)]
            data = mutant(source, rng)
            (folder / source.mutant).write_bytes(data)
            program, *arguments = rng.choice(source.commands)
            wrong = trouble(programs[program], arguments, folder, has_sanitizer)
            (folder / source.mutant).unlink(missing_ok=True)
            done += 1
            if wrong:
                failures += 1
                kept = pathlib.Path(tempfile.gettempdir()) / (f"stepsim-mutant-{target}-{seed}-{index}-{source.mutant}")
                kept.write_bytes(data)
                print(f"target {target} seed {seed} mutation {index} of {source.name}: "
                      f"{program} {' '.join(arguments)}: {wrong}\n  kept as {kept}")
    print(f"target {target}, seed {seed}: {done} mutants of {len(seeds)} files, {failures} failures", flush=True)
    return done, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--target", choices=sorted(targets.TARGETS), default="files")
    parser.add_argument("--seed", action="append", help="a number or `moving`; repeatable")
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--count", type=int, default=1500)
    options = parser.parse_args()
    stepsim = pathlib.Path(options.stepsim).resolve()
    programs = {"stepsim": str(stepsim), "stepsim-calibrate": str(stepsim) + "-calibrate"}
    failed = False
    for word in options.seed or ["1"]:
        seed = moving_seed() if word == "moving" else int(word)
        done, failures = fuzz(options, programs, options.target, seed)
        failed = failed or failures > 0 or done == 0
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU of the programs: {(children.ru_utime + children.ru_stime) / 60:.1f} min")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
