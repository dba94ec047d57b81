#!/usr/bin/env python3
"""`stepsim-calibrate cuda --mpi` with several processes on the played machine
(played_calibrate.cpp): who takes which GPU, NCCL over an identifier of rank 0, times of the slowest rank, and failures
of one rank. 77 without mpirun.

    job_test.py BUILD_DIR FOLDER_OF_PLAYED_PROGRAMS
"""
import itertools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

BUILD, PLAYED = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
sys.argv[1:] = sys.argv[3:]
MPIRUN = ["mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "--bind-to", "none",
          "--mca", "mpi_yield_when_idle", "1"]
WHOLE = ["allreduce", "broadcast", "reduce", "sendrecv"]
BLOCKS = ["reduce_scatter", "allgather", "alltoall"]
BYTES = {"float": 4, "bfloat16": 2, "half": 2}


def seconds_of(record):
    """What the slowest rank takes on the played machine (libraries/played_nccl.cpp)."""
    op, ranks, size = record["op"], record["ranks"], record["bytes"]
    if op not in ("alltoall", "sendrecv"):
        return 1e-3 * ranks + 1e-9 * size

    def message(a, b, part):
        return 1e-3 + (1e-9 if a // 2 == b // 2 else 4e-9) * part

    if op == "sendrecv":
        return max(message(r, (r + 1) % ranks, size) + message(r, (r - 1) % ranks, size) for r in range(ranks))
    return max(sum(2 * message(r, peer, size / ranks) for peer in range(ranks)) for r in range(ranks))


def program():
    found = [p for p in (PLAYED / "played_calibrate", BUILD / "played_calibrate") if p.exists()]
    return str(found[0])


class Measured(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.records = self.folder / "r.jsonl"
        self.output = self.folder / "c.calibration.json"

    def lines(self):
        return [json.loads(line) for line in self.records.read_text().splitlines()]

    def is_complete(self, records):
        """Whether there was time for everything, which a crowded machine may not have."""
        return not any(r.get("record") == "note" and "left out" in r["text"] for r in records)


class Job(Measured):
    def run_words(self, words, **environment):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(PLAYED / "played_nccl"), **environment}
        done = subprocess.run([*MPIRUN, *map(str, words)], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=600)
        # What mpirun itself says of a process that failed is not of the program.
        own = [line for line in done.stderr.splitlines() if line.startswith(("error:", "warning:"))]
        return done.returncode, own, done.stdout + done.stderr

    def cuda(self, ranks, devices, hosts, *options, memory=1 << 18, **environment):
        return self.run_words(["-np", ranks, program(), devices, hosts, memory, "--mpi", *options, "-o", self.output],
                              **environment)

    def test_nccl(self):
        """Every time is that of the slowest rank; pairs of hosts are a class of links of their own."""
        code, _, text = self.cuda(3, 2, 2, "--backend", "nccl", "--max-seconds", "200", "--records", self.records,
                                  memory=1 << 8)
        self.assertEqual(code, 0, text)
        header, *records = self.lines()
        self.assertEqual((header["ranks"], header["hosts"], len(header["devices"])), (3, [0, 0, 1], 3))
        # Vectors of 1, 3 and 8 elements; blocks are at least one element.
        self.assertIn({"record": "verified", "what": "nccl", "cases": 3 * (3 * len(WHOLE) + 2 * len(BLOCKS))}, records)
        collectives = [r for r in records if r["record"] == "collective"]
        self.assertEqual({(r["variant"], r["ranks"]) for r in collectives}, {("nccl", 3)})
        for record in collectives:
            self.assertLess(abs(statistics.median(record["time_s"]) / seconds_of(record) - 1), 0.02, record)
        self.assertEqual(records[-1]["record"], "end")
        if not self.is_complete(records):
            self.skipTest("not enough time: this machine is crowded")
        self.assertIsNone(records[-1]["early"])
        sizes = {}
        for record in collectives:
            sizes.setdefault((record["op"], record["dtype"]), set()).add(record["bytes"])
        self.assertEqual(set(sizes), set(itertools.product(WHOLE + BLOCKS, BYTES)))
        for (op, dtype), found in sizes.items():
            parts = 3 * BYTES[dtype] if op in BLOCKS else 1
            self.assertTrue(all(size % parts == 0 for size in found), (op, dtype, found))
            self.assertGreaterEqual(len(found), 2, (op, dtype))
        links = {link["class"]: link for link in json.loads(self.output.read_text())["links"]}
        self.assertEqual(set(links), {"pcie", "network"})

    def test_nccl_of_one_process_says_what_its_times_contain(self):
        """One process starts and ends every call on all devices. A record says how long that takes; between two
        devices more the difference is what two devices cost."""
        extra = {}
        for devices in (2, 4, 6):
            done = subprocess.run([program(), str(devices), "1", str(1 << 7), "--backend", "nccl", "--dtype", "half",
                                   "--records", self.records, "-o", self.output], cwd=self.folder,
                                  env={**os.environ, "LD_LIBRARY_PATH": str(PLAYED / "played_nccl")},
                                  capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stderr)
            collectives = [r for r in self.lines() if r.get("record") == "collective"]
            self.assertEqual({(r["variant"], r["ranks"]) for r in collectives}, {("nccl", devices)})
            notes = [r["text"] for r in self.lines() if r.get("record") == "note" and "one process drives" in r["text"]]
            self.assertEqual(len(notes), 1, notes)
            said = re.fullmatch("nccl: one process drives all devices, so that every time contains the start and the "
                                "end of a call across them, ([0-9.]+) us", notes[0])
            self.assertIsNotNone(said, notes)
            extra[devices] = float(said[1])
        self.assertGreater(extra[2], 0)
        self.assertGreater(extra[4], extra[2])
        self.assertAlmostEqual(extra[6] - extra[4], extra[4] - extra[2], delta=0.2)  # three digits are said

    def test_fit_library_takes_the_records(self):
        code, _, text = self.cuda(2, 1, 2, "--backend", "nccl", "--dtype", "float", "--max-seconds", "200",
                                  "--records", self.records, memory=1 << 8)
        self.assertEqual(code, 0, text)
        done = subprocess.run([BUILD / "stepsim-calibrate", "fit-library", self.records, "--preset", "dgx_h100",
                               "-o", self.folder / "l.json"], capture_output=True, text=True, timeout=600)
        if not self.is_complete(self.lines()):
            self.skipTest("not enough time: this machine is crowded")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("allreduce 2x1", done.stdout + done.stderr)

    def test_only_nccl(self):
        """Vectors of ranks on several hosts travel by NCCL alone; the error names what there is without it."""
        for options in ((), ("--backend", "own"), ("--only", "kernels")):
            code, errors, text = self.cuda(2, 2, 1, *options)
            self.assertEqual(code, 2, text)
            self.assertIn("--mpi: processes exchange vectors by NCCL only: add --backend nccl", errors[0])
            self.assertFalse(self.output.exists())

    def test_each_rank_sees_its_own_gpu(self):
        code, _, text = self.cuda(2, "own", 1, "--backend", "nccl", "--max-seconds", "2")
        self.assertEqual(code, 0, text)

    def test_more_ranks_than_gpus(self):
        for devices, ranks, hosts, words in ((2, 3, 1, "host 0 has 3 ranks and 2 GPUs"), (1, 4, 2, "host 0 has 2 ranks and 1 GPUs")):
            code, errors, text = self.cuda(ranks, devices, hosts, "--backend", "nccl")
            self.assertEqual((code, len(errors)), (2, 1), text)
            self.assertIn(words, errors[0])
            self.assertFalse(self.output.exists())

    def test_no_gpu(self):
        code, errors, text = self.cuda(2, 0, 1, "--backend", "nccl")
        self.assertEqual((code, errors), (77, ["error: rank 0 (host 0): no CUDA device"]), text)

    def test_wrong_result_of_one_rank(self):
        code, errors, text = self.cuda(4, 2, 2, "--backend", "nccl", "--records", self.records, PLAYED_NCCL="wrong=2")
        self.assertEqual((code, len(errors)), (1, 1), text)
        self.assertIn("rank 2 (host 1): nccl allreduce float P=4 n=1 rank=2 index=0: got 9975", errors[0])

    def test_wrong_rounding_and_wrong_blocks(self):
        """A sum of two short numbers that is cut off instead of rounded, and blocks in another order, are told."""
        for how, call in {"truncates": "allreduce bfloat16", "sendrecv": "sendrecv float", "alltoall": "alltoall float",
                          "reduce_scatter": "reduce_scatter float", "allgather": "allgather float"}.items():
            code, errors, text = self.cuda(2, 2, 1, "--backend", "nccl", PLAYED_NCCL=f"{how}=1")
            self.assertEqual((code, len(errors)), (1, 1), text)
            self.assertIn(f"rank 1 (host 0): nccl {call} P=2", errors[0])

    def test_failed_call_leaves_no_group_open(self):
        code, errors, text = self.cuda(3, 3, 1, "--backend", "nccl", PLAYED_NCCL="call=1")
        self.assertEqual((code, errors), (1, ["error: rank 1: ncclAllReduce: played error"]), text)
        self.assertIn("a group with a failed call was closed", text)

    def test_identifier_fails(self):
        code, errors, text = self.cuda(3, 3, 1, "--backend", "nccl", PLAYED_NCCL="id")
        self.assertEqual((code, len(errors)), (1, 1), text)
        self.assertIn("rank 0 (host 0): ncclGetUniqueId: played error", errors[0])

    def test_rank_that_cannot_join_ends_all(self):
        code, errors, text = self.cuda(3, 3, 1, "--backend", "nccl", PLAYED_NCCL="start=1")
        self.assertNotEqual(code, 0, text)
        self.assertEqual(errors, ["error: rank 1: ncclCommInitRank: played error"], text)

    def test_library_missing_on_one_rank(self):
        words = [program(), 2, 1, 1 << 18, "--mpi", "--backend", "nccl", "-o", self.output]
        other = ["env", f"LD_LIBRARY_PATH={PLAYED / 'no_nccl'}"]
        code, errors, text = self.run_words(["-np", 1, *words, ":", "-np", 1, *other, *words])
        self.assertEqual((code, errors), (77, ["error: rank 1 (host 0): nccl: no function ncclGetVersion"]), text)

    def test_without_the_flag(self):
        words = [program(), 2, 1, 1 << 18, "--backend", "nccl", "-o", self.output]
        code, errors, text = self.run_words(["-np", 2, *words])
        self.assertEqual(code, 2, text)
        self.assertIn("error: cuda: started as one of 2 processes; --mpi measures with one GPU per process", errors)
        done = subprocess.run([str(w) for w in words + ["--mpi"]], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--mpi: needs at least 2 processes, got 1", done.stderr)


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("mpirun is missing")
        sys.exit(77)
    unittest.main()
