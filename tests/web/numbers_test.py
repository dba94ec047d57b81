#!/usr/bin/env python3
"""Numbers as text: the functions of the page's compiler print and read a million of them as the program does.

    numbers_test.py PROGRAM SCRIPT       (exit 77 where the page was not built or node is missing)

PROGRAM and SCRIPT are tests/web/numbers.cpp, compiled natively and for the page.
"""
import itertools
import pathlib
import shutil
import subprocess
import sys

NUMBERS, SEED, BLOCK = 1_000_000, 20240607, 1000


def printed(command, *words):
    done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {command}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout.splitlines()


def main():
    program, script = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    node = shutil.which("node")
    if node is None or not script.exists():
        print("skipped: no node" if node is None else f"skipped: {script} was not built; it needs emscripten and -DSTEPSIM_WEB=ON")
        sys.exit(77)
    ours, theirs = [node, script], [program]
    pairs = itertools.zip_longest(printed(ours, NUMBERS, SEED), printed(theirs, NUMBERS, SEED))
    for block, (one, other) in enumerate(pairs, 1):
        if one != other:
            last = block * BLOCK
            lines = zip(printed(ours, last, SEED, "all"), printed(theirs, last, SEED, "all"), strict=True)
            one, other = next(pair for pair in lines if pair[0] != pair[1])
            sys.exit(f"FAILED: the page prints {one}\nthe program     {other}")
    print(f"{NUMBERS} numbers are printed and read alike")


if __name__ == "__main__":
    main()
