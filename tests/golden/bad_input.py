#!/usr/bin/env python3
"""What wrong input gets: exit code and exact message of every row of bad_input.json.

    bad_input.py STEPSIM [NAME ...] [--parts N]

A row: {"name", "args": [...], "exit", "error": [lines of standard error], "files"?: {NAME: ...},
"program"?: "stepsim-calibrate"}.
A file is made of {"base": NAME of `bases`, "set"?: {POINTER: value}, "remove"?: [POINTER],
"repeat_layers"?: N}, {"text": ...}, {"lines": [...]}, {"gzip_of": same, "cut"?: bytes kept}, {"directory": true} or
{"garbage_bytes": N} (repeated, mostly sparse). `error` holds what follows `error: `; rows with
`warning` instead answer with 0 and these lines after `warning: `; `output` is a part of standard
output.

Each row runs in an empty folder and must leave nothing behind but its own files: no partial output.
Works with any build; set STEPSIM_TEST_MEMORY_MIB=0 for sanitizers (they reserve terabytes).
"""
import argparse
import copy
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from moving_seed import moving_part  # noqa: E402
from pointers import assign, tokens  # noqa: E402

TIME_LIMIT_S = 60
MEMORY_MIB = int(os.environ.get("STEPSIM_TEST_MEMORY_MIB", "1024"))


def remove(tree, pointer):
    *path, last = tokens(pointer)
    for token in path:
        tree = tree[int(token)] if isinstance(tree, list) else tree[token]
    del tree[int(last) if isinstance(tree, list) else last]


def content(recipe, bases):
    if "text" in recipe:
        return recipe["text"].encode()
    if "lines" in recipe:
        return "".join(line + "\n" for line in recipe["lines"]).encode()
    if "gzip_of" in recipe:
        packed = gzip.compress(content(recipe["gzip_of"], bases), mtime=0)
        if "flip" in recipe:
            packed = bytearray(packed)
            packed[recipe["flip"]] ^= 0xFF
        return bytes(packed)[: recipe.get("cut", len(packed))]
    tree = copy.deepcopy(bases[recipe["base"]])
    for pointer, value in recipe.get("set", {}).items():
        assign(tree, pointer, value)
    if "repeat_layers" in recipe:
        tree["workload"]["layers"] = [
            {**tree["workload"]["layers"][0], "name": f"layer {i}"} for i in range(recipe["repeat_layers"])]
    for pointer in recipe.get("remove", []):
        remove(tree, pointer)
    text = json.dumps(tree)
    for old, new in recipe.get("replace", {}).items():  # what JSON cannot say: NaN, 1e400
        assert old in text, old
        text = text.replace(old, new)
    return text.encode()


def make_files(folder, files, bases):
    for name, recipe in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if "directory" in recipe:
            path.mkdir()
        elif "garbage_bytes" in recipe:
            with open(path, "wb") as file:
                file.write(recipe.get("head", "").encode())
                file.truncate(recipe["garbage_bytes"])
        else:
            path.write_bytes(content(recipe, bases))


def limit_memory():
    if MEMORY_MIB:
        bytes_ = MEMORY_MIB << 20
        resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))


def run_row(stepsim, row, bases):
    """Texts of what is wrong with the answer."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_files(folder, row.get("files", {}), bases)
        before = sorted(folder.rglob("*"))
        try:
            done = subprocess.run(
                [str(pathlib.Path(stepsim).with_name(row.get("program", "stepsim")))] + row["args"],
                cwd=folder, capture_output=True, timeout=TIME_LIMIT_S,
                stdin=subprocess.DEVNULL, preexec_fn=limit_memory, env={**os.environ, "NO_COLOR": "1"})
        except subprocess.TimeoutExpired:
            return [f"no answer in {TIME_LIMIT_S} s"]
        wrong = []
        word = "warning" if "warning" in row else "error"
        expected = "".join(f"{word}: {line}\n" for line in row.get(word, []))
        error = done.stderr.decode(errors="replace")
        if done.returncode != row.get("exit", 0):
            wrong.append(f"exit {done.returncode}, expected {row.get('exit', 0)}")
        if error != expected and (word in row or row.get("exit", 0) == 0):
            wrong.append(f"standard error:\n    {error.strip()}\n  expected:\n    {expected.strip()}")
        output = done.stdout.decode(errors="replace")
        if row.get("exit", 0) and output and "output" not in row:
            wrong.append(f"standard output not empty: {output[:200]}")
        if row.get("output", "") not in output:
            wrong.append(f"standard output without {row['output']!r}: {output[:400]}")
        if sorted(folder.rglob("*")) != before and row.get("exit", 0):
            left = [str(p.relative_to(folder)) for p in set(folder.rglob("*")) - set(before)]
            wrong.append(f"left behind: {left}")
        return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--parts", type=int, default=1, help="one of so many parts of the rows")
    options = parser.parse_args()
    stepsim = str(options.stepsim.resolve())
    table = json.loads((FOLDER / "bad_input.json").read_text())
    names = [row["name"] for row in table["rows"]]
    assert len(names) == len(set(names)), "names of rows are unique"
    failed = 0
    rows = [row for row in table["rows"] if not options.names or row["name"] in options.names]
    rows = moving_part(rows, options.parts)
    for row in rows:
        wrong = run_row(stepsim, row, table["bases"])
        if wrong:
            failed += 1
            print(f"{row['name']}: stepsim {' '.join(row['args'])}")
            for text in wrong:
                print(f"  {text}")
    print(f"{len(rows)} rows, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
