#!/usr/bin/env python3
"""The what-if page: its engine in node gives what the command gives, bit for bit, and in time.

    whatif_test.py STEPSIM PAGE          (exit 77 where the page was not built or node is missing)
"""
import json
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NODE = shutil.which("node")
STEPSIM = PAGE = None
SETTINGS = 1000
SEED = 20240607
LIMIT_MEDIAN_MS, LIMIT_P90_MS = 50, 200


def in_node(mode, *words, questions=()):
    text = "".join(json.dumps(each) + "\n" for each in questions)
    done = subprocess.run([NODE, str(HERE / "page_in_node.js"), str(PAGE), mode, *map(str, words)],
                          input=text, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def by_command(scenarios):
    """The records of `stepsim run --lines`, in the folder of the page's traces."""
    done = subprocess.run([STEPSIM, "run", "--lines", "-", "--quiet"], cwd=ROOT / "traces", text=True,
                          input="".join(json.dumps(each) + "\n" for each in scenarios),
                          capture_output=True, timeout=600, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def unlike(ours, theirs, scenario, at=""):
    """Where two answers differ. Under typical conditions exponentials of two C libraries round differently: 1e-11 of a number."""
    if isinstance(theirs, dict) and isinstance(ours, dict) and ours.keys() == theirs.keys():
        return [each for key in theirs for each in unlike(ours[key], theirs[key], scenario, f"{at}/{key}")]
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        return [each for a, b in zip(ours, theirs) for each in unlike(a, b, scenario, f"{at}/-")]
    rounds = scenario["conditions"] == "typical" and isinstance(theirs, float) and isinstance(ours, (int, float))
    same = abs(ours - theirs) <= 1e-11 * max(abs(theirs), 1e-4) if rounds else ours == theirs
    return [] if same else [(at, ours, theirs)]


def message_of(record):
    """What the command prints for an error record of a file scenario.json."""
    lines = []
    for problem in record["problems"]:
        where = [part for part in (problem["file"] and "scenario.json", problem["pointer"]) if part]
        lines.append(": ".join([*where, problem["message"]]))
    return "\n".join(lines)


class WhatIf(unittest.TestCase):
    def test_random_settings_give_the_numbers_of_the_command(self):
        asked = in_node("random", SETTINGS, SEED)
        self.assertEqual(len(asked), SETTINGS)
        times, refused, typical = [], 0, 0
        for ours, theirs in zip(asked, by_command([each["scenario"] for each in asked]), strict=True):
            answer, scenario = ours["answer"], json.dumps(ours["scenario"])
            if theirs["kind"] == "error":
                refused += 1
                self.assertEqual(answer.get("error"), message_of(theirs), scenario)
                continue
            self.assertNotIn("error", answer, scenario)
            for key in ("summary", "defaults", "warnings"):
                self.assertEqual(unlike(answer[key], theirs[key], ours["scenario"]), [], scenario)
            typical += ours["scenario"]["conditions"] == "typical"
            times.append(ours["cpu_ms"])
        self.assertLess(refused, 0.4 * SETTINGS)
        self.assertGreater(typical, 0.3 * SETTINGS)
        median, p90 = statistics.median(times), statistics.quantiles(times, n=10)[-1]
        print(f"{len(times)} of {SETTINGS} settings equal the command, {typical} of them typical, {refused} refused by both; "
              f"a step takes {median:.1f} ms (median), {p90:.1f} ms (90th percentile), "
              f"{max(times):.0f} ms (most)")
        self.assertLess(median, LIMIT_MEDIAN_MS)
        self.assertLess(p90, LIMIT_P90_MS)

    def test_a_node_type_gives_what_init_gives_for_it(self):
        chosen = {"workload": "model:llama3_8b", "gpu": "h100", "batch": "1", "nodes": "16"}
        own = {**chosen, "gpus": "8", "inside": "nvlink-h100"}
        ours, many, one = in_node("settings", questions=[{**chosen, "node": "dgx_h100"}, own, {**own, "cards": "1"}])
        scenario = subprocess.run([STEPSIM, "init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100",
                                   "--nodes", "16", "--quiet"], check=True, capture_output=True, text=True).stdout
        theirs, = by_command([json.loads(scenario)])
        self.assertEqual(unlike(ours["answer"]["summary"], theirs["summary"], ours["scenario"]), [])
        # The cards that a scenario does not name: those of the type, and of an own node one a GPU.
        types = {path.stem: json.loads(path.read_text()) for path in (ROOT / "topologies/nodes").glob("*.json")}
        asked = in_node("settings", questions=[{"node": name, "nodes": "2"} for name in types])
        for name, each in zip(types, asked, strict=True):
            gpus, cards = (types[name][key]["value"] for key in ("gpus_per_node", "nics_per_node"))
            self.assertEqual(each["scenario"]["cluster"], {"nodes": 2, "preset": name, "nics_per_node": min(gpus, cards)})
        self.assertEqual(many["scenario"]["cluster"]["nics_per_node"], 8)
        many, one = (each["answer"]["summary"]["scaling_efficiency"] for each in (many, one))
        self.assertGreater(many, one)

    def test_conditions_are_said_with_the_interval_and_a_link_holds_them(self):
        chosen = ({}, {"conditions": "ideal"}, {"network": "own", "bandwidth": "25", "transport": "tcp_cloud"},
                  {"network": "25g-tcp", "transport": "rdma", "nodes": "4"}, {"node": "dgx_h100", "conditions": "ideal", "workload": "model:bert_large"})
        steps = []
        for settings, got in zip(chosen, in_node("settings", questions=chosen), strict=True):
            self.assertNotIn("error", got["answer"], settings)
            typical = "conditions" not in settings
            self.assertEqual(got["scenario"]["conditions"], "typical" if typical else "ideal")
            self.assertTrue(got["link"].endswith("conditions=typical" if typical else "conditions=ideal"), got["link"])
            self.assertEqual(f"transport={settings.get('transport', '')}&" in got["link"], typical, got["link"])
            text = subprocess.run([STEPSIM, "run", "-", "--quiet"], input=got["text"], cwd=ROOT / "traces", check=True,
                                  capture_output=True, text=True).stdout
            conditions, = re.findall(r"^conditions +(.*)$", text, re.M)
            band, = re.findall(r"^iteration time +\S+ +\S+ % *(.*)$", text, re.M)
            most = re.findall(r"^interval from +([^;\n]*)", text, re.M)
            self.assertEqual(got["below"][0], f"Conditions {conditions}.", settings)
            self.assertEqual(most, re.findall(r"most of it: (.*)\.$", got["below"][1]), settings)
            # The engine chooses the unit of the answer, the text has ms.
            said = re.match(r"A step takes (\S+) (ms|s)(?: \((\S+) to (\S+), 80 %\))? on ", got["answer"]["answer"])
            self.assertIsNotNone(said, got["answer"]["answer"])
            self.assertEqual(band != "", said[3] is not None)
            if band != "":
                summary, factor = got["answer"]["summary"], 1e3 if said[2] == "ms" else 1
                for word, end in ((said[3], "low"), (said[4], "high")):
                    self.assertAlmostEqual(float(word), factor * summary[f"iteration_time_{end}_s"], delta=6e-4 * float(word))
            steps.append(got["answer"]["summary"]["iteration_time_s"])
        self.assertGreater(steps[0], steps[1])  # typical conditions lose time

    def test_the_data_of_the_page_are_those_of_the_tree(self):
        text = PAGE.read_text()
        files = json.loads(re.search(r'id="files">(.*?)</script>', text, re.S).group(1))
        self.assertIn("/data/topologies/conditions/typical.json", files)
        for name, content in files.items():
            path = ROOT / name.removeprefix("/data/") if name.startswith("/data/") else ROOT / "traces" / name[1:]
            self.assertEqual(json.loads(content), json.loads(path.read_text()), name)

    def test_numbers_have_the_fewest_digits_that_read_back(self):
        draws = random.Random(SEED)
        typed = [f"{draws.randrange(1, 10**digits)}e{draws.randrange(-3, 3)}" for digits in range(1, 16) for _ in range(10)]
        asked = in_node("settings", questions=[{"network": "own", "latency": each, "bandwidth": each, "workload": "table",
                                                "table": f"l, {each}, {each}, 4"} for each in ["50", *typed]])
        self.assertIn('"latency_s":0.00005,', asked[0]["text"])
        for each, got in zip(["50", *typed], asked, strict=True):
            network, layer = got["scenario"]["cluster"]["network"], got["scenario"]["workload"]["layers"][0]
            self.assertEqual(float(network["latency_s"]), float(Decimal(each).scaleb(-6)), each)
            self.assertEqual(float(network["bandwidth_Bps"]), float(Decimal(each).scaleb(9) / 8), each)
            self.assertEqual(float(layer["forward_s"]), float(Decimal(each).scaleb(-3)), each)

    def test_a_wrong_value_is_named_by_its_control(self):
        wrong = ({"nodes": "0"}, "Nodes: must be"), ({"nodes": "abc"}, "Nodes: must be"), \
            ({"gpus": "8", "cards": "0"}, "Network cards per node: must be"), \
            ({"network": "own", "latency": "-1"}, "Latency of a message, µs (the message is in seconds): must be"), \
            ({"network": "own", "bandwidth": "x"}, "Bandwidth of a card, Gb/s (the message is in bytes/s): must be"), \
            ({"workload": "table", "table": "a, 1, 1, 4\nb, -1, 1, 4"}, "Layers, line 2 (the message is in seconds): must be"), \
            ({"workload": "model:bert_large", "batch": "many"}, "Samples per GPU and step: must be")
        for (settings, words), got in zip(wrong, in_node("settings", questions=[each[0] for each in wrong]), strict=True):
            self.assertTrue(got["said"].startswith(words), (settings, got["said"]))
            self.assertNotRegex(got["said"], r"/(cluster|workload|communication)/", settings)

    def test_numbers_are_read_and_printed_alike(self):
        draws = random.Random(SEED)
        scenarios = []
        for _ in range(20):
            layers = [{"name": str(l), "forward_s": draws.uniform(1, 10) * 10 ** draws.randrange(-12, 0),
                       "backward_s": 2.0 ** draws.randrange(-40, 0), "gradient_bytes": draws.randrange(1 << 40)}
                      for l in range(500)]
            scenarios.append({"schema_version": 1, "kind": "scenario",
                              "workload": {"layers": layers, "batch_size": 1},
                              "cluster": {"nodes": 2, "network": {"latency_s": 1e-6, "bandwidth_Bps": 1e12}},
                              "communication": {"schedule": "single"},
                              "limits": {"simulated_s": 1e6}})
        answers = in_node("answers", questions=[{"ask": "resolved", "scenario": json.dumps(each)}
                                                for each in scenarios])
        for ours, theirs in zip(answers, by_command(scenarios), strict=True):
            self.assertEqual(ours["scenario"], theirs["scenario"])

    def test_wrong_settings_give_the_message_of_the_command(self):
        base = {"schema_version": 1, "kind": "scenario",
                "workload": {"model": "bert_large", "gpu": "h100", "batch_size": 8},
                "cluster": {"nodes": 8, "network": "25g-tcp"}, "communication": {"collective": "ring"}}
        scenarios = []
        for where, key, value in (("cluster", "nodes", 0), ("cluster", "nodes", "abc"), ("cluster", "nodes", 2.5),
                                  ("cluster", "gpus_per_node", -1), ("workload", "batch_size", "many"),
                                  ("workload", "gpu", "h1000"), ("communication", "schedule", "dpd"),
                                  ("cluster", "network", {"latency_s": "x", "bandwidth_Bps": 1e9}),
                                  ("cluster", "network", {"latency_s": 1e-6, "bandwidth_Bps": 0})):
            scenario = json.loads(json.dumps(base))
            scenario[where][key] = value
            scenarios.append(scenario)
        answers = in_node("answers", questions=[{"ask": "step", "scenario": json.dumps(each)} for each in scenarios])
        with tempfile.TemporaryDirectory() as folder:
            for scenario, answer in zip(scenarios, answers, strict=True):
                pathlib.Path(folder, "scenario.json").write_text(json.dumps(scenario))
                done = subprocess.run([STEPSIM, "run", "scenario.json"], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 3)
                self.assertEqual("".join(f"error: {line}\n" for line in answer["error"].split("\n")), done.stderr)

    def test_curve_changes_and_timeline_are_answered(self):
        scenario = json.dumps({"schema_version": 1, "kind": "scenario",
                               "workload": {"model": "bert_large", "gpu": "h100", "batch_size": 8},
                               "cluster": {"nodes": 8, "network": "25g-tcp"}, "communication": {"collective": "ring"}})
        questions = [{"ask": "point", "scenario": scenario}, {"ask": "changes", "scenario": scenario},
                     {"ask": "timeline", "scenario": scenario},
                     {"ask": "curve", "points": [[1, 10], [2, 19], [4, 35], [8, 40]],
                      "unit": "samples/s", "here": 4}]
        point, changes, timeline, curve = in_node("answers", questions=questions)
        self.assertEqual(point["ranks"], 8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "s.json")
            path.write_text(scenario)
            done = subprocess.run([STEPSIM, "explain", str(path), "--json"], capture_output=True, text=True, check=True)
        theirs = json.loads(done.stdout)["what_if"]
        self.assertEqual([each["iteration_time_s"] for each in changes["changes"]],
                         [each["iteration_time_s"] for each in theirs])
        self.assertIn("<svg", timeline["timeline"])
        self.assertIn("knee: 4 GPUs, 87.5 %", curve["curve"])

    def test_the_page_is_one_file_of_3_mb_that_asks_for_nothing(self):
        text = PAGE.read_text()
        self.assertLess(len(text.encode()), 3_000_000)
        self.assertRegex(text, r'Content-Security-Policy" content="default-src \'none\'')
        self.assertEqual(re.findall(r'<(?:link|img|iframe|script)[^>]*\b(?:src|href)=', text), [])
        version = subprocess.run([STEPSIM, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        self.assertIn(f"stepsim {version} in one file", text)

    def test_the_command_writes_the_page_and_a_trace_into_it(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "w.html")
            subprocess.run([STEPSIM, "web", "-o", str(out)], check=True, capture_output=True)
            self.assertEqual(out.read_bytes(), PAGE.read_bytes())
            trace = ROOT / "traces/resnet50.1gpu.json"
            subprocess.run([STEPSIM, "web", "--trace", str(trace), "-o", str(out)], check=True, capture_output=True)
            own = re.search(r'id="own-trace">(.*?)</script>', out.read_text(), re.S).group(1)
            self.assertEqual(json.loads(own), {"file": trace.name, "trace": json.loads(trace.read_text())})
            wrong = pathlib.Path(folder, "no.json")
            wrong.write_text("{}")
            done = subprocess.run([STEPSIM, "web", "--trace", str(wrong)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stdout, "")
            self.assertTrue(all(line.startswith(f"error: {wrong}: /") for line in done.stderr.splitlines()), done.stderr)


if __name__ == "__main__":
    STEPSIM, PAGE = str(pathlib.Path(sys.argv.pop(1)).resolve()), pathlib.Path(sys.argv.pop(1)).resolve()
    if NODE is None or not PAGE.exists():
        print("skipped: no node" if NODE is None else f"skipped: {PAGE} was not built; it needs emscripten and -DSTEPSIM_WEB=ON")
        sys.exit(77)
    unittest.main()
