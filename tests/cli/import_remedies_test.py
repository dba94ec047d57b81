#!/usr/bin/python3
"""What `stepsim import` tells the user to give is given, on the input that made it say so: the import then ends with a
file that can be used, and never with a trace of 0 bytes.

usage: import_remedies_test.py STEPSIM [WORD]
"""
import json
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "files"), str(TESTS / "fuzz")]
import samples  # noqa: E402
from harness import cases_in, check, run_cases  # noqa: E402

GRADIENTS = 404
ELEMENTS = [148_515 + i for i in range(GRADIENTS)]  # as registered
BACKWARD = "autograd::engine::evaluate_function: "
NCCL = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"


class Recording:
    """Events of a profiler, one after the other on a clock of microseconds."""

    def __init__(self):
        self.events, self.now, self.number = [], 1000.0, 0

    def event(self, category, name, begin, duration, thread, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin,
                            "dur": duration, "args": arguments})

    def kernel(self, thread, name="kernel", duration=20, stream=7):
        self.number += 1
        self.event("cuda_runtime", "cudaLaunchKernel", self.now, 1, thread, correlation=self.number)
        self.event("kernel", name, self.now + 2, duration, stream, correlation=self.number, stream=stream)
        self.now += 2

    def operator(self, name, thread, inside=lambda: None, **arguments):
        begin = self.now
        self.now += 1
        inside()
        self.now += 1
        self.event("cpu_op", name, begin, self.now - begin, thread, **arguments)
        self.now += 1

    def all_reduce(self):
        """As recorded without shapes: an annotation, and a kernel without arguments."""
        self.event("user_annotation", "nccl:all_reduce", self.now, 4, 2)
        self.kernel(2, NCCL, 5, 20)
        self.now += 3

    def gradient(self, **arguments):
        def inside():
            self.operator("torch::autograd::AccumulateGrad", 2, lambda: self.kernel(2, duration=1), **arguments)
        self.operator(BACKWARD + "torch::autograd::AccumulateGrad", 2, inside)

    def step(self, number, inside, mark="ProfilerStep#"):
        begin = self.now
        inside(number)
        if mark == "ProfilerStep#":
            self.operator("Optimizer.step#SGD.step", 1, lambda: self.kernel(1))
        self.now += 900
        self.event("user_annotation", f"{mark}{number}", begin, self.now - begin, 1)
        self.now += 10

    def text(self):
        return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "V100"}],
                           "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": self.events})


# A step of one compiled graph, which launches an all-reduce for each gradient before it ends.
def compiled(gradients=GRADIENTS, reductions=None, elements=None):
    recording = Recording()

    def one(number):
        def backward():
            recording.kernel(2, duration=600)
            for _ in range(gradients if reductions is None else reductions):
                recording.all_reduce()
        recording.operator("CompiledFunction", 1, lambda: recording.kernel(1, duration=300),
                           **{"Sequence number": number})
        recording.operator(BACKWARD + "CompiledFunctionBackward", 2, backward, **{"Sequence number": number})
        for i in range(gradients):
            shape = {"Input Dims": [[elements[i]]], "Input type": ["float"]} if elements else {}
            recording.gradient(**shape)
    for number in range(3):
        recording.step(number, one)
    return recording.text()


# Steps of layers (operator, gradients) without sizes; the first gradients launch all-reduces. `stray`: a compiled
# graph without gradients launches the only all-reduce, before all of them.
def layered(layers, backward=True, mark="ProfilerStep#", reductions=0, shapes=False, stray=False):
    recording = Recording()

    def one(number):
        first, left = 1000 * number, reductions
        for place, (name, _) in enumerate([("CompiledFunction", 0)] * stray + layers):
            recording.operator(name, 1, lambda: recording.kernel(1), **{"Sequence number": first + place})
        if stray:
            recording.operator(BACKWARD + "CompiledFunctionBackward", 2, recording.all_reduce,
                               **{"Sequence number": first})
        for place in reversed(range(len(layers) if backward else 0)):
            name, gradients = layers[place]
            recording.operator(BACKWARD + "XBackward0", 2, lambda: recording.kernel(2),
                               **{"Sequence number": first + place + stray})
            for _ in range(gradients):
                recording.gradient(**({"Input Dims": [[64, 10]], "Input type": ["float"]} if shapes else {}))
                if left > 0:  # at the end of the gradient's node
                    left -= 1
                    node = recording.events[-1]
                    recording.now = node["ts"] + node["dur"]
                    recording.all_reduce()
                    node["dur"] = recording.now - node["ts"]
                    recording.now += 1
    for number in range(3):
        recording.step(number, one, mark)
    return recording.text()


# Three steps of two all-reduces, as the flight recorder of PyTorch writes them.
def flight_record():
    return json.dumps({"version": "2.4", "entries": [
        {"profiling_name": "nccl:all_reduce", "input_sizes": [[300]], "input_dtypes": ["Float"], "state": "completed",
         "is_p2p": False, "time_created_ns": 1_000_000 * step + 10_000 * index}
        for step in (1, 2, 3) for index in range(2)]})


def sizes_csv(elements):
    return "name,elements,dtype\n" + "".join(f"p{i},{count},float32\n" for i, count in enumerate(elements))


# The text without the lines that hold one of the parts.
def without(content, *parts):
    return "\n".join(line for line in content.decode().splitlines() if not any(part in line for part in parts)) + "\n"


VGG = [("aten::conv2d", 2)] * 13 + [("aten::linear", 2)] * 3
TWO = [("aten::conv2d", 1), ("aten::linear", 1)]
SIZES = {"sizes.csv": sizes_csv(ELEMENTS)}
XML = samples.topology_xml().decode()
# Name, format, content, flags, exit code, what is said, and the flags that it tells to give. Other files.
CASES = [
    ("a compiled graph, sizes", "kineto", compiled(), [], 3, "404 measured all-reduces without sizes: give --sizes "
     "sizes.csv", ["--sizes", "sizes.csv"], SIZES),
    ("a compiled graph, total", "kineto", compiled(), [], 3, "or --parameters N (", ["--parameters", "60M"]),
    ("a log of DDP", "kineto", compiled(4), [], 3, "4 measured all-reduces without sizes", ["--ddp-log", "ddp.json"],
     {"ddp.json": "{'bucket_sizes': '4000, 8000, 12000, 16000'}"}),
    ("no all-reduce", "kineto", layered(TWO), [], 3, "2 gradients, no sizes: give --parameters N", ["--parameters", "1k"]),
    ("a table fits", "kineto", layered(VGG), [], 3, "the trace has no sizes for its 32 gradients; they match vgg16: stepsim import kineto FILE --model vgg16", ["--model", "vgg16"]),
    ("forward only", "kineto", layered(VGG, backward=False), ["--model", "vgg16"], 3,
     "no backward nodes; pass --backward-ratio R", ["--backward-ratio", "2"]),
    ("forward only, no sizes", "kineto", layered(VGG, backward=False), ["--backward-ratio", "2"], 3,
     "no sizes: give --model NAME|FILE", ["--model", "vgg16"]),
    ("own annotations", "kineto", layered(TWO, mark="my_step "), ["--parameters", "1k"], 3,
     "pass --step-annotation REGEX", ["--step-annotation", "my_step"]),
    ("many layers", "kineto", layered(VGG + [("aten::relu", 0)] * 400), ["--model", "vgg16"], 0,
     "(--keep-layers keeps all)", ["--keep-layers"]),
    ("an idle GPU", "kineto", compiled(), ["--parameters", "60M"], 0, "--time wall keeps the host", ["--time", "wall"]),
    ("order without sizes", "kineto", compiled(), ["--sizes-order", "gradient"], 2, "--sizes-order needs --sizes",
     ["--sizes", "sizes.csv"], SIZES),
    ("a flight recorder", "auto", flight_record(), [], 3, "give the dump, as JSON, beside it: "
     "--flight-record FILE", ["--flight-record", "in.file"], {"kineto.json": layered(TWO, reductions=2)}),
    ("OSU without ranks", "osu", samples.osu().decode(), [], 3, "how many ranks: give --ranks", ["--ranks", "8"]),
    ("OSU without a title", "osu", without(samples.osu(), "OSU MPI"), ["--ranks", "8"], 3, "give --op",
     ["--op", "allreduce"]),
    ("OSU without a minimum", "osu", samples.osu().decode(), ["--ranks", "8", "--value", "min"], 3,
     "no minimum and maximum columns: --value avg", ["--value", "avg"]),
    ("nccl-tests without ranks", "nccl-tests", without(samples.nccl_tests(), "nGpus", "#  Rank"), [], 3, "give --ranks",
     ["--ranks", "4"]),
    ("nccl-tests without operation", "nccl-tests", without(samples.nccl_tests(), "# Collective"), [], 3, "give --op",
     ["--op", "allreduce"]),
    ("latencies", "nccl-topology", XML, [], 0, "see --latency", ["--latency", "nvlink=1us,pcie=1us,net=2us"]),
    ("a PCIe share", "nccl-topology", XML, [], 0, "see --pcie-efficiency", ["--pcie-efficiency", "0.8"]),
    ("PCIe without speed", "nccl-topology", re.sub(r' link_speed="[^"]*"', "", XML), [], 0, "see --pcie-default",
     ["--pcie-default", "16GT/s:16"]),
    ("no GPU", "nccl-topology", re.sub(r"<gpu.*?</gpu>", "", XML.replace("0x030200", "0x120000")), [], 3,
     "no GPU found", ["--gpus", "0000:01:00.0,0000:02:00.0"]),
    ("chakra samples", "chakra", samples.chakra(), ["-o", "out.samples.json"], 3, "give --ranks", ["--ranks", "8"]),
    ("a type of chakra", "chakra", samples.chakra(), [], 0, "--dtype gives another", ["--dtype", "bfloat16"]),
    ("other communication", "astra-text", samples.astra_text().decode(), [], 3, "see --drop-other-communication",
     ["--drop-other-communication"]),
    ("a tick", "astra-text", samples.astra_text().decode(), ["--drop-other-communication"], 0, "; --tick ",
     ["--tick", "2ns"]),
    ("no reductions", "astra-text", "DATA\n1\nmlp -1 100 NONE 0 1 NONE 0 5 NONE 0 10\n", [], 3,
     "(--allow-unknown-sizes writes the times alone)", ["--allow-unknown-sizes"]),
    ("a table without sizes", "layer-table", "name,params,fwd_ms,bwd_ms\nconv,0,1.5,3\n", [], 3,
     "(--allow-unknown-sizes writes the times alone)", ["--allow-unknown-sizes"]),
    ("a flight recorder beside one GPU", "kineto", layered(TWO), ["--parameters", "1k", "--flight-record", "fr.json"], 3,
     "fr.json: holds the sizes of all-reduces, and in.file has no all-reduce of gradients", None, {"fr.json": flight_record()}),
    ("buckets of both", "kineto", compiled(), ["--ddp-log", "a", "--flight-record", "b"], 2,
     "--ddp-log and --flight-record: give one of them", None),
]


def said(done):
    return (done.stdout + done.stderr).decode()


# The case, with a note that the remedy was printed, and then the same import with what it asks for.
def remedy_works(place, case):
    name, form, content, flags, code, words, remedy, others = case if len(case) == 8 else (*case, {})
    place.write("in.file", content)
    place.path("out.json").unlink(missing_ok=True)
    for file, text in others.items():
        place.write(file, text)
    output = [] if "-o" in flags else ["-o", "out.json"]
    done = place.run("import", form, "in.file", *flags, *output, code=code)
    check(words in said(done), name, said(done))
    if remedy is None:
        return
    if form == "auto":
        done = place.run("import", "kineto", "kineto.json", *remedy, *output, code=0)
    else:
        kept = [word for i, word in enumerate(flags) if "--value" not in flags[max(i - 1, 0):i + 1]]
        done = place.run("import", form, "in.file", *kept, *remedy, *output, code=0)
    check(words not in said(done), name, "still said:", said(done))
    place.run("check", flags[-1] if not output else "out.json", code=0)
    tree = json.loads(pathlib.Path(place.folder, flags[-1] if not output else "out.json").read_text())
    if tree["kind"] == "trace" and remedy != ["--allow-unknown-sizes"]:
        bytes_sent = sum(layer["gradient_bytes"] for layer in tree["layers"])
        check(bytes_sent > 0, name, "0 bytes")
        if remedy[0] == "--sizes":
            check(bytes_sent == 4 * sum(ELEMENTS), name, bytes_sent)


def every_remedy_is_executed(place):
    """each row of CASES: the words are printed, and the import with the flags that they name succeeds"""
    for case in CASES:
        remedy_works(place, case)


def no_remedy_without_a_case(place):
    """every flag that a message of an importer tells to give is given by a case"""
    root = TESTS.parent
    files = [*root.glob("sim/import/**/*.cpp"), *root.glob("sim/cli/commands/import_*.cpp")]
    told = set()
    for file in files:
        source = re.sub(r'"\s*\n?\s*"', "", file.read_text())  # joins the parts of a text
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source):
            told |= set(re.findall(r"(?:give|pass|see|with|needs|or|[;(:])\s?(--[a-z-]+)", literal))
    given = {word for case in CASES for word in case[6] or [] if word.startswith("--")}
    check(told <= given, "never executed:", sorted(told - given))


def a_graph_shares_its_gradients_among_its_reductions(place):
    """all-reduces inside a compiled graph carry its gradients: one each, in equal parts, or as sizes say"""
    def buckets(gradients, reductions, elements=None, flags=()):
        place.write("g.json", compiled(gradients, reductions, elements))
        place.run("import", "kineto", "g.json", *flags, "-o", "g.out.json", "--quiet", code=0)
        return json.loads(pathlib.Path(place.folder, "g.out.json").read_text())["buckets"]
    count = [10, 20, 30, 40]
    check([b["elements"] for b in buckets(4, 4, count)] == count)
    check([b["elements"] for b in buckets(4, 2, count)] == [10 + 20, 30 + 40])
    check([b["tensors"] for b in buckets(4, 1, count)] == [4])


def reductions_of_something_else_leave_the_gradients(place):
    """gradients that are ready after all measured all-reduces still travel: those are of something else"""
    place.write("g.json", layered(TWO, shapes=True, stray=True))
    done = place.run("import", "kineto", "g.json", "-o", "g.out.json", code=0)
    check("no gradient is ready when a measured all-reduce is launched" in said(done), said(done))
    layers = json.loads(pathlib.Path(place.folder, "g.out.json").read_text())["layers"]
    check(sum(layer["gradient_bytes"] for layer in layers) == 4 * 2 * 64 * 10, layers)


if __name__ == "__main__":
    run_cases(cases_in(globals()))
