#!/usr/bin/env python3
"""`stepsim explain` on examples: shares add up to the period, and every what-if line is a run.

    explain_test.py STEPSIM
"""
import json
import math
import pathlib
import subprocess
import tempfile
import unittest

from folder import ROOT, STEPSIM

PIPE = ["--set", "/training/algorithm=pipe_sgd", "--set", "/communication/schedule=single"]
NO_SCHEDULE = ["--set", "/communication/schedule=null"]  # sharding units have none
# File and flags; every training algorithm and discipline of streams that has a program.
EXAMPLES = [
    ("two-layers.scenario.json", []),
    ("quickstart.scenario.json", []),
    ("algorithms.scenario.json", []),
    ("several-gpus.scenario.json", []),
    ("oversubscribed.scenario.json", []),
    ("h100x8.scenario.json", []),
    ("testbed.scenario.json", []),
    ("testbed-googlenet.scenario.json", []),
    ("two-layers.scenario.json", PIPE),
    ("two-layers.scenario.json", [*PIPE, "--set", "/training/compute_slowdown=1.5"]),
    ("two-layers.scenario.json", ["--set", "/communication/schedule=dear"]),
    ("quickstart.scenario.json", ["--set", "/communication/schedule=priority"]),
    ("two-layers.scenario.json", ["--set", "/communication/schedule=asc_wfbp"]),
    ("two-layers.scenario.json", ["--set", "/communication/schedule=wfbp", "--set", "/communication/concurrency=2"]),
    ("two-layers.scenario.json", ["--set", "/variability/compute_cv=0.1", "--set",
                                  "/training/iterations=40"]),
    ("two-layers.scenario.json", ["--set", "/training/sharding=full_shard", *NO_SCHEDULE]),
    ("several-gpus.scenario.json", ["--set", "/training/sharding=hybrid_shard", *NO_SCHEDULE]),
    ("quickstart.scenario.json", ["--set", "/training/sharding=zero2"]),
    ("two-layers.scenario.json", ["--set", '/variability/stragglers=[{"worker": 1, "factor": 2}]']),
]


def stepsim(*words):
    return subprocess.run([STEPSIM, *words], cwd=ROOT, capture_output=True, text=True, timeout=600,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})


def explained(*words):
    done = stepsim("explain", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def step_of(file, flags, change):
    """The step of a run with the change. Keys that mean nothing any more are ignored by `compare`."""
    sets = [word for each in change for word in ("--set", each)]
    done = stepsim("run", file, *flags, *sets, "--json")
    if done.returncode == 0:
        return json.loads(done.stdout)["summary"]["iteration_time_s"]
    if len(change) == 1:
        done = stepsim("compare", file, *flags, "--over", change[0], "--json")
        if done.returncode == 0:
            return json.loads(done.stdout)["rows"][0]["iteration_time_s"]
    raise AssertionError(f"{file} {flags} {change}: {done.stderr}")


class Explain(unittest.TestCase):
    def test_shares_add_up_to_the_period_and_the_period_is_that_of_the_run(self):
        for name, flags in EXAMPLES:
            with self.subTest(name=name, flags=flags):
                file = "examples/" + name
                found = explained(file, *flags)
                period = found["summary"]["period_s"]
                for shares in found["attribution"].values():
                    total = math.fsum(share["seconds"] for share in shares)
                    self.assertLessEqual(abs(total - period), 1e-12 * period)
                steps = math.fsum(step["share_s"] for step in found["critical_cycle"])
                self.assertLessEqual(abs(steps - period), 1e-12 * period)
                # The path is the cycle, one operation after the other.
                path, ends = found["critical_path"], [0]
                for each in path:
                    self.assertEqual(each["start_s"], ends[-1])
                    ends.append(each["end_s"])
                self.assertEqual([each["phase"] for each in path],
                                 [each["kind"] for each in found["critical_cycle"] if found["exact"]])
                if path:
                    self.assertLessEqual(abs(ends[-1] / found["cycle_iterations"] - period), 1e-12 * period)
                run = json.loads(stepsim("run", file, *flags, "--json").stdout)["summary"]
                self.assertLessEqual(abs(run["iteration_time_s"] - period), 1e-9 * period)
                self.assertEqual((run["iteration_time_s"], run["bottleneck"]),
                                 (found["iteration_time_s"], found["bottleneck"]))
                self.assertTrue(3 <= len(found["sentences"]) <= 6, found["sentences"])
                for derivative in found["derivatives"]:
                    slack = 0 if derivative["exact"] else 1e-3 * max(1.0, abs(derivative["right"]))
                    self.assertLessEqual(derivative["left"], derivative["right"] + slack)

    def test_every_what_if_line_is_a_run_to_the_last_digit(self):
        for name, flags in EXAMPLES:
            with self.subTest(name=name, flags=flags):
                file = "examples/" + name
                found = explained(file, *flags)
                step = found["iteration_time_s"]
                self.assertGreater(len(found["what_if"]), 0)
                for line in found["what_if"]:
                    self.assertEqual(step_of(file, flags, line["set"]), line["iteration_time_s"], line)
                    self.assertEqual(line["gain"], 1 - line["iteration_time_s"] / step)
                    if line["pointer"]:
                        text = line["value"] if isinstance(line["value"], str) else json.dumps(line["value"])
                        again = [f"{line['pointer']}={text}"]
                        self.assertEqual(step_of(file, flags, again), line["iteration_time_s"], line)
                    else:
                        self.assertGreater(len(line["set"]), 1)

    def test_run_report_and_explain_name_the_same_bound(self):
        subjects = {"compute": "Computing", "latency": "The start-up of messages",
                    "bandwidth": "The bandwidth of the links", "reduction": "Adding gradients",
                    "straggler": "The slowest worker", "compression": "Compression"}
        slow = ["--set", "/cluster/network/bandwidth_Bps="]
        cases = [*EXAMPLES, *[("quickstart.scenario.json", [slow[0], slow[1] + rate])
                              for rate in ("2e9", "4e9", "5e9", "6e9", "8e9", "12e9", "100e9")]]
        with tempfile.TemporaryDirectory() as folder:
            for name, flags in cases:
                with self.subTest(name=name, flags=flags):
                    file = f"examples/{name}"
                    word = json.loads(stepsim("run", file, *flags, "--json").stdout)["summary"]["bottleneck"]
                    explanation = explained(file, *flags)
                    sentence = f"{subjects[word]} bounds it"
                    self.assertIn(sentence, explanation["sentences"][1])
                    page = pathlib.Path(folder) / "r.html"
                    done = stepsim("report", file, *flags, "-o", str(page), "--force")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(sentence, page.read_text())
                    # What the run follows back through its messages is what lies on the binding path.
                    shares = explanation["attribution"]["by_link"]
                    sent = ("start-up", "bandwidth", "and additions", "whole exchanges")
                    exchange = sum(each["seconds"] for each in shares if each["name"].endswith(sent))
                    compute = sum(each["seconds"] for each in shares if each["name"] == "no exchange")
                    if not any("variability" in flag or "pipe_sgd" in flag for flag in flags) and \
                            abs(exchange - compute) > 1e-6 * exchange:
                        self.assertEqual(word == "compute", compute > exchange, (word, shares))

    def test_causes_of_a_measured_step_are_runs_and_the_rest_is_unexplained(self):
        file = "examples/quickstart.scenario.json"
        # Under typical conditions the factors that lose more at another site are tried.
        tcp = ["/cluster/network/transport=tcp", "/conditions=typical"]
        sets = [flag for each in tcp for flag in ("--set", each)]
        step = explained(file, *sets)["iteration_time_s"]
        *causes, _ = explained(file, *sets, "--measured", f"{1.5 * step}s")["gap"]
        self.assertEqual(causes[0]["cause"], "kernels that the host launches late, as in the trace")
        self.assertEqual(causes[1]["cause"],
                         "c_tcp (rate of TCP over one connection per ring, bytes/s) at the low "
                         "end of its range")
        for cause in causes:
            self.assertEqual(step_of(file, [], tcp + cause["set"]), cause["iteration_time_s"])
        step = explained(file)["iteration_time_s"]
        found = explained(file, "--measured", f"{1.5 * step}s")
        self.assertAlmostEqual(found["measured_s"], 1.5 * step)
        *causes, unexplained = found["gap"]
        for cause in causes:
            self.assertEqual(step_of(file, [], cause["set"]), cause["iteration_time_s"])
            self.assertEqual(cause["seconds"], cause["iteration_time_s"] - step)
        rest = 0.5 * step - sum(cause["seconds"] for cause in causes)
        self.assertEqual(unexplained["cause"], "unexplained")
        self.assertAlmostEqual(unexplained["seconds"], max(0, rest))
        # The same step as samples per second of one GPU.
        batch = "--set", "/workload/batch_size=64"
        rate = explained(file, *batch, "--measured", f"{64 / (1.5 * step):.17g}samples/s")
        self.assertAlmostEqual(rate["measured_s"], found["measured_s"], places=12)
        # No cause of longer steps explains one that is shorter than predicted.
        shorter = explained(file, "--measured", f"{0.5 * step}s")
        [rest] = shorter["gap"]
        self.assertAlmostEqual(rest["seconds"], -0.5 * step)
        self.assertIn("ms shorter than predicted", shorter["sentences"][-1])

    def test_the_program_of_a_scenario_runs_as_the_scenario_does(self):
        done = stepsim("program", "examples/two-layers.scenario.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        again = subprocess.run([STEPSIM, "explain", "-", "--json"], input=done.stdout, cwd=ROOT,
                               capture_output=True, text=True, timeout=600)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(json.loads(again.stdout)["summary"]["period_s"],
                         explained("examples/two-layers.scenario.json")["summary"]["period_s"])

    def test_a_program_of_workers_that_differ_says_that_its_own_do_not(self):
        file = "examples/two-layers.scenario.json"
        slow = ["--set", '/variability/stragglers=[{"worker": 1, "factor": 2}]']
        self.assertNotIn("/variability", stepsim("program", file).stderr)
        done = stepsim("program", file, *slow)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: /variability: ", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
