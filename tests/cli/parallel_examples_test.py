#!/usr/bin/python3
"""The scripts in examples/ that split a sweep, run as users run them: their merged file is that of
one process. Exit 77 where the tool is not installed.

usage: parallel_examples_test.py gnu_parallel|mpirun|slurm|slurm_srun|slurm_requeue|slurm_kill STEPSIM
In the last two a task of the array is stopped in the middle, by Slurm or with SIGKILL, and started again.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from ports import free_ports  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SKIPPED = 77

SLURM_CONF = """ClusterName=stepsim_test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={port2}
SlurmUser={user}
SlurmdUser={user}
SlurmdParameters=config_overrides
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            sys.exit(SKIPPED)


def write_long_sweep(folder):
    """Some seconds of work: a task is still running when it is killed."""
    layers = [{"name": f"layer {i}", "forward_s": 1e-4, "backward_s": 2e-4,
               "gradient_bytes": 40_000 * (i % 17 + 1)} for i in range(60)]
    network = {"model": "flow"}
    sweep = {"kind": "sweep",
             "scenario": {"workload": {"layers": layers}, "seed": 3,
                          "cluster": {"nodes": 8, "network": network,
                                      "topology": {"preset": "star", "hosts": 16, "latency_s": 1e-5,
                                                   "bandwidth_Bps": 1e9}},
                          "variability": {"compute_cv": 0.1}},
             "axes": [{"field": "/cluster/nodes", "from": 2, "to": 16, "steps": 15},
                      {"field": "/communication/schedule", "values": ["wfbp", "ddp"]}],
             "replications": 100}
    (folder / "sweep.json").write_text(json.dumps(sweep))


def write_sweep(folder):
    layers = [{"name": f"layer {i}", "forward_s": 1e-4, "backward_s": 2e-4,
               "gradient_bytes": 40_000 * (i + 1)} for i in range(8)]
    sweep = {"kind": "sweep",
             "scenario": {"workload": {"layers": layers},
                          "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}},
             "axes": [{"field": "/cluster/nodes", "from": 1, "to": 21, "steps": 21},
                      {"field": "/communication/schedule", "values": ["wfbp", "optimal"]}]}
    (folder / "sweep.json").write_text(json.dumps(sweep))


def run(command, environment, **options):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, **options)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Slurm:
    """A single-node Slurm of its own, as an ordinary user (IO 14)."""

    def __init__(self, folder, environment, cores=os.cpu_count()):
        self.folder = folder
        self.environment = dict(environment, SLURM_CONF=str(folder / "slurm.conf"),
                                PATH=environment["PATH"] + ":/usr/sbin:/sbin")
        self.as_user = []
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        if os.geteuid() == 0: # the daemons want an ordinary user
            user = "nobody"
            self.as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        host = socket.gethostname().split(".")[0]
        port = free_ports(2)
        (folder / "slurm.conf").write_text(SLURM_CONF.format(
            host=host, port=port, port2=port + 1, user=user, folder=folder, cores=cores))
        for name in ("state", "spool", "log"):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        if self.as_user:
            for path in [folder, *folder.rglob("*")]:
                shutil.chown(path, "nobody", "nogroup")

    def run(self, *command):
        return run([*self.as_user, *command], self.environment, cwd=self.folder)

    def __enter__(self):
        try:
            return self.started()
        except BaseException:
            self.__exit__()
            raise

    def started(self):
        f = self.folder
        self.run("munged", f"--key-file={f}/munge.key", f"--socket={f}/munge.sock",
                 f"--pid-file={f}/munged.pid", f"--log-file={f}/munged.log", f"--seed-file={f}/munged.seed")
        self.run("slurmctld")
        self.run("slurmd")
        give_up = time.monotonic() + 20
        while True:
            state = subprocess.run([*self.as_user, "sinfo", "-h", "-o", "%t"], env=self.environment,
                                   capture_output=True, text=True)
            if state.stdout.strip() == "idle":
                return self
            if time.monotonic() > give_up:
                for log in (self.folder / "log").iterdir():
                    print(log.read_text())
                sys.exit("FAILED: Slurm does not come up")
            time.sleep(0.2)

    def processes(self):
        """Of the daemons and of their jobs: all have the configuration of this folder."""
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"SLURM_CONF={self.folder}/".encode() in path.read_bytes():
                    yield int(path.parent.name)
            except OSError:
                pass

    def __exit__(self, *_):
        subprocess.run([*self.as_user, "scontrol", "shutdown"], env=self.environment, check=False)
        give_up = time.monotonic() + 10
        while (self.folder / "slurmctld.pid").exists() and time.monotonic() < give_up:
            time.sleep(0.1)
        for process in self.processes():
            os.kill(process, signal.SIGKILL)


def wait_for(what, condition, seconds=150):
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            sys.exit(f"FAILED: {what}: not within {seconds} s")
        time.sleep(0.05)


def task_of(slurm, task):
    """The process of a task of an array."""
    return next(each for each in slurm.processes() if f"SLURM_ARRAY_TASK_ID={task}\0".encode() in
                pathlib.Path(f"/proc/{each}/environ").read_bytes() and
                b"\0sweep\0" in pathlib.Path(f"/proc/{each}/cmdline").read_bytes())


def start_again(slurm, folder, job, kill):
    """Task 1 is stopped when it has written points, and is started again by Slurm."""
    shard = folder / "out.shard-1-of-4.jsonl"
    wait_for("the first points of task 1", lambda: shard.exists() and shard.read_bytes().count(b"\n") > 3)
    if kill:
        os.kill(task_of(slurm, 1), signal.SIGKILL)
        wait_for("the end of task 1", lambda: "JobState=FAILED" in slurm.run("scontrol", "show", "job", f"{job}_1"))
    written = shard.read_bytes().count(b"\n")
    slurm.run("scontrol", "requeue", f"{job}_1")
    wait_for("the end of all tasks", lambda: not slurm.run("squeue", "-h", "-o", "%t").replace("CG", "").strip())
    restarts = re.search(r"Restarts=(\d+)", slurm.run("scontrol", "show", "job", f"{job}_1")).group(1)
    if restarts != "1" or written >= shard.read_bytes().count(b"\n"):
        sys.exit(f"FAILED: task 1 was started again {restarts} times, after {written} lines")
    print(f"task 1 was killed after {written} lines and started again")


def run_slurm(folder, environment, stepsim, kind):
    output = folder / "out.jsonl"
    stopped = kind in ("slurm_requeue", "slurm_kill")
    with Slurm(folder, environment) as slurm:
        if kind == "slurm_srun":
            slurm.run("srun", "-n4", "--overcommit", stepsim, "sweep", str(folder / "sweep.json"), "-o", str(output),
                      "--shard", "auto", "--jobs", "1", "--resume")
        else:
            job = slurm.run("sbatch", "--parsable", "--array=0-3", f"--output={folder}/log/%a.log",
                            *([] if stopped else ["--wait"]), str(EXAMPLES / "slurm/array.sbatch"),
                            str(folder / "sweep.json"), str(output)).strip()
        if stopped:
            start_again(slurm, folder, job, kind == "slurm_kill")
    wait_for("the end of Slurm's processes", lambda: not list(slurm.processes()), 10)
    shards = sorted(folder.glob("out.shard-*-of-4.jsonl"))
    if len(shards) != 4:
        sys.exit(f"FAILED: {len(shards)} shards, expected 4")
    run([stepsim, "merge", *map(str, shards), "-o", str(output)], environment)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED: terminated"))
    kind, stepsim = sys.argv[1], os.path.abspath(sys.argv[2])
    environment = dict(os.environ, STEPSIM=stepsim)
    if kind == "gnu_parallel":
        need("parallel")
    elif kind == "mpirun":
        need("mpirun")
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                        "MPIRUN_FLAGS": "--oversubscribe"}
    else:
        environment["PATH"] += ":/usr/sbin:/sbin"
        os.environ["PATH"] = environment["PATH"]
        need("sbatch", "slurmctld", "slurmd", "munged", "setpriv")
    with tempfile.TemporaryDirectory(prefix="stepsim-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (write_long_sweep if kind in ("slurm_requeue", "slurm_kill") else write_sweep)(folder)
        run([stepsim, "sweep", str(folder / "sweep.json"), "-o", str(folder / "whole.jsonl")], environment)
        if kind.startswith("slurm"):
            run_slurm(folder, environment, stepsim, kind)
        else:
            run([str(EXAMPLES / f"parallel/{kind}.sh"), str(folder / "sweep.json"),
                 str(folder / "out.jsonl")], environment, cwd=folder)
        sums = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("out.jsonl", "whole.jsonl")]
        if sums[0] != sums[1]:
            sys.exit("FAILED: the merged file differs from that of one process")
    print(f"{kind}: the merged file is that of one process, SHA-256 {sums[0]}")


if __name__ == "__main__":
    main()
