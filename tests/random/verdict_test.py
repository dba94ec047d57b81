#!/usr/bin/env python3
"""Random scenarios: `run`, `explain`, `report` and Python say the same figures and the same verdict.

    verdict_test.py STEPSIM [--valid N] [--seed S] [--index I]

Of each scenario that runs: the text of `run` has the step, its interval and the bottleneck of the JSON; the
first two sentences of the page of `report` say the same step and what bounds it as those of `explain`, where
`explain` is defined; `explain` counts the same period and the same exposed communication; and the Python module gives the summary bit for bit.
"""
import argparse
import collections
import html
import os
import pathlib
import re
import resource
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]),
                str(pathlib.Path(__file__).resolve().parents[2] / "python")]
import net  # noqa: E402
from moving_seed import moving_seed  # noqa: E402
from random_test import MEMORY_LIMIT, made, targets, without_refused  # noqa: E402

# "takes 160.8 ms (150 to 171, 80 %) on 8 workers"
STEP = re.compile(r"takes (\S+ \S*?s(?: \([^)]*\))?)(?=[ .,])")


def sentences_of(page):
    """The text of a page of `report` from its verdict on."""
    text = re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.S)
    text = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))
    return text[max(0, text.index(" takes ") - 60):]


def of_text(text, summary):
    """What the text of `run` says otherwise than its JSON."""
    rows = dict(re.findall(r"^(\S.*?)  +(.*)$", text, flags=re.M))
    step = summary["iteration_time_s"]
    if step is not None and "iteration time" in rows:
        said = float(rows["iteration time"].split()[0].replace(",", ""))
        if abs(said - 1e3 * step) > 1e-3 * 1e3 * step:
            yield "text", f"iteration time {said} ms of {step} s"
    if text.startswith("memory ") != (summary["memory_fits"] is False):
        yield "text", f"first line {text[:60]!r}, memory_fits {summary['memory_fits']}"
    if "bottleneck" in rows and rows["bottleneck"] != (summary["bottleneck"] or "-"):
        yield "text", f"bottleneck {rows['bottleneck']}, in the JSON {summary['bottleneck']}"


class Verdicts:
    def __init__(self, stepsim, python):
        self.stepsim, self.python, self.counts = stepsim, python, collections.Counter()

    def of(self, document):
        """(broken promises, whether the scenario runs)."""
        stepsim = self.stepsim
        for _ in range(4):
            name = stepsim.write(document)
            answer = stepsim("run", name, "--json", output="r.json")
            smaller = without_refused(document, answer.err) if answer.code == net.BAD_INPUT else None
            if smaller is None:
                break
            document = smaller
        if answer.code != 0:
            return [], False
        result = net.checks.parsed(answer.written)
        summary = result["summary"]
        found = list(of_text(stepsim("run", name, "--quiet", output="r.txt").written, summary))
        page = stepsim("report", "r.json", output="r.html")
        explained = stepsim("explain", name, "--json", output="e.json")
        if page.written is None and page.code == 1 and "--max-seconds" in page.err:
            self.counts["long"] += 1
        elif page.written is None:
            found.append(("report", f"exit {page.code}: {page.err[:200]}"))
        elif explained.code == 0:
            self.counts["explained"] += 1
            found += self.same_sentences(sentences_of(page.written), net.checks.parsed(explained.written), summary,
                                         "exchange_s" in document.get("training", {}),
                                         document.get("training", {}).get("warmup_iterations") or
                                         document.get("training", {}).get("iterations") == 1)
        elif explained.code != net.BAD_INPUT and explained.code != net.SIMULATION_ERROR:
            found.append(("explain", f"exit {explained.code}: {explained.err[:200]}"))
        again = self.python.run(document)
        if dict(again.summary) != summary:
            found.append(("python", f"{again.summary} and {summary}"))
        return found, True

    def same_sentences(self, page, explained, summary, waits, warms_up):
        """`waits`: exchanges of a given time, which explain counts as start-up. `warms_up`: the first
        iterations of a pipeline, which explain leaves out, are others; it looks at two at least."""
        period, step = explained["iteration_time_s"], summary["iteration_time_s"]
        if abs(period - step) > 1e-9 * step:
            yield "period", f"explain {period}, run {step}"
        exposed = explained["summary"]["exposed_communication_s"], summary["exposed_communication_s"]
        if not warms_up and abs(exposed[0] - exposed[1]) > 1e-9 * step:
            yield "exposed", f"explain {exposed[0]}, run {exposed[1]}"
        sentences = explained["sentences"]
        if summary["memory_fits"] is False:
            memory, *sentences = sentences
            if not memory.startswith("memory ") or memory + ". A step takes" not in page:
                yield "memory", f"explain: {memory!r}, report: {page[:160]!r}"
        first, second = sentences[:2]
        said, shown = STEP.search(first), STEP.search(page)
        if not said or not shown or said[1] != shown[1]:
            yield "step", f"explain: {first!r}, report: {page[:160]!r}"
        verdict = second.split(":")[0].rstrip(".")
        shares = re.search(r"\((\S+) % start-up, (\S+) % bandwidth(?:; of all exchanges (\S+) is the larger part)?\)", second)
        if shares and shares[1] != shares[2] and not waits:
            more = shares[3] or ("start-up" if float(shares[1]) > float(shares[2]) else "bandwidth")
            if more not in verdict and re.search("start-up|bandwidth", verdict):
                yield "shares", second
        if verdict not in page:
            yield "verdict", f"explain: {second!r}, report: {page[:300]!r}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--valid", type=int, default=1000, help="scenarios that run")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--index", type=int)
    options = parser.parse_args()
    binary = str(pathlib.Path(options.stepsim).resolve())
    os.environ["STEPSIM"] = binary
    import stepsim as python
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    seed = options.seed if options.seed is not None else moving_seed()
    pairs, failed, valid, index = targets(seed), 0, 0, options.index or 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        verdicts = Verdicts(net.Stepsim(binary, folder, 60), python)
        while valid < options.valid:
            _, document, is_spoilt = made(seed, index, pairs, 0.15)
            found, runs = verdicts.of(document) if not is_spoilt else ([], False)
            valid += runs
            for kind, text in dict(reversed(found)).items():
                failed += 1
                print(f"FAILED {kind}: {text}\n  seed {seed} index {index}", flush=True)
            index += 1
            if options.index is not None:
                break
        os.chdir("/")
    explained = verdicts.counts["explained"]
    if explained < valid / 4 and valid > 100:
        failed += 1
        print("FAILED explained: too few scenarios were compared")
    print(f"seed {seed}: {valid} scenarios of {index}, {explained} explained, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
