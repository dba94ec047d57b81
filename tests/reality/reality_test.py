#!/usr/bin/python3
"""Predictions of published speeds are those of the committed table, to the last digit.

usage: reality_test.py STEPSIM [--rewrite]
Takes the small sources: rings and servers, one machine and several, every kind of network but one. The
whole table stands in docs/accuracy.md.
"""
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected.txt"
SOURCES = "horovod,byteps,aws,hf,tf-docs-gce,dle-bart,dlperf-pytorch"


def predictions(stepsim):
    """The error table, then the predicted time of every row with all its digits."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([HERE / "predict.py", "--stepsim", stepsim, "--out", folder, "--only", SOURCES],
                              text=True, stdout=subprocess.PIPE, check=True)
        results = json.loads(next(pathlib.Path(folder).glob("results-*.json")).read_text(encoding="utf-8"))
    rows = [f"{row['row']:30s} {row['it_pred']!r}" if "it_pred" in row else f"{row['row']:30s} {row['skip']}"
            for row in results]
    return done.stdout + "\npredicted time of a step [s]\n" + "\n".join(rows) + "\n"


def main():
    text = predictions(sys.argv[1])
    if "--rewrite" in sys.argv:
        EXPECTED.write_text(text, encoding="utf-8")
    expected = EXPECTED.read_text(encoding="utf-8")
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), text.splitlines(True),
                                               "expected.txt", "predicted today"))
    print(f"{len(text.splitlines())} lines")
    if text != expected:
        print("If the change is meant: reality_test.py STEPSIM --rewrite, then docs/update_outputs.py docs/accuracy.md")
    return 0 if text == expected else 1


if __name__ == "__main__":
    sys.exit(main())
