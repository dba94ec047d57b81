#!/usr/bin/python3
"""Keeps command output in the documentation current.

A block in a Markdown file that looks like

    <!-- output of: stepsim plan examples/small.problem.json -->
    ```
    $ stepsim plan examples/small.problem.json
    ...
    ```

or, for a command that prints Markdown,

    <!-- page of: stepsim keys /cluster --format markdown -->
    ...
    <!-- end of page -->

holds what the command prints (2>&1 in it adds the warnings), run in the root of the sources with
build/ on PATH. usage: docs/update_outputs.py [--check] [--bin DIR] [FILE.md ...]; --check changes nothing and
exits 1 where a block is out of date.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- output of: (.+?) -->\n```\n)(.*?)(```\n)", re.S)
PAGE = re.compile(r"(<!-- page of: (.+?) -->\n)(.*?)(<!-- end of page -->\n)", re.S)


def printed_by(command, binaries):
    environment = dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}", NO_COLOR="1",
                       COLUMNS="120", LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=300)
    if done.returncode not in (0, 4):
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines()) + "\n"


def renewed(text, binaries):
    text = BLOCK.sub(lambda m: f"{m[1]}$ {m[2]}\n{printed_by(m[2], binaries)}{m[4]}", text)
    return PAGE.sub(lambda m: f"{m[1]}\n{printed_by(m[2], binaries)}\n{m[4]}", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    (ROOT / "results").mkdir(exist_ok=True)
    outdated = 0
    blocks = 0
    for file in files:
        old = file.read_text(encoding="utf-8")
        blocks += len(BLOCK.findall(old)) + len(PAGE.findall(old))
        new = renewed(old, options.bin.resolve())
        if new == old:
            continue
        outdated += 1
        if options.check:
            sys.stdout.writelines(difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), str(file), "what the commands print"))
        else:
            file.write_text(new, encoding="utf-8")
            print(f"{file}: updated")
    print(f"{blocks} blocks of command output in {len(files)} files, {outdated} files out of date")
    if not blocks:
        sys.exit("no block found")
    return 1 if options.check and outdated else 0


if __name__ == "__main__":
    sys.exit(main())
