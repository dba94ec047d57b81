"""One scenario through the command: the answer of `run`, then that it repeats, that the resolved scenario
gives the same, and that `run`, `compare` and `sweep` agree."""
import copy
import json
import pathlib
import re
import resource
import signal
import subprocess

import checks
import schema
from words import SCENARIO

CLEAN_EXITS = {0, 1, 2, 3, 4}
MAX_SECONDS = "3" # what is estimated to take longer is refused, so that the net stays quick
SIMULATION_ERROR, BAD_INPUT = 1, 3


class Answer:
    def __init__(self, code, out, err, written):
        self.code, self.out, self.err, self.written = code, out, err, written


class Stepsim:
    """The command in a scratch folder."""

    def __init__(self, binary, folder, time_limit_s):
        self.binary, self.folder, self.calls = binary, pathlib.Path(folder), 0
        self.time_limit_s = time_limit_s

    def __call__(self, *arguments, output=None):
        self.calls += 1
        if output:
            (self.folder / output).unlink(missing_ok=True)
            arguments += ("-o", output, "--max-seconds", MAX_SECONDS)
        try:  # CPU time, so that a loaded machine makes no hang; a command that sleeps is one later
            done = subprocess.run([self.binary, *arguments], cwd=self.folder, capture_output=True,
                                  timeout=10 * self.time_limit_s, stdin=subprocess.DEVNULL,
                                  preexec_fn=self.limit_cpu_time)
        except subprocess.TimeoutExpired:
            return Answer(None, "", "", None)
        if done.returncode == -signal.SIGXCPU:
            return Answer(None, "", "", None)
        written = None
        if output and (self.folder / output).exists():
            written = (self.folder / output).read_text()
        return Answer(done.returncode, done.stdout.decode(errors="replace"),
                      done.stderr.decode(errors="replace"), written)

    def limit_cpu_time(self):
        seconds = int(self.time_limit_s)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def write(self, document, name="s.json"):
        (self.folder / name).write_text(schema.text_of(document))
        return name


def of_answer(answer, refused):
    """Broken promises of the answer to one command with an output file. `refused`: must be bad input."""
    if answer.code is None:
        yield "hang", "no answer within the time limit"
        return
    if answer.code not in CLEAN_EXITS:
        yield "crash", f"exit {answer.code}: {answer.err[-500:]}"
        return
    if "internal error" in answer.err:
        yield "internal error", answer.err[-500:]
    if answer.out:
        yield "output", f"on standard output beside -o: {answer.out[:200]}"
    lines = [line for line in answer.err.splitlines()
             if not line.startswith(("warning: ", "note: ", "stepsim run: "))] # the last is progress
    if answer.code == 0:
        if answer.written is None:
            yield "output", "exit 0 without the file"
        if lines:
            yield "lines", f"exit 0 with {lines[0]!r}"
        if refused:
            yield "accepted", f"the schema forbids {', '.join(refused[:3])}"
        return
    if answer.written is not None:
        yield "output", f"exit {answer.code} with a file"
    if answer.code == 2:
        yield "usage", f"exit 2 for a file: {answer.err[:300]}"
    if not lines or not all(line.startswith("error: ") for line in lines):
        yield "lines", f"exit {answer.code} with {answer.err[:500]!r}"
    if refused and answer.code != BAD_INPUT:
        yield "accepted", f"exit {answer.code} although the schema forbids {', '.join(refused[:3])}"


def less_meta(text):
    """A result without the one member that may differ."""
    document = checks.parsed(text)
    document.pop("meta", None)
    return document


class Net:
    """All checks of one scenario."""

    def __init__(self, stepsim):
        self.stepsim = stepsim

    def run(self, document, name="s.json"):
        """(broken promises, answer, result) of one scenario."""
        refused = schema.problems(SCENARIO, document)
        answer = self.stepsim("run", self.stepsim.write(document, name), "--json", output="r.json")
        found = list(of_answer(answer, refused))
        result = None
        if answer.code == 0 and answer.written is not None:
            try:
                result = checks.parsed(answer.written)
                found += checks.of_result(result)
            except (ValueError, KeyError, TypeError) as error:
                found.append(("json", f"{type(error).__name__}: {error}"))
        return found, answer, result

    def extra(self, document, result, which):
        """Broken promises that take further commands; `which` picks one kind."""
        return [self.repeats, self.resolved, self.agree, self.neutral][which % 4](document, result)

    def repeats(self, document, result):
        again = self.stepsim("run", self.stepsim.write(document), "--json", output="r2.json")
        if again.written is None:
            return [("repeat", f"the second run exits {again.code}")]
        first = {k: v for k, v in result.items() if k != "meta"}
        if json.dumps(less_meta(again.written)) != json.dumps(first):
            return [("repeat", "the same scenario twice gives two results")]
        return []

    def resolved(self, document, result):
        name = self.stepsim.write(result["scenario"], "resolved.json")
        again = self.stepsim("run", name, "--json", output="r2.json")
        if again.written is None:
            return [("resolved", f"the resolved scenario is refused: {again.err[:300]}")]
        second = less_meta(again.written)
        # It leaves out keys of which a warning said that they have no effect, and the collective
        # that a library has for dense gradients alone.
        left = re.compile("no effect:|^the model of the library is of dense gradients")
        result, second = ({**one, "warnings": [w for w in one["warnings"] if not left.search(w)]}
                          for one in (result, second))
        for each in (result, second):  # files stand in the order of the scenario's keys
            each["files"] = sorted(each["files"], key=lambda file: file["pointer"])
        # What was left to its default is said in the resolved scenario, so that `defaults` has nothing to name.
        keys = [k for k in result if k not in ("meta", "defaults") and json.dumps(result[k]) != json.dumps(second.get(k))]
        if keys:
            return [("resolved", f"differs in {', '.join(keys)}: {unlike(result, second, keys)}")]
        return []

    def agree(self, document, result):
        """`run --set`, `sweep` (with one and two threads) and `compare` at the same two points."""
        name = self.stepsim.write(document)
        pointer, values = axis_of(document)
        over = f"{pointer}={','.join(map(str, values))}"
        sweeps = [self.stepsim("sweep", name, "--over", over, "--jobs", jobs, "--quiet", output="p.jsonl")
                  for jobs in ("1", "2")]
        if sweeps[0].written is None:
            return [("sweep", f"exit {sweeps[0].code}: {sweeps[0].err[:300]}")]
        found = []
        if sweeps[0].written != sweeps[1].written:
            found.append(("jobs", "--jobs 1 and --jobs 2 write different files"))
        records = [checks.parsed(line) for line in sweeps[0].written.splitlines()][1:]
        compare = self.stepsim("compare", name, "--over", over, "--json", output="c.json")
        rows = {} if compare.written is None else {
            row[pointer_key(row, pointer)]: row for row in checks.parsed(compare.written)["rows"]}
        for value, record in zip(values, records):
            single = self.stepsim("run", name, "--set", f"{pointer}={value}", "--json", output="r2.json")
            if single.written is None or record["status"] != "ok":
                if (single.written is None) != (record["status"] != "ok"):
                    found.append(("sweep", f"{pointer}={value}: run exits {single.code}, the record says "
                                  f"{record['status']}: {record['error']}"))
                continue
            summary = checks.parsed(single.written)["summary"]
            unlike_keys = checks.differences(summary, record)
            if unlike_keys:
                found.append(("sweep", f"{pointer}={value}: {'; '.join(unlike_keys[:4])}"))
            if compare.written is None:
                found.append(("compare", f"exit {compare.code}: {compare.err[:300]}"))
            elif value not in rows:
                found.append(("compare", f"no row for {pointer}={value}"))
            else:
                unlike_keys = [k for k in checks.differences(summary, rows[value]) if "is missing" not in k]
                if unlike_keys:
                    found.append(("compare", f"{pointer}={value}: {'; '.join(unlike_keys[:4])}"))
        return found

    def neutral(self, document, result):
        """A straggler of factor 1 changes nothing; without random factors neither does the seed."""
        changed = copy.deepcopy(document)
        varied = changed.get("variability") or {}
        if varied.get("stragglers"):
            return []
        # Where the order of packets or of pushes decides, a moment later may be another order: exactly 1.
        scenario = result["scenario"]
        # Flows that meet on a link a moment apart share it otherwise than flows that meet at once.
        meets = scenario["cluster"]["network"]["model"] == "flow" and "topology" in scenario["cluster"]
        ordered = (scenario["cluster"]["network"]["model"] == "packet"
                   or scenario["training"].get("mode") in ("async", "ssp")
                   # Which of several messages at once ends first decides which comes next.
                   or (meets and scenario["communication"].get("concurrency", 1) > 1)
                   # Messages that queue reach their period later than a few iterations.
                   or scenario["training"]["algorithm"] in ("local_sgd", "diloco", "easgd", "od_sgd"))
        factor = 1 if ordered else 1.0000000001
        slack = 1e-4 if meets else 1e-6
        changed["variability"] = {**varied, "stragglers": [{"worker": 0, "factor": factor}]}
        answer = self.stepsim("run", self.stepsim.write(changed), "--json", output="r2.json")
        if answer.written is None:
            return []  # legal: not every combination knows stragglers
        second = checks.parsed(answer.written)["summary"]
        found = []
        for key in ("iteration_time_s", "compute_s", "communication_s", "exposed_communication_s",
                    "wire_bytes", "makespan_s", "speedup"):
            a, b = result["summary"][key], second[key]
            if abs(a - b) > slack * max(abs(a), abs(b), result["summary"]["iteration_time_s"]
                                       if key.endswith("_s") else 0):
                found.append(("neutral straggler", f"{key} {a!r} becomes {b!r}"))
        return found[:1]


def unlike(a, b, keys):
    """Some members in which two documents differ."""
    for key in keys:
        one, two = dict(checks.numbers(a.get(key))), dict(checks.numbers(b.get(key)))
        for pointer in one:
            if one[pointer] != two.get(pointer):
                return f"/{key}{pointer} {one[pointer]!r}, {two.get(pointer)!r}"
    return json.dumps(a.get(keys[0]))[:150] + " / " + json.dumps(b.get(keys[0]))[:150]


def axis_of(document):
    """A pointer that every scenario has, and two values for it."""
    return "/cluster/nodes", sorted({document["cluster"]["nodes"], max(1, document["cluster"]["nodes"] // 2)})


def pointer_key(row, pointer):
    last = pointer.rsplit("/", 1)[-1]
    return last if last in row else pointer
