#!/usr/bin/env python3
"""Semantic mutants of scenario, run, sweep, what stands on them, and the CUDA sources: builds each and runs the unit tests, which must fail.

    tests/mutants/run.py BUILD [--only NAME] [--all-tests] [--jobs N]
    tests/mutants/run.py --check

By hand, in a checkout without changes in `sim` and `calibrate`: each mutant changes one place of one file and is taken
back. Runs the test that is known to kill it, with --all-tests every test of the floor. Prints the first
test that fails; ends with 1 if more than ALLOWED survive.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOWED = 2
TIME_LIMIT_S = 300


def room_of(mutant):
    """The room whose tests kill a mutant: that of the test case, else that of the source."""
    for path in sorted((ROOT / "tests").rglob("*_test.cpp")):
        if f'"{mutant["killed_by"]}"' in path.read_text():
            parts = path.relative_to(ROOT / "tests").parts
            return path.parent.name if parts[0] == "calibrate" else parts[0]
    return pathlib.Path(mutant["file"]).parts[1]


def has_place(mutant):
    path = ROOT / mutant["file"]
    return path.exists() and path.read_text().count(mutant["from"]) == 1


def killer(build, room, jobs, test):
    """The first test case that fails, or None; a mutant that does not compile is no mutant."""
    target = f"{room}_test"
    made = subprocess.run(["ninja", "-C", build, f"-j{jobs}", target], capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"does not build:\n{made.stdout[-2000:]}")
    binary = next(p for p in pathlib.Path(build).rglob(target) if p.is_file())
    try:
        only = [f"--test-case={test.replace(',', '*')}"] if test else []
        done = subprocess.run([str(binary), "--no-colors", "--abort-after=1", *only], cwd=ROOT, capture_output=True, text=True,
                              timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        return "(time limit)"
    if done.returncode == 0:
        return None
    found = re.search(r"TEST CASE:\s*(.*)", done.stdout)
    return found[1].strip() if found else f"(exit {done.returncode})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--all-tests", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    mutants = json.loads((pathlib.Path(__file__).parent / "mutants.json").read_text())["mutants"]
    lost = [mutant for mutant in mutants if not has_place(mutant)]
    for mutant in lost:
        print(f"{mutant['file']} has not once: {mutant['from']}")
    if options.check or lost:
        return 1 if lost else 0
    survivors = []
    for mutant in mutants:
        if options.only and options.only not in mutant["name"]:
            continue
        path = ROOT / mutant["file"]
        source = path.read_text()
        path.write_text(source.replace(mutant["from"], mutant["to"]))
        try:
            known = None if options.all_tests else mutant["killed_by"]
            test = killer(options.build, room_of(mutant), options.jobs, known)
        finally:
            path.write_text(source)
        print(f"{mutant['name']}: {test or 'SURVIVED'}", flush=True)
        survivors += [] if test else [mutant["name"]]
    print(f"{len(survivors)} of {len(mutants)} survived")
    return 1 if len(survivors) > ALLOWED else 0


if __name__ == "__main__":
    sys.exit(main())
