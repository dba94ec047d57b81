#!/usr/bin/env python3
"""`stepsim tune --emit nccl-tuner`: the table of a scenario's cluster by the model and by logs of forced runs.

    emit_tuner_test.py STEPSIM
"""
import csv
import unittest

from folder import Folder

TYPES = {"broadcast", "reduce", "allreduce", "reducescatter", "allgather"}


def log_of(times):
    """A log of nccl-tests of two nodes of two GPUs; {bytes: microseconds}."""
    lines = ["# Collective test starting: all_gather_perf",
             "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)"]
    lines += [f"#  Rank  {rank} Group  0 Pid {rank + 1} on {'ab'[rank // 2]} device  {rank % 2} "
              f"[0000:1{'bc'[rank % 2]}:00] NVIDIA A100" for rank in range(4)]
    lines.append("#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong")
    lines += [f"{size} {size // 16} float none -1 {time} 0.1 0.1 0 {time} 0.1 0.1 0" for size, time in times.items()]
    return "\n".join(lines) + "\n"


class EmitTuner(Folder):
    def setUp(self):
        super().setUp()
        self.write_nodes(2, "dgx_h100")

    def write_nodes(self, nodes, preset, **cluster):
        self.write({"kind": "scenario", "cluster": {"preset": preset, "nodes": nodes, **cluster},
                    "workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4096}]}})

    def tune(self, *words, code=0):
        return self.stepsim("tune", "s.json", *words, code=code)

    def rows(self, text):
        comments = [line for line in text.splitlines() if line.startswith("#")]
        return comments, list(csv.reader(line for line in text.splitlines() if not line.startswith("#")))

    def test_the_table_covers_every_size_of_every_operation(self):
        done = self.tune("--emit", "nccl-tuner", "-o", "t.csv")
        comments, rows = self.rows((self.folder / "t.csv").read_text())
        self.assertIn("dgx_h100, 2x8", comments[0])
        self.assertEqual({row[0] for row in rows}, TYPES)
        for word in TYPES:
            ends = [(int(row[1]), int(row[2])) for row in rows if row[0] == word]
            self.assertEqual(ends[0][0], 0)
            self.assertEqual(ends[-1][1], 4294967295)
            self.assertTrue(all(b[0] == a[1] + 1 for a, b in zip(ends, ends[1:])))
        self.assertTrue(all(row[5:] == ["-1", "2", "16", "-1", "-1"] for row in rows))
        self.assertIn("gain", done.stdout)  # of each line, beside the file

    def test_a_change_that_gains_too_little_leaves_an_empty_table(self):
        done = self.tune("--emit", "nccl-tuner", "--min-gain", "900%", "-o", "t.csv")
        comments, rows = self.rows((self.folder / "t.csv").read_text())
        self.assertEqual((len(comments), rows), (2, []))
        self.assertIn("no line differs", done.stdout)

    def test_the_table_ends_where_asked(self):
        _, rows = self.rows(self.tune("--emit", "nccl-tuner", "--max-bytes", "3GiB").stdout)
        self.assertEqual(max(int(row[2]) for row in rows if row[0] == "reduce"), 3 << 30)

    def test_logs_of_forced_runs_decide(self):
        self.write_nodes(2, "dgx_a100", gpus_per_node=2)
        (self.folder / "ll.log").write_text(log_of({1024: 10, 65536: 20, 1048576: 900}))
        (self.folder / "simple.log").write_text(log_of({1024: 30, 65536: 25, 1048576: 100}))
        logs = "ll.log@ring/ll,simple.log@ring/simple"
        _, rows = self.rows(self.tune("--emit", "nccl-tuner", "--from", logs).stdout)
        self.assertEqual([row[:5] for row in rows], [["allgather", "0", "262144", "ring", "ll"],
                                                     ["allgather", "262145", "4294967295", "ring", "simple"]])
        self.assertIn("sizes; at least 3", self.shorter(logs))
        self.write_nodes(4, "dgx_a100", gpus_per_node=2)
        done = self.tune("--emit", "nccl-tuner", "--from", logs, code=3)
        self.assertIn("measured on 4 ranks; the scenario has 8", done.stderr)

    def shorter(self, logs):
        (self.folder / "ll.log").write_text(log_of({1024: 10}))
        (self.folder / "simple.log").write_text(log_of({1024: 10, 2048: 11}))
        return self.tune("--emit", "nccl-tuner", "--from", logs, code=2).stderr

    def test_what_does_not_fit_is_refused(self):
        def refused(words, sentence):
            self.assertIn(sentence, self.tune(*words, code=2).stderr)
        refused([], "--knob is required")
        refused(["--emit", "nccl"], "--emit nccl: unknown")
        refused(["--emit", "nccl-tuner", "--knob", "bucket_bytes"], "--emit excludes --knob")
        refused(["--knob", "bucket_bytes", "--min-gain", "1%"], "need --emit nccl-tuner")
        refused(["--emit", "nccl-tuner", "--json"], "writes csv only")
        refused(["--emit", "nccl-tuner", "--from", "a.log"], "must be model or logs")
        refused(["--emit", "nccl-tuner", "--from", "a.log@rings/ll"], "did you mean \"ring\"")
        refused(["--emit", "nccl-tuner", "--set", "/communication/collective=ring"], "needs collective library")


if __name__ == "__main__":
    unittest.main()
