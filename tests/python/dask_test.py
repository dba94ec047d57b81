#!/usr/bin/env python3
"""Sweeps and lists of scenarios on the workers of a Dask cluster on this machine: the same bytes as one
process, also when a worker is killed in the middle. Exit 77 where python3-distributed is not installed.

usage: dask_test.py STEPSIM
"""
import hashlib
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "tests/cli", "tests/docs")]
import page_blocks  # noqa: E402
import parallel_examples_test  # noqa: E402
import stepsim  # noqa: E402

try:
    import distributed
except ImportError:
    distributed = None


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def running_programs():
    """Parents of the running processes of `stepsim sweep`."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = (status.parent / "cmdline").read_bytes().split(b"\0")
            if words[0] == os.environ["STEPSIM"].encode() and words[1] == b"sweep":
                found[int(status.parent.name)] = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            pass
    return found


class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="stepsim-")
        cls.place = pathlib.Path(cls.folder.name)
        os.chdir(ROOT)
        parallel_examples_test.write_long_sweep(cls.place)
        cls.sweep = cls.place / "sweep.json"
        cls.cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        cls.client = distributed.Client(cls.cluster)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()
        cls.folder.cleanup()

    def test_a_worker_that_is_killed_loses_nothing(self):
        whole, file = self.place / "whole.jsonl", self.place / "out.jsonl"
        expected = stepsim.sweep(self.sweep, file=whole)
        before = set(self.client.run(os.getpid).values())
        killed = []

        def kill():  # the first worker whose program runs, and another program, whose worker lives on
            while len(running := running_programs()) < 2:
                time.sleep(0.001)
            (_, worker), (program, _) = sorted(running.items())[:2]
            os.kill(worker, signal.SIGKILL)
            os.kill(program, signal.SIGKILL)
            killed.append(worker)
        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        table = stepsim.sweep(self.sweep, file=file, client=self.client, shards=6)
        killer.join(60)
        self.assertIn(killed[0], before)
        self.client.wait_for_workers(2)
        self.assertNotIn(killed[0], self.client.run(os.getpid).values())
        self.assertEqual(digest(file), digest(whole))
        self.assertTrue(table.equals(expected) if hasattr(table, "equals") else table == expected)

    def test_columns_and_a_dict(self):
        over = {"/cluster/nodes": "2:64:x2"}
        files = [self.place / name for name in ("one.jsonl", "two.jsonl")]
        tables = [stepsim.sweep("examples/quickstart.scenario.json", over=over, file=file, client=client,
                                columns=["iteration_time_s"]) for file, client in zip(files, (None, self.client))]
        self.assertEqual(list(tables[1].columns), ["point", "status", "nodes", "iteration_time_s", "method"])
        self.assertEqual(digest(files[0]), digest(files[1]))
        self.assertEqual(list(ROOT.glob(".stepsim-*")), [])

    def test_failed_points_are_kept_and_raise(self):
        over = {"/cluster/nodes": [2, 4], "/communication/schedule": ["ddp", {"name": "mine", "groups": [[0]]}]}
        files = [self.place / name for name in ("bad.jsonl", "bad2.jsonl")]
        for file, client in zip(files, (None, self.client)):
            with self.assertRaisesRegex(stepsim.SimulationError, "points? failed, first: /communication/groups"):
                stepsim.sweep("examples/two-layers.scenario.json", over=over, file=file, client=client)
        self.assertEqual(digest(files[0]), digest(files[1]))
        with self.assertRaises(stepsim.InputError) as caught:
            stepsim.sweep("no/such.json", over=over, client=self.client)
        self.assertEqual(caught.exception.code, 3)

    def test_many_in_their_order(self):
        scenarios = [ROOT / "examples/two-layers.scenario.json", {"cluster": {}}, "no/such.json"] * 7
        kept = [stepsim.run_many(scenarios, set={"/cluster/nodes": 3}, errors="keep", client=client)
                for client in (None, self.client)]
        self.assertEqual([str(each) if isinstance(each, Exception) else each.summary for each in kept[0]],
                         [str(each) if isinstance(each, Exception) else each.summary for each in kept[1]])
        self.assertEqual(sum(isinstance(each, stepsim.Result) for each in kept[1]), 7)
        with self.assertRaises(stepsim.InputError):
            stepsim.run_many(scenarios, client=self.client)
        self.assertEqual(stepsim.run_many([], client=self.client), [])

    def test_the_block_of_the_page(self):
        runner = page_blocks.Runner(self.place, pathlib.Path(os.environ["STEPSIM"]).parent)
        block, = [block for block in page_blocks.blocks_of((ROOT / "docs/python.md").read_text())
                  if "dask_test.py runs it" in block.reason]
        self.assertEqual(runner.problem(block), "")


if __name__ == "__main__":
    os.environ["STEPSIM"] = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if distributed is None:
        print("skipped: python3-distributed is not installed")
        sys.exit(77)
    unittest.main()
