#!/usr/bin/env python3
"""stepsim report: one page that asks for nothing, says what other commands say, and runs again.

    report_test.py STEPSIM
"""
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

from folder import ROOT, STEPSIM, stepsim
from plot_test import valid

TWO = "examples/two-layers.scenario.json"
QUICK = "examples/quickstart.scenario.json"
VOID = {"meta", "br", "hr", "img"}


class Page(html.parser.HTMLParser):
    """The elements of a page, its text and its links; closing tags must match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.words, self.wrong = [], [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        self.links += [value for name, value in attributes.items()
                       if name in ("src", "href", "action", "data", "poster", "srcset", "background")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        self.words.append(data)

    def count(self, tag):
        return sum(1 for each, _ in self.tags if each == tag)

    def text(self):
        return " ".join(" ".join(self.words).split())


def luminance(color):
    full = color if len(color) == 7 else "#" + "".join(2 * digit for digit in color[1:])
    parts = [int(full[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.result = str(cls.folder / "result.json")
        stepsim("run", QUICK, "--set", "/workload/batch_size=32", "--json", "-o", cls.result)

    def page(self, *words):
        text = stepsim("report", *words)
        page = Page(text)
        self.assertEqual(page.wrong, [], "tags that do not match")
        self.assertNotIn("<script", text)
        self.assertIn("default-src 'none'; style-src 'unsafe-inline'; img-src data:", text)
        for link in page.links:  # nothing is asked for
            self.assertRegex(link, r"^data:application/json,")
        self.assertNotRegex(text, r"@import|url\((?!#)")
        for tag, attributes in page.tags:
            if tag == "th":
                self.assertIn("scope", attributes)
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        self.assertEqual(len(ids), len(set(ids)))
        return text, page

    def test_a_result_has_everything_in_its_order(self):
        text, page = self.page(self.result)
        self.assertLessEqual(len(text), 300_000)
        headings = re.findall(r"<h2>(.*?)</h2>", text)
        self.assertEqual(headings, ["What was assumed", "Where the time goes", "Buckets", "What would help most",
                                    "Warnings", "The scenario"])
        tree = json.loads(pathlib.Path(self.result).read_text())
        words = page.text()
        self.assertIn("samples/s", words)
        for value in tree["defaults"]:
            self.assertIn(value["pointer"], words)
        self.assertGreater(len(tree["defaults"]), 20)
        shown, _, folded = text.partition("<details")  # three that matter, the others folded
        self.assertEqual(shown.count("<tr>") - 1, 3)
        self.assertIn("/cluster/network/reduction_Bps", shown)  # which `run` names as assumed
        for warning in tree["warnings"]:
            self.assertIn(warning, words)
        self.assertEqual(page.count("svg"), 2)

    def test_what_would_help_is_what_explain_says(self):
        facts = json.loads(stepsim("report", self.result, "--json"))
        valid("report_result", facts)
        explained = json.loads(stepsim("explain", self.result, "--json"))
        self.assertEqual(facts["what_if"], explained["what_if"])
        self.assertEqual(facts["sentences"], explained["sentences"])

    def test_the_scenario_inside_runs_to_the_same_digits(self):
        target = self.folder / "pages" / "page.html"
        target.parent.mkdir(exist_ok=True)
        stepsim("report", self.result, "-o", str(target))
        page = Page(target.read_text())
        [link] = page.links
        scenario = target.parent / "cut.scenario.json"
        scenario.write_text(urllib.parse.unquote(link[len("data:application/json,"):]))
        wanted = json.loads(pathlib.Path(self.result).read_text())["summary"]
        self.assertEqual(json.loads(stepsim("run", str(scenario), "--json"))["summary"], wanted)
        shown = re.search(r"<pre>(.*?)</pre>", target.read_text(), re.S).group(1)
        self.assertEqual(json.loads(html.unescape(shown)), json.loads(scenario.read_text()))

    def test_equal_runs_give_equal_bytes(self):
        for date in ([], ["--date", "2026-11-22"]):
            pages = set()
            for name in ("a.html", "b.html"):
                stepsim("report", self.result, "-o", str(self.folder / name), *date)
                pages.add((self.folder / name).read_text())
            self.assertEqual(len(pages), 1)
            self.assertEqual("2026-11-22" in pages.pop(), bool(date))

    def test_names_are_inert(self):
        name = "</title><script>alert(1)</script><img src=x onerror=y>\"'&"
        tree = json.loads((ROOT / TWO).read_text())
        tree["name"] = name
        tree["workload"]["layers"][0]["name"] = name
        path = self.folder / "name.json"
        path.write_text(json.dumps(tree))
        text, page = self.page(str(path))
        self.assertEqual(page.count("img"), 0)
        self.assertIn("alert(1)", page.text())
        records = self.folder / "name.csv"
        records.write_text('n,time_s,who\n1,2,"' + name.replace('"', '""') + '"\n2,3,b\n1,5,b\n')
        _, page = self.page(str(records))
        self.assertEqual(page.count("img"), 0)

    def test_colours_of_text_are_readable_in_light_dark_and_print(self):
        style = re.search(r"<style>(.*?)</style>", stepsim("report", TWO), re.S).group(1)
        themes = re.findall(r":root \{([^}]*--ink[^}]*)\}", style)
        self.assertEqual(len(themes), 3)
        for theme in themes:
            colors = dict(re.findall(r"--(\w+): (#[0-9a-f]+)", theme))
            for name in ("ink", "grey", "link"):
                high, low = sorted((luminance(colors[name]), luminance(colors["paper"])), reverse=True)
                self.assertGreaterEqual((high + 0.05) / (low + 0.05), 4.5, f"{name} in {theme}")

    def test_a_sweep_of_a_thousand_points(self):
        path = str(self.folder / "s.jsonl")
        stepsim("sweep", TWO, "--set", "/workload/batch_size=32", "--over", "/cluster/nodes=1:512:x2", "--over",
                "/communication/schedule=wfbp,single,ddp,optimal", "--over",
                "/cluster/network/bandwidth_Bps=1:25:+1Gbps", "-o", path)
        text, page = self.page(path)
        self.assertLessEqual(len(text), 1_000_000)
        words = page.text()
        self.assertIn("knee", words)
        self.assertIn("All 1000 points", words)
        self.assertIn("schedule by nodes", words)
        facts = json.loads(stepsim("report", path, "--json"))
        valid("report_records", facts)
        best = max((json.loads(line) for line in pathlib.Path(path).read_text().splitlines()[1:]),
                   key=lambda r: r["samples_per_s"])
        self.assertIn(f"nodes {best['nodes']},", facts["answer"])
        stepsim("report", path, "--point", "17", "-o", str(self.folder / "point.html"))

    def test_more_than_5000_points_are_summarised(self):
        path = self.folder / "many.csv"
        path.write_text("n,m,time_s\n" + "".join(f"{i},{i % 2},{1 + i / 7}\n" for i in range(6000)))
        _, page = self.page(str(path))
        self.assertIn("The first 5000; the others are in", page.text())

    def test_comparisons_and_collectives(self):
        compare = str(self.folder / "compare.json")
        stepsim("compare", TWO, "--over", "/communication/schedule=wfbp,single", "--over", "/cluster/nodes=2,4",
                "-o", compare)
        _, page = self.page(compare)
        self.assertIn("nodes", page.text())
        collective = str(self.folder / "c.jsonl")
        stepsim("collective", "--op", "allreduce", "--algorithm", "ring,be", "--ranks", "8", "--bytes",
                "4KiB:1MiB:x4", "--latency", "10us", "--bandwidth", "10Gbps", "-o", collective)
        _, page = self.page(collective)
        self.assertIn("busbw", page.text())

    def test_a_pipe_gives_the_page_of_a_file(self):
        over = (TWO, "--over", "/cluster/nodes=2,4", "--json", "--quiet")
        for words in (("compare", *over), ("sweep", *over), ("run", TWO, "--json", "--quiet")):
            text = stepsim(*words)
            (self.folder / "asked.json").write_text(text)
            done = subprocess.run([STEPSIM, "report", "-", "--json"], input=text, cwd=ROOT, text=True,
                                  capture_output=True, check=True)
            piped, kept = json.loads(done.stdout), json.loads(stepsim("report", str(self.folder / "asked.json"), "--json"))
            self.assertEqual(piped["answer"], kept["answer"])

    def test_a_record_without_an_axis_of_its_sweep_is_refused(self):
        whole = self.folder / "whole.jsonl"
        stepsim("sweep", TWO, "--over", "/cluster/nodes=2,4", "--over",
                "/communication/schedule=wfbp,single", "-o", str(whole), "--quiet")
        header, *records = whole.read_text().splitlines(True)
        part = self.folder / "part.jsonl"
        draw = ["plot", "--x", "nodes", "--y", "iteration_time_s", "--by", "schedule"]
        for axis in ("nodes", "schedule"):
            for at in range(len(records)):
                damaged = json.loads(records[at])
                del damaged[axis]
                part.write_text("".join([header, *records[:at], json.dumps(damaged) + "\n", *records[at + 1:]]))
                for words in (["report"], draw):
                    self.assertEqual(
                        stepsim(*words, str(part), code=3),
                        f'error: {part}:{at + 2}: the record has no {axis}, an axis of the sweep\n')
                done = subprocess.run([sys.executable, str(ROOT / "notebooks/quickstart_report.py"), str(part)],
                                      capture_output=True, text=True)
                if "matplotlib" not in done.stderr:
                    self.assertEqual(done.stderr, f"{part}: no results of stepsim sweep in JSON Lines "
                                     f"(line {at + 2} has no {axis}, an axis of the sweep)\n")
        part.write_text("# " + header + "point,status,nodes,iteration_time_s\n0,ok,2,0.5\n")
        self.assertIn(f'{part}:3: the record has no schedule', stepsim("report", str(part), code=3))
        # Without a header there are no axes, and the table of two fields is left out.
        damaged = [{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}, {"b": 2}]
        for rows in (damaged, damaged[:3] + damaged[:1]):
            part.write_text("".join(json.dumps({**row, "iteration_time_s": 0.5 + at}) + "\n"
                                    for at, row in enumerate(rows)))
            self.assertNotIn("b by a", self.page(str(part))[1].text())

    def test_a_record_without_any_of_its_keys_is_read_or_refused(self):
        whole = self.folder / "keys.jsonl"
        stepsim("sweep", TWO, "--over", "/cluster/nodes=2,4", "--over",
                "/communication/schedule=wfbp,single", "-o", str(whole), "--quiet")
        header, record, *others = whole.read_text().splitlines(True)
        part, merged = str(self.folder / "key.jsonl"), str(self.folder / "merged.jsonl")
        commands = (["report", part], ["merge", part, "-o", merged, "--force"],
                    ["plot", part, "--x", "nodes", "--y", "iteration_time_s", "--by", "schedule"])
        others_of_a_kind = (None, "word", [1], {"a": 1}, -1e9)
        for number, key in enumerate(json.loads(record)):
            for values in ({}, {key: others_of_a_kind[number % len(others_of_a_kind)]}):
                tree = json.loads(record)
                del tree[key]
                line = json.dumps({**tree, **values}, separators=(",", ":"))
                pathlib.Path(part).write_text("".join([header, line + "\n", *others]))
                for words in commands:
                    done = subprocess.run([STEPSIM, *words], capture_output=True, text=True)
                    said = [text for text in done.stderr.splitlines() if text.startswith("error: ")]
                    self.assertIn((done.returncode, len(said)), ((0, 0), (2, 1), (3, 1), (4, 1)),
                                  (words[0], key, values, done.stderr))

    def test_what_is_refused(self):
        self.assertIn("report writes html or json only", stepsim("report", TWO, "--format", "csv", code=2))


if __name__ == "__main__":
    unittest.main()
