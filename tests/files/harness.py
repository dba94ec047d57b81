"""What the tests of files share: a folder with a scenario and its sweep, commands, and cases that are
functions whose first line of documentation is their name."""
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAYERS = [{"name": "a", "forward_s": 1e-2, "backward_s": 2e-2, "gradient_bytes": 10_000_000}]
SCENARIO = {"kind": "scenario", "workload": {"layers": LAYERS},
            "cluster": {"nodes": 4, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}},
            "communication": {"schedule": "single"}}


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failed(" ".join(str(each) for each in what))


def signal_at(stepsim, number, size, name):
    """The environment of a command that gets the signal right after it has written so many bytes into
    files whose name ends so."""
    library = pathlib.Path(stepsim).parent / "tests/files/libsignal_at.so"
    check(library.exists(), library, "is not built")
    # A blank ends a path in LD_PRELOAD, not in LD_LIBRARY_PATH.
    return {**os.environ, "LD_PRELOAD": library.name, "LD_LIBRARY_PATH": str(library.parent),
            "SIGNAL_AT": f"{int(number)} {size} {name}"}


def wait_for(condition, what, seconds=300):
    ends = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < ends, what, "did not happen in", seconds, "s")
        time.sleep(0.002)


class Place:
    """A fresh folder in which commands run."""

    def __init__(self, stepsim, folder):
        self.stepsim = stepsim
        self.folder = folder
        self.write("s.json", SCENARIO)

    def path(self, name):
        return self.folder / name

    def write(self, name, content):
        if isinstance(content, (dict, list)):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
        self.path(name).write_bytes(content)
        return name

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def command(self, *arguments):
        return [self.stepsim, *(str(each) for each in arguments)]

    def run(self, *arguments, code=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        if not {"stdout", "stderr"} & set(options):
            options["capture_output"] = True
        done = subprocess.run(self.command(*arguments), cwd=self.folder, timeout=600, **options)
        if code is not None:
            check(done.returncode == code, arguments, "ended with", done.returncode, "not", code, done.stderr)
        return done

    def refused(self, *arguments, code, says, **options):
        """One line on standard error with all of these words, and that code."""
        done = self.run(*arguments, code=code, **options)
        error = done.stderr.decode()
        check(error.count("\n") == 1 and error.endswith("\n"), arguments, "said", repr(error))
        for word in [says] if isinstance(says, str) else says:
            check(word in error, arguments, "said", repr(error), "without", repr(word))
        return error

    def start(self, *arguments, **options):
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **options)

    def start_until(self, number, size, name, *arguments):
        """Starts a command that gets the signal once it has written so much into the file. SIGSTOP: it
        is stopped on return; SIGKILL: it has ended."""
        process = self.start(*arguments, env=signal_at(self.stepsim, number, size, name))
        if number == signal.SIGSTOP:
            wait_for(lambda: os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOHANG |
                                       os.WNOWAIT), f"{size} bytes in {name}")
            check(process.poll() is None, "ended with", process.returncode, "before the signal")
        elif number == signal.SIGKILL:
            process.communicate()
            check(process.returncode == -number, "ended with", process.returncode, "before the signal")
        return process

    def sweep(self, output, *flags, code=0, nodes="2,3,4,5", scenario="s.json"):
        return self.run("sweep", scenario, "--over", f"/cluster/nodes={nodes}", "-o", output,
                        "--quiet", *flags, code=code)


def changed(**sections):
    """The scenario with other sections; of cluster, only the keys given are others."""
    cluster = {**SCENARIO["cluster"], **sections.pop("cluster", {})}
    return {**SCENARIO, **sections, "cluster": cluster}


def text(done):
    return done.stdout.decode()


def cases_in(names):
    """The functions of the test itself that have documentation, in the order of the file."""
    return [each for each in names.values()
            if inspect.isfunction(each) and each.__module__ == "__main__" and each.__doc__]


def run_cases(cases):
    """main of a test: CASES STEPSIM [WORD]; WORD picks the cases that have it in their name."""
    stepsim = str(pathlib.Path(sys.argv[1]).resolve())
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    failures = 0
    for case in cases:
        name = case.__doc__.split("\n")[0]
        if word not in name:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="stepsim-files-") as folder:
            os.chmod(folder, 0o755)
            try:
                case(Place(stepsim, pathlib.Path(folder)))
                result = "ok"
            except Skipped as reason:
                result = f"skipped: {reason}"
            except Exception as error:  # of whatever kind: the other cases run too
                failures += 1
                result = f"FAILED: {error}"
        print(f"{name}: {result} ({time.monotonic() - began:.1f} s)", flush=True)
    sys.exit(1 if failures else 0)
