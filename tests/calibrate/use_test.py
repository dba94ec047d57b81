#!/usr/bin/env python3
"""What `fit` writes drives `stepsim`, and what `report` writes can be looked at.

    use_test.py FOLDER_OF_THE_PROGRAMS
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "build"
SCHEMA = json.loads((ROOT / "schemas/network_calibration.schema.json").read_text())
SAMPLES = ROOT / "examples/h100x8.samples.json"
ERRORS = ROOT / "tests/golden/input/errors.jsonl"


def rounded(tree):
    """Without the last digits, which follow from the order of sums; errors near 0 have few digits."""
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [rounded(value) for value in tree]
    return float(f"{tree:.9g}") if isinstance(tree, float) else tree


class Use(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_program(self, program, *arguments, code=0):
        done = subprocess.run([str(PROGRAMS / program), *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def fit(self, *arguments, code=0):
        name = "x.calibration.json"
        self.run_program("stepsim-calibrate", "fit", *arguments, "-o", name, code=code)
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else None

    def exchange(self, sizes, **network):
        """Seconds that a run takes for an all-reduce of each size."""
        layers = [{"name": f"l{i}", "forward_s": 1, "backward_s": 1, "gradient_bytes": n} for i, n in enumerate(sizes)]
        collective = network.pop("collective")
        scenario = {"kind": "scenario", "name": "x", "workload": {"layers": layers},
                    "cluster": {"nodes": 1, "gpus_per_node": 8,
                                "network": {"calibration": "x.calibration.json", **network}},
                    "communication": {"collective": collective, "schedule": "wfbp"}}
        (self.folder / "s.json").write_text(json.dumps(scenario))
        result = json.loads(self.run_program("stepsim", "run", "s.json", "--json").stdout)
        return result, {b["bytes"]: b["end_s"] - b["start_s"] for b in result["buckets"]}

    def test_a_measured_curve_drives_a_run(self):
        tree = self.fit(SAMPLES, "--op", "allreduce")
        jsonschema.Draft7Validator(SCHEMA).validate(tree)
        self.assertEqual(tree["label"], "measured")
        self.assertNotIn("network", tree)
        self.assertEqual(tree["valid"], {"ranks": [8, 8], "bytes": [33554432, 17179869184], "gpus_per_node": 8})
        self.run_program("stepsim", "check", "x.calibration.json")
        low, high = tree["collectives"][0]["segments"]
        at = lambda s, n: s["startup_s"] + s["per_byte_s"] * n
        cut = math.sqrt(low["to_bytes"] * high["from_bytes"])
        sizes = [402653184, 759250128, 2147483648]
        result, seconds = self.exchange(sizes, collective="calibrated")
        self.assertEqual(result["calibration"]["grade"], "ok")
        self.assertAlmostEqual(seconds[402653184], at(low, 402653184), delta=1e-12)
        self.assertAlmostEqual(seconds[759250128], at(low, cut), delta=1e-12)  # held up
        self.assertGreater(at(low, cut), at(high, 759250128))
        self.assertAlmostEqual(seconds[2147483648], at(high, 2147483648), delta=1e-12)
        self.assertFalse(result["calibration"]["extrapolated"])
        self.assertTrue(self.exchange([2 ** 20], collective="calibrated")[0]["calibration"]["extrapolated"])

    def test_link_parameters_of_an_assumed_ring_drive_a_run(self):
        tree = self.fit(SAMPLES, "--op", "allreduce", "--assume", "ring", "--class", "nvlink")
        jsonschema.Draft7Validator(SCHEMA).validate(tree)
        self.run_program("stepsim", "check", "x.calibration.json")
        self.assertEqual(tree["label"], "calibrated")
        self.assertIn("ring assumed for allreduce P=8", tree["note"])
        self.assertEqual(tree["identifiable"], {"latency": True, "bandwidth": True, "reduction": False})
        network, link = tree["network"], tree["links"][0]
        self.assertEqual(link["class"], "nvlink")
        self.assertAlmostEqual(network["latency_s"], 4.4588e-6, delta=1e-4 * 4.4588e-6)
        self.assertAlmostEqual(network["bandwidth_Bps"], 4.7458e11, delta=1e-4 * 4.7458e11)
        self.assertIn("the speed of adding cannot be told from allreduce P=8", tree["warnings"][-1])
        self.assertLess(link["latency_s"]["low"], network["latency_s"])
        n = 402653184
        _, seconds = self.exchange([n], collective="ring")
        self.assertAlmostEqual(
            seconds[n], 14 * network["latency_s"] + 14 / 8 * n / network["bandwidth_Bps"], delta=1e-12)

    def test_the_shipped_file_is_the_fit_of_the_shipped_samples(self):
        tree = self.fit(SAMPLES, "--op", "allreduce", "--assume", "ring", "--class", "nvlink")
        shipped = json.loads((ROOT / "topologies/h100x8.calibration.json").read_text())
        for each in (tree, shipped):
            each.pop("name")
            each["source"].pop("importer")
        self.assertEqual(rounded(tree), rounded(shipped))
        result = json.loads(self.run_program("stepsim", "run", ROOT / "examples/h100x8.scenario.json", "--json").stdout)
        self.assertEqual(result["calibration"]["grade"], "ok")

    def test_networks_that_were_measured_drive_runs_and_sweeps(self):
        names = sorted((ROOT / "topologies").glob("testbed-*.calibration.json"))
        self.assertGreaterEqual(len(names), 6)
        for file in names:
            tree = json.loads(file.read_text())
            jsonschema.Draft7Validator(SCHEMA).validate(tree)
            self.assertEqual(tree["label"], "calibrated")  # only its probes were measured
            self.assertIn("predicted from them, not measured", tree["note"])
            ranks = tree["valid"]["ranks"][1]
            result = json.loads(self.run_program(
                "stepsim", "run", ROOT / "examples/testbed.scenario.json", "--json",
                "--set", f"/cluster/nodes={ranks}",
                "--set", f"/cluster/network/calibration={file}").stdout)
            self.assertEqual(result["calibration"]["grade"], tree["grade"])
            # The predicted all-reduce, with both ways at once, is above that of the bare link.
            link = tree["network"]
            bare = 2 * (ranks - 1) / ranks / link["bandwidth_Bps"] * 102228128
            self.assertGreater(result["summary"]["communication_s"], bare)
            self.assertLess(result["summary"]["communication_s"], 2.2 * bare)
        self.run_program("stepsim", "sweep", ROOT / "examples/testbed.sweep.json", "-o", "t.jsonl")
        points = [json.loads(line) for line in (self.folder / "t.jsonl").read_text().splitlines()[1:]]
        self.assertEqual({p["status"] for p in points}, {"ok"})
        self.assertEqual(len(points), 45)
        for p in points:  # twice the bandwidth, about half of the time
            slow = [q for q in points if (q["nodes"], q["schedule"]) == (p["nodes"], p["schedule"])]
            times = [q["iteration_time_s"] for q in slow]
            self.assertTrue(times[0] > 1.4 * times[1] > 1.4 * 1.4 * times[2], times)

    def test_a_bad_fit_writes_its_file_with_its_grade_and_exits_4(self):
        done = self.run_program("stepsim-calibrate", "fit", SAMPLES, "-o", "f.calibration.json", "--quiet", code=4)
        self.assertEqual(done.stderr.splitlines()[-1], "the calibration is graded fail: its predictions are off by "
                         "25 % or more, or do not grow with size; --force to accept it")
        tree = json.loads((self.folder / "f.calibration.json").read_text())
        forced = self.run_program("stepsim-calibrate", "fit", SAMPLES, "-o", "g.calibration.json", "--force", "--quiet")
        self.assertNotIn("--force", forced.stderr)
        self.assertEqual(tree["grade"], "fail")
        self.assertEqual(len(tree["collectives"]), 5)
        jsonschema.Draft7Validator(SCHEMA).validate(tree)
        (bad,) = [c for c in tree["collectives"] if c["op"] == "sendrecv"]
        self.assertNotIn("segments", bad)
        self.assertEqual(len(bad["points"]), 10)
        self.assertGreater(bad["fit"]["left_out_p90_relative_error"], 0.25)

    def test_targets_are_checked_after_the_file_is_written(self):
        done = self.run_program("stepsim-calibrate", "fit", SAMPLES, "-o", "x.calibration.json",
                                "--max-median", "5%", "--max-p90", "10%", "--quiet", code=4)
        self.assertEqual([line for line in done.stderr.splitlines() if "--max" in line],
                         ["--max-p90: sendrecv P=8: 90th percentile on sizes left out 32.1 %, "
                          "target 10.0 %: missed"])
        self.assertTrue((self.folder / "x.calibration.json").exists())
        self.assertEqual(self.fit(SAMPLES, "--op", "allreduce", "--max-p90", "5%")["grade"], "ok")

    def test_points_of_a_curve_drive_a_run(self):
        times = {1000: 1e-3, 2000: 2e-3, 4000: 2.1e-3, 8000: 8e-3, 16000: 8.5e-3, 32000: 40e-3}
        (self.folder / "s.csv").write_text("op,ranks,bytes,time_s\n" + "".join(
            f"allreduce,8,{n},{t}\n" for n, t in times.items()))
        self.fit("s.csv", code=4)  # sizes left out are off by half: grade fail
        _, seconds = self.exchange([2000, 3000, 16000], collective="calibrated")
        self.assertAlmostEqual(seconds[2000], 2e-3, delta=1e-12)
        self.assertAlmostEqual(seconds[3000], 2.05e-3, delta=1e-12)
        self.assertAlmostEqual(seconds[16000], 8.5e-3, delta=1e-12)
        shown = self.run_program("stepsim", "topologies", "show", "x.calibration.json").stdout
        self.assertIn("allreduce library P=8: 6 points from 1.000 kB to 32.00 kB", shown)

    def test_repeated_samples_give_the_same_file_for_the_same_seed(self):
        samples = ROOT / "tests/golden/input/two-regimes.csv"
        first = self.fit(samples)
        jsonschema.Draft7Validator(SCHEMA).validate(first)
        self.assertEqual(first, self.fit(samples))
        self.assertIn("nothing is added in broadcast mst P=8", first["warnings"][0])
        self.assertEqual([s["to_bytes"] for s in first["collectives"][0]["segments"]], [65536, 2097152])

    def test_logs_are_read_as_they_are(self):
        rows = "".join(f"{n} {n // 4} float sum -1 {10 + n / 1e3} 1 1 0 {20 + n / 1e3} 1 1 0\n"
                       for n in (1000, 10000, 100000, 1000000))
        (self.folder / "nccl.log").write_text(
            "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 4\n" + rows)
        for column, startup in [("out-of-place", 10e-6), ("in-place", 20e-6)]:
            tree = self.fit("nccl.log", "--ranks", 4, "--column", column)
            curve = tree["collectives"][0]
            self.assertEqual((curve["op"], curve["algorithm"], curve["ranks"], curve["column"]),
                             ("allreduce", "nccl", 4, column))
            self.assertEqual(tree["source"]["format"], "nccl-tests")
            segment = curve["segments"][0]
            self.assertAlmostEqual(segment["startup_s"], startup, delta=1e-9 * startup)
            self.assertAlmostEqual(segment["per_byte_s"], 1e-9, delta=1e-18)
        (self.folder / "osu.log").write_text(
            "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n0 1.9\n" +
            "".join(f"{n} {2 + n / 1e4}\n" for n in (1, 1000, 10000, 100000)))
        tree = self.fit("osu.log")
        self.assertEqual(tree["collectives"][0]["op"], "pingpong")
        self.assertAlmostEqual(tree["network"]["latency_s"], 2e-6, delta=1e-15)
        self.assertAlmostEqual(tree["network"]["bandwidth_Bps"], 1e10, delta=10)
        # A message counts with all-reduces of a known algorithm: adding at 5 GB/s comes out.
        (self.folder / "s.csv").write_text("op,algorithm,ranks,bytes,time_s\n" + "".join(
            f"allreduce,ring,4,{n},{6 * 2e-6 + 1.5 * n * 1e-10 + 0.75 * n * 2e-10}\n" for n in (1000, 10000, 100000)))
        tree = self.fit("osu.log", "s.csv")
        self.assertAlmostEqual(tree["network"]["reduction_Bps"], 5e9, delta=1e3)
        self.assertEqual(tree["identifiable"], {"latency": True, "bandwidth": True, "reduction": True})
        self.assertEqual(tree["label"], "measured")

    def test_ranks_one_device_are_no_network(self):
        rows = "".join(f"pingpong,2,{n},{1e-5 + n * 1e-10}\n" for n in (1000, 10000, 100000))
        (self.folder / "s.csv").write_text("op,ranks,bytes,time_s\n" + rows)
        tree = self.fit("s.csv", "--class", "same-device")
        self.assertNotIn("network", tree)
        self.assertAlmostEqual(tree["links"][0]["per_byte_s"]["value"], 1e-10, delta=1e-17)
        scenario = {"kind": "scenario", "workload": {"layers": [
            {"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 8}]},
            "cluster": {"nodes": 2, "network": {"calibration": "x.calibration.json"}}}
        (self.folder / "s.json").write_text(json.dumps(scenario))
        done = self.run_program("stepsim", "run", "s.json", code=3)
        self.assertIn("/cluster/network/calibration", done.stderr)

    def test_no_number_of_a_calibration_is_hidden(self):
        curve = {"op": "allreduce", "algorithm": "ring", "ranks": 4, "points": [[1000, 1e-5], [2000, 2e-5]],
                 "fit": {"left_out_p90_relative_error": 0}}
        tree = {"schema_version": 1, "kind": "network_calibration", "name": "x", "label": "measured",
                "network": {"model": "alpha_beta", "latency_s": 1e-5, "bandwidth_Bps": 1e9},
                "links": [], "collectives": [curve]}
        (self.folder / "x.json").write_text(json.dumps(tree))
        shown = self.run_program("stepsim-calibrate", "show", "x.json").stdout
        self.assertRegex(shown, r"(?m)^network +10\.00 us, 1\.000 GB/s$")
        self.assertRegex(shown, r"(?m)^allreduce +ring P=4; 90 % of sizes left out are within 0")

    def test_a_report_as_markdown_has_a_plot_beside_it(self):
        self.run_program("stepsim-calibrate", "report", ERRORS, "-o", "e.md")
        text = (self.folder / "e.md").read_text()
        self.assertIn("![measured over predicted time](e.svg)", text)
        self.assertIn("| all | 6 | 5 | 1.61 % | 6.92 % |", text)
        picture = xml.etree.ElementTree.parse(self.folder / "e.svg").getroot()
        clouds = {"m": [], "h": []}  # filled and hollow markers, without those of the legend
        for path in picture.iter("{http://www.w3.org/2000/svg}path"):
            marker = path.get("marker-mid")
            if marker and "h0" not in path.get("d"):
                points = re.findall(r"[ML](\S+?) ([^ML]+)", path.get("d"))
                clouds[marker[len("url(#")]] += [tuple(map(float, point)) for point in points]
        rows = [json.loads(line) for line in ERRORS.read_text().splitlines()]
        hollow = [row for row in rows if "start_up_bound" in row["flags"]]
        self.assertEqual(len(clouds["h"]), len(hollow))
        self.assertEqual(len(clouds["m"]), len(rows) - len(hollow))
        texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
        for algorithm in {row["algorithm"] for row in rows} | {"start-up, not counted", "equal"}:
            self.assertIn(algorithm, texts)

    def test_a_report_as_json_keeps_its_numbers(self):
        self.run_program("stepsim-calibrate", "report", ERRORS, "-o", "e.json", "--max-median", "2%",
                         "--max-p90", "10%")
        tree = json.loads((self.folder / "e.json").read_text())
        errors = sorted(abs(r["predicted_s"] / r["measured_s"] - 1)
                        for r in map(json.loads, ERRORS.read_text().splitlines()) if "start_up_bound" not in r["flags"])
        self.assertAlmostEqual(tree["median_abs_error"], errors[2])
        self.assertAlmostEqual(tree["p90_abs_error"], errors[4])
        self.assertTrue((self.folder / "e.svg").exists())
        self.run_program("stepsim-calibrate", "report", ERRORS, "--max-p90", "5%", code=4)


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
