#!/usr/bin/env python3
"""`stepsim-calibrate cuda --mpi` and `--torchrun` with several processes on the played machine
(played_calibrate.cpp): who takes which GPU, NCCL over an identifier of rank 0, times of the slowest rank, and failures
of one rank. 77 without mpirun.

    job_test.py BUILD_DIR FOLDER_OF_PLAYED_PROGRAMS
"""
import contextlib
import importlib.util
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from ports import free_ports  # noqa: E402

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
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
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
        self.is_used_by_sharded_training()

    def is_used_by_sharded_training(self):
        """`show` names the curves, and full_shard takes them: 3 ms, of which half of an all-reduce has 1.5."""
        done = subprocess.run([BUILD / "stepsim-calibrate", "show", self.output], capture_output=True, text=True)
        for op in WHOLE + BLOCKS:
            self.assertRegex(done.stdout, rf"\n{op} +nccl P=3, nccl P=3 bfloat16, nccl P=3 half; ")
        scenario = {"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 24}]},
                    "cluster": {"nodes": 3, "network": {"calibration": str(self.output)}},
                    "training": {"sharding": {"strategy": "full_shard", "parameter_bytes": 2, "reduce_bytes": 4}},
                    "communication": {"collective": "calibrated"}}
        (self.folder / "s.json").write_text(json.dumps(scenario))
        done = subprocess.run([BUILD / "stepsim", "run", self.folder / "s.json", "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        unit, = json.loads(done.stdout)["units"]
        self.assertAlmostEqual(unit["gather_s"], 3e-3, delta=1e-4)
        self.assertAlmostEqual(unit["reduce_s"], 3e-3, delta=1e-4)

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
        code, _, text = self.cuda(2, "own", 1, "--backend", "nccl", "--max-seconds", "200")
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


class Torchrun(Measured):
    """Processes that meet by environment variables. A host begins where LOCAL_RANK is 0 again."""

    def start(self, places, devices, *options, memory=1 << 8, changes={}, before={}):
        """Exit codes by rank, and the lines of error of all. `changes` of variables by process; None: not set. `before`
        has words before the program."""
        port = free_ports(1)
        processes = []
        for i, local in enumerate(places):
            of_rank = {"RANK": i, "WORLD_SIZE": len(places), "LOCAL_RANK": local, "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": port, "LD_LIBRARY_PATH": PLAYED / "played_nccl", **changes.get(i, {})}
            environment = {**os.environ, **{key: str(value) for key, value in of_rank.items() if value is not None}}
            words = [*before.get(i, []), program(), devices, 1, memory, "--torchrun", "--backend", "nccl", "-o", self.output, *options]
            processes.append(subprocess.Popen([str(w) for w in words], cwd=self.folder, env=environment,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        texts = [process.communicate(timeout=600)[1] for process in processes]
        errors = [line for text in texts for line in text.splitlines() if line.startswith("error:")]
        return [process.returncode for process in processes], errors

    def test_nccl(self):
        codes, errors = self.start([0, 1, 0], 2, "--records", self.records, "--dtype", "bfloat16",
                                   "--max-seconds", "200")
        self.assertEqual((codes, errors), ([0, 0, 0], []))
        header, *records = self.lines()
        self.assertEqual((header["ranks"], header["hosts"], len(header["devices"])), (3, [0, 0, 1], 3))
        collectives = [r for r in records if r["record"] == "collective"]
        for record in collectives:
            self.assertLess(abs(statistics.median(record["time_s"]) / seconds_of(record) - 1), 0.02, record)
        if not self.is_complete(records):
            self.skipTest("not enough time: this machine is crowded")
        self.assertEqual({(r["op"], r["dtype"]) for r in collectives}, {(op, "bfloat16") for op in WHOLE + BLOCKS})
        links = {link["class"] for link in json.loads(self.output.read_text())["links"]}
        self.assertEqual(links, {"pcie", "network"})

    def test_two_and_four_processes(self):
        for ranks in (2, 4):
            codes, errors = self.start(range(ranks), ranks, "--dtype", "float", "--max-seconds", "200")
            self.assertEqual((codes, errors), ([0] * ranks, []))

    def test_variables(self):
        """What is missing or wrong is one line on the process that has it."""
        wrong = [("RANK", None, "not set"), ("RANK", "2", "from 0 to 1, got '2'"), ("WORLD_SIZE", None, "not set"),
                 ("WORLD_SIZE", "1", "from 2 to"), ("LOCAL_RANK", None, "not set"),
                 ("LOCAL_RANK", "one", "got 'one'"), ("MASTER_ADDR", None, "not set"), ("MASTER_ADDR", "no host", "no host"),
                 ("MASTER_PORT", None, "not set"), ("MASTER_PORT", "65536", "from 1 to 65535"),
                 ("MASTER_PORT", "80 ", "got '80 '")]
        for name, value, words in wrong:
            codes, errors = self.start([0], 2, changes={0: {"WORLD_SIZE": 2, name: value}})
            self.assertEqual((codes, len(errors)), ([2], 1), (name, value, errors))
            self.assertTrue(errors[0].startswith(f"error: {name}: ") and words in errors[0], errors)
            self.assertFalse(self.output.exists())

    def test_ranks_that_do_not_fit(self):
        for places, changes, words in (
                ([0, 1, 2], {2: {"RANK": 1, "LOCAL_RANK": 1}}, "two processes have RANK 1"),
                ([0, 1], {1: {"WORLD_SIZE": 3}}, "rank 1 has WORLD_SIZE 3, rank 0 has 2"),
                ([0, 1, 1], {}, "LOCAL_RANK of rank 2: must be 0 or 2, one more than that of the rank before, got 1"),
                ([0, 1, 2], {}, "host 0 has 3 ranks and 2 GPUs")):
            codes, errors = self.start(places, 2, changes=changes)
            self.assertEqual((codes[0], len(errors)), (2, 1), errors)
            self.assertIn(words, errors[0])
            self.assertNotIn(0, codes)

    def test_ranks_that_do_not_come(self):
        codes, errors = self.start([0, 1], 2, "--timeout", "1s", changes={1: {"RANK": 2, "WORLD_SIZE": 4},
                                                                         0: {"WORLD_SIZE": 4}})
        self.assertEqual((codes, errors), ([1, 1], ["error: after 1 s rank(s) 1, 3 have not come"]))
        codes, errors = self.start([1], 2, "--timeout", "1s", changes={0: {"RANK": 1, "WORLD_SIZE": 2}})
        self.assertEqual((codes, len(errors)), ([1], 1))
        self.assertRegex(errors[0], r"error: rank 1: no rank 0 at 127\.0\.0\.1:\d+: Connection refused")

    def test_strangers_are_sent_away(self):
        port, heard = free_ports(1), []

        def call():
            for _ in range(400):
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)) as stranger:
                    stranger.sendall(b"GET / HTTP/1.1\r\n")
                    heard.append(stranger.recv(1))
                    return
                time.sleep(0.01)

        thread = threading.Thread(target=call)
        thread.start()
        at = {"MASTER_PORT": port}
        late = ["sh", "-c", 'sleep 0.5; exec "$@"', "-"]
        codes, errors = self.start([0, 1], 2, "--max-seconds", "5", changes={0: at, 1: at}, before={1: late})
        thread.join()
        self.assertEqual((codes, errors, heard), ([0, 0], [], [b""]))

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            port = free_ports(2)
            taken.bind(("0.0.0.0", port))
            taken.listen()
            codes, errors = self.start([0], 2, changes={0: {"WORLD_SIZE": 2, "MASTER_PORT": port}})
            self.assertEqual((codes, errors), ([1], [f"error: port {port} of MASTER_PORT: Address already in use"]))
            # torchrun that listens there itself leaves the next one to its processes.
            agent = {"MASTER_PORT": port, "TORCHELASTIC_USE_AGENT_STORE": "True"}
            codes, errors = self.start([0, 1], 2, "--max-seconds", "5", changes={0: agent, 1: agent})
            self.assertEqual((codes, errors), ([0, 0], []))

    def test_a_last_word_comes_behind_the_text_that_is_sent(self):
        """Rank 1 fails while rank 0 sends a text to rank 2, which reads slowly."""
        port, reported, size = free_ports(1), b"\xff\xff\xff\xff", 16 << 20

        def connected(rank):
            for _ in range(400):
                with contextlib.suppress(ConnectionRefusedError):
                    made = socket.create_connection(("127.0.0.1", port))
                    made.sendall(struct.pack("=8sII", b"stepsim1", rank, 3))
                    threading.Thread(target=made.sendall, args=(struct.pack("=I", size) + bytes(size),)).start()
                    return made
                time.sleep(0.01)
            return None

        at = {"MASTER_PORT": port, "WORLD_SIZE": 3}
        thread = threading.Thread(target=self.start, args=([0], 3), kwargs={"changes": {0: at}})
        thread.start()
        with connected(1) as fails, connected(2) as slow, fails.makefile("rb") as quick, slow.makefile("rb") as late:
            length, = struct.unpack("=I", quick.read(4))
            quick.read(length)
            time.sleep(0.2)
            fails.sendall(reported)
            fails.shutdown(socket.SHUT_WR)
            time.sleep(0.5)
            self.assertEqual(struct.unpack("=I", late.read(4))[0], length)
            rest = late.read()
            self.assertEqual((len(rest), rest[-4:]), (length + 4, reported))
        thread.join()

    def test_failures_of_one_rank(self):
        for how, words in (("start=1", "rank 1: ncclCommInitRank: played error"),
                           ("dies=2", "rank 0: rank 2 has ended"),
                           ("call=2", "rank 2: ncclAllReduce: played error"),
                           ("id", "rank 0 (host 0): ncclGetUniqueId: played error"),
                           ("wrong=1", "rank 1 (host 0): nccl allreduce float P=3 n=1")):
            every = {rank: {"PLAYED_NCCL": how} for rank in range(3)}
            codes, errors = self.start([0, 1, 2], 3, changes=every)
            self.assertEqual(len(errors), 1, (how, errors))
            self.assertIn(words, errors[0])
            self.assertEqual(codes, [1, 1, 0 if how == "dies=2" else 1], how)
        no_library = {1: {"LD_LIBRARY_PATH": PLAYED / "no_nccl"}}
        codes, errors = self.start([0, 1], 2, changes=no_library)
        self.assertEqual((codes, errors), ([77, 77], ["error: rank 1 (host 0): nccl: no function ncclGetVersion"]))

    def test_flags(self):
        words = [program(), "2", "1", str(1 << 8), "-o", str(self.output)]
        for extra, text in (([], "cuda: started as one of 2 processes; --torchrun measures with one GPU per process"),
                            (["--torchrun", "--mpi", "--backend", "nccl"], "--torchrun: not with --mpi"),
                            (["--torchrun"], "--torchrun: processes exchange vectors by NCCL only"),
                            (["--torchrun", "--backend", "nccl", "--ranks", "2"], "--ranks: not with --torchrun")):
            done = subprocess.run(words + extra, env={**os.environ, "WORLD_SIZE": "2"}, capture_output=True, text=True,
                                  timeout=600)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(text, done.stderr)

    def test_torchrun_itself(self):
        """As users start it: its own store on MASTER_PORT, and with --standalone."""
        if importlib.util.find_spec("torch") is None:
            self.skipTest("torch is missing")
        for launch in (["--master_addr", "127.0.0.1", "--master_port", free_ports(1)], ["--standalone"]):
            words = [sys.executable, "-m", "torch.distributed.run", *launch, "--redirects", 1, "--tee", 2,
                     "--log_dir", self.folder / "log", "--no_python", "--nproc_per_node", 2, program(), 2,
                     1, 1 << 8, "--torchrun", "--backend", "nccl", "--dtype", "half", "--max-seconds", 200, "--records",
                     self.records, "-o", self.output]
            done = subprocess.run([str(w) for w in words], cwd=self.folder, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, "LD_LIBRARY_PATH": str(PLAYED / "played_nccl")})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.lines()[0]["ranks"], 2)
            self.records.unlink()


if __name__ == "__main__":
    if shutil.which("mpirun") is None:
        print("mpirun is missing")
        sys.exit(77)
    unittest.main()
