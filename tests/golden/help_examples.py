#!/usr/bin/env python3
"""Runs the examples of every --help that need no file of the user.

    help_examples.py STEPSIM

An example that names a file of examples/, models/ or topologies/ runs too: what the help names must exist.
Examples run in the root of the project.
"""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE_NAME = re.compile(r"\.(json|jsonl|gz|log|csv)$")
SHIPPED = ("examples/", "models/", "topologies/")


def ask(stepsim, *arguments):
    return subprocess.run([stepsim, *arguments], cwd=ROOT, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600)


def commands(stepsim):
    """First words of the rows "  name   summary" above the examples of `stepsim --help`."""
    head = ask(stepsim, "--help").stdout.split("\nExamples:\n")[0]
    return re.findall(r"^  (\w[\w-]*)  ", head, re.MULTILINE)


def examples(text):
    lines = text.split("Examples:\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [shlex.split(line) for line in lines]


def needs_file_of_user(words):
    """Or writes one."""
    return "-o" in words or any(FILE_NAME.search(word) and not word.startswith(SHIPPED) for word in words)


def main(stepsim):
    stepsim = str(pathlib.Path(stepsim).resolve())
    names = commands(stepsim)
    ran = failed = 0
    for text in [ask(stepsim, "--help").stdout, *(ask(stepsim, name, "--help").stdout for name in names)]:
        for words in examples(text):
            if "|" in words:
                words = words[:words.index("|")]
            if words[0] != "stepsim" or needs_file_of_user(words):
                continue
            ran += 1
            done = ask(stepsim, *words[1:])
            if done.returncode != 0:
                failed += 1
                print(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    print(f"{ran} examples of {len(names)} commands, {failed} failed")
    return 1 if failed or ran < 6 or len(names) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
