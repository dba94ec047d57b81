#!/usr/bin/env python3
"""stepsim-calibrate mpi as users start it; 77 where it was built without MPI, or mpirun is missing.

    program_test.py FOLDER_OF_THE_PROGRAMS
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "schemas/network_calibration.schema.json").read_text())
PROGRAM = pathlib.Path(sys.argv[1]) / "stepsim-calibrate"
MPIRUN = ["mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "--bind-to", "none"]


def mpi(ranks, *arguments):
    """Up to four tries: on a crowded machine a probe may take longer for less, which the program refuses to fit."""
    for _ in range(4):
        done = subprocess.run([*MPIRUN, "-np", str(ranks), PROGRAM, *map(str, arguments)],
                              capture_output=True, text=True, timeout=600)
        if "time does not grow with size" not in done.stderr:
            return done
    raise unittest.SkipTest("other load on this machine hides how time grows with size")

# Seconds of a measurement: more if other work on the machine left too little time.
LONGER = (6, 20, 60)


class Program(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def stepsim(self, *words):
        done = subprocess.run([PROGRAM.with_name("stepsim"), *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def given(self, **curves):
        """A calibration that claims a network."""
        calibration = self.folder / "given.calibration.json"
        calibration.write_text(json.dumps({
            "schema_version": 1, "kind": "network_calibration", "name": "given", "label": "default", "network": {
                "model": "alpha_beta", "latency_s": 1e-5, "bandwidth_Bps": 1e9, "reduction_Bps": 0}, **curves}))
        return calibration

    def test_calibration_and_table_are_written_and_read_again(self):
        calibration = self.folder / "local.calibration.json"
        table = self.folder / "errors.jsonl"
        links = self.folder / "links.json"
        # On a crowded machine 8 bytes may take longer than 256 KiB: no link then. Or time is up before the library is timed.
        for _ in range(3):
            done = mpi(2, "mpi", "-o", calibration, "--table", table, "--max-seconds", 15,
                       "--rate", "1Gbps", "--links", links, "--assume", "allreduce=ring", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            if json.loads(links.read_text())["links"] and '"allgather"' in calibration.read_text():
                break
        tree = json.loads(calibration.read_text())
        jsonschema.validate(tree, SCHEMA)
        # Two processes of one host have no network between them.
        self.assertEqual(tree["links"][0]["class"], "host")
        self.assertNotIn("bandwidth_Bps", tree["network"])
        self.assertIn("ranks share a host", done.stderr)
        self.assertGreater(1 / tree["links"][0]["per_byte_s"], 1e6)
        self.assertEqual({curve["algorithm"] for curve in tree["collectives"]},
                         {"pingpong", "exchange", "shift", "mst", "be", "lp", "ring",
                          "recursive_doubling", "library"})
        self.assertEqual({curve["op"] for curve in tree["collectives"]
                          if curve["algorithm"] == "library"},
                         {"allreduce", "broadcast", "reduce", "allgather", "reduce_scatter"})
        self.assertIn("1 of 1 pairs, 256 KiB one way", done.stdout)
        self.assertRegex(done.stdout, r"operation +bytes +library \[ms\] +fastest own \[ms\]")
        pairs = json.loads(links.read_text())
        self.assertEqual([(each["src"], each["dst"]) for each in pairs["links"]], [(0, 1), (1, 0)])
        self.stepsim("check", links)
        self.assertNotIn(os.uname().nodename, calibration.read_text().split())
        rows = [json.loads(line) for line in table.read_text().splitlines()]
        # A crowded machine may have no time left for some of them.
        self.assertLessEqual({(row["op"], row["algorithm"]) for row in rows},
                         {(op, algorithm) for op in ("broadcast", "reduce", "allreduce")
                          for algorithm in ("mst", "be", "lp", "ring")}
                         | {("allreduce", "recursive_doubling"), ("allreduce", "gtopk_tree"),
                            ("allreduce", "library_ring")})
        for row in rows:
            self.assertEqual((row["ranks"], row["rate"]), (2, 125e6))
            self.assertLessEqual(row["min_s"], row["measured_s"])
            self.assertLessEqual(row["measured_s"], row["p90_s"])
        self.compare_with_stepsim(rows, calibration)
        report = subprocess.run([PROGRAM, "report", table, "--json"], capture_output=True, text=True)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertEqual(json.loads(report.stdout)["rows"], len(rows))

    def compare_with_stepsim(self, rows, calibration):
        """What was predicted is what `stepsim collective` computes from the file that was written."""
        compared = 0
        for row in rows:
            known = row["op"] == "allreduce" or row["algorithm"] in ("mst", "be", "lp")
            other = row["algorithm"] in ("gtopk_tree", "library_ring")
            if not known or other or row["bytes"] < 100:
                continue
            seconds = self.collective(row, "--calibration", calibration)["max_plus_s"]
            self.assertAlmostEqual(seconds / row["predicted_s"], 1, delta=1e-12, msg=row)
            compared += 1
        self.assertGreater(compared, 10)

    def collective(self, row, *flags):
        block = ["--block", str(min(row["bytes"], 32768))] if row["algorithm"] == "lp" else []
        return json.loads(self.stepsim(
            "collective", "--op", row["op"], "--algorithm", row["algorithm"], "--ranks", row["ranks"], "--bytes",
            row["bytes"], "--param", "element_bytes=4", *block, *flags, "--json"))

    def test_a_topology_is_written_and_predicted_over(self):
        calibration, table = self.folder / "x.calibration.json", self.folder / "errors.jsonl"
        topology = self.folder / "x.topology.json"
        for seconds in LONGER:
            done = mpi(3, "mpi", "-o", calibration, "--table", table, "--topology", topology,
                       "--max-seconds", seconds, "--force", "--quiet")
            if "--max-seconds did not allow them" not in done.stderr:
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        self.stepsim("check", topology)
        self.assertEqual([host["id"] for host in json.loads(topology.read_text())["hosts"]],
                         ["r0", "r1", "r2"])
        link = json.loads(calibration.read_text())["links"][0]
        rows = [json.loads(line) for line in table.read_text().splitlines()]
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertNotIn((row["op"], row["algorithm"]),
                             {("broadcast", "ring"), ("reduce", "ring"),
                              ("allreduce", "gtopk_tree")})
            in_blocks = row["algorithm"] in ("lp", "double_binary_tree")
            result = self.collective(
                row, "--topology", topology, "--latency", f"{link['latency_s'] + link.get('delay_s', 0)}s",
                *(["--block-latency", f"{link['block_latency_s']}s"] if in_blocks else []), "--reduction-rate",
                f"{link['reduction_Bps']}B/s", "--method", "events")
            self.assertAlmostEqual(result["events_s"] / row["predicted_s"], 1, delta=1e-9, msg=row)

    def test_a_late_rank_is_measured_and_predicted(self):
        calibration, table = self.folder / "x.calibration.json", self.folder / "errors.jsonl"
        for seconds in LONGER:
            done = mpi(3, "mpi", "-o", calibration, "--table", table, "--late", "1=20ms",
                       "--max-seconds", seconds, "--force", "--quiet")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in table.read_text().splitlines()]
            everywhere = [row for row in rows if row["op"] == "allreduce"]
            if everywhere:
                break
        self.assertGreater(len(everywhere), 0)
        for row in everywhere:
            self.assertGreaterEqual(row["measured_s"], 0.02)
            self.assertGreaterEqual(row["predicted_s"], 0.02)
            self.assertEqual((row["transport"]["late_rank"], row["transport"]["late_s"]), (1, 0.02))
        known = [row for row in everywhere if row["algorithm"] in ("ring", "be", "mst")]
        for row in known[:: max(1, len(known) // 5)]:
            result = self.collective(row, "--calibration", calibration, "--late", "1=20ms")
            self.assertAlmostEqual(result["max_plus_s"] / row["predicted_s"], 1, delta=1e-12)

    def test_time_is_kept_and_rows_are_left_out(self):
        table = self.folder / "errors.jsonl"
        done = mpi(3, "mpi", "-o", self.folder / "x.calibration.json", "--table", table,
                   "--max-seconds", 8, "--pairs", 2, "--segment", "1MiB", "--quiet", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"[012] of 3 pairs of ranks were measured")

    def start_and_wait(self, table, *arguments):
        """A run of two ranks that has written a whole row. One that ends before it is started again: on a crowded
        machine a probe may take longer for less, or a step longer than the limit, which is longer the next time."""
        for timeout in ("10s", "30s", "100s", "300s"):
            table.unlink(missing_ok=True)
            driver = subprocess.Popen([*MPIRUN, "-np", "2", PROGRAM, "mpi", "--timeout", timeout, "--table", table,
                                       "--max-seconds", "60", *arguments],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while driver.poll() is None:
                if table.exists() and b"\n" in table.read_bytes():
                    return driver
                time.sleep(0.05)
            error = driver.communicate()[1]
            self.assertRegex(error, "did not finish|time does not grow with size")
        raise unittest.SkipTest("other load on this machine lets no rank get to its first row")

    def test_an_interrupted_run_keeps_its_rows(self):
        table = self.folder / "errors.jsonl"
        driver = self.start_and_wait(table, "-o", self.folder / "x.calibration.json")
        driver.send_signal(signal.SIGINT)
        driver.communicate()
        rows = [json.loads(line) for line in table.read_text().splitlines()]
        self.assertGreater(len(rows), 0)
        self.assertFalse((self.folder / "x.calibration.json").exists())

    def test_wrong_use_is_refused(self):
        for flags, message in (([], "error: mpi: need at least 2 processes, got 1"),
                               (["--assume", "ring"], "--assume: must be OPERATION=ALGORITHM"),
                               (["--assume", "allreduce=rign"], 'did you mean "ring"?'),
                               (["--pairs", "0"], "--pairs"),
                               (["--topology", "t", "--pairs", "3"], "exclude each other"),
                               (["--topology", "t", "--assume", "allreduce=ring"],
                                "exclude each other"),
                               (["--late", "3"], "must be RANK=TIME"),
                               (["--late", "3=0s"], "--late"),
                               (["--late", "4294967297=1ms"], "must be an integer in [0, 1048576]"),
                               (["--segment", "6B"], "multiple of 4"),
                               (["--segment", "9MiB"], "at most 8 MiB"),
                               (["--timeout", "0s"], "--timeout 0s: must be > 0"),
                               (["--max-seconds", "0"], "must be an integer > 0")):
            done = subprocess.run([PROGRAM, "mpi", *flags], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_a_step_is_executed_as_planned(self):
        # Without bytes worth speaking of an iteration is its computation; zero layers would be
        # its exchanges.
        scenario = self.folder / "scenario.json"
        layers = [{"name": f"layer{i}", "forward_s": 0.02, "backward_s": 0.03,
                   "gradient_bytes": 4000} for i in range(3)]
        scenario.write_text(json.dumps({
            "schema_version": 1, "kind": "scenario", "name": "small", "workload": {"layers": layers},
            "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
            "communication": {"collective": "ring", "schedule": "wfbp"}}))
        calibration = self.given()
        done = mpi(2, "replay", scenario, "--calibration", calibration, "--schedules",
                   "wfbp,single", "--iterations", 3, "--scale-time", 0.5, "--compute", "sleep",
                   "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)["schedules"]
        self.assertEqual([row["schedule"] for row in rows], ["wfbp", "single"])
        self.assertEqual([len(row["buckets"]) for row in rows], [3, 1])
        for row in rows:
            self.assertGreaterEqual(row["measured_s"], 0.5 * 3 * 0.05)
            self.assertGreaterEqual(row["predicted_s"], 0.5 * 3 * 0.05)
            end = 0
            for bucket in row["buckets"]:  # one channel, and nothing before its time
                self.assertGreaterEqual(bucket["start_s"], bucket["ready_s"])
                self.assertGreaterEqual(bucket["start_s"], end - 1e-3)
                self.assertGreater(bucket["end_s"], bucket["start_s"])
                end = bucket["end_s"]
        done = mpi(2, "replay", scenario, "--calibration", calibration, "--schedules", "priority")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("schedule priority cannot be executed", done.stderr)

    def replay(self, layers, collective, *flags, curves=(), ranks=2):
        """Rows of a replay on a network that is only claimed; the sums are checked all the same."""
        scenario = self.folder / "scenario.json"
        scenario.write_text(json.dumps({
            "schema_version": 1, "kind": "scenario", "name": "small", "workload": {"layers": layers},
            "cluster": {"nodes": ranks, "network": {}},
            "communication": {"collective": collective, "schedule": "wfbp"}}))
        calibration = self.given(collectives=list(curves))
        done = mpi(ranks, "replay", scenario, "--calibration", calibration, "--iterations", 3, "--json", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["schedules"]

    def test_a_wrong_file_is_told_once_with_all_its_problems(self):
        scenario = self.folder / "scenario.json"
        layers = [{"name": name, "forward_s": -1, "backward_s": 1, "gradient_bytes": 8} for name in ("a", "b")]
        scenario.write_text(json.dumps({
            "schema_version": 1, "kind": "scenario", "workload": {"layers": layers},
            "cluster": {"nodes": 2, "network": {}}}))
        calibration = self.given()
        done = mpi(2, "replay", scenario, "--calibration", calibration)
        self.assertEqual(done.returncode, 3, done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 2, done.stderr)
        self.assertIn("/workload/layers/0/forward_s", errors[0])
        self.assertIn("/workload/layers/1/forward_s", errors[1])

    def test_without_computation_a_step_is_its_exchanges(self):
        layers = [{"name": f"layer{i}", "forward_s": 0, "backward_s": 0, "gradient_bytes": 400_000} for i in range(3)]
        for collective in ("ring", "be", "lp", "mst", "recursive_doubling"):
            row, = self.replay(layers, collective, ranks=4)
            self.assertEqual(row["compute_error"], 0)
            predicted = sum(b["predicted_end_s"] - b["predicted_start_s"] for b in row["buckets"])
            self.assertAlmostEqual(row["predicted_s"], predicted, delta=1e-9)
            for bucket in row["buckets"]:
                self.assertGreater(bucket["end_s"], bucket["start_s"])

    def test_the_library_exchanges_where_the_curve_is_its_own(self):
        layers = [{"name": f"layer{i}", "forward_s": 0.01, "backward_s": 0.01,
                   "gradient_bytes": 40_000} for i in range(3)]
        curve = {"op": "allreduce", "algorithm": "library", "ranks": 2,
                 "segments": [{"from_bytes": 4, "to_bytes": 1e6, "startup_s": 1e-4,
                               "per_byte_s": 1e-9}]}
        row, = self.replay(layers, "calibrated", "--library", "--compute", "sleep", curves=[curve])
        self.assertEqual(len(row["buckets"]), 3)
        self.assertAlmostEqual(row["predicted_s"], 0.06 + 1e-4 + 4e-5, delta=1e-6)
        self.assertGreaterEqual(row["measured_s"], 0.06)

    def test_a_shipped_trace_is_found_by_its_name(self):
        calibration = self.given()
        scenario = self.folder / "scenario.json"
        scenario.write_text(json.dumps({
            "schema_version": 1, "kind": "scenario", "workload":
                {"model": "resnet20", "batch_size": 32, "measured": {"compute_s": 0.05}},
            "cluster": {"nodes": 2, "network": {}},
            "communication": {"collective": "ring", "schedule": "single"}}))
        done = mpi(2, "replay", scenario, "--calibration", calibration, "--iterations", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("single", done.stdout)

    def test_a_rank_that_hangs_ends_all(self):
        # One of two processes is stopped while both measure.
        table = self.folder / "errors.jsonl"
        driver = self.start_and_wait(table, "-o", self.folder / "x.calibration.json")
        listed = pathlib.Path(f"/proc/{driver.pid}/task/{driver.pid}/children").read_text()
        children = [int(pid) for pid in listed.split()]
        os.kill(children[-1], signal.SIGSTOP)
        try:
            _, errors = driver.communicate()
        finally:
            try:
                os.kill(children[-1], signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.assertEqual(driver.returncode, 1)
        self.assertRegex(errors, r"error: rank \d did not finish \w+")


if __name__ == "__main__":
    probe = subprocess.run([PROGRAM, "mpi"], capture_output=True, text=True)
    if probe.returncode == 77 or shutil.which("mpirun") is None:
        print(probe.stderr or "mpirun is missing")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
