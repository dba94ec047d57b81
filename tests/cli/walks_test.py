#!/usr/bin/env python3
"""Three newcomers in empty folders: what they have, what they type, and that it answers their question.

    walks_test.py STEPSIM STEPSIM_CALIBRATE [DATA]    DATA: folder with nccl-tests/, else that walk is skipped

The Python module is that of the repository where this file lies in one, else the installed one. Each walk prints its commands and their time.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SCHEDULE_AND_COMPRESSOR = """
import stepsim

def halves(ready_s, bytes):
    middle = len(bytes) // 2
    return [range(middle), range(middle, len(bytes))]

mine = {"method": "custom", "name": "mine", "density": 0.01, "bytes_per_worker": "8B * n * density",
        "exchange": "allgather", "compress_s": "20us + 4B * n / 160GBps"}
grid = {"/cluster/nodes": [4, 8, 16, 32, 64], "/cluster/network/bandwidth_Bps": ["1Gbps", "10Gbps", "25Gbps", "100Gbps"]}
rows = stepsim.compare("s.json", {"/communication/schedule": ["mg_wfbp"], **grid}, schedule=halves)
compressed = stepsim.compare("s.json", grid, {"/communication/compression": mine})
rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows  # a table without pandas is a list
print(len(rows), len(compressed), sorted({row["schedule"] for row in rows}))
"""


class Walks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def types(self, command, **environment):
        """Standard output of a line of the shell."""
        began = time.monotonic()
        path = os.pathsep.join([str(STEPSIM.parent), str(CALIBRATE.parent), os.environ.get("PATH", "")])
        module = pathlib.Path(__file__).resolve().parents[2] / "python"
        if module.is_dir():
            environment["PYTHONPATH"] = str(module)
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": path, "STEPSIM": str(STEPSIM), **environment}, check=False)
        print(f"{time.monotonic() - began:.1f} s: {command.splitlines()[0][:150]}", flush=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout

    def test_from_a_trace_to_the_buckets_of_64_gpus(self):
        answer = self.types("stepsim study gpt2.h100 --network 100g-roce --gpus 64")
        self.assertLessEqual(len(answer.splitlines()), 25)
        self.assertRegex(answer, r"(?m)^ +64 +[0-9.]+ +[0-9.]+ to [0-9.]+ ")  # the step and its band
        self.assertRegex(answer, r"bounded by|bottleneck")
        self.assertRegex(answer, r"(?m)^  buckets: .*bucket_cap_mb")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_schedule_and_a_compressor_of_one_s_own_over_a_grid(self):
        self.types("stepsim init -o s.json")
        (self.folder / "mine.py").write_text(SCHEDULE_AND_COMPRESSOR)
        self.assertEqual(self.types(f"{sys.executable} mine.py"), "40 20 ['halves', 'mg_wfbp']\n")

    def test_from_logs_to_what_a_second_card_brings(self):
        if DATA is None or not (DATA / "nccl-tests").is_dir() or not CALIBRATE.is_file():
            self.skipTest("no logs of nccl-tests, or no stepsim-calibrate here")
        self.types(f"stepsim-calibrate fit-library {DATA / 'nccl-tests'} --preset dgx_h100 -o cluster.library.json")
        answer = json.loads(self.types(
            "stepsim init --trace gpt2.h100 --cluster dgx_h100 --nodes 16 | stepsim compare - --set "
            "'/communication/library={\"calibration\":\"cluster.library.json\"}' --over /cluster/nics_per_node=1,2 --json"))
        one, two = sorted(answer["rows"], key=lambda row: row["nics_per_node"])
        self.assertLess(two["iteration_time_s"], one["iteration_time_s"])
        self.assertEqual(answer["rows"][answer["best"]]["nics_per_node"], 2)


if __name__ == "__main__":
    STEPSIM, CALIBRATE = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    DATA = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
    unittest.main()
