#!/usr/bin/env python3
"""stepsim plot: what it draws of the records of other commands, what it refuses, and the picture of
the README.

    plot_test.py STEPSIM
"""
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.dom.minidom

import jsonschema

from folder import ROOT, stepsim

sys.path.insert(0, str(ROOT / "docs"))
import front_picture  # noqa: E402

TWO = "examples/two-layers.scenario.json"


def valid(kind, tree):
    """The tree has the keys of its schema, and lacks none that is required."""
    schema = json.loads((ROOT / f"schemas/{kind}.schema.json").read_text())
    check = jsonschema.Draft7Validator(schema)
    check.validate(tree)
    for key in schema["required"]:
        assert not check.is_valid({name: value for name, value in tree.items() if name != key}), key


class Plot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.sweep = {}
        for ending in ("jsonl", "csv"):
            cls.sweep[ending] = str(cls.folder / f"s.{ending}")
            stepsim("sweep", TWO, "--set", "/workload/batch_size=32", "--over", "/cluster/nodes=1:64:x2",
                    "--over", "/communication/schedule=wfbp,single", "-o", cls.sweep[ending])

    def records(self):
        lines = pathlib.Path(self.sweep["jsonl"]).read_text().splitlines()
        return [json.loads(line) for line in lines[1:]]

    def drawn(self, *words):
        tree = json.loads(stepsim("plot", *words, "--json"))
        valid("plot_result", tree)
        return tree

    def refused(self, *words, code=2):
        return stepsim("plot", *words, code=code)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def test_curves_hold_the_numbers_of_the_records(self):
        figure = self.drawn(self.sweep["jsonl"], "--x", "nodes", "--y", "samples_per_s", "--by", "schedule",
                            "--label", "single=one message")
        self.assertEqual([curve["label"] for curve in figure["curves"]], ["wfbp", "one message"])
        for curve, schedule in zip(figure["curves"], ("wfbp", "single")):
            wanted = [[r["nodes"], r["samples_per_s"]] for r in self.records() if r["schedule"] == schedule]
            self.assertEqual(curve["points"], wanted)
        self.assertEqual(figure["x"]["scale"], "log2")
        self.assertEqual(figure["y"], {"title": "throughput", "unit": "samples/s", "scale": "linear"})

    def test_csv_and_json_lines_give_the_same_picture(self):
        words = ["--x", "nodes", "--y", "iteration_time_s", "--by", "schedule"]
        self.assertEqual(stepsim("plot", self.sweep["jsonl"], *words), stepsim("plot", self.sweep["csv"], *words))
        self.assertEqual(self.drawn(self.sweep["csv"], *words)["y"]["unit"], "ms")

    def test_knee_is_the_last_doubling_that_gains_at_least_1_6(self):
        for y in ("samples_per_s", "iteration_time_s", "speedup", "scaling_efficiency"):
            figure = self.drawn(self.sweep["jsonl"], "--x", "nodes", "--y", y, "--where", "schedule=wfbp",
                                "--knee", "--ideal")
            rates = {r["nodes"]: r["samples_per_s"] for r in self.records() if r["schedule"] == "wfbp"}
            knee = 1
            while 2 * knee in rates and rates[2 * knee] >= 1.6 * rates[knee]:
                knee *= 2
            self.assertEqual(figure["curves"][0]["knee"]["x"], knee)

    def test_the_knee_over_bandwidth_is_one_for_all_figures_of_the_step(self):
        path = str(self.folder / "rates.jsonl")
        stepsim("sweep", TWO, "--set", "/workload/batch_size=32", "--set", "/cluster/nodes=4",
                "--over", "/cluster/network/bandwidth_Bps=1Gbps:64Gbps:x2", "-o", path)
        knees = {y: self.drawn(path, "--x", "bandwidth_Bps", "--y", y, "--knee")["curves"][0]["knee"]["x"]
                 for y in ("samples_per_s", "iteration_time_s", "speedup", "scaling_efficiency")}
        self.assertEqual(len(set(knees.values())), 1, knees)

    def test_a_curve_alone_has_the_interval_of_its_records(self):
        rows = self.write("interval.csv", "nodes,kind,iteration_time_s,iteration_time_low_s,iteration_time_high_s,"
                          "interval_level,samples_per_s\n1,a,2,1,3,0.8,10\n2,a,2,1,4,0.8,20\n1,b,3,2,5,0.8,9\n")
        one = ["--where", "kind=a", "--x", "nodes"]
        text = stepsim("plot", rows, "--y", "iteration_time_s", *one)
        self.assertIn("80 % interval", text)
        self.assertIn("80 % interval", stepsim("plot", rows, "--y", "samples_per_s", *one))
        self.assertIn("of 9 draws", stepsim("plot", rows, "--y", "samples_per_s", *one, "--band-label", "of 9 draws"))
        self.assertNotIn("interval", stepsim("plot", rows, "--y", "iteration_time_s", "--x", "nodes", "--by", "kind"))
        wide = self.write("wide.csv", pathlib.Path(rows).read_text().replace("4,0.8", "5,0.8"))
        self.assertNotEqual(text, stepsim("plot", wide, "--y", "iteration_time_s", *one))

    def test_records_of_collectives_and_comparisons(self):
        path = str(self.folder / "c.jsonl")
        stepsim("collective", "--op", "allreduce", "--algorithm", "ring,be", "--ranks", "4,8", "--bytes",
                "4KiB:1MiB:x4", "--latency", "10us", "--bandwidth", "10Gbps", "-o", path)
        figure = self.drawn(path, "--x", "bytes", "--y", "busbw_Bps", "--by", "algorithm", "--where", "ranks=8")
        self.assertEqual(figure["x"]["unit"], "bytes")
        self.assertEqual(figure["y"]["unit"], "GB/s")
        self.assertEqual([len(curve["points"]) for curve in figure["curves"]], [5, 5])
        path = str(self.folder / "compare.json")
        stepsim("compare", TWO, "--over", "/communication/schedule=wfbp,single,ddp", "-o", path)
        figure = self.drawn(path, "--x", "schedule", "--y", "iteration_time_s")
        self.assertEqual(sorted(bar["group"] for bar in figure["bars"]), ["ddp", "single", "wfbp"])

    def test_filters_stand_in_the_picture(self):
        text = stepsim("plot", self.sweep["jsonl"], "--x", "nodes", "--y", "speedup", "--where", "schedule=wfbp")
        self.assertIn("schedule = wfbp", text)

    def test_a_schedule_has_one_look_in_every_picture(self):
        def stroke(schedule, *schedules):
            path = str(self.folder / "looks.jsonl")
            stepsim("sweep", TWO, "--over", "/cluster/nodes=2,4", "--over",
                    "/communication/schedule=" + ",".join(schedules), "-o", path, "--force")
            text = stepsim("plot", path, "--x", "nodes", "--y", "iteration_time_s", "--by", "schedule")
            lines = re.findall(r'stroke-linejoin="round" stroke="(#[0-9a-f]+)"', text)  # first those of the legend
            return dict(zip(schedules, lines[:len(schedules)]))[schedule]
        self.assertEqual(stroke("wfbp", "wfbp", "single"), stroke("wfbp", "eager", "single", "wfbp"))
        self.assertNotEqual(stroke("wfbp", "wfbp", "single"), stroke("single", "wfbp", "single"))

    def test_the_ideal_is_one_worker_s_and_every_curve_has_a_knee(self):
        figure = self.drawn(self.sweep["jsonl"], "--x", "nodes", "--y", "samples_per_s", "--by", "schedule", "--knee")
        for curve in figure["curves"]:
            rates = dict(curve["points"])
            knee = 1
            while 2 * knee in rates and rates[2 * knee] >= 1.6 * rates[knee]:
                knee *= 2
            self.assertEqual(curve["knee"], {"x": knee, "y": rates[knee]})
        # The line of records from two workers on is where it is of those from one worker on.
        ends = []
        for name, rows in (("one.csv", "1,1,1\n2,1,0.5\n4,2,0.5\n"), ("two.csv", "2,1,0.5\n4,2,0.5\n")):
            text = stepsim("plot", self.write(name, "nodes,speedup,scaling_efficiency\n" + rows), "--x", "nodes",
                           "--y", "speedup", "--ideal", "--x-scale", "linear", "--y-scale", "linear")
            ends.append(re.findall(r'd="[^"]* ([\d.]+)" fill="none" stroke="#8c8c8c"', text)[-1])
        self.assertEqual(*ends)

    def test_more_than_five_curves_are_panels_of_their_own(self):
        path = str(self.folder / "many.jsonl")
        stepsim("sweep", TWO, "--over", "/cluster/nodes=2,4,8", "--over",
                "/cluster/network/bandwidth_Bps=1,2,5,10,25,50Gbps", "-o", path)
        text = stepsim("plot", path, "--x", "nodes", "--y", "iteration_time_s", "--by", "bandwidth_Bps")
        self.assertEqual(text.count('class="panel"'), 6)

    def test_what_is_refused(self):
        path = self.sweep["jsonl"]
        self.assertIn("have the same value; give --by schedule or --where schedule=VALUE",
                      self.refused(path, "--x", "nodes", "--y", "speedup"))
        self.assertIn("--y sped_up: no record has this key, did you mean speedup?",
                      self.refused(path, "--x", "nodes", "--y", "sped_up", "--by", "schedule"))
        self.assertIn("--y speed: no record has this key, did you mean speedup?",
                      self.refused(path, "--x", "nodes", "--y", "speed", "--by", "schedule"))
        self.assertIn("--y tempo: no record has this key; one of ",
                      self.refused(path, "--x", "nodes", "--y", "tempo", "--by", "schedule"))
        self.assertIn("--knee: wire_bytes tells no throughput; give --y samples_per_s",
                      self.refused(path, "--x", "nodes", "--y", "wire_bytes", "--by", "schedule", "--knee"))
        self.assertIn("--x-scale log: unknown", self.refused(path, "--x", "nodes", "--y", "speedup",
                                                             "--x-scale", "log"))
        self.assertIn("--where nodes: must be NAME=TEXT",
                      self.refused(path, "--x", "nodes", "--y", "speedup", "--where", "nodes"))
        self.assertIn("must be > 0 on a logarithmic axis, got 0", self.refused(
            path, "--x", "nodes", "--y", "exposed_communication_s", "--by", "schedule", "--y-scale", "log10", code=3))
        self.assertIn("needs --by KEY", self.refused(path, "--x", "nodes", "--y", "speedup", "--where", "schedule=wfbp",
                                                     "--label", "wfbp=one"))
        self.assertIn("--knee: needs the least nodes and its double",
                      self.refused(path, "--x", "nodes", "--y", "speedup", "--where", "schedule=wfbp",
                                   "--where", "nodes=4", "--knee"))
        self.assertIn("writes svg or json only", self.refused(path, "--x", "nodes", "--y", "speedup", "-o",
                                                              str(self.folder / "x.png")))

    def test_conditions_hold_for_the_band_too_but_for_its_own_key(self):
        def band(name, cards, *more):
            rows = self.write(name, "n,kind,nics,t\n" + "".join(
                f"{n},{kind},{nics},{n * nics}\n" for n in (1, 2) for kind in ("nominal", "draw") for nics in cards))
            return stepsim("plot", rows, "--x", "n", "--y", "t", "--where", "kind=nominal", "--band", "kind=draw",
                           "--setting", "ten cards", *more)

        self.assertEqual(band("all.csv", (1, 10), "--where", "nics=1"), band("few.csv", (1,)))

    def test_a_picture_never_replaces_a_page(self):
        page = self.write("page.svg", "<!doctype html>\n")
        self.assertIn("holds another kind of file", self.refused(
            self.sweep["jsonl"], "--x", "nodes", "--y", "speedup", "--by", "schedule", "-o", page))

    def test_names_cannot_leave_the_text_of_the_picture(self):
        rows = self.write("names.csv", 'n,t,who\n1,2,"</text><script>alert(1)</script>"\n2,3,b\n')
        text = stepsim("plot", rows, "--x", "n", "--y", "t", "--by", "who", "--title", "<b>&\"'")
        self.assertNotIn("<script", text)
        xml.dom.minidom.parseString(text)


class FrontPicture(unittest.TestCase):
    """The picture of the README is made by sweep and plot, and says what the sweep says."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.records_file = str(cls.folder / "front.jsonl")
        stepsim("sweep", "examples/front.sweep.json", "-o", cls.records_file)
        lines = pathlib.Path(cls.records_file).read_text().splitlines()
        cls.records = [json.loads(line) for line in lines[1:]]

    def rate(self, nodes, schedule):
        return next(r for r in self.records if r["name"] == "nominal" and r["nodes"] == nodes
                    and r["schedule"] == schedule)["samples_per_s"]

    def test_sweep_and_picture_are_the_committed_ones(self):
        profile = json.loads((ROOT / "topologies/25g-tcp.calibration.json").read_text())["network"]
        self.assertEqual(front_picture.sweep(profile), (ROOT / "examples/front.sweep.json").read_text())
        picture = stepsim("plot", self.records_file, *front_picture.PLOT)
        self.assertEqual(picture, (ROOT / "docs/images/front.svg").read_text())
        self.assertLessEqual(len(picture), 40_000)

    def test_throughputs(self):
        for nodes, wanted in ((1, 338.8), (128, 29_544), (256, 46_111), (512, 64_180)):
            self.assertAlmostEqual(self.rate(nodes, "ddp") / wanted, 1, delta=2e-4)
        self.assertAlmostEqual(self.rate(256, "ddp") / self.rate(128, "ddp"), 1.561, delta=5e-4)
        self.assertAlmostEqual(self.rate(128, "ddp") / (128 * self.rate(1, "ddp")), 0.681, delta=5e-4)
        self.assertAlmostEqual(self.rate(512, "optimal"), 98_111, delta=1)

    def test_knees_are_128_and_512(self):
        for schedule, knee in (("ddp", 128), ("optimal", 512)):
            figure = json.loads(stepsim("plot", self.records_file, "--x", "nodes", "--y", "samples_per_s",
                                        "--where", "name=nominal", "--where", f"schedule={schedule}",
                                        "--knee", "--json"))
            self.assertEqual(figure["curves"][0]["knee"], {"x": knee, "y": self.rate(knee, schedule)})

    def test_every_number_of_the_title_is_in_the_sweep(self):
        title = front_picture.PLOT[front_picture.PLOT.index("--title") + 1]
        self.assertEqual(re.findall(r"\d+", title), ["50", "25", "128"])
        self.assertIn(128, {r["nodes"] for r in self.records})
        profile = json.loads((ROOT / "topologies/25g-tcp.calibration.json").read_text())
        self.assertEqual(profile["network"]["nominal_Bps"] * 8, 25e9)
        trace = json.loads((ROOT / "traces/resnet50.1gpu.json").read_text())
        self.assertIn("resnet50", trace["name"].lower().replace("-", ""))

    def test_draws_lie_within_the_factor_and_fill_it(self):
        drawn = {(r["latency_s"], r["bandwidth_Bps"]) for r in self.records if r["name"] == "draw"}
        self.assertEqual(len(drawn), 200)
        profile = json.loads((ROOT / "topologies/25g-tcp.calibration.json").read_text())["network"]
        for index, key in enumerate(("latency_s", "bandwidth_Bps")):
            ratios = sorted(pair[index] / profile[key] for pair in drawn)
            self.assertGreater(ratios[0], 1 / 1.25001)
            self.assertLess(ratios[-1], 1.25001)
            for share in (0.25, 0.5, 0.75):
                self.assertAlmostEqual(ratios[int(200 * share)], 1.25 ** (2 * share - 1), delta=0.01)


if __name__ == "__main__":
    unittest.main()
