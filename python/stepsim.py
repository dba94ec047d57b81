"""Runs stepsim, the simulator of distributed training, from Python.

    import stepsim
    step = stepsim.run("scenario.json", set={"/cluster/nodes": 64})
    print(step.summary.iteration_time_s)
    table = stepsim.sweep("scenario.json", over={"/cluster/nodes": [8, 16, 32]})

A scenario is a dict or the path of a file; names of files inside a dict are relative to the working
directory. Numbers are those of the command, bit for bit. Tables are pandas.DataFrame where pandas
is installed, else lists of dicts; both have `attrs["units"]`. `run` and `run_many` keep one process
of `stepsim run --lines`, which threads share. The command is the one named by the environment
variable STEPSIM, else the one installed with this module, else the one on PATH.
"""
import atexit
import functools
import inspect
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sysconfig
import tempfile
import threading
import uuid

__all__ = ["Error", "InputError", "Picture", "Result", "SimulationError", "Table", "UsageError",
           "collective", "compare", "explain", "import_trace", "init", "plan", "plot", "report", "run",
           "run_many", "schema", "solve", "study", "sweep", "tune", "version"]


class Error(Exception):
    """What stepsim cannot do. `code` is the exit code of the command, `message` its first line."""

    def __init__(self, message, code=1, pointer="", file="", problems=()):
        super().__init__(message)
        self.message = message
        self.code = code
        self.pointer = pointer
        self.file = file
        self.problems = list(problems) or [{"file": file, "pointer": pointer, "message": message}]

    @property
    def did_you_mean(self):
        """The known words nearest to a wrong one; empty if none is near."""
        found = re.search(r"did you mean (.+?)\?", self.message)
        return [word.strip('"') for word in re.split(r", | or ", found.group(1))] if found else []


class SimulationError(Error):
    """The simulation cannot go on, or the process ended."""


class UsageError(Error):
    """A wrong argument."""


class InputError(Error):
    """A wrong value in a scenario or a file: `pointer` says where, `problems` lists all of them."""


Path = str | os.PathLike
Scenario = dict | Path  # the keys of a file, or its path
Changes = dict | None  # JSON pointer -> value; a text may carry a unit, "25Gbps"
Axes = dict | None  # JSON pointer -> list of values, or the text of a list or range

KINDS = {1: SimulationError, 2: UsageError, 3: InputError}


def _error(code, problems):
    first = problems[0]
    place = [first["file"], first["pointer"]]
    text = ": ".join([each for each in place if each] + [first["message"]])
    return KINDS.get(code, Error)(text, code, first["pointer"], first["file"], problems)


class Result(dict):
    """A dict whose keys are attributes, too: `result.summary.iteration_time_s`."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return [*super().__dir__(), *self]

    def __repr__(self):
        """The ten lines that say most of a run; another answer is shown as the dict that it is."""
        summary = self.get("summary")
        if not isinstance(summary, dict) or "iteration_time_s" not in summary or "scenario" not in self:
            return super().__repr__()
        lines = [*_exceeds(summary), ("scenario", self["scenario"].get("name") or "unnamed"),
                 ("step", _milliseconds(summary, "iteration_time_s") + _band(summary)),
                 *((name.replace("_", " "), _milliseconds(summary, name + "_s"))
                   for name in ("forward", "backward", "update", "communication", "exposed_communication")),
                 ("efficiency", _share(summary.get("scaling_efficiency"))),
                 ("bottleneck", summary.get("bottleneck") or "-"),
                 ("method", self.get("method") or "-")]
        return "\n".join(f"{name:23}{text}" for name, text in lines)


def _exceeds(summary):
    """A first line where the GPU does not hold the training."""
    if summary.get("memory_fits", True) is not False:
        return []
    needs, has = summary["memory_bytes"] / 1e9, summary["memory_capacity_bytes"] / 1e9
    return [("memory", f"{needs:.3g} of {has:.3g} GB: does not fit")]


def _milliseconds(summary, key):
    value = summary.get(key)
    return "-" if value is None else f"{value * 1e3:.4g} ms"


def _share(value):
    return "-" if value is None else f"{value * 100:.4g} %"


def _band(summary):
    low, high = summary.get("iteration_time_low_s"), summary.get("iteration_time_high_s")
    if low is None or high is None:
        return ""
    return f" ({low * 1e3:.4g} to {high * 1e3:.4g}, {summary['interval_level'] * 100:.0f} %)"


class Table(list):
    """Rows as dicts, where pandas is not installed. `attrs["units"]` has the units of the columns."""

    def __init__(self, rows, attrs):
        super().__init__(rows)
        self.attrs = attrs


class Picture(str):
    """An SVG that notebooks show."""

    def _repr_svg_(self):
        return str(self)

    def save(self, path):
        pathlib.Path(path).write_text(self, encoding="utf-8")


def _command():
    """The path of the command, looked up anew each time: tests and users change STEPSIM."""
    beside = pathlib.Path(sysconfig.get_path("scripts")) / "stepsim"
    named = os.environ.get("STEPSIM")
    found = named or (str(beside) if beside.exists() else shutil.which("stepsim"))
    if not found:
        raise Error("the command stepsim is not on PATH; name it in the variable STEPSIM")
    return found


class _Lines:
    """One process of `stepsim run --lines`, started at the first call and again if it has ended."""

    def __init__(self):
        self.lock = threading.Lock()
        self.process = None
        self.started_for = None

    def ask(self, request):
        text = json.dumps(request, allow_nan=False) + "\n"
        with self.lock:
            process = self.running()
            try:
                process.stdin.write(text.encode())
                process.stdin.flush()
                answer = process.stdout.readline()
            except (BrokenPipeError, ValueError, OSError):
                answer = b""
            except BaseException:  # interrupted between question and answer: they would not fit
                self.stop()
                raise
            if not answer.endswith(b"\n"):
                code = self.stop()
                raise SimulationError(f"stepsim ended before it answered (exit code {code})", code)
        return _record(answer)

    def running(self):
        place = (_command(), os.getcwd(), os.getpid())
        if self.process is not None and (self.started_for != place or self.process.poll() is not None):
            if self.started_for[2] == place[2]:
                ended = self.process.poll()
                self.stop()
                if ended is not None:
                    raise SimulationError(f"stepsim has ended (exit code {ended})", ended)
            else:  # forked: the process is the parent's
                self.process.stdin.close()
                self.process.stdout.close()
                self.process.returncode = 0
                self.process = None
        if self.process is None:
            self.process = subprocess.Popen([place[0], "run", "--lines", "-", "--quiet"],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
            self.started_for = place
        return self.process

    def stop(self):
        process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        for stream in (process.stdin, process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        return process.wait()


_lines = _Lines()
atexit.register(_lines.stop)


def _record(line):
    """The result that a line of `run --lines` holds; an error is raised."""
    record = json.loads(line, object_pairs_hook=Result)
    if record.get("kind") == "error":
        for problem in record["problems"]:  # a scenario in memory has no file
            problem["file"] = re.sub(r"^line \d+$", "", problem["file"])
        raise _error(record["code"], record["problems"])
    return record


def _request(scenario, changes):
    if not isinstance(scenario, dict):
        scenario = os.fspath(scenario)
    return {"scenario": scenario, "set": dict(changes or {})}


def run(scenario: Scenario, set: Changes = None) -> Result:
    """The result of one scenario, as `stepsim run --json` gives it.

        run("s.json", set={"/cluster/nodes": 64}).summary.iteration_time_s
        run("s.json", set={"/job/tokens": "300B", "/job/price_per_gpu_hour": 2.5}).summary.cost_usd
    """
    return _lines.ask(_request(scenario, set))


def run_many(scenarios, set: Changes = None, errors: str = "raise", client=None) -> list:
    """The results of many scenarios in their order. errors="keep": errors stand among them.
    `client`: a Dask client, whose workers run the scenarios in batches.

        [each.summary.speedup for each in run_many(["a.json", "b.json"])]
    """
    if client is None:
        answers = (functools.partial(run, each, set) for each in scenarios)
    else:
        lines = _batches(client, [json.dumps(_request(each, set), allow_nan=False) for each in scenarios])
        answers = (functools.partial(_record, line) for line in lines)
    results = []
    for answer in answers:
        try:
            results.append(answer())
        except Error as error:
            if errors != "keep":
                raise
            results.append(error)
    return results


def _words(changes):
    """{POINTER: value} as the words of --set."""
    words = []
    for pointer, value in (changes or {}).items():
        words += ["--set", f"{pointer}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def _axes(over):
    words = []
    for pointer, values in (over or {}).items():
        if not isinstance(values, str):  # a text is a range or a list as the command takes it
            values = ",".join(each if isinstance(each, str) and "," not in each else json.dumps(each)
                              for each in values)
        words += ["--over", f"{pointer}={values}"]
    return words


def _call(words, scenario=None, allowed=(0,)):
    """Standard output of a command; `scenario` is named last, a dict goes to standard input."""
    words, given = _named(words, scenario)
    return _output(_start(words, given), allowed)


def _named(words, scenario):
    """The words of a command with its scenario, and its standard input."""
    if isinstance(scenario, dict):
        return [*words, "-"], json.dumps(scenario, allow_nan=False)
    return words if scenario is None else [*words, os.fspath(scenario)], None


def _start(words, given, folder=None):
    return subprocess.run([_command(), *map(str, words)], input=given, capture_output=True,
                          encoding="utf-8", check=False, cwd=folder)


def _output(done, allowed=(0,)):
    """Standard output of a command that has ended."""
    if done.returncode not in allowed:
        problems = []
        for line in done.stderr.splitlines():
            if line.startswith("error: "):
                found = re.match(r"(?:(?P<file>.*?): )?(?P<pointer>/\S*): (?P<message>.*)", line[7:])
                problems.append(found.groupdict("") if found and done.returncode == 3 else
                                {"file": "", "pointer": "", "message": line[7:]})
        raise _error(done.returncode, problems or [
            {"file": "", "pointer": "", "message": f"exit code {done.returncode}"}])
    return done.stdout


def _on_worker(words, given, folder):
    """A command that a worker of Dask runs in the folder of the client. If a signal ended it, Dask
    runs it again, as it does when the worker itself ends."""
    done = _start(words, given, folder)
    if done.returncode < 0:
        raise SimulationError(f"signal {-done.returncode} ended stepsim on a worker", done.returncode)
    return done


def _spread(client, calls):
    """(place, command that has ended) of calls that are futures of Dask, in the order of their ends."""
    from distributed import as_completed
    futures = client.map(_on_worker, *zip(*calls), folder=os.getcwd(), pure=False, retries=3)
    places = {future.key: place for place, future in enumerate(futures)}
    try:
        for future in as_completed(futures):
            yield places[future.key], future.result()
            future.release()  # else the workers keep what is here already
    finally:
        client.cancel(futures)


def _parts(client, most):
    """Four per thread of the workers, which balances them; `merge` opens all files of a sweep at once."""
    return max(1, min(most, 4 * sum(client.nthreads().values())))


def _batches(client, requests):
    """The lines that `run --lines` answers on the workers of a Dask client."""
    count = _parts(client, len(requests))
    answers = [None] * len(requests)
    if requests:
        for place, done in _spread(client, [(["run", "--lines", "-", "--quiet"], "\n".join(requests[k::count]))
                                            for k in range(count)]):
            answers[place::count] = _output(done, allowed=(0, 1, 3)).rstrip("\n").split("\n")
    return answers


def _merged(client, shards, words, scenario, target):
    """What `merge` makes of the shards of a sweep, which run on the workers of a Dask client. Points
    that fail raise their error when everything is merged, as in one process."""
    count = shards or _parts(client, 512)
    words, given = _named(words, scenario)
    # Workers print names of files relative to the working folder, so that shards that are kept lie there.
    stem = os.path.join("" if target else tempfile.gettempdir(), f".stepsim-{uuid.uuid4().hex}")
    names = [f"{stem}.{k}.jsonl" for k in range(count)]
    failed = None
    try:
        for place, done in _spread(client, [([*words, "--shard", f"{k}/{count}"], given) for k in range(count)]):
            pathlib.Path(names[place]).write_text(_output(done, allowed=(0, 1) if done.stdout else (0,)),
                                                  encoding="utf-8")
            failed = failed or done.returncode and done
        lines = _call(["merge", *names, "--format", "jsonl", "--quiet", *target])
    finally:
        for name in names:
            pathlib.Path(name).unlink(missing_ok=True)
    _output(failed or done)
    return lines


UNITS = {"_s": "s", "_Bps": "B/s", "_bytes": "B", "_Ps": "FLOP/s", "_per_s": "1/s"}  # the last that fits


def _table(rows, columns=None, **attrs):
    """Columns without a value in any row are left out."""
    names = [name for name in columns or (list(rows[0]) if rows else [])
             if any(row.get(name) not in (None, "", []) for row in rows)]
    rows = [{name: row.get(name) for name in names} for row in rows]
    attrs["units"] = {name: unit for name in names for end, unit in UNITS.items() if name.endswith(end)}
    try:
        import pandas
    except ImportError:
        return Table(rows, attrs)
    frame = pandas.DataFrame(rows, columns=names)
    frame.attrs.update(attrs)
    return frame


def sweep(scenario: Scenario, over: Axes = None, set: Changes = None, jobs: int | None = None,
          file: Path | None = None, columns=None, client=None, shards: int | None = None):
    """Every point of a grid as a table with the columns of the command's CSV. `scenario` may be a
    file or dict of kind sweep. `over`: {POINTER: values}, the first varies slowest. `file`: where
    the records are kept as JSON Lines, for `plot` and `report`; one that exists is replaced.
    `columns`: the figures of the records, all by default. `client`: a Dask client; its workers run
    the shards, each with `jobs` threads (1), and the records are those of one process.

        sweep("s.json", over={"/cluster/nodes": "4:64:x2"}, file="nodes.jsonl")
        sweep("s.json", over={"/cluster/nodes": "4:64:x2"}, client=Client("scheduler:8786"))
    """
    threads = 1 if jobs is None and client is not None else jobs
    words = ["sweep", *_flags({"columns": columns, "jobs": threads}), "--format", "jsonl", "--quiet",
             *_axes(over), *_words(set)]
    target = [] if file is None else ["-o", os.fspath(file), "--force"]
    lines = (_call([*words, *target], scenario) if client is None else
             _merged(client, shards, words, scenario, target))
    if file is not None:
        lines = pathlib.Path(file).read_text(encoding="utf-8")
    header, *records = [json.loads(line) for line in lines.splitlines()]
    for record in records:
        record.pop("record", None)
    varied = [name for name in (records[0] if records else {}) if name not in
              ("point", "status", "method", "error")]
    axes = [_column_of(axis, varied) for axis in header["axes"]]
    rest = sorted(name for name in varied if name not in axes)
    return _table(records, ["point", "status", *axes, *rest, "method", "error"], axes=axes)


def _column_of(axis, names):
    """A varied field is named by the end of its pointer, by all of it where two would be equal."""
    pointer = axis["field"] if isinstance(axis, dict) else axis
    return pointer if pointer in names else pointer.rsplit("/", 1)[-1]


def compare(scenario: Scenario, over: Axes = None, set: Changes = None, algorithms=None, rows=None,
            schedule=None):
    """Alternatives as a table, best first. `algorithms`: "all" or names of ways of exchanging
    gradients, each a row; `rows`: files of further scenarios, each a row. `schedule`: a merge
    schedule of your own, or several: f(ready_s, bytes) gets the layers with gradients in the order
    of backward, when each gradient is ready (s from the start of backward) and its bytes, and
    returns lists of places in these lists, a message each, in the order of sending. It is a row
    under the name of the function, for the scenario as `set` changes it. A row that ends in .py is
    a file of such functions.

        compare("s.json", {"/communication/schedule": ["ddp", "optimal"]})
        compare("s.json", algorithms=["ddp", "topk"], rows=["mine.json"])
        compare("s.json", schedule=lambda ready_s, bytes: [range(len(bytes))])
    """
    rows = [rows] if isinstance(rows, (str, os.PathLike)) else list(rows or [])
    own = [schedule] if callable(schedule) else list(schedule or [])
    for path in [row for row in rows if os.fspath(row).endswith(".py")]:
        rows.remove(path)
        own += [each for name, each in runpy.run_path(os.fspath(path)).items()
                if inspect.isfunction(each) and not name.startswith("_")]
    over = dict(over or {})
    if own:
        values = over.setdefault(_SCHEDULE, [run(scenario, set).scenario["communication"]["schedule"]])
        over[_SCHEDULE] = [*(values.split(",") if isinstance(values, str) else values),
                           *_own_schedules(scenario, set, own)]
    words = ["compare", "--json", "--quiet", *_axes(over), *_words(set),
             *_flags({"algorithms": algorithms, "rows": rows or None})]
    return _table(json.loads(_call(words, scenario))["rows"])


_SCHEDULE = "/communication/schedule"


def _own_schedules(scenario, set, functions):
    """The schedules that functions give for the gradients of a scenario, as values of its key."""
    ready, size = {}, {}
    result = run(scenario, {**(set or {}), _SCHEDULE: "wfbp"})
    for bucket in result.buckets:
        first, last = bucket["layers"]  # counted from 1 in the order of backward, empty ones among them
        place = max(each for each in range(first, last + 1) if
                    result.layers[-each]["backward_end_s"] <= bucket["ready_s"] * (1 + 1e-9))
        layer = len(result.layers) - place
        ready[layer] = max(ready.get(layer, 0), bucket["ready_s"])
        size[layer] = size.get(layer, 0) + bucket["bytes"]
    layers = list(ready)
    for function in functions:
        groups = function([ready[layer] for layer in layers], [size[layer] for layer in layers])
        yield {"name": function.__name__,
               "groups": [[layers[place] for place in group] for group in groups]}


def solve(scenario: Scenario, pointer: str, between: tuple, target: dict | str, set: Changes = None,
          minimize: str | None = None) -> Result:
    """All values of a field between two bounds at which a figure reaches its target, {FIGURE: value}
    or "FIGURE=value". `minimize`: of all integers that meet the target, `best` is the one with the
    least of this figure.

        solve("s.json", "/cluster/network/bandwidth_Bps", ("1Gbps", "400Gbps"),
              {"scaling_efficiency": 0.9})
        solve("s.json", "/cluster/nodes", (1, 256), {"time_to_finish_s": "3d"}, minimize="cost_usd",
              set={"/job/tokens": "300B", "/job/price_per_gpu_hour": 2.5}).best.value
    """
    if not isinstance(target, str):
        (metric, value), = target.items()
        target = f"{metric}={value}"
    words = ["solve", "--json", "--quiet", "--for", pointer, "--between", ",".join(map(str, between)),
             "--target", target, *_words(set)]
    if minimize:
        words += ["--minimize", minimize]
    return _answer(words, scenario, allowed=(0, 4))


def collective(**flags):
    """Records of `stepsim collective`, one per combination; flags as the command has them.

        collective(op="allreduce", algorithm=["ring", "lp"], ranks=8, bytes="1MB", latency="10us",
                   bandwidth="10Gbps")
    """
    words = ["collective", "--format", "jsonl", "--quiet", *_flags(flags)]
    return _table([json.loads(line) for line in _call(words).splitlines()])


def _flags(flags):
    """Flags of the command: batch_size=4 is --batch-size 4; True stands for a flag without a value,
    a list for its words with commas."""
    words = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None and value is not False:
            words += [flag, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value]
    return words


def _answer(words, scenario=None, allowed=(0,)):
    """What a command prints as JSON."""
    return json.loads(_call(words, scenario, allowed), object_pairs_hook=Result)


def import_trace(*files: Path, format: str = "kineto", output: Path | None = None, **flags) -> Result:
    """The trace that `stepsim import` makes of the profiler's files, one per rank; `output`: where
    it is kept, too. Flags as the command has them.

        trace = import_trace("rank0.json.gz", output="mine.trace.json", batch_size=64)
    """
    trace = _answer(["import", format, *map(os.fspath, files), "--quiet", *_flags(flags)])
    if output is not None:
        trace["name"] = pathlib.Path(output).name.removesuffix(".json").removesuffix(".trace")
        pathlib.Path(output).write_text(json.dumps(trace, indent=2) + "\n", encoding="utf-8")
    return trace


def init(**flags) -> Result:
    """A scenario that runs, as `stepsim init` writes it; names of files in it are relative to the
    working directory. Flags as the command has them.

        scenario = init(trace="mine.trace.json", cluster="dgx_a100", nodes=8)
        run(scenario)
    """
    return _answer(["init", "--quiet", *_flags(flags)])


def study(*traces: Path, folder: Path | None = None, **flags) -> Result:
    """From a recorded trace to a decision, as `stepsim study` answers it; `folder`: where scenario,
    result and page are kept.

        answer = study("rank0.json.gz", cluster="p5", gpus="8:512:x2")
        print(answer.points[-1].step_s, answer.what_if[0].change)
    """
    words = ["study", *map(os.fspath, traces), "--json", "--quiet", *_flags(flags)]
    return _answer(words if folder is None else [*words, "-o", os.fspath(folder)])


def explain(scenario: Scenario, set: Changes = None, measured=None) -> Result:
    """What bounds a step and what each change would gain. `measured`: a measured step, "182ms".

        explain("s.json").what_if[0].change
    """
    return _answer(["explain", "--json", "--quiet", *_words(set), *_flags({"measured": measured})], scenario)


def tune(scenario: Scenario, knob: str, set: Changes = None, **flags) -> Result:
    """The best value of a knob, and the curve.

        tune("s.json", "bucket_bytes").best.value
    """
    return _answer(["tune", "--json", "--quiet", "--knob", knob, *_words(set), *_flags(flags)], scenario,
                   allowed=(0, 4))


def plan(problem: Scenario, planners=None) -> Result:
    """All planners on one merge problem: a dict or file of kind problem.

        plan("problem.json", planners=["mg_wfbp", "optimal"])
    """
    return _answer(["plan", "--json", "--quiet", *_flags({"planners": planners})], problem)


def schema(kind: str) -> dict:
    """The JSON Schema of a kind of file.

        schema("scenario")["properties"]["cluster"]
    """
    return json.loads(_call(["schema", kind]))


def _file_of(result, folder):
    """The path of a result: a table becomes the file that it was made from."""
    if not isinstance(result, dict):
        return os.fspath(result)
    path = pathlib.Path(folder) / "result.json"
    path.write_text(json.dumps(result), encoding="utf-8")
    return path


def report(result: Scenario, path: Path) -> None:
    """Writes a result, or the file of a result, sweep or comparison, as one HTML page.

        report(run("s.json"), "s.html")
    """
    with tempfile.TemporaryDirectory() as folder:
        _call(["report", "-o", os.fspath(path), "--quiet"], _file_of(result, folder))


def plot(file: Path, x: str, y: str, **flags) -> Picture:
    """A picture of the output file of a sweep, shown by notebooks. A list repeats its flag.

        plot("out.jsonl", x="nodes", y="iteration_time_s", by="schedule",
             label=["ddp=DDP", "single=one message"])
    """
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "plot.svg"
        words = ["plot", "-o", str(target), "--quiet", "--x", x, "--y", y]
        for name, value in flags.items():
            flag = "--" + name.replace("_", "-")
            for each in value if isinstance(value, (list, tuple)) else [value]:
                words += [flag] if each is True else [] if each in (None, False) else [flag, each]
        _call(words, file)
        return Picture(target.read_text(encoding="utf-8"))


def version() -> str:
    """The first line of `stepsim --version`."""
    return _call(["--version"]).splitlines()[0]
