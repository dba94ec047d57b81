"""Code blocks of Markdown pages, and how each is run.

    shell       indented, or a fence without a language: every command runs, in the order of the page
    python      a fence: runs with the module python/stepsim.py
    json        a fence, or a block that begins with { or ": a file that `stepsim check` accepts, or keys
                that the quickstart scenario takes
    cpp         a fence: stands in a test that is compiled and run
    output      after <!-- output of: COMMAND -->: the command prints what the page shows
                (docs/update_outputs.py renews it)

A block with <!-- not run: REASON --> on the last line of text before it is left out, and so are commands
whose program is in ELSEWHERE. Blocks of <!-- page of: COMMAND --> are output, which update_outputs.py checks.
All blocks of a page run in one empty folder; files of the user that pages name are given (`given`).
"""
import gzip
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
import samples  # noqa: E402

# Programs that a command needs beside stepsim, and why no test runs the command here.
ELSEWHERE = {
    "sudo": "installs packages", "pip": "installs packages", "cmake": "builds",
    "./quickstart": "builds", "release/package.sh": "builds; tests/package runs it",
    "ctest": "a test itself", "mpirun": "measures a cluster", "srun": "measures a cluster",
    "sbatch": "measures a cluster", "ssh": "measures a cluster", "calibrate/gpu_check": "measures a GPU",
    "tests/testbed": "measures; needs root", "tests/torchbed/campaign.py": "measures; needs root", "docs/testbed_measure.sh": "half an hour",
    "docs/contention_study.py": "a minute; tests/claims runs it", "docs/dlcp_ablation.py": "10 minutes",
    "tests/bench/run.sh": "minutes", "tests/bench/growth.py": "minutes", "tests/bench/estimates.py": "minutes", "tests/bench/wide_sweep.py": "minutes",
    "traces/import_samples.sh": "needs the recordings, which are not part of the sources",
    "jupyter": "a notebook; tests/notebooks runs them",
}
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*$")
OUTPUT = re.compile(r"<!-- output of: (.+?) -->\s*$")
FENCE = re.compile(r"( *)(```+)(\w*)\s*$")


@dataclass
class Block:
    line: int
    kind: str
    text: str
    command: str = ""
    reason: str = ""


def kind_of(language, text):
    if language:
        return language
    return "json" if text.lstrip()[:1] in ('"', "{") else "shell"


def blocks_of(text):
    text = re.sub(r"(?s)<!-- page of: .+?<!-- end of page -->", lambda m: "\n" * m[0].count("\n"), text)
    lines = text.split("\n")
    found, i, before = [], 0, ""
    while i < len(lines):
        fence = FENCE.match(lines[i])
        indented = lines[i].startswith("    ") and not (lines[i - 1] if i else "").strip()
        if not fence and not indented:
            before = lines[i].strip() or before
            i += 1
            continue
        start = i
        if fence:
            end = next(j for j in range(i + 1, len(lines)) if lines[j].strip() == fence[2])
            body, i = lines[i + 1:end], end + 1
        else:
            while i < len(lines) and (lines[i].startswith("    ") or (
                    not lines[i].strip() and "".join(lines[i + 1:i + 2]).startswith("    "))):
                i += 1
            body = [line[4:] for line in lines[start:i]]
        body = "\n".join(body) + "\n"
        output, reason = OUTPUT.search(before), NOT_RUN.search(before)
        found.append(Block(start + 1, "output" if output else kind_of(fence[3] if fence else "", body), body,
                           output[1] if output else "", reason[1] if reason else ""))
        before = ""
    return found


def given(folder):
    """Files of the user that pages name: recordings and logs of the kinds that the importers read."""
    (folder / "rank0.json.gz").write_bytes(gzip.compress(samples.kineto()))
    (folder / "nccl.log").write_bytes(samples.nccl_tests())
    (folder / "node.xml").write_bytes(samples.topology_xml())
    (folder / "logs").mkdir()
    (folder / "logs" / "rank0.log").write_bytes(samples.nccl_inspector())


def runnable(text):
    """The commands of a shell block without those of ELSEWHERE."""
    kept = []
    for command in re.sub(r"\\\n\s*", " ", text).splitlines():
        words = shlex.split(command, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        if words and words[0] != "export" and words[0] not in ELSEWHERE:
            kept.append(command)
    return "\n".join(kept)


def without_notes(text):
    """What differs by the place of the data, and blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("note: ")).rstrip()


class Runner:
    """Runs blocks in `folder` with the programs of `binaries`; `python` has the module stepsim."""

    def __init__(self, folder, binaries, python=sys.executable, module=ROOT / "python"):
        self.folder = folder
        self.python = python
        self.environment = dict(os.environ, PATH=f"{binaries}:/usr/bin:/bin", NO_COLOR="1", LC_ALL="C.UTF-8",
                                COLUMNS="120", PYTHONDONTWRITEBYTECODE="1")
        if module:
            self.environment.update(PYTHONPATH=str(module), STEPSIM=str(pathlib.Path(binaries) / "stepsim"))
        given(folder)

    def done(self, *words):
        return subprocess.run([str(word) for word in words], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=600)

    def problem(self, block):
        """Why the block does not do what the page says; "" if it does."""
        if block.kind == "output":
            done = self.done("bash", "-c", block.command)
            shown = without_notes(block.text.split("\n", 1)[1])
            return "" if without_notes(done.stdout) == shown and done.returncode in (0, 4) else (
                f"prints something else\n{done.stdout}{done.stderr}")
        if block.kind == "cpp":
            lines = "".join(block.text.split())
            return "" if any(lines in "".join(each.read_text(encoding="utf-8").split())
                             for each in (ROOT / "tests").rglob("*_test.cpp")) else "is in no test that is compiled"
        if block.kind == "shell":
            done = self.done("bash", "-euo", "pipefail", "-c", runnable(block.text))
        elif block.kind == "python":
            done = self.done(self.python, "-c", block.text)
        elif block.kind == "json":
            done = self.done("stepsim", *self.json_words(block.text))
        else:
            return f"is of the unknown kind {block.kind}"
        return "" if done.returncode == 0 else f"exit {done.returncode}\n{done.stdout}{done.stderr}"

    def json_words(self, text):
        """A file, or members of a scenario, for which the quickstart scenario has the others."""
        file = self.folder / "examples" / "block.json"
        if not file.parent.exists():
            assert self.done("stepsim", "examples", ".").returncode == 0
        whole = text.lstrip().startswith("{")
        tree = json.loads(text if whole else "{" + text + "}")
        if not whole:
            tree = {**json.loads((ROOT / "examples/quickstart.scenario.json").read_text()), **tree}
        file.write_text(json.dumps(tree))
        return ["check" if whole else "run", file, "--quiet"]

    def problems(self, page, text):
        for block in blocks_of(text):
            if not block.reason:
                problem = self.problem(block)
                if problem:
                    yield f"{page}:{block.line}: {problem}"
