#!/usr/bin/env python3
"""The measured times among the examples are those of the test bed, and predict steps as well as docs/calibrate.md
says: the steps of one schedule each that were executed on that network, from the two logs of its all-reduce.

usage: example_times_test.py BUILD
"""
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
EXECUTED = 5, 0.03  # factors of layer times and of gradients in docs/testbed_measure.sh


def bed(kind, algorithm):
    """{bytes: seconds} of the all-reduces by an algorithm on four ranks at 200 Mb/s."""
    with gzip.open(ROOT / f"docs/testbed/4x200mbps.{kind}.jsonl.gz", "rt", encoding="utf-8") as stream:
        rows = map(json.loads, stream)
        return {row["bytes"]: row["measured_s"] for row in rows if (row["op"], row["algorithm"]) == ("allreduce", algorithm)}


def program(name, *words, code=0):
    done = subprocess.run([BUILD / name, *words], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def executed_trace():
    trace = json.loads((ROOT / "traces/resnet50.ddp.2xa100.json").read_text())
    time, size = EXECUTED
    for key in "update_s", "framework_s":
        trace[key] *= time
    for layer in trace["layers"]:
        layer["forward_s"] *= time
        layer["backward_s"] *= time
        for tensor in layer["tensors"]:
            tensor["elements"] = max(1, round(tensor["bytes"] * size / 4))
            tensor["bytes"] = 4 * tensor["elements"]
            del tensor["shape"]
        layer["gradient_bytes"] = sum(tensor["bytes"] for tensor in layer["tensors"])
    return trace


class ExampleTimes(unittest.TestCase):
    def test_log_in_the_form_of_osu(self):
        lines = (ROOT / "examples/osu_allreduce.log").read_text().splitlines()
        rows = [line.split() for line in lines if not line.startswith("#")]
        measured = bed("library", "library_ring")
        self.assertEqual([int(size) for size, _ in rows], list(measured))
        for size, microseconds in rows:
            self.assertAlmostEqual(float(microseconds), 1e6 * measured[int(size)], delta=0.006)

    def test_samples(self):
        with open(ROOT / "examples/testbed.samples.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        measured = bed("errors", "ring")
        self.assertEqual([int(row["bytes"]) for row in rows], list(measured))
        for row in rows:
            self.assertAlmostEqual(float(row["time_s"]) / measured[int(row["bytes"])], 1, delta=1e-6)
            self.assertEqual((row["op"], row["algorithm"], row["ranks"]), ("allreduce", "ring", "4"))

    def errors_of_steps(self, log, *words, code, collective):
        """|predicted / executed - 1| of the step of every schedule."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program("stepsim-calibrate", "fit", ROOT / "examples" / log, *words, "-o", folder / "c.json", code=code)
            (folder / "trace.json").write_text(json.dumps(executed_trace()))
            (folder / "s.json").write_text(json.dumps({
                "kind": "scenario", "workload": {"trace": "trace.json"}, "communication": {"collective": collective},
                "cluster": {"nodes": 4, "network": {"calibration": "c.json"}}}))
            steps = json.loads((ROOT / "docs/testbed/4x200mbps.replay.json").read_text())["schedules"]
            self.assertEqual(len(steps), 5)
            return [abs(json.loads(program("stepsim", "run", folder / "s.json", "--json", "--quiet", "--set",
                                           f"/communication/schedule={step['schedule']}"))["summary"]["iteration_time_s"]
                        / step["measured_s"] - 1) for step in steps]

    def test_show_says_what_the_fit_said(self):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "c.json")
            said = program("stepsim-calibrate", "fit", ROOT / "examples/osu_allreduce.log", "--ranks", "4", "--assume", "ring",
                           "-o", file, code=4)
            rows = json.loads(program("stepsim-calibrate", "show", file, "--json"))["rows"]
            plain = program("stepsim-calibrate", "show", ROOT / "topologies/10g-tcp.calibration.json")
        shown = {row["what"]: row["text"] for row in rows}
        self.assertEqual(re.search(r"left out: .* 90th percentile (\S+ %)", said)[1], re.search(r"within (\S+ %)", shown["allreduce"])[1])
        link = re.search(r"latency (.+ us) \[(.+), (.+)\], (.+/s) \[(.+), (.+)\], speed", said)
        self.assertEqual(shown["link network"], "{} ({} to {}), {} ({} to {})".format(*link.groups()))
        self.assertIn("ring assumed", shown["note"])
        self.assertEqual(shown["sizes"], "4 B to 8.021 MB")
        assumed = [row["text"] for row in rows if row["what"] == "assumed"]
        self.assertEqual(assumed, ["adding takes no time of its own", "links are as fast while they carry the other direction, too",
                                   "compressing costs what the scenario says"])
        self.assertIn("collectives follow from latency and bandwidth", plain)

    def test_show_of_a_damaged_file(self):
        tree = json.loads((ROOT / "topologies/h100x8.calibration.json").read_text())
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name, "c.json")
            for key, value, code in [("source", "a text", 0), ("source", {"numbers": {"/a": 3}}, 3), ("source", {"format": 4}, 3), ("device", None, 0),
                                     ("links", 3, 3), ("collectives", [{}], 3), ("kind", "scenario", 3), ("links", [], 0),
                                     ("collectives", [{**tree["collectives"][0], "fit": {"left_out_p90_relative_error": "x"}}], 3),
                                     ("links", [{**tree["links"][0], "per_byte_s": 0}], 3)]:
                file.write_text(json.dumps({**tree, key: value}))
                program("stepsim-calibrate", "show", file, code=code)

    def test_a_log_of_grade_fail_is_off_by_a_fifth(self):
        errors = self.errors_of_steps("osu_allreduce.log", "--ranks", "4", code=4, collective="calibrated")
        self.assertLess(max(errors), 0.205)
        self.assertGreater(max(errors), 0.15)

    def test_samples_of_grade_ok_are_off_by_two_per_cent(self):
        errors = self.errors_of_steps("testbed.samples.csv", code=0, collective="ring")
        self.assertLess(max(errors), 0.025)


if __name__ == "__main__":
    unittest.main()
