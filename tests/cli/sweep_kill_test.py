#!/usr/bin/python3
"""Real processes: a sweep gives the same bytes with 1, 2 and 8 threads, and killed at any moment and
resumed. One of its points fails and is tried again each time. Processes get their signal right after
a write (signal_at.cpp), so that none is too late on a fast machine.

usage: sweep_kill_test.py STEPSIM [SEED]
"""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/files")]
from harness import signal_at  # noqa: E402
from moving_seed import moving_seed  # noqa: E402

NODES = [2, 3, 0, 4, 6, 8, 12, 16]  # 0 fails
LATENCIES = [1e-6 * i for i in range(1, 13)]


def scenario():
    layers = [{"name": f"layer {i}", "forward_s": 1e-4, "backward_s": 2e-4,
               "gradient_bytes": 40_000 * (i + 1)} for i in range(60)]
    # Every message simulated: points slow enough to be killed between two of them.
    return {"kind": "scenario", "method": "events", "workload": {"layers": layers},
            "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}}}


class Sweeps:
    def __init__(self, stepsim, folder):
        self.stepsim = stepsim
        self.folder = folder
        sweep = {"kind": "sweep", "scenario": scenario(),
                 "axes": [{"field": "/cluster/nodes", "values": NODES},
                          {"field": "/cluster/network/latency_s", "values": LATENCIES}]}
        (folder / "sweep.json").write_text(json.dumps(sweep))

    def command(self, output, *flags):
        return [self.stepsim, "sweep", str(self.folder / "sweep.json"), "-o", str(output), "--quiet", *flags]

    def run(self, output, *flags):
        """To its end: exit 1, because points fail."""
        done = subprocess.run(self.command(output, *flags), capture_output=True, text=True)
        check(done.returncode == 1, f"exit {done.returncode}: {done.stderr}")
        check(f"{len(LATENCIES)} of {len(NODES) * len(LATENCIES)} points failed" in done.stderr, done.stderr)
        return output.read_bytes()

    def start(self, output, *flags, **options):
        return subprocess.Popen(self.command(output, *flags), stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, **options)

    def signalled(self, number, size, output, *flags):
        """The exit code of a sweep that gets the signal once it has written so many bytes."""
        process = self.start(output, *flags, env=signal_at(self.stepsim, number, size, output.name))
        process.communicate()
        return process.returncode


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def limit_file_size(size):
    def before_exec():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return before_exec


def resumed(sweeps, output, whole, what):
    part = output.read_bytes()
    check(whole.startswith(part), f"{what}: {len(part)} bytes are no prefix of the whole")
    check(sweeps.run(output, "--jobs", "2", "--resume") == whole, f"{what}: resumed file differs")
    output.unlink()
    return len(part)


def offsets_in(whole, generator):
    """Inside the header, inside the first record, and eight anywhere."""
    header = whole.index(b"\n")
    first = whole.index(b"\n", header + 1)
    return [generator.randrange(1, header), generator.randrange(header + 2, first)] + [
        generator.randrange(len(whole)) for _ in range(8)]


def main():
    stepsim = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else moving_seed()
    print("seed", seed)
    generator = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sweeps = Sweeps(stepsim, folder)
        for suffix in ("jsonl", "csv"):
            whole = sweeps.run(folder / f"one.{suffix}", "--jobs", "1")
            for jobs in ("2", "8"):
                check(sweeps.run(folder / f"{jobs}.{suffix}", "--jobs", jobs) == whole,
                      f"{jobs} threads write another {suffix} file")

            killed = []
            for offset in offsets_in(whole, generator):
                output = folder / f"killed.{suffix}"
                code = sweeps.signalled(signal.SIGKILL, max(offset, 1), output, "--jobs", "2")
                check(code == -signal.SIGKILL, f"killed at {offset}: exit {code}")
                killed.append(resumed(sweeps, output, whole, f"killed at {offset}"))
            print(suffix, "killed at", killed, "of", len(whole))
            check(0 < killed[0] < len(whole), "the header and the records are one write")

            # The system ends the process at the very byte.
            for offset in offsets_in(whole, generator):
                output = folder / f"cut.{suffix}"
                process = sweeps.start(output, "--jobs", "2", preexec_fn=limit_file_size(offset))
                process.communicate()
                check(process.returncode == -signal.SIGXFSZ, f"exit {process.returncode}")
                check(resumed(sweeps, output, whole, f"cut at {offset}") == offset, f"not cut at {offset}")

            # Ctrl-C keeps whole records. One thread takes at most as many points again as it has done.
            output = folder / f"interrupted.{suffix}"
            code = sweeps.signalled(signal.SIGINT, len(whole) // 4, output, "--jobs", "1")
            check(code == 130, f"Ctrl-C: exit {code}")
            check(output.read_bytes().endswith(b"\n"), "Ctrl-C left a piece of a record")
            resumed(sweeps, output, whole, "Ctrl-C")
            check(sorted(p.name for p in folder.iterdir() if "unfinished" in p.name) == [],
                  "temporary files left behind")
            for path in folder.glob(f"*.{suffix}"):
                path.unlink()
    print("every file byte-identical")


if __name__ == "__main__":
    main()
