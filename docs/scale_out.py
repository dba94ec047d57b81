#!/usr/bin/python3
"""Measures how fast a sweep runs in one process and in shards by mpirun, GNU parallel, Slurm and Dask, kills a
worker in the middle of a sweep, and writes the section of docs/scale-out.md.

usage: scale_out.py STEPSIM
Needs root, openmpi-bin, parallel, slurm-wlm, munge and python3-distributed, 2 GB in TMPDIR and some minutes.
Exit 1 if a way gives another file than one process.
"""
import hashlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "tests/cli", "tests/python")]
import dask_test  # noqa: E402
import distributed  # noqa: E402
import page_section  # noqa: E402
import parallel_examples_test as examples  # noqa: E402
import stepsim  # noqa: E402

POINTS, SHARDS, FLAGS = 1_000_000, 8, ["--columns", "iteration_time_s", "--quiet"]
ONE = "one process, `--jobs`"


class Ways:
    """Each call leaves `out`, the file of the whole sweep; `parts` of it are merged."""

    def __init__(self, folder, slurm):
        self.folder, self.slurm, self.out, self.client = folder, slurm, folder / "out.jsonl", None
        self.program = os.environ["STEPSIM"]
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def run(self, *words):
        examples.run([str(word) for word in words], self.environment, cwd=self.folder)

    def sweep(self, name, *words):
        return [self.program, "sweep", self.folder / name, "-o", self.out, *words, *FLAGS]

    def merge(self):
        if parts := self.parts():
            self.run(self.program, "merge", *parts, "-o", self.out, "--quiet")

    def parts(self):
        return sorted(self.folder.glob("out.shard-*"))

    def clean(self):
        for path in [self.out, *self.parts()]:
            path.unlink(missing_ok=True)

    def one(self, name, workers, _):
        self.run(*self.sweep(name, "--jobs", workers))

    def mpirun(self, name, _, shards):
        self.run("mpirun", "--oversubscribe", "-np", shards, *self.sweep(name, "--jobs", 1, "--shard", "auto"))
        self.merge()

    def parallel(self, name, workers, shards):
        self.run("parallel", "-j", workers, *self.sweep(name, "--jobs", 1, "--shard", f"{{}}/{shards}"), ":::",
                 *range(shards))
        self.merge()

    def srun(self, name, _, shards):
        self.slurm.run("srun", "-n", str(shards), "--overcommit",
                       *map(str, self.sweep(name, "--jobs", 1, "--shard", "auto")))
        self.merge()

    def array(self, name, workers, shards, meanwhile=lambda job: None):
        job = self.slurm.run("sbatch", "--parsable", f"--array=0-{shards - 1}%{workers}", "--output=/dev/null",
                             str(ROOT / "examples/slurm/array.sbatch"), str(self.folder / name), str(self.out), *FLAGS)
        meanwhile(job.strip())
        examples.wait_for("the array", lambda: not self.slurm.run("squeue", "-h"))
        self.merge()

    def dask(self, name, _, shards):
        stepsim._merged(self.client, shards, ["sweep", *FLAGS, "--jobs", 1, "--format", "jsonl"], self.folder / name,
                        ["-o", str(self.out), "--force"])


def seconds(call):
    start = time.monotonic()
    call()
    return time.monotonic() - start


def write_sweeps(folder):
    """`cheap.json`: 10^6 steps on a ring; `costly.json`: simulated flows; `none.json`: one point."""
    layers = [{"name": name, "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4_000_000} for name in "abcd"]
    scenario = {"workload": {"layers": layers},
                "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}}
    axes = [{"field": "/cluster/nodes", "values": [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]},
            {"field": "/cluster/network/latency_s", "from": 1e-6, "to": 1e-3, "steps": 100, "scale": "log"},
            {"field": "/cluster/network/bandwidth_Bps", "from": 1e8, "to": 1e11, "steps": POINTS // 1000, "scale": "log"}]
    for name, those in (("cheap", axes), ("none", [{"field": "/cluster/nodes", "values": [2]}])):
        (folder / f"{name}.json").write_text(json.dumps({"kind": "sweep", "scenario": scenario, "axes": those}))
    examples.write_long_sweep(folder)
    (folder / "sweep.json").rename(folder / "costly.json")


def digest(ways):
    found = hashlib.sha256(ways.out.read_bytes()).hexdigest()
    ways.clean()
    return found


def killed(ways):
    """Seconds and sums of 10^6 points while a worker of Dask, and a task of Slurm, is killed with SIGKILL."""
    def kill():
        while not (running := dask_test.running_programs()):
            time.sleep(0.001)
        time.sleep(0.1)
        os.kill(next(iter(running.values())), signal.SIGKILL)
    thread = threading.Thread(target=kill)
    thread.start()
    yield seconds(lambda: ways.dask("cheap.json", 2, SHARDS)), digest(ways)
    thread.join()
    again = lambda job: examples.start_again(ways.slurm, ways.folder, job, True)  # noqa: E731
    yield seconds(lambda: ways.array("cheap.json", 2, 4, again)), digest(ways)


def measured(ways):
    """Times by way, the best of three rounds: cheap and costly with 1 and 2 workers, start, each shard; the time of
    merging; times and sums with a killed worker; and the sums of the files. Arrays, which take long, run once."""
    sums = {"cheap.json": set(), "costly.json": set()}
    calls = {ONE: ways.one, "`mpirun`": ways.mpirun, "GNU parallel": ways.parallel, "`srun`": ways.srun,
             "Slurm array": ways.array, "Dask": ways.dask}
    times, merges = {name: {} for name in calls}, []
    for once, workers in ((True, 1), (True, 2), (False, 1), (False, 2), (False, 1), (False, 2)):
        begin = time.monotonic()
        with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster, \
                distributed.Client(cluster) as ways.client:
            start = time.monotonic() - begin
            for name, call in calls.items():
                if name == "Slurm array" and not once:
                    continue
                many = workers if call in (ways.mpirun, ways.srun) else SHARDS
                for sweep in sums:
                    took = seconds(lambda: call(sweep, workers, many))
                    times[name][sweep, workers] = min(took, times[name].get((sweep, workers), took))
                    if sweep == "cheap.json" and ways.parts():
                        merges.append(seconds(ways.merge))
                    sums[sweep].add(digest(ways))
                if workers == 2 and once:
                    slots = 64 if name == "Slurm array" else 2
                    one, more = (min(seconds(lambda: (call("none.json", slots, shards), ways.clean()))
                                     for _ in range(3)) for shards in (1, 33))
                    times[name] |= {"start": one + (start if name == "Dask" else 0), "shard": (more - one) / 32}
                print(name, times[name], flush=True)
            if workers == 2 and once:
                again = list(killed(ways))
    return times, min(merges), again, sums


def rate(value):
    return f"{float(f'{value:.2g}'):,.0f}"


def lines(times, merge, again, sums, points):
    """The section of the page. `serial` is the part of a point's work that threads of one process do one after the
    other, such as writing: by Amdahl's law from the times of 1 and 2 threads."""
    one = times[ONE]
    serial = min(max(0, 2 * one["cheap.json", 2] - one["cheap.json", 1]), one["cheap.json", 1]) / POINTS
    work = {"cheap.json": one["cheap.json", 1] / POINTS, "costly.json": one["costly.json", 1] / points}
    yield (f"{os.cpu_count()} cores; {POINTS:,} cheap points of {work['cheap.json'] * 1e6:.2g} us each, and {points} costly "
           f"ones of {work['costly.json'] * 1e3:.2g} ms; {SHARDS} shards, with `mpirun` and `srun` one a worker; best of three rounds, merging included "
           f"({merge:.2g} s for {POINTS:,} points). The last four columns are for {POINTS:,} points.")
    yield ""
    yield ("| way | cheap points/s, 1 worker | 2 workers | costly points/s, 1 worker | 2 workers | start | each shard | 64 cores, cheap: "
           "computed from overheads | costly: computed from overheads | 32 x 64 cores, cheap: computed from overheads | "
           "costly: computed from overheads |")
    yield "|" + " --- |" * 11
    for name, time_of in times.items():
        cells = [rate(size / time_of[sweep, workers]) for sweep, size in (("cheap.json", POINTS), ("costly.json", points)) for workers in (1, 2)]
        cells += [f"{time_of['start']:.2g} s", "-" if name == ONE else f"{time_of['shard'] * 1e3:.2g} ms" if time_of["shard"] > 0 else
                  "not resolved"]
        for nodes, shards in ((1, 64), (32, 32)):
            for sweep in work:
                if nodes > 1 and name in (ONE, "GNU parallel"):
                    cells.append("-")
                    continue
                alone = serial if name == ONE or nodes > 1 else 0
                point = (work[sweep] - alone) / (64 * nodes) + alone / nodes + (0 if name == ONE else merge / POINTS)
                total = time_of["start"] + POINTS * point + (0 if name == ONE else shards * max(0, time_of["shard"]))
                cells.append(rate(POINTS / total))
        yield "| " + " | ".join([name, *cells]) + " |"
    yield ""
    found = sorted(sums["cheap.json"] | {each[1] for each in again})
    yield (f"The file of the {POINTS:,} points has the SHA-256 `{found[0]}` in every row. It has it, too, when a worker is "
           f"killed with SIGKILL in the middle: with Dask in {again[0][0]:.2g} s ({times['Dask']['cheap.json', 2]:.2g} s undisturbed), with a Slurm array "
           f"of four tasks, one of which is requeued, in {again[1][0]:.2g} s." if len(found) == 1 else
           f"THE FILES DIFFER: {found}")


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # so that Slurm is stopped
    os.environ["STEPSIM"] = str(pathlib.Path(sys.argv[1]).resolve())
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    with tempfile.TemporaryDirectory(prefix="stepsim-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        write_sweeps(folder)
        with examples.Slurm(folder, dict(os.environ), cores=64) as slurm:  # slots for tasks that take no time
            times, merge, again, sums = measured(Ways(folder, slurm))
    section = list(lines(times, merge, again, sums, 3000))
    print("\n".join(section))
    page_section.renewed(ROOT / "docs/scale-out.md", "scale out", section, False)
    return int(any(len(each) != 1 for each in sums.values()) or {each[1] for each in again} != sums["cheap.json"])


if __name__ == "__main__":
    sys.exit(main())
