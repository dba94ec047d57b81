#!/usr/bin/env python3
"""Every command x every common flag: a flag that is accepted does something.

    common_flags_test.py STEPSIM

A new command needs a row in COMMANDS; the commands are read from `stepsim --help`.
"""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from folder import ROOT, STEPSIM

TWO = "examples/two-layers.scenario.json"
# Words of an invocation that succeeds; {folder} is a scratch folder that holds the shards.
COMMANDS = {
    "study": ["gpt2.h100", "--gpus", "8"],
    "init": ["--nodes", "4"],
    "run": [TWO],
    "explain": [TWO],
    "program": [TWO],
    "compare": [TWO, "--over", "/cluster/nodes=2,3"],
    "sweep": [TWO, "--over", "/cluster/nodes=2,3"],
    "merge": ["{folder}/s.shard-0-of-2.jsonl", "{folder}/s.shard-1-of-2.jsonl"],
    "plot": ["{folder}/s.shard-0-of-2.jsonl", "--x", "nodes", "--y", "iteration_time_s"],
    "report": [TWO],
    "web": [],
    "solve": [TWO, "--for", "/cluster/network/bandwidth_Bps", "--between", "1Gbps,400Gbps",
              "--target", "scaling_efficiency=0.9"],
    "plan-training": [TWO],
    "tune": [TWO, "--knob", "schedule"],
    "fit-conditions": ["reproduce/overlap/v100-ib-56g.steps.json"],
    "fit-overlap": ["reproduce/overlap/v100-ib-56g.steps.json"],
    "converge": ["--problem", "quadratic", "--pipeline-width", "2", "--step", "0.5"],
    "plan": ["examples/problem.json"],
    "collective": ["--op", "allreduce", "--algorithm", "ring", "--ranks", "4", "--bytes", "1MB",
                   "--latency", "10us", "--bandwidth", "10Gbps"],
    "flows": ["examples/incast.flows.json"],
    "semantics": ["examples/semantics-a.json"],
    "reproduce": ["lp"],
    "import": ["osu", "examples/osu_allreduce.log", "--ranks", "8"],
    "check": [TWO],
    "keys": ["/cluster"],
    "schema": ["scenario"],
    "models": ["list"],
    "topologies": ["list"],
    "presets": [],
    "examples": ["{folder}/copy"],
    "help": ["run"],
}
RECORDS = {"sweep", "merge"}  # their files are JSON Lines
AT_ONCE = {"examples", "keys", "schema", "models", "topologies", "presets", "help"}  # have no progress


def stepsim(*words):
    return subprocess.run([STEPSIM, *words], cwd=ROOT, capture_output=True, text=True, timeout=600,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})


def progress_lines(stderr):
    return [line for line in stderr.splitlines()
            if re.match(r"(stepsim \S+: (running|\d))|(\[[# ]{20}\] \d+/\d+)", line)]


class CommonFlags(unittest.TestCase):
    not_built = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for shard in range(2):
            done = stepsim("sweep", TWO, "--over", "/cluster/nodes=2,3", "-o", f"{cls.folder}/s.jsonl",
                           "--shard", f"{shard}/2", "--quiet")
            assert done.returncode == 0, done.stderr
        if "has no page" in stepsim("web", "--json").stderr:  # a build without emscripten
            cls.not_built = {"web": COMMANDS.pop("web")}

    def run_command(self, name, *flags, code=0):
        words = [word.format(folder=self.folder) for word in COMMANDS[name]]
        done = stepsim(name, *words, *flags)
        self.assertEqual(done.returncode, code, f"{name} {flags}: {done.stderr}")
        return done

    def test_every_command_has_a_row(self):
        listed = re.findall(r"(?m)^  (\w[\w-]*)(?: {2,}\S|$)", stepsim("--help").stdout)
        self.assertEqual(sorted({**COMMANDS, **self.not_built}), sorted(set(listed) - {"stepsim"}))

    def test_json_is_machine_readable(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                out = self.run_command(name, "--json").stdout
                values = [out] if out.startswith("{\n") else out.splitlines()
                for value in values:
                    json.loads(value)

    def test_output_goes_to_the_file_alone(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                target = self.folder / f"{name}.out.json{'l' if name in RECORDS else ''}"
                done = self.run_command(name, "-o", str(target), "--quiet")
                self.assertEqual(done.stdout, "")
                written = [*target.iterdir()] if target.is_dir() else [target]
                self.assertTrue(all(file.read_text().strip() for file in written if file.is_file()))

    def test_quiet_leaves_warnings_alone_on_standard_error(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                target = self.folder / f"{name}.quiet.json{'l' if name in RECORDS else ''}"
                plain = [] if name in AT_ONCE else ["--progress", "plain"]
                done = self.run_command(name, "--quiet", *plain, "-o", str(target))
                for line in done.stderr.splitlines():
                    self.assertRegex(line, "^warning: ")

    def test_color_marks_errors_where_it_is_asked_for(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                for choice, marked in (("always", True), ("never", False)):
                    words = [word.format(folder=self.folder) for word in COMMANDS[name]]
                    done = stepsim(name, *words, "--color", choice, "-o", "/no/such/folder/x.json"
                                   + ("l" if name in RECORDS else ""))
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("error:", done.stderr)
                    self.assertEqual("\x1b[" in done.stderr, marked, f"{choice}: {done.stderr!r}")

    def test_progress_shows_and_hides(self):
        for name in AT_ONCE:
            with self.subTest(command=name):
                done = self.run_command(name, "--progress", "plain", code=2)
                self.assertEqual(done.stdout, "")
                self.assertIn("--progress: unknown option", done.stderr)
        for name in sorted(set(COMMANDS) - AT_ONCE):
            with self.subTest(command=name):
                self.assertTrue(progress_lines(self.run_command(name, "--progress", "plain").stderr))
                self.assertFalse(progress_lines(self.run_command(name, "--progress", "none").stderr))

    def test_each_format_of_the_help_is_another_text(self):
        for name in COMMANDS:
            with self.subTest(command=name):
                text = " ".join(stepsim(name, "--help").stdout.split())
                words = re.search(r"--format WORD ((?:\w+(?:, | or )?)+?)(?:;| --)", text).group(1)
                formats = re.split(", | or ", words.strip())
                if name == "merge":  # joins records in the format that they have
                    formats.remove("csv")
                if name == "converge":  # has curves, in CSV too, with --problem logistic alone
                    formats = ["json", "table"]
                texts = set()
                for word in formats:
                    texts.add(self.run_command(name, "--format", word).stdout)
                if name not in ("sweep", "merge"):  # whose json is a list of records, as jsonl
                    same = 1 if name == "collective" and {"json", "jsonl"} <= set(formats) else 0
                    self.assertEqual(len(texts) + same, len(formats), formats)
                self.assertEqual(self.run_command(name, "--format", "xml", code=2).stdout, "")

    def answered(self, *words, code=0):
        result = stepsim(*words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def test_columns_are_the_figures_of_every_format(self):
        over = ["examples/quickstart.scenario.json", "--over", "/cluster/nodes=2,4"]
        columns = ["--columns", "lower_bound_s,bottleneck"]
        fixed = ["point", "status", "nodes"]
        lines = self.answered("sweep", *over, *columns, "--format", "csv").stdout.splitlines()
        self.assertEqual(lines[1].split(","), [*fixed, "lower_bound_s", "bottleneck", "method", "error"])
        whole = [json.loads(line) for line in self.answered("sweep", *over, "--format", "jsonl").stdout.splitlines()]
        chosen = [json.loads(line) for line in self.answered("sweep", *over, *columns, "--format", "jsonl").stdout.splitlines()]
        self.assertEqual(chosen[0]["columns"], ["lower_bound_s", "bottleneck"])
        for all_keys, some in zip(whole[1:], chosen[1:], strict=True):
            names = {*fixed, "record", "lower_bound_s", "bottleneck", "method", "error"}
            self.assertEqual(some, {key: all_keys[key] for key in names})
        table = self.answered("sweep", *over, *columns).stdout.splitlines()
        self.assertEqual(table[0].split(), ["nodes", "lower_bound", "[ms]", "bottleneck"])
        records = self.answered("compare", *over, *columns, "--format", "csv").stdout.splitlines()
        self.assertEqual(records[0].split(","), ["nodes", "lower_bound_s", "bottleneck", "error"])
        for command in ("sweep", "compare"):
            for form in ("csv", "jsonl", "table"):
                failed = self.answered(command, *over, "--columns", "lower_bnd_s", "--format", form, code=2)
                self.assertIn('--columns: unknown figure "lower_bnd_s"; did you mean "lower_bound_s"', failed.stderr)
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/o.jsonl"
            self.answered("sweep", *over, *columns, "-o", file)
            self.answered("sweep", *over, *columns, "-o", file, "--resume")
            self.assertIn("--columns", self.answered("sweep", *over, "-o", file, "--resume", code=3).stderr)
            self.answered("check", file)

    def test_arrays_of_numpy_have_a_successor(self):
        for command in ("sweep", "compare"):
            error = self.answered(command, "examples/quickstart.scenario.json", "--over", "/cluster/nodes=2,4", "-o", "o.npz", code=2).stderr
            self.assertEqual(error, "error: .npz is written no more: give -o FILE.csv or -o FILE.jsonl with --columns NAME,..\n")

    def test_the_name_of_the_file_is_a_format_too(self):
        for name in ("compare", "sweep", "collective"):
            for ending, start in (("html", "<!doctype html>"), ("md", "|")):
                target = self.folder / f"{name}.{ending}"
                self.run_command(name, "-o", str(target), "--quiet")
                text = target.read_text()
                self.assertTrue(text.startswith(start), text[:80])
                rows = text.count("<tr>") - 1 if ending == "html" else text.count("\n|") - 1
                self.assertEqual(rows, 1 if name == "collective" else 2, text)


if __name__ == "__main__":
    unittest.main()
