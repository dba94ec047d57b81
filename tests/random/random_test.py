#!/usr/bin/env python3
"""Random scenarios, made from the schemas, through `run`, `compare` and `sweep`.

    random_test.py STEPSIM [--runs N] [--seed S] [--index I] [--scenario FILE] [--keep FOLDER]

Without --seed half of the runs have seed 1, the other half a seed that moves with the tree; both are printed.
Every run checks that the answer is a result that keeps all promises of checks.py, or one clean error;
every valid one also that it repeats, that its resolved scenario gives the same, or that `run`, `compare`
and `sweep` agree. A failure prints its seed and index, a minimal scenario and the command to repeat.
"""
import argparse
import collections
import itertools
import json
import pathlib
import random
import resource
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]
import documents  # noqa: E402
import net  # noqa: E402
import rules  # noqa: E402
import scenarios  # noqa: E402
import schema  # noqa: E402
import shrink  # noqa: E402
import words  # noqa: E402
from moving_seed import moving_seed  # noqa: E402

MEMORY_LIMIT = 4 << 30
class Tally:
    """How often each pair of words was tried, and was valid."""

    def __init__(self):
        self.tried, self.valid = collections.Counter(), collections.Counter()
        self.codes = collections.Counter()
        self.keys, self.valid_keys = collections.Counter(), collections.Counter()

    def add(self, d, code):
        pairs = list(itertools.combinations(sorted(d.items()), 2))
        self.tried.update(pairs)
        if code == 0:
            self.valid.update(pairs)

    def add_keys(self, document, code):
        """Counts the keys of the schema that a scenario has; jobs and objects in lists count as one."""
        present = [p for p in words.LEAVES if documents.present(document, p)]
        self.keys.update(present)
        if code == 0:
            self.valid_keys.update(present)

    def useless_keys(self, enough):
        """Keys of the schema that were tried often enough and never in a valid scenario."""
        for pointer, count in sorted(self.keys.items()):
            if count >= enough and not self.valid_keys[pointer] and pointer not in rules.NEVER:
                yield f"{pointer} was in no valid scenario of {count}"

    def never_valid(self, enough):
        """Pairs tried often enough that no rule forbids and that never gave a result, and pairs that
        a rule forbids and that gave one."""
        for pair, count in sorted(self.tried.items()):
            forbidden = rules.forbidden(*pair)
            if self.valid[pair] and forbidden:
                yield f"{text_of(pair)} is valid, although: {forbidden}"
            elif count >= enough and not self.valid[pair] and not forbidden:
                yield f"{text_of(pair)} was never valid in {count} tries"


def text_of(pair):
    return " with ".join(f"{name} {word}" for name, word in pair)


def targets(seed):
    """All pairs of words, in an order of the seed."""
    pairs = [((a, x), (b, y)) for (a, xs), (b, ys) in itertools.combinations(
        sorted(words.DIMENSIONS.items()), 2) for x in xs for y in ys]
    pairs = [p for p in pairs if not rules.forbidden(*p)]
    random.Random(f"{seed}/targets").shuffle(pairs)
    return pairs


def made(seed, index, pairs, far):
    """Combination, scenario and whether it was spoilt."""
    rng = random.Random(f"{seed}/{index}")
    keys = sorted(words.LEAVES)
    wanted = keys[index // 2 % len(keys)] if index % 2 else None  # every other one a certain key
    for _ in range(20):
        d = words.combination(rng, () if wanted else pairs[index // 2 % len(pairs)])
        if not wanted or words.reaches(wanted, d):
            break
    document = scenarios.Maker(rng, d, rng.choice([0, 0, far]), far > 0.2, wanted).scenario()
    if rng.random() < 0.15:
        return d, documents.spoilt(rng, document)[0], True
    return d, document, False


# What stands in for a refused value of a key that most scenarios need.
PLAIN = {"/cluster/network/latency_s": 1e-5, "/cluster/network/bandwidth_Bps": 1e9,
         "/communication/compression/density": 0.01}


def without_refused(document, errors):
    """The scenario without the keys that the errors name, but for words, and with plain values of needed
    ones; None if none of them is there. A plain value that is refused too has no meaning, and goes."""
    left = document
    for pointer in documents.named_pointers(errors):
        if documents.sets_a_word(pointer):
            continue
        if pointer in PLAIN and documents.get(document, pointer) != PLAIN[pointer]:
            left = documents.with_value(left, pointer, PLAIN[pointer])
        else:
            left = documents.without(left, pointer) or left
    return None if left == document else left


class Trials:
    def __init__(self, options, folder):
        self.options = options
        self.net = net.Net(net.Stepsim(options.stepsim, folder, options.time_limit))
        self.tally = Tally()
        self.failures, self.runs = [], 0
        self.slowest = (0, "")

    def seed(self, seed, runs, first=0):
        pairs = targets(seed)
        index = first
        stop = self.runs + runs
        while self.runs < stop:
            self.one(seed, index, pairs)
            index += 1

    def file(self, name):
        """All checks of a scenario in a file."""
        document = json.loads(pathlib.Path(name).read_text())
        found, _, result = self.net.run(document)
        self.runs += 1
        self.report(found, document, name, 0, None)
        for which in range(4 if result is not None else 0):
            self.report(self.net.extra(document, result, which), document, name, which, which)

    def one(self, seed, index, pairs):
        d, document, is_spoilt = made(seed, index, pairs, self.options.far)
        for attempt in range(6):
            began = time.monotonic()
            found, answer, result = self.net.run(document)
            self.slowest = max(self.slowest, (time.monotonic() - began, f"{seed}/{index}"))
            self.runs += 1
            self.tally.codes[answer.code] += 1
            self.tally.add_keys(document, answer.code)
            self.report(found, document, seed, index, None)
            if answer.code != net.BAD_INPUT or is_spoilt:
                break
            smaller = without_refused(document, answer.err)
            if smaller is None:
                break
            document = smaller
        if not is_spoilt:
            self.tally.add(d, answer.code)
            if self.options.verbose and answer.code == net.BAD_INPUT:
                print(f"{seed}/{index} {d}: {answer.err.strip()[:300]}")
        if result is not None:
            which = index
            self.report(self.net.extra(document, result, which), document, seed, index, which)

    def report(self, found, document, seed, index, which):
        first = {name: seen for name, seen in reversed(found)}  # of each kind the first
        for name, seen in first.items():
            print(f"FAILED {name}: {seen}\n  seed {seed} index {index}", flush=True)
            self.failures.append((name, seen, seed, index))
            small = document
            alike = sum(1 for failure in self.failures if failure[0] == name)
            if self.options.shrink and alike <= 3:
                small = shrink.shrunk(document, lambda s: self.fails(s, name, which))
            text = json.dumps(small)
            print(f"  scenario {text}\n  repeat: {sys.argv[0]} {self.options.stepsim} --seed {seed} --index "
                  f"{index}, or with --scenario FILE", flush=True)
            if self.options.keep:
                folder = pathlib.Path(self.options.keep)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{name.replace(' ', '_')}-{seed}-{index}.json").write_text(schema.text_of(small))

    def fails(self, document, name, which):
        """True if a scenario breaks the same promise."""
        found, _, result = self.net.run(document)
        if which is not None:
            found = self.net.extra(document, result, which) if result is not None else []
        return any(n == name for n, _ in found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--index", type=int, help="only this one of the seed")
    parser.add_argument("--time-limit", type=float, default=60, help="CPU time of one command, s")
    parser.add_argument("--scenario", help="only this file")
    parser.add_argument("--far", type=float, default=0.15, help="chance of a value at a bound")
    parser.add_argument("--keep", help="folder for the minimal scenarios")
    parser.add_argument("--verbose", action="store_true", help="also what is refused, and why")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    options = parser.parse_args()
    options.stepsim = str(pathlib.Path(options.stepsim).resolve())
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    seeds = [options.seed] if options.seed is not None else [1, moving_seed()]
    print(f"seeds {', '.join(map(str, seeds))}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        trials = Trials(options, folder)
        for seed in seeds:
            if options.scenario:
                trials.file(options.scenario)
                break
            if options.index is not None:
                trials.one(seed, options.index, targets(seed))
            else:
                trials.seed(seed, options.runs // len(seeds))
    return summary_of(trials, options)


def summary_of(trials, options):
    codes = ", ".join(f"{count} exit {code}" for code, count in sorted(
        trials.tally.codes.items(), key=lambda item: str(item[0])))
    print(f"{trials.runs} runs ({trials.net.stepsim.calls} commands): {codes}; slowest "
          f"{trials.slowest[0]:.2f} s ({trials.slowest[1]})")
    wrong = []
    if options.index is None and not options.scenario:
        wrong = list(trials.tally.never_valid(enough=60)) + list(trials.tally.useless_keys(enough=200))
        untried = [p for p in words.LEAVES if p not in trials.tally.keys]
        print(f"{len(trials.tally.valid_keys)} of {len(words.LEAVES)} keys in valid scenarios; not tried: "
              f"{' '.join(untried)}")
        share = sum(trials.tally.valid.values()) / max(1, sum(trials.tally.tried.values()))
        print(f"{100 * share:.1f} % of the scenarios meant to be valid are")
        if trials.runs >= 500 and share < 0.6:
            wrong.append("too few valid scenarios")
    for line in wrong:
        print(f"FAILED {line}")
    print(f"{len(trials.failures) + len(wrong)} failures")
    return 1 if trials.failures or wrong or not trials.runs else 0


if __name__ == "__main__":
    sys.exit(main())
