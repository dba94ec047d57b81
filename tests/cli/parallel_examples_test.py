#!/usr/bin/python3
"""The scripts in examples/ that split a sweep, run as users run them: their merged file is that of
one process. Exit 77 where the tool is not installed.

usage: parallel_examples_test.py gnu_parallel|mpirun|slurm|slurm_requeue STEPSIM
slurm_requeue kills a task of the array in the middle, and Slurm starts it again.
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
SKIPPED = 77

SLURM_CONF = """ClusterName=stepsim_test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={port2}
SlurmUser={user}
SlurmdUser={user}
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
             "replications": 20}
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


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    """A single-node Slurm of its own, as an ordinary user (IO 14)."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = dict(environment, SLURM_CONF=str(folder / "slurm.conf"),
                                PATH=environment["PATH"] + ":/usr/sbin:/sbin")
        self.as_user = []
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        if os.geteuid() == 0: # the daemons want an ordinary user
            user = "nobody"
            self.as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        host = socket.gethostname().split(".")[0]
        port, port2 = free_ports(2)
        (folder / "slurm.conf").write_text(SLURM_CONF.format(
            host=host, port=port, port2=port2, user=user, folder=folder, cores=os.cpu_count()))
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
        f = self.folder
        self.run("munged", f"--key-file={f}/munge.key", f"--socket={f}/munge.sock",
                 f"--pid-file={f}/munged.pid", f"--log-file={f}/munged.log",
                 f"--seed-file={f}/munged.seed")
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
                self.__exit__()
                sys.exit("FAILED: Slurm does not come up")
            time.sleep(0.2)

    def __exit__(self, *_):
        subprocess.run([*self.as_user, "scontrol", "shutdown"], env=self.environment, check=False)
        pid = self.folder / "munged.pid"
        if pid.exists():
            subprocess.run([*self.as_user, "kill", pid.read_text().strip()], check=False)
        give_up = time.monotonic() + 10
        while (self.folder / "slurmctld.pid").exists() and time.monotonic() < give_up:
            time.sleep(0.1)


def wait_for(what, condition, seconds=150):
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            sys.exit(f"FAILED: {what}: not within {seconds} s")
        time.sleep(0.05)


def requeue_one(slurm, folder, job):
    """Task 1 is stopped when it has written points, and is started again by Slurm."""
    shard = folder / "out.shard-1-of-4.jsonl"
    wait_for("the first points of task 1", lambda: shard.exists() and shard.read_bytes().count(b"\n") > 3)
    written = shard.read_bytes().count(b"\n")
    slurm.run("scontrol", "requeue", f"{job}_1")
    wait_for("the end of all tasks",
             lambda: not slurm.run("squeue", "-h", "-o", "%t").replace("CG", "").strip())
    restarts = re.search(r"Restarts=(\d+)", slurm.run("scontrol", "show", "job", f"{job}_1")).group(1)
    if restarts != "1":
        sys.exit(f"FAILED: task 1 was started again {restarts} times")
    print(f"task 1 was killed after {written} lines and started again")


def run_slurm(folder, environment, stepsim, kill):
    output = folder / "out"
    with Slurm(folder, environment) as slurm:
        words = ["sbatch", "--parsable", "--array=0-3", f"--output={folder}/log/%a.log",
                 *([] if kill else ["--wait"]), str(EXAMPLES / "slurm/array.sbatch"),
                 str(folder / "sweep.json"), str(folder / "out.jsonl")]
        job = slurm.run(*words).strip()
        if kill:
            requeue_one(slurm, folder, job)
    shards = sorted(folder.glob("out.shard-*-of-4.jsonl"))
    if len(shards) != 4:
        sys.exit(f"FAILED: {len(shards)} shards, expected 4")
    run([stepsim, "merge", *map(str, shards), "-o", str(output) + ".jsonl"], environment)


def main():
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
        (write_long_sweep if kind == "slurm_requeue" else write_sweep)(folder)
        run([stepsim, "sweep", str(folder / "sweep.json"), "-o", str(folder / "whole.jsonl")], environment)
        if kind.startswith("slurm"):
            run_slurm(folder, environment, stepsim, kind == "slurm_requeue")
        else:
            run([str(EXAMPLES / f"parallel/{kind}.sh"), str(folder / "sweep.json"),
                 str(folder / "out.jsonl")], environment, cwd=folder)
        if (folder / "out.jsonl").read_bytes() != (folder / "whole.jsonl").read_bytes():
            sys.exit("FAILED: the merged file differs from that of one process")
    print(f"{kind}: the merged file is that of one process")


if __name__ == "__main__":
    main()
