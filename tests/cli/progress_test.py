#!/usr/bin/python3
"""Progress as people see it: slow commands on a pseudo terminal show an estimate, and nothing is
shown in a pipe. Ctrl-C keeps what is finished.

usage: progress_test.py STEPSIM [WORD]
"""
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import tempfile
import time
import unittest

from folder import STEPSIM

# What tells how long it will take: an expected time, or what is done of all with the time to go.
ESTIMATE = re.compile(r"stepsim [a-z-]+: \d[\d:]*(?: s)?(?: of|, expected) about [\d:]+|\] \d+/\d+.*  ETA [\d:]+")
ANY = re.compile(r"stepsim [a-z-]+: (?:running|\d)|\[[# ]{20}\] \d+/\d+")


def layers(count):
    return [{"name": f"layer {i}", "forward_s": 1e-4, "backward_s": 2e-4,
             "gradient_bytes": 40_000 + 8 * i} for i in range(count)]


def scenario(layer_count, **changes):
    tree = {"kind": "scenario", "workload": {"layers": layers(layer_count)},
            "cluster": {"nodes": 8, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}}}
    for pointer, value in changes.items():
        at = tree
        *path, last = pointer.split("__")
        for key in path:
            at = at.setdefault(key, {})
        at[last] = value
    return tree


class OnTerminal:
    """A command with standard error, and standard input, on a pseudo terminal."""

    def __init__(self, words, folder):
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen([STEPSIM, *words], cwd=folder, stdin=follower,
                                        stdout=subprocess.PIPE, stderr=follower)
        os.close(follower)
        self.text = ""

    def read_until(self, found, limit_s=300):
        """Until `found(text)` or the end of the command; whether it was found."""
        end = time.monotonic() + limit_s
        while not found(self.text):
            ready, _, _ = select.select([self.leader], [], [], max(0, min(0.2, end - time.monotonic())))
            if ready:
                try:
                    part = os.read(self.leader, 65536)
                except OSError:  # the other end is closed
                    return found(self.text)
                self.text += part.decode()
            elif time.monotonic() > end or self.process.poll() is not None:
                return found(self.text)
        return True

    def stop(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        out, _ = self.process.communicate()
        os.close(self.leader)
        return out.decode(), self.process.returncode


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        put = lambda name, tree: (cls.folder / name).write_text(json.dumps(tree))
        # 4096 x 4095 x 2 messages for each of 1,000 buckets of different sizes, whose parts differ
        # too: no rank stands for all.
        put("messages.json", scenario(1000, method="events", cluster__nodes=4096,
                                      communication__schedule="wfbp", communication__chunking="integer"))
        put("small.json", scenario(60, cluster__nodes=64))
        put("explained.json", scenario(2000, method="max_plus", cluster__nodes=2048, communication__schedule="wfbp"))
        put("flows.json", {"kind": "flows", "topology": {
            "preset": "star", "hosts": 64, "bandwidth_Bps": 1.25e9, "latency_s": 1e-6},
            "network": {"model": "packet", "packet": {"transport": {"kind": "dctcp"}}},
            "flows": [{"generate": "permutation", "size_bytes": 1_000_000_000}]})
        put("problem.json", {"kind": "problem", "ready_s": [1e-5 * i for i in range(60_000)],
                             "bytes": [1000 + i for i in range(60_000)],
                             "cost": {"table": [[1000, 1e-5], [1e6, 1e-4], [1e9, 0.1]]}})
        event = ('{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 2, "ts": %d, '
                 '"dur": 1, "args": {"External id": %d}},\n')
        with open(cls.folder / "trace.json", "w", encoding="utf-8") as file:
            file.write('{"traceEvents": [\n')
            for i in range(4_000_000):
                file.write(event % (i, i))
            file.write('{"ph": "M"}]}\n')

    SLOW = {
        "run": ["run", "messages.json", "--max-seconds", "1e9"],
        "compare": ["compare", "messages.json", "--over", "/cluster/nodes=4095,4096",
                    "--max-seconds", "1e9"],
        "compare of algorithms": ["compare", "messages.json", "--algorithms", "wfbp,ddp",
                                  "--set", "/method=events", "--max-seconds", "1e9"],
        "collective": ["collective", "--op", "allreduce", "--algorithm", "ring", "--ranks", "16384",
                       "--bytes", "1MB", "--latency", "10us", "--bandwidth", "10Gbps",
                       "--method", "events", "--max-seconds", "1e9"],
        "flows": ["flows", "flows.json"],
        "converge": ["converge", "small.json", "--problem", "logistic", "--iterations", "1000000", "--max-seconds", "1h"],
        "explain": ["explain", "explained.json", "--max-seconds", "1e9"],
        "plan": ["plan", "problem.json", "--planners", "wfbp,optimal"],
        "import": ["import", "kineto", "trace.json", "-o", "out.json"],
    }

    def test_slow_commands_show_an_estimate_on_a_terminal(self):
        for name, words in self.SLOW.items():
            with self.subTest(command=name):
                command = OnTerminal(words, self.folder)
                found = command.read_until(ESTIMATE.search)
                command.stop()
                self.assertTrue(found, command.text[-500:])

    def test_many_messages_say_their_estimate_before_they_begin(self):
        command = OnTerminal(self.SLOW["run"], self.folder)
        found = command.read_until(re.compile(r"stepsim run: 0 s of about \d").search)
        command.stop()
        self.assertTrue(found, command.text[-500:])

    def test_nothing_is_shown_in_a_pipe_unless_it_is_asked_for(self):
        # All begin together; what shows its progress twice says that the others had the time for it.
        words = self.SLOW["collective"]
        silent = [subprocess.Popen([STEPSIM, *words, *flags], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True) for flags in ([], ["--progress", "none"])]
        on_terminal = OnTerminal([*words, "--progress", "none"], self.folder)
        plain = subprocess.Popen([STEPSIM, *words, "--progress", "plain"], cwd=self.folder,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2):
            line = plain.stderr.readline()
            self.assertRegex(line, ANY)
        plain.kill()
        plain.communicate()
        for process in silent:
            self.assertIsNone(process.poll())
            process.kill()
            self.assertNotRegex(process.communicate()[1], ANY)
        self.assertFalse(on_terminal.read_until(ANY.search, 0))
        on_terminal.stop()

    def test_short_commands_leave_the_terminal_alone(self):
        command = OnTerminal(["run", "small.json"], self.folder)
        self.assertFalse(command.read_until(ANY.search), command.text)
        _, code = command.process.communicate(), command.process.returncode
        self.assertEqual(code, 0)

    def test_ctrl_c_keeps_what_is_finished(self):
        points = {
            # The third of each takes most of a minute, or longer.
            "collective": ["collective", "--op", "allreduce", "--algorithm", "ring", "--ranks",
                           "4,16,60000", "--bytes", "1MB", "--latency", "10us", "--bandwidth",
                           "10Gbps", "--method", "events", "--max-seconds", "1e9", "--json"],
            "compare": ["compare", "small.json", "--over", "/cluster/nodes=2,4,60000,60001",
                        "--set", "/method=events", "--set", "/communication/chunking=integer",
                        "--max-seconds", "1e9", "--format", "jsonl"],
        }
        for name, words in points.items():
            with self.subTest(command=name):
                command = OnTerminal(words, self.folder)
                self.assertTrue(command.read_until(re.compile(r"\] [1-9]\d*/\d+").search), command.text[-500:])
                command.process.send_signal(signal.SIGINT)
                try:
                    command.process.wait(3)  # or longer: the second signal comes later then
                except subprocess.TimeoutExpired:  # the point under way is long: the second ends it
                    pass
                out, code = command.stop(signal.SIGINT)
                self.assertEqual(code, 130)
                for line in out.splitlines():
                    json.loads(line)


if __name__ == "__main__":
    unittest.main()
