"""What the notebooks of the papers share: running `stepsim reproduce`, its claims and its pictures."""
import json
import pathlib
import subprocess
import tempfile

import pandas as pd
from IPython.display import SVG

ROOT = pathlib.Path(__file__).resolve().parents[1]


def stepsim(*words):
    """The JSON that a command prints; ordinary words of the command line, run in the project's root."""
    done = subprocess.run(["stepsim", *map(str, words), "--json", "--quiet"], cwd=ROOT, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout)


def records(*words):
    """The records of a command that writes JSON Lines, one row each."""
    done = subprocess.run(["stepsim", *map(str, words), "--format", "jsonl", "--quiet"], cwd=ROOT,
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return pd.DataFrame(map(json.loads, done.stdout.splitlines()))


class Paper:
    """`stepsim reproduce NAME --quick`, run once."""

    def __init__(self, name):
        self.name = name
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"stepsim-{name}-"))
        tree = stepsim("reproduce", name, "--quick", "-o", self.folder)
        self.claims = pd.DataFrame(tree["papers"][0]["claims"])[
            ["figure", "verdict", "ours", "reported", "label", "text"]]

    def picture(self, figure):
        return SVG(filename=self.folder / f"{figure}.svg")

    def records(self, run):
        lines = (self.folder / f"{run}.jsonl").read_text().splitlines()
        return pd.DataFrame([r for r in map(json.loads, lines) if r.get("record") != "header"])
