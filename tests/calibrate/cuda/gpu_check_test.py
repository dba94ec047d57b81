#!/usr/bin/env python3
"""calibrate/gpu_check without a GPU: it says so. With a machine that is played (commands of the same
names that answer as asked): every part may fail alone, kernels are built for every kind of GPU that
the toolkit knows, and the folder holds at most eight files. The page compares played times.

    gpu_check_test.py SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(sys.argv[1]).resolve() / "calibrate" / "gpu_check"
COMMON = ("bash basename cat chmod cmp cut date dirname env git grep head ls mkdir mktemp nproc rm sed sh stat "
          "tail tee timeout tr").split()
NVIDIA_SMI = """#!/bin/sh
case "$*" in
  *index,compute_cap*) printf '%b' "${FAKE_GPUS:-0, 9.0\\n}";;
  *) echo GPU 0;;
esac
"""
NVCC = """#!/bin/sh
[ "$1" = --version ] && { echo "Cuda compilation tools, release ${FAKE_CUDA:-13.0}, V1"; exit 0; }
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\n: >"$1"\\n' >"$2"
chmod +x "$2"
"""
CMAKE = """#!/bin/sh
if [ "$1" = --build ]; then
  [ -n "$FAKE_BUILD_FAILS" ] && { echo "no compiler"; exit 1; }
  cp "$FAKE_BENCH" "$2/gpu_bench"
fi
echo "cmake $*"
"""
BENCH = """#!/bin/sh
echo "gpu_bench $*"
[ -n "$FAKE_NO_DEVICE" ] && { echo "no CUDA device: played"; exit 77; }
case "$*" in
  *--backend*) echo "nccl: needs two devices"; exit 77;;
esac
case "$*" in
  *--ranks*) echo "one of: $CUDA_VISIBLE_DEVICES";;
esac
[ -n "$FAKE_WRONG" ] && { echo "got 1, expected 2"; exit 1; }
while [ "$1" != -o ]; do shift; done
echo '{"kind": "gpu_samples"}' >"$2"
"""


def check(folder, **settings):
    """Exit code, summary and names of files."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in COMMON + ["cp"]:
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True).stdout.strip()
        if found.startswith("/") and not (tools / name).exists():
            (tools / name).symlink_to(found)
    files = {"cmake": CMAKE, "bench": BENCH, "python3": "#!/bin/sh\nexit 1\n", "nvcc": NVCC}
    if settings.pop("gpu", True):
        files["nvidia-smi"] = NVIDIA_SMI
    for name, text in files.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    environment = {"PATH": str(tools), "FAKE_BENCH": str(tools / "bench"), "STEPSIM_CALIBRATE": "/nowhere",
                   "TMPDIR": str(folder), **settings}
    out = folder / "out"
    done = subprocess.run([SCRIPT, out], env=environment, capture_output=True, text=True, timeout=600)
    summary = (out / "summary.txt").read_text() if (out / "summary.txt").exists() else ""
    names = sorted(p.name for p in out.iterdir()) if out.exists() else []
    assert not [p for p in folder.iterdir() if p.name not in ("tools", "out")], "left behind"
    log = (out / "log.txt").read_text() if (out / "log.txt").exists() else ""
    return done.returncode, summary + done.stderr + log, names


CASES = {
    "no GPU": (dict(gpu=False), 77, ["no GPU"], []),
    "no device": (dict(FAKE_NO_DEVICE="1"), 77, ["no CUDA device: played"], ["log.txt", "summary.txt"]),
    "all right": (dict(), 0, ["measure: ok", "--total-seconds", "nccl: skipped", "ARCHITECTURES=90\n",
                              "profiles: skipped: no PyTorch", "nothing failed"],
                  ["gpu.jsonl", "log.txt", "summary.txt"]),
    "several kinds of GPUs": (dict(FAKE_GPUS="0, 8.0\\n1, 9.0\\n2, 9.0\\n3, 7.0\\n"), 0,
                              ["ARCHITECTURES=80;90\n", "same_device: ok", "one of: 0\n",
                               "GPU 3: compute capability 7.0 needs a CUDA toolkit 12 (this is 13): not used"],
                              ["gpu.jsonl", "log.txt", "same_device.jsonl", "summary.txt"]),
    "an older toolkit": (dict(FAKE_GPUS="0, 7.0\\n", FAKE_CUDA="12.4"), 0, ["ARCHITECTURES=70\n", "measure: ok"],
                         ["gpu.jsonl", "log.txt", "summary.txt"]),
    "GPUs that are too old": (dict(FAKE_GPUS="0, 7.0\\n"), 1, ["no GPU that this CUDA toolkit can build for"],
                              ["log.txt", "summary.txt"]),
    "something wrong": (dict(FAKE_WRONG="1"), 1, ["measure: FAILED (exit 1): got 1, expected 2"],
                        ["log.txt", "summary.txt"]),
    "build fails": (dict(FAKE_BUILD_FAILS="1"), 1, ["build: FAILED (exit 1): no compiler", "something failed"],
                    ["log.txt", "summary.txt"]),
}


def test_page(folder):
    """Times of kernels, of PyTorch and of two streams become three tables."""
    own = [{"record": "kernel", "kernel": "radix_select", "distribution": "gaussian", "n": 1 << 20, "k": 1048, "time_s": [2e-5] * 3},
           {"record": "kernel", "kernel": "reduce_add", "distribution": "any", "n": 1 << 20, "k": 0, "time_s": [2e-5]},
           {"record": "collective", "op": "allreduce", "algorithm": "ring", "variant": "copy_engine", "launch": "graph",
            "ranks": 2, "bytes": 4100, "time_s": [3e-5]},
           {"record": "collective", "op": "allreduce", "algorithm": "ring", "variant": "copy_engine", "launch": "plain",
            "ranks": 2, "bytes": 4100, "time_s": [4e-5]},
           {"record": "collective", "op": "allreduce", "algorithm": "ring", "variant": "copy_engine", "launch": "graph",
            "ranks": 2, "bytes": 1000, "time_s": [3e-5]},
           {"record": "collective", "op": "allreduce", "algorithm": "be", "variant": "copy_engine", "launch": "plain",
            "ranks": 2, "bytes": 1000, "time_s": [4e-5]}]
    nccl = [{"record": "collective", "op": "allreduce", "algorithm": "nccl", "variant": "nccl", "launch": "plain", "ranks": 2,
             "bytes": 1000, "time_s": [1e-5]}]
    own += [{"record": "kernel", "kernel": "radix_sort", "distribution": "gaussian", "n": 1 << 20, "k": 1 << 20, "time_s": [5e-5]},
            {"record": "kernel", "kernel": "copy_on_device", "distribution": "any", "n": 1 << 20, "k": 0, "time_s": [1e-5]}]
    torch = [{"kernel": "torch_topk_0.001", "n": 1 << 20, "time_s": 4e-5},
             {"interference": "reduction", "model_slowdown": 1.25, "other_slowdown": 1.5}]
    for name, records in (("gpu.jsonl", own), ("nccl.jsonl", nccl), ("torch.jsonl", torch)):
        (folder / name).write_text("".join(json.dumps(each) + "\n" for each in records) + "{cut o")
    done = subprocess.run([sys.executable, SCRIPT.parent / "gpu_check_page.py", "page", folder, folder / "torch.jsonl"],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["radix_select", "0.001", "radix_sort", "-", "0.40", "-", "-"] in rows, done.stdout
    assert ["radix_select", "0.001", "torch_topk_0.001", "-", "0.50", "-", "-"] in rows, done.stdout
    # 12 bytes per element in 20 us, next to 8 bytes in 10 us: three quarters of the bytes/s.
    assert "radix_select 0.001 at 2^20  0.40 x the time of radix_sort" in done.stdout, done.stdout
    targets = {line.split("  ")[0]: line.split()[-1] for line in done.stdout.split("\n\n")[1].splitlines()}
    assert targets["radix_select 0.001 at 2^20"] == "met" and targets["reduce_add at 2^20"] == "missed", targets
    assert "75 % of the bytes/s of copy_on_device" in done.stdout, done.stdout
    assert targets["graphs at 4096 B"] == "met" and "in 1 of 1 cases" in done.stdout, targets
    assert ["allreduce", "1000", "ring", "copy_engine", "graph", "30", "10", "3.00"] in rows, done.stdout
    assert ["addition", "of", "two", "vectors", "1.25", "1.50"] in rows, done.stdout


TORCH = """
import contextlib, types
clock = 0.0
def work(*_, **__):
    global clock
    clock += 1e-3
class Tensor(list):
    copy_ = add_ = abs = work
    def __init__(self, n): super().__init__(range(1)); self.n = n
    def __len__(self): return self.n
class Event:
    def __init__(self, **_): pass
    def record(self): self.at = clock
    def synchronize(self): pass
    def elapsed_time(self, end): return 1e3 * (end.at - self.at)
randn = empty = lambda n, *_, **__: Tensor(n)
topk = matmul = work
cuda = types.SimpleNamespace(Event=Event, Stream=object, is_available=lambda: True, synchronize=lambda: None,
                             current_stream=object, stream=lambda _: contextlib.nullcontext())
"""


def test_torch(folder):
    """With a PyTorch whose every call takes a millisecond nothing slows anything down."""
    (folder / "torch.py").write_text(TORCH)
    done = subprocess.run([sys.executable, SCRIPT.parent / "gpu_check_page.py", "torch", folder / "t.jsonl"],
                          env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (folder / "t.jsonl").read_text().splitlines()]
    slowdowns = [(each["model_slowdown"], each["other_slowdown"]) for each in records if "interference" in each]
    assert len(slowdowns) == 4 and all(abs(value - 1) < 1e-6 for both in slowdowns for value in both), records
    assert len([each for each in records if each.get("kernel", "").startswith("torch_topk_")]) == 14, records


def main():
    for test in (test_page, test_torch):
        with tempfile.TemporaryDirectory() as folder:
            test(pathlib.Path(folder))
    if list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("there is a GPU: not played")
        sys.exit(77)
    for name, (settings, code, texts, files) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            got, summary, names = check(pathlib.Path(folder), **settings)
        assert got == code, (name, got, summary)
        for text in texts:
            assert text in summary, (name, text, summary)
        assert names == files and len(names) <= 8, (name, names)
        print(name, "ok")


main()
