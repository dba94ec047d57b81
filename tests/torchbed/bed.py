"""A network of namespaces with shaped links, in which every rank is a process of stock PyTorch.

    with Bed(piece) as bed:
        bed.run(["/usr/bin/python3", "rank.py", ..], seconds)

tests/testbed builds the network and removes it. The name of a bed has the process id of the script that builds
it, so that whatever a signal interrupts is found and removed, a bed that is half built included.
"""
import os
import pathlib
import signal
import subprocess

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "testbed"
STATE = pathlib.Path("/run/stepsim-testbed")
SUBNET = "10.231.77"  # of tests/testbed
# Large packets leave the processors more time, and with large socket buffers exchanges of megabytes take equally long. Queues
# hold all that the buffers let be under way, so that TCP sees no loss; without selective acknowledgements nothing is sent
# twice.
LINKS = ["--mtu", "9000", "--queue", "2000ms"]
TCP = {"tcp_wmem": "4096 524288 524288", "tcp_rmem": "4096 1048576 1048576", "tcp_sack": "0"}


class MissingTool(Exception):
    """This machine cannot build a bed."""


class Stopped(BaseException):
    """SIGTERM or SIGHUP arrived."""


def stop(*_):
    raise Stopped


class Bed:
    """`shape`: ranks, rate_mbps, and where links differ slow (rank, Mb/s) and uplink_mbps."""

    def __init__(self, shape):
        self.shape = shape
        self.name = ""

    def options(self):
        found = list(LINKS)
        if self.shape.get("slow"):
            found += ["--slow", "{}={}Mbps".format(*self.shape["slow"])]
        if self.shape.get("uplink_mbps"):
            found += ["--uplink", f"{self.shape['uplink_mbps']}Mbps"]
        return found

    def __enter__(self):
        self.before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            script = subprocess.Popen([SCRIPT, "up", str(self.shape["ranks"]), f"{self.shape['rate_mbps']}Mbps",
                                       *self.options()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      start_new_session=True)  # Ctrl-C reaches this process alone
            self.name = f"sst{script.pid}"
            _, errors = script.communicate()
            if script.returncode:
                raise MissingTool(errors.strip() or f"tests/testbed up ended with {script.returncode}")
            settings = "".join(f"echo {value} > /proc/sys/net/ipv4/{key};" for key, value in TCP.items())
            for rank in range(self.shape["ranks"]):
                subprocess.run(["ip", "netns", "exec", f"{self.name}n{rank}", "sh", "-c", settings], check=True)
        except BaseException:
            if self.name and script.poll() is None:
                script.terminate()  # it removes what it has made
                script.wait()
            self.__exit__()
            raise
        return self

    def run(self, command, seconds):
        """Runs `command` on every rank with the environment that torch.distributed reads."""
        started = []
        try:
            for rank in range(self.shape["ranks"]):
                environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(self.shape["ranks"]),
                                   MASTER_ADDR=f"{SUBNET}.1", MASTER_PORT="29500", GLOO_SOCKET_IFNAME="eth0",
                                   OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", GLOG_minloglevel="2")
                started.append(subprocess.Popen(["ip", "netns", "exec", f"{self.name}n{rank}", *command],
                                                env=environment, start_new_session=True))
            codes = [process.wait(timeout=seconds) for process in started]
            if any(codes):
                raise RuntimeError(f"ranks ended with {codes}")
        finally:
            for process in started:
                if process.poll() is None:
                    process.kill()
                process.wait()

    def __exit__(self, *_):
        for number in self.before:
            signal.signal(number, signal.SIG_IGN)
        if (STATE / self.name).exists():
            subprocess.run([SCRIPT, "down", self.name], check=False, start_new_session=True)
        for number, handler in self.before.items():
            signal.signal(number, handler)
