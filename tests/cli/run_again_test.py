#!/usr/bin/env python3
"""What commands write can be run and checked again: results, points of a sweep, lines of records.

    run_again_test.py STEPSIM
"""
import gzip
import hashlib
import json
import os
import subprocess
import unittest

from folder import Folder, ROOT, STEPSIM

TWO = ROOT / "examples" / "two-layers.scenario.json"


def flat(summary):
    """A summary as records hold it: nested keys joined by an underscore."""
    out = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            out.update({f"{key}_{inner}": number for inner, number in value.items()})
        elif not isinstance(value, list):
            out[key] = value
    return out


class RunAgain(Folder):
    def write(self, name, tree):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(tree))
        return path

    def scenario(self, **changes):
        tree = {"kind": "scenario", "workload": {"trace": str(os.path.relpath(
                    ROOT / "traces" / "resnet50.ddp.2xa100.json", self.folder / "in"))},
                "cluster": {"nodes": 4, "network": {"latency_s": "10us", "bandwidth_Bps": "25Gbps"}},
                "communication": {"schedule": "ddp"}}
        tree.update(changes)
        return tree

    def assert_same(self, one, other, key, scale):
        """But for sums in another order."""
        numbers = [type(value) in (int, float) for value in (one, other)]
        if all(numbers):
            self.assertAlmostEqual(one, other, delta=1e-12 * max(abs(one), scale), msg=key)
        else:
            self.assertEqual(json.dumps(one), json.dumps(other), key)

    def compare_points(self, output, count, cwd=None):
        records = [json.loads(line) for line in output.read_text().splitlines()[1:]]
        self.assertEqual(len(records), count)
        for record in records:
            done = self.stepsim("run", output, "--point", record["point"], "--json", cwd=cwd)
            self.assertNotIn("differs", done.stderr)
            result = json.loads(done.stdout)
            summary = flat(result["summary"])
            for key, value in record.items():
                if key in summary and not key.startswith("merge_"):  # of one run
                    self.assert_same(summary[key], value, key, record["iteration_time_s"])
            self.assertEqual(result["method"], record["method"])

    def test_every_point_of_a_sweep_is_reproduced_from_its_output_alone(self):
        self.write("in/s.json", self.scenario())
        output = self.folder / "out" / "sweep.jsonl"
        output.parent.mkdir()
        self.stepsim("sweep", "in/s.json", "--over", "/cluster/nodes=2,3,8",
                     "--over", "/cluster/network/bandwidth_Bps=10,40Gbps", "-o", output)
        (self.folder / "in" / "s.json").unlink()
        self.compare_points(output, 3 * 2)
        self.compare_points(output, 3 * 2, cwd="/")

    def test_of_a_key_that_is_set_twice_the_last_counts_and_a_note_says_so(self):
        self.write("in/s.json", self.scenario())
        once = self.stepsim("run", "in/s.json", "--set", "/cluster/nodes=8", "--json")
        twice = self.stepsim("run", "in/s.json", "--set", "/cluster/nodes=2", "--set", "/cluster/nodes=8", "--json")
        self.assertEqual(json.loads(twice.stdout)["summary"], json.loads(once.stdout)["summary"])
        self.assertIn("--set /cluster/nodes: given twice, the last one counts", twice.stderr)
        self.assertNotIn("given twice", once.stderr)

    def test_an_outer_network_without_latency_has_that_of_a_network_with_a_curve(self):
        tree = {"kind": "scenario", "cluster": {"nodes": 8, "preset": "dgx_b200", "gpus_per_node": 1,
                                                "network": {"latency_s": 2.1e-5, "bandwidth_Bps": 4.36e9}},
                "workload": {"layers": [{"name": "l0", "forward_s": 1e-4, "backward_s": 1e-3, "gradient_bytes": 8062800}]},
                "training": {"algorithm": "local_sgd", "iterations": 1, "outer_network": {"bandwidth_Bps": 125e6}},
                "communication": {"collective": "library"}}
        self.write("s.json", tree)
        first = json.loads(self.stepsim("run", "s.json", "-o", "r.json", "--json").stdout or (self.folder / "r.json").read_text())
        again = json.loads(self.stepsim("run", "r.json", "--json").stdout)
        self.assertEqual(again["summary"], first["summary"])
        tree["training"]["outer_network"]["latency_s"] = 2.1e-5
        self.write("s.json", tree)
        given = json.loads(self.stepsim("run", "s.json", "--json").stdout)
        self.assertEqual(given["summary"]["iteration_time_s"], first["summary"]["iteration_time_s"])

    def test_zips_replications_and_names_in_axes_are_reproduced(self):
        trace = ROOT / "traces" / "resnet50.ddp.2xa100.json"
        for name in ("a", "b"):
            (self.folder / f"{name}.json").write_text(trace.read_text())
        self.write("in/s.json", self.scenario(variability={"compute_cv": 0.1}))
        self.write("sweep.json", {
            "kind": "sweep", "scenario": "in/s.json", "replications": 2,
            "axes": [{"field": "/workload/trace", "values": ["a.json", "b.json"]},
                     {"field": "/cluster/nodes", "values": [2, 4]},
                     {"field": "/cluster/network/bandwidth_Bps", "values": ["1Gbps", "2Gbps"]}],
            "zip": [["/workload/trace", "/cluster/nodes"]]})
        output = self.folder / "out" / "sweep.jsonl"
        output.parent.mkdir()
        self.stepsim("sweep", "sweep.json", "-o", output)
        self.compare_points(output, 2 * 2 * 2)
        csv = output.with_suffix(".csv")
        self.stepsim("sweep", "sweep.json", "-o", csv)
        again = json.loads(self.stepsim("run", csv, "--point", 3, "--json").stdout)
        self.assertEqual(again["scenario"]["cluster"]["network"]["bandwidth_Bps"], 2e9 / 8)

    def test_shards_merged_elsewhere_are_the_sweep_that_was_never_split(self):
        self.write("in/s.json", self.scenario())
        for folder in ("shards", "out"):
            (self.folder / folder).mkdir()
        words = ["sweep", "in/s.json", "--over", "/cluster/nodes=2,3"]
        self.stepsim(*words, "-o", "out/whole.jsonl")
        for shard in ("0/2", "1/2"):
            self.stepsim(*words, "-o", "shards/part.jsonl", "--shard", shard)
        self.stepsim("merge", "shards/part.shard-0-of-2.jsonl", "shards/part.shard-1-of-2.jsonl",
                     "-o", "out/merged.jsonl")
        self.assertEqual((self.folder / "out/merged.jsonl").read_text(),
                         (self.folder / "out/whole.jsonl").read_text())
        self.compare_points(self.folder / "out/merged.jsonl", 2)

    def test_a_changed_file_shows_as_a_difference(self):
        self.write("in/s.json", self.scenario())
        trace = json.loads((ROOT / "traces" / "resnet50.ddp.2xa100.json").read_text())
        self.write("in/t.json", trace)
        self.stepsim("sweep", "in/s.json", "--set", "/workload/trace=t.json",
                     "--over", "/cluster/nodes=2,3", "-o", "sweep.jsonl")
        trace["layers"][0]["backward_s"] *= 2
        self.write("in/t.json", trace)
        done = self.stepsim("run", "sweep.jsonl", "--point", 1)
        self.assertRegex(done.stderr, r"warning: point 1 of sweep.jsonl has \w+ .*has changed since")

    def test_results_know_the_content_of_the_files_they_were_made_from(self):
        self.write("in/s.json", self.scenario())
        trace = json.loads((ROOT / "traces" / "resnet50.ddp.2xa100.json").read_text())
        self.write("in/t.json", trace)
        words = ["in/s.json", "--set", "/workload/trace=t.json"]
        self.stepsim("run", *words, "--set", "/cluster/network=25g-tcp", "-o", "r.json")
        result = json.loads((self.folder / "r.json").read_text())
        digests = {entry["pointer"]: entry["sha256"] for entry in result["files"]}
        self.assertEqual(digests, {
            "/workload/trace": hashlib.sha256((self.folder / "in/t.json").read_bytes()).hexdigest(),
            "/cluster/network/calibration": hashlib.sha256(
                (ROOT / "topologies" / "25g-tcp.calibration.json").read_bytes()).hexdigest()})
        self.stepsim("sweep", *words, "--over", "/cluster/nodes=2,3", "-o", "sweep.jsonl")
        self.assertNotIn("changed", self.stepsim("run", "r.json").stderr)
        self.write("in/t.json", dict(trace, name="the same times under another name"))
        said = "in/t.json at /workload/trace has changed since: SHA-256 " + \
            digests["/workload/trace"][:8] + ".. then, "
        for command in (["run", "r.json"], ["run", "sweep.jsonl", "--point", "1"]):
            self.assertIn("warning: " + said, self.stepsim(*command).stderr)
        self.assertIn("r.json: warning: " + said, self.stepsim("check", "r.json").stdout)
        other = ["--set", "/workload/trace=" + str(ROOT / "traces" / "resnet50.ddp.2xa100.json")]
        self.assertNotIn("changed", self.stepsim("run", "r.json", *other).stderr)

    def test_points_are_asked_for_by_number(self):
        self.write("in/s.json", self.scenario())
        self.stepsim("sweep", "in/s.json", "--over", "/cluster/nodes=2,3", "-o", "sweep.jsonl")
        for words, text in (([], "sweep.jsonl holds the points 0..1 of a sweep: give --point N"),
                            (["--point", 2], "--point 2: sweep.jsonl has the points 0..1")):
            done = self.stepsim("run", "sweep.jsonl", *words, code=2)
            self.assertEqual(done.stderr, f"error: {text}\n")
        done = self.stepsim("run", "in/s.json", "--point", 0, code=2)
        self.assertEqual(done.stderr, "error: --point: in/s.json is not the output of a sweep\n")

    def test_an_equal_scenario_in_other_words_is_resumed(self):
        tree = self.scenario()
        self.write("in/s.json", tree)
        words = ["--over", "/cluster/nodes=2,3", "-o", "sweep.jsonl"]
        self.stepsim("sweep", "in/s.json", *words)
        before = (self.folder / "sweep.jsonl").read_text()
        self.write("in/s.json", dict(tree, seed=1))  # the default
        self.stepsim("sweep", "in/s.json", *words, "--resume")
        self.assertEqual((self.folder / "sweep.jsonl").read_text(), before)

    def test_a_result_is_run_again_wherever_it_lies(self):
        self.write("in/s.json", self.scenario())
        (self.folder / "out" / "deep").mkdir(parents=True)
        self.stepsim("run", "in/s.json", "-o", "out/deep/r.json")
        first = json.loads((self.folder / "out/deep/r.json").read_text())
        # Names are relative to the result, however they were given.
        tree = self.scenario()
        tree["workload"]["trace"] = str((self.folder / "in" / tree["workload"]["trace"]).resolve())
        for name in (self.folder / "in/s.json", self.write("absolute.json", tree)):
            self.stepsim("run", name, "-o", "out/deep/other.json", "--force")
            self.assertEqual({**json.loads((self.folder / "out/deep/other.json").read_text()), "meta": None},
                             {**first, "meta": None})
        for cwd, name in ((self.folder, "out/deep/r.json"), ("/", self.folder / "out/deep/r.json")):
            again = json.loads(self.stepsim("run", name, "--json", cwd=cwd).stdout)
            self.assertEqual(again["summary"], first["summary"])
        changed = json.loads(self.stepsim("run", "out/deep/r.json", "--set", "/cluster/nodes=8", "--json").stdout)
        self.assertEqual(changed["scenario"]["cluster"]["nodes"], 8)
        self.assertEqual(self.stepsim("check", "out/deep/r.json").stdout, "out/deep/r.json: ok, result\n")

    def test_a_result_of_standard_output_is_run_from_the_working_folder(self):
        self.write("in/s.json", self.scenario())
        trace = (ROOT / "traces" / "resnet50.ddp.2xa100.json").read_text()
        self.write("in/t.json", {}).write_text(trace)
        (self.folder / "out").mkdir()
        set_trace = ["in/s.json", "--set", "/workload/trace=t.json"]
        shown = self.stepsim("run", *set_trace, "--json").stdout
        self.assertEqual(json.loads(shown)["scenario"]["workload"]["trace"], "in/t.json")
        (self.folder / "out/r.json").write_text(shown)
        (self.folder / "out/w.jsonl").write_text(
            self.stepsim("sweep", *set_trace, "--over", "/cluster/nodes=4,8", "--format", "jsonl").stdout)

        def same(code=0):
            for words in (["run", "out/r.json"], ["run", "out/w.jsonl", "--point", 0]):
                done = self.stepsim(*words, "--json", code=code)
                if code == 0:
                    now, then = (flat(json.loads(text)["summary"]) for text in (done.stdout, shown))
                    for key, value in then.items():
                        self.assert_same(now[key], value, key, then["iteration_time_s"])
                    self.assertNotIn("changed", done.stderr)
            return done.stderr

        same()
        for words in (["report", "out/r.json", "-o", "r.html"], ["report", "out/w.jsonl", "-o", "w.html"],
                      ["plot", "out/w.jsonl", "--x", "nodes", "--y", "iteration_time_s", "-o", "w.svg"],
                      ["check", "out/r.json", "out/w.jsonl"]):
            self.stepsim(*words)
        self.assertIn("in/t.json", (self.folder / "w.html").read_text())
        # The file whose content fits is taken, not the first that has the name.
        self.write("out/in/t.json", {"kind": "trace"})
        same()
        # The shipped file of the same name stands in for one that is gone, if its content fits.
        (self.folder / "out/in/t.json").unlink()
        (self.folder / "in/t.json").unlink()
        said = same(code=3)
        self.assertEqual(said.count("\n"), 1)
        self.assertIn("out/w.jsonl: /scenario/workload/trace: cannot read out/in/t.json: ", said)
        self.assertIn("give --set /workload/trace=FILE, relative to the folder of out/w.jsonl", said)
        self.write("out/found.json", {}).write_text(trace)
        self.stepsim("run", "out/w.jsonl", "--point", 0, "--set", "/workload/trace=found.json")
        for name in ("out/r.json", "out/w.jsonl"):
            text = (self.folder / name).read_text()
            (self.folder / name).write_text(text.replace("in/t.json", "/gone/traces/resnet50.ddp.2xa100.json"))
        same()

    def test_results_of_the_examples_can_be_run_again(self):
        for path in sorted((ROOT / "examples").glob("*.scenario.json")):
            with self.subTest(file=path.name):
                for conditions in ("ideal", "typical"):
                    words = ["run", path, "--conditions", conditions, "-o", "r.json", "--quiet", "--force"]
                    done = subprocess.run([STEPSIM, *words], cwd=self.folder, capture_output=True, text=True, timeout=600)
                    if done.returncode == 0:  # not every network says what typical conditions need
                        again = self.stepsim("run", "r.json", "--json", "--quiet")
                        first, again = json.loads((self.folder / "r.json").read_text()), json.loads(again.stdout)
                        self.assertEqual({**again, "meta": None}, {**first, "meta": None}, conditions)
                    else:
                        self.assertEqual(conditions, "typical", done.stderr)

    def test_a_node_type_gives_a_latency_that_nobody_gave(self):
        self.write("p.json", self.scenario(workload={"model": "gpt2", "gpu": "h100", "batch_size": 4},
                                           cluster={"nodes": 4, "preset": "dgx_h100"}, conditions="typical",
                                           communication={"collective": "ring"}))
        self.stepsim("run", "p.json", "-o", "r.json")
        first = json.loads((self.folder / "r.json").read_text())["warnings"]
        self.assertEqual(json.loads(self.stepsim("run", "r.json", "--json").stdout)["warnings"], first)

    def test_check_reads_every_line(self):
        self.stepsim("sweep", TWO, "--over", "/cluster/nodes=2,3,4", "-o", "s.jsonl")
        self.assertEqual(self.stepsim("check", "s.jsonl").stdout, "s.jsonl: ok, sweep output, 3 of 3 points\n")
        lines = (self.folder / "s.jsonl").read_text().splitlines()
        (self.folder / "cut.jsonl").write_text("\n".join(lines[:3]) + "\n")
        self.assertIn("warning: holds 2 of 3 points", self.stepsim("check", "cut.jsonl").stdout)
        (self.folder / "bad.jsonl").write_text("\n".join([lines[0], lines[2], lines[1], "{"]) + "\n")
        done = self.stepsim("check", "bad.jsonl", code=3)
        self.assertIn("bad.jsonl:3: point 0 stands behind point 1 of 3\n", done.stdout)
        self.assertIn("bad.jsonl:4: ", done.stdout)
        (self.folder / "null.jsonl").write_text("null\n1\n")
        done = self.stepsim("check", "null.jsonl", code=3)
        self.assertIn("null.jsonl:1: must be an object\n", done.stdout)
        self.assertIn("null.jsonl:2: must be an object\n", done.stdout)
        self.stepsim("collective", "--op", "allreduce", "--algorithm", "ring", "--ranks", "2,4",
                     "--bytes", "1MB", "--latency", "1us", "--bandwidth", "10Gbps", "-o", "c.jsonl")
        self.assertEqual(self.stepsim("check", "c.jsonl").stdout, "c.jsonl: ok, 2 records\n")
        self.write("c.json", {"kind": "collective", "op": "allreduce", "algorithm": "lp", "ranks": 4, "bytes": 1000000,
                              "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}, "options": {"block_bytes": 65536}})
        self.stepsim("sweep", "c.json", "--over", "/algorithm=ring,lp", "-o", "a.jsonl")
        self.stepsim("collective", "a.jsonl", "--point", 0)  # to which a block means nothing
        (self.folder / "list.json").write_text("[]")
        self.assertEqual(self.stepsim("run", "list.json", code=3).stderr,
                         "error: list.json: must be an object, got a list\n")

    def test_common_mistakes_are_told_what_to_type(self):
        with gzip.open(self.folder / "raw.pt.trace.json.gz", "wt") as raw:
            json.dump({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "a"}]}, raw)
        first = "raw.pt.trace.json.gz: this is a Kineto trace: stepsim import kineto FILE -o T.json"
        for words in (["run", "raw.pt.trace.json.gz"], ["compare", "raw.pt.trace.json.gz", "--over",
                                                        "/cluster/nodes=2"],
                      ["import", "nccl-tests", "raw.pt.trace.json.gz"],
                      ["import", "osu", "raw.pt.trace.json.gz", "--ranks", "2"]):
            self.assertEqual(self.stepsim(*words, code=3).stderr, f"error: {first}\n")
        for words, text in (
                (["run", TWO, "--nodes", "4"], "--nodes: unknown option; use --set /cluster/nodes=4"),
                (["run", TWO, "--nodes=4"], "--nodes: unknown option; use --set /cluster/nodes=4"),
                (["tune", TWO, "--knob", "schedule", "--latency", "5us"],
                 "--latency: unknown option; use --set /cluster/network/latency_s=5us"),
                (["run", TWO, "--over", "/cluster/nodes=2,4"], "--over: use compare or sweep")):
            self.assertEqual(self.stepsim(*words, code=2).stderr, f"error: {text}\n")
        between = ["solve", TWO, "--for", "/cluster/network/bandwidth_Bps", "--between",
                   "1Gbps,400Gbps", "--json", "--target"]
        self.assertIn("did you mean \"scaling_efficiency\"?", self.stepsim(*between, "efficiency=0.9", code=2).stderr)
        self.assertEqual(self.stepsim(*between, "scaling_efficiency=0.9").stdout,
                         self.stepsim(*between, "scaling_efficiency=90%").stdout)


if __name__ == "__main__":
    unittest.main()
