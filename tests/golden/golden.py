#!/usr/bin/env python3
"""Commands as users type them, with their exact output.

    golden.py STEPSIM [--update] [FILE.txt ...]

A .txt file here is a transcript: lines `$ stepsim ...` (or `$ stepsim-calibrate ...`) are run in the
root of the project, and what
follows them is their standard output, then their standard error with `! ` before each line, then
`[exit N]` unless N is 0. --update writes what the binary answers now; look at the difference before
committing it. What may differ between equal runs is blanked: the `meta` block, the git hash, and
which back ends stepsim-calibrate was built with.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent


def blanked(text):
    text = re.sub(r'"meta": \{[^{}]*\}', '"meta": {}', text)
    text = re.sub(r"stepsim(-calibrate)? [0-9.]+ \(git [^)]*\)", r"stepsim\1 VERSION (git HASH)", text)
    # Progress, which a busy machine shows from the tenth second on.
    text = re.sub(r"(?m)^(stepsim \w+: \d|\[[# ]{20}\] \d).*\n", "", text)
    text = re.sub(r"(?m)^back ends: .*$", "back ends: BUILD", text)
    text = re.sub(r"(?m)^(  \w.*) \(built without (CUDA|MPI)\)$", r"\1", text)
    return re.sub(r"GCC [^;]*;", "GCC VERSION, BUILD;", text)


def answer(stepsim, command):
    words = shlex.split(command)
    assert words[0] in ("stepsim", "stepsim-calibrate"), command
    program = str(pathlib.Path(stepsim).with_name(words[0]))
    environment = {"PATH": os.environ.get("PATH", ""), "NO_COLOR": "1", "LC_ALL": "C.UTF-8",
                   "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}
    done = subprocess.run([program] + words[1:], cwd=ROOT, env=environment, capture_output=True,
                          timeout=600, stdin=subprocess.DEVNULL)
    out = blanked(done.stdout.decode())
    out += "".join(f"! {line}\n" for line in blanked(done.stderr.decode()).splitlines())
    if out and not out.endswith("\n"):
        out += "\n[no newline at the end]\n"
    return out + (f"[exit {done.returncode}]\n" if done.returncode else "")


def replay(stepsim, transcript):
    """The transcript with what its commands answer now. Lines before the first command stay."""
    out = []
    seen_command = False
    for line in transcript.splitlines(keepends=True):
        if line.startswith("$ "):
            seen_command = True
            out.append(line)
            out.append(answer(stepsim, line[2:]))
            out.append("\n")
        elif not seen_command:
            out.append(line)
    return "".join(out).rstrip("\n") + "\n"


def main(arguments):
    update = "--update" in arguments
    arguments = [a for a in arguments if a != "--update"]
    stepsim = str(pathlib.Path(arguments[0]).resolve())
    files = [pathlib.Path(a).resolve() for a in arguments[1:]] or sorted(FOLDER.glob("*.txt"))
    files = [f for f in files if f.name != "CMakeLists.txt"]
    assert files, "no transcripts"
    failed = 0
    commands = 0
    for file in files:
        before = file.read_text()
        now = replay(stepsim, before)
        commands += before.count("\n$ ") + before.startswith("$ ")
        if update and now != before:
            file.write_text(now)
            print(f"{file.name}: updated")
        elif now != before:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(
                before.splitlines(keepends=True), now.splitlines(keepends=True),
                f"{file.name} expected", f"{file.name} answered"))
    print(f"{commands} commands in {len(files)} transcripts, {failed} transcripts differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
