#!/usr/bin/env python3
"""Holds the answers of the program to those of another build of it, or to a stored sample of them.

    frozen_net.py STEPSIM --against OTHER [--count N] [--first I] [--seed S] [--jobs N]
    frozen_net.py STEPSIM --sample FILE
    frozen_net.py STEPSIM --write-sample FILE [--count N]

OTHER is the program of an older commit, for example that of `git worktree add ../old COMMIT`. Both answer the
same random files by every command (cases.py); documents are compared key by key: numbers as they are written,
words, the exit code and the first line of an error. differences.json lists the keys that may be unlike, each
with its reason: {"command", "key", "kind", "of", "reason"}, with the wildcards of fnmatch; kind is `added`, `removed`,
`changed`, or `rounded` for numbers within 1e-12; with `of` only cases whose scenario has this text. All else that is unlike is printed, and the exit code is 1.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]
import cases  # noqa: E402
import net  # noqa: E402
import random_test  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROUNDED = 1e-12
CPU_LIMIT_S = 8
SAMPLE_LIMIT_S = 60  # of a case that was quick when the sample was written: a loaded machine is no difference
NOT_COMPARED = {"meta"}  # versions and the like
NOTHING = (None, [])  # of a key that has no value


class Number(str):
    """A number as it is written."""


def root_of(program):
    """The source tree of a program in its build folder."""
    return str(pathlib.Path(program).resolve().parents[1])


def answer_of(program, command, folder, root, limit_s):
    """[exit code, first error line, document] of one command; the code is None where it took too long."""
    output = pathlib.Path(folder, cases.OUTPUT)
    output.unlink(missing_ok=True)
    words = [program, *command["arguments"], "-o", cases.OUTPUT]
    environment = dict(os.environ, STEPSIM=program, PYTHONPATH=f"{root}/python")
    if command["name"] == "python":
        words = [sys.executable, "-c", *command["arguments"]]
    stepsim = net.Stepsim(program, folder, limit_s)
    done = subprocess.run(words, cwd=folder, input=command["input"], capture_output=True, text=True,
                          errors="replace", env=environment, preexec_fn=stepsim.limit_cpu_time)
    if done.returncode < -1:
        return [None, f"signal {-done.returncode}", None]
    errors = [line for line in done.stderr.splitlines() if "rror: " in line]
    written = output.read_text(errors="replace").replace(root, "ROOT") if output.exists() else None
    return [done.returncode, errors[0].replace(root, "ROOT") if errors else "", written]


def answers_of(program, case, limit_s=CPU_LIMIT_S):
    root = root_of(program)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in case["files"].items():
            pathlib.Path(folder, name).write_text(text)
        return [answer_of(program, command, folder, root, limit_s) for command in case["commands"]]


def document_of(text):
    """JSON or JSON Lines, numbers as text; None for nothing."""
    if text is None:
        return None
    try:
        return json.loads(text, parse_int=Number, parse_float=Number)
    except json.JSONDecodeError:
        return [json.loads(line, parse_int=Number, parse_float=Number) for line in text.splitlines()]


def unlike(one, two, pointer=""):
    """(pointer with `-` for every index, kind, old, new) of whatever differs."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in [*one, *(key for key in two if key not in one)]:
            if key in NOT_COMPARED:
                continue
            if key not in one:
                yield f"{pointer}/{key}", "added", None, two[key]
            elif key not in two:
                yield f"{pointer}/{key}", "removed", one[key], None
            else:
                yield from unlike(one[key], two[key], f"{pointer}/{key}")
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for a, b in zip(one, two):
            yield from unlike(a, b, f"{pointer}/-")
    elif one != two or type(one) is not type(two):
        close = isinstance(one, Number) and isinstance(two, Number) and abs(
            float(one) - float(two)) <= ROUNDED * max(abs(float(one)), abs(float(two)))
        kind = ("added" if one in NOTHING else "removed" if two in NOTHING else "rounded" if close else "changed")
        yield pointer, kind, one, two


def differences(old, new):
    """What differs between two answers."""
    if old[0] != new[0] or old[1] != new[1]:
        yield "exit code and error", "changed", old[:2], new[:2]
    elif old[2] != new[2]:
        yield from unlike(document_of(old[2]), document_of(new[2]))


class Tally:
    """What differed, and whether the list allows it."""

    def __init__(self, most_shown):
        self.allowed = json.loads((HERE / "differences.json").read_text())
        self.used = collections.Counter()
        self.answers, self.hangs = collections.Counter(), 0
        self.wrong, self.most_shown, self.scenario = collections.Counter(), most_shown, ""

    def add(self, name, case, old, new):
        scenario = case["files"].get("s.json", "")
        self.scenario = scenario if isinstance(scenario, str) else json.dumps(scenario)
        for command, one, two in zip(case["commands"], old, new):
            if one[0] is None:
                self.hangs += 1
                continue
            self.answers[command["name"], one[0]] += 1
            for key, kind, a, b in differences(one, two):
                self.one(f"{name} {command['name']}", command["name"], key, kind, a, b)

    def one(self, where, command, key, kind, old, new):
        for number, row in enumerate(self.allowed):
            of = row.get("of", "") in self.scenario
            if of and all(fnmatch.fnmatch(word, row[part]) for word, part in
                          [(kind, "kind"), (command, "command"), (key, "key")]):
                self.used[number] += 1
                return
        self.wrong[command, key, kind] += 1
        if self.wrong[command, key, kind] <= 2 and len(self.wrong) <= self.most_shown:
            print(f"{where}: {key} {kind}: {json.dumps(old)[:160]} -> {json.dumps(new)[:160]}", flush=True)

    def summary(self):
        for number, row in enumerate(self.allowed):
            print(f"allowed {self.used[number]} times: {row['command']} {row['key']} {row['kind']}: {row['reason']}")
        for (command, key, kind), count in self.wrong.most_common(self.most_shown):
            print(f"FAILED {count} times: {command} {key} {kind}")
        for command in sorted({command for command, _ in self.answers}):
            codes = ", ".join(f"{count} exit {code}" for (c, code), count in sorted(self.answers.items()) if c == command)
            print(f"{command}: {codes}")
        valid = sum(count for (_, code), count in self.answers.items() if code == 0)
        print(f"{sum(self.answers.values())} answers, {valid} of them documents, {self.hangs} left out because they "
              f"take more than {CPU_LIMIT_S} s; {sum(self.wrong.values())} differences")
        return 1 if self.wrong or not valid else 0


def made(arguments):
    reference, seed, index = arguments
    with tempfile.TemporaryDirectory() as folder:
        return cases.make(net.Stepsim(reference, folder, CPU_LIMIT_S), seed, index, random_test.targets(seed))


def compared(arguments):
    program, reference, seed, index = arguments
    case = made((reference, seed, index))
    return index, case, answers_of(reference, case), answers_of(program, case)


def sampled(arguments):
    """A case with the answers of the program; one that runs far is left out (None)."""
    program, seed, index = arguments
    case = made((program, seed, index))
    case["answers"] = answers_of(program, case)
    text = json.dumps(case).replace(str(cases.ROOT), "ROOT")
    return None if len(text) > 300_000 or any(one[0] is None for one in case["answers"]) else text


def resampled(arguments):
    program, text = arguments
    case = json.loads(text.replace("ROOT", str(cases.ROOT)))
    old = json.loads(text)["answers"]
    return case, old, [[code, error.replace(str(cases.ROOT), "ROOT"), out and out.replace(str(cases.ROOT), "ROOT")]
                       for code, error, out in answers_of(program, case, SAMPLE_LIMIT_S)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stepsim")
    parser.add_argument("--against")
    parser.add_argument("--sample")
    parser.add_argument("--write-sample")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=35)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=40, help="most kinds of differences that are printed")
    options = parser.parse_args()
    program = str(pathlib.Path(options.stepsim).resolve())
    tally = Tally(options.show)
    indices = range(options.first, options.first + options.count)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        if options.write_sample:
            texts = pool.map(sampled, [(program, options.seed, index) for index in indices])
            text = "\n".join(text for text in texts if text) + "\n"
            with gzip.GzipFile(options.write_sample, "wb", mtime=0) as file:
                file.write(text.encode())
            return 0
        if options.sample:
            with gzip.open(options.sample, "rt") as file:
                stored = [line.rstrip("\n") for line in file]
            for number, (case, old, new) in enumerate(pool.map(resampled, [(program, text) for text in stored])):
                tally.add(f"case {number}", case, old, new)
        else:
            other = str(pathlib.Path(options.against).resolve())
            work = [(program, other, options.seed, index) for index in indices]
            for index, case, old, new in pool.map(compared, work):
                tally.add(f"index {index}", case, old, new)
    return tally.summary()


if __name__ == "__main__":
    sys.exit(main())
