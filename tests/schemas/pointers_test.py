#!/usr/bin/env python3
"""Every pointer of the scenario's schema can be --set and --over, with the effect that writing the
value into the file has.

    pointers_test.py STEPSIM
"""
import functools
import json
import operator
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from schemas_test import ROOT, SCHEMAS, fields

sys.path.insert(0, str(ROOT / "tests"))
from pointers import assigned  # noqa: E402

SCHEMA = SCHEMAS["scenario"]
STEPSIM = None
LAYER = {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 1000000}
BASE = {
    "kind": "scenario", "name": "base",
    "workload": {"layers": [LAYER, dict(LAYER, name="b")]},
    "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
    "communication": {"schedule": "wfbp"},
    "variability": {"stragglers": [{"worker": 0, "factor": 1.5}]},
}
JOBS = dict(BASE, workload=[dict(BASE["workload"], nodes=2), dict(BASE["workload"], nodes=2)],
            cluster={"nodes": 4, "topology": {"file": "star_16"}, "network": {"model": "flow"}},
            communication={"schedule": "single"})
del JOBS["variability"]
# Most keys of sharding have a meaning next to a strategy that makes units.
SHARDED = dict(BASE, training={"sharding": {"strategy": "full_shard"}}, communication={})
NO_SCHEDULE = dict(BASE, communication={})  # which a schedule of one's own stands for


def has_place(tree, pointer):
    """Whether lists on the way have the element; objects are made."""
    for token in pointer.split("/")[1:-1]:
        if isinstance(tree, list):
            if int(token) >= len(tree):
                return False
            tree = tree[int(token)]
        elif isinstance(tree, dict):
            tree = tree.get(token, {})
        else:
            return False
    return not isinstance(tree, list) or int(pointer.split("/")[-1]) <= len(tree)


def stepsim(*words):
    done = subprocess.run([STEPSIM, *words], cwd=ROOT / "examples", capture_output=True, text=True, timeout=600)
    assert done.returncode in (0, 1, 2, 3), f"{words}: {done.returncode} {done.stderr}"
    assert "internal error" not in done.stderr, f"{words}: {done.stderr}"
    return done


def result(done):
    tree = json.loads(done.stdout)
    tree.pop("meta")
    return tree


def message(done):
    """The first error without the flag or the file and pointer that it begins with."""
    return done.stderr.splitlines()[0].split(": ")[-1]


class Pointers(unittest.TestCase):
    def check(self, folder, base, pointer, value):
        name = pointer.replace("/", "~")  # /a/b and /a_b are two
        text = json.dumps(value)
        base_file = pathlib.Path(folder) / f"base{name}.json"
        file = pathlib.Path(folder) / f"set{name}.json"
        base_file.write_text(json.dumps(base))
        file.write_text(json.dumps(assigned(base, pointer, value)))
        written = stepsim("run", str(file), "--quiet", "--json")
        by_flag = stepsim("run", str(base_file), "--set", f"{pointer}={text}", "--quiet", "--json")
        over = stepsim("compare", str(base_file), "--over", f"{pointer}={text}", "--quiet", "--json")
        if written.returncode != 0 and by_flag.returncode == 0:  # the file without what lost its meaning
            notes = stepsim("run", str(base_file), "--set", f"{pointer}={text}", "--json").stderr
            tree = json.loads(file.read_text())
            for lost in re.findall(r"^left out: (\S+), because", notes, re.MULTILINE):
                *parents, last = lost[1:].split("/")
                functools.reduce(operator.getitem, parents, tree).pop(last)
            file.write_text(json.dumps(tree))
            written = stepsim("run", str(file), "--quiet", "--json")
            self.assertEqual(written.returncode, 0, written.stderr)
        if written.returncode != 0:
            self.assertNotEqual(by_flag.returncode, 0, by_flag.stdout[:200])
            self.assertEqual(message(by_flag), message(written))
            return False
        self.assertEqual(by_flag.returncode, 0, by_flag.stderr)
        self.assertEqual(result(by_flag), result(written))
        self.assertEqual(over.returncode, 0, over.stderr)
        row = json.loads(over.stdout)["rows"][0]
        summary = result(written)["summary"]
        for key, number in summary.items():
            if isinstance(number, float):
                self.assertEqual(row[key], number, key)
        return True

    def test_set_over_and_the_file_agree_at_every_pointer(self):
        cases = []
        for pointer, field in dict(fields(SCHEMA)).items():
            jobs = pointer.startswith("/workload/0/")
            sharded = pointer.startswith("/training/sharding/")
            own = pointer.startswith("/communication/schedule/")
            base = JOBS if jobs else SHARDED if sharded else NO_SCHEDULE if own else BASE
            if pointer in ("/schema_version", "/kind") or not has_place(base, pointer):
                continue
            for value in field.get("examples", [])[:1]:
                cases.append((base, pointer, value))
        self.assertGreater(len(cases), 150)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda case: (case, self.outcome(folder, *case)), cases))
        ran = 0
        for (base, pointer, value), outcome in done:
            with self.subTest(pointer=pointer, value=value):
                if isinstance(outcome, Exception):
                    raise outcome
                ran += outcome
        self.assertGreater(ran, len(cases) // 4)  # most others need a key beside them

    def outcome(self, folder, base, pointer, value):
        try:
            return self.check(folder, base, pointer, value)
        except Exception as error:  # reported with its pointer
            return error

    def test_quantities_with_a_unit_are_the_numbers_in_si(self):
        units = {"_s": ("2ms", 2e-3), "_Bps": ("10Gbps", 1.25e9), "_bytes": ("1MiB", 1048576)}
        checked = 0
        with tempfile.TemporaryDirectory() as folder:
            for pointer, field in dict(fields(SCHEMA)).items():
                ending = next((e for e in units if pointer.endswith(e)), None)
                base = JOBS if pointer.startswith("/workload/0/") else BASE
                if ending is None or pointer.endswith("per_byte_s") or not has_place(base, pointer):
                    continue
                text, number = units[ending]
                answers = []
                for value in (text, number):
                    file = pathlib.Path(folder) / "s.json"
                    file.write_text(json.dumps(assigned(base, pointer, value)))
                    done = stepsim("run", str(file), "--quiet", "--json")
                    shown = done.stderr.replace(json.dumps(text), "V").replace(str(number), "V")
                    answers.append((done.returncode, result(done) if done.returncode == 0
                                    else shown.replace("2e-03", "V").replace("1.25e+09", "V")))
                with self.subTest(pointer=pointer):
                    self.assertEqual(answers[0], answers[1])
                    checked += 1
        self.assertGreater(checked, 30)


if __name__ == "__main__":
    STEPSIM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
