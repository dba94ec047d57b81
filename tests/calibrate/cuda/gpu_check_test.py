#!/usr/bin/env python3
"""calibrate/gpu_check without a GPU: it says so. With a machine that is played (commands of the same
names that answer as asked): every part may fail alone, what is wrong is not timed, and the folder
holds at most eight files.

    gpu_check_test.py SOURCE_DIR
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(sys.argv[1]).resolve() / "calibrate" / "gpu_check"
COMMON = ("bash basename cat chmod cmp cut date dirname env git grep head ls mkdir mktemp nproc rm sed sh stat "
          "tail tee timeout tr").split()
NVIDIA_SMI = "#!/bin/sh\ncase \"$*\" in *compute_cap*--format*) echo 9.0;; *) echo GPU 0;; esac\n"
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
  *--verify-only*$FAKE_WRONG*) [ -n "$FAKE_WRONG" ] && { echo "got 1, expected 2"; exit 1; };;
esac
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
    files = {"cmake": CMAKE, "bench": BENCH, "python3": "#!/bin/sh\nexit 1\n"}
    if settings.pop("gpu", True):
        files["nvidia-smi"] = NVIDIA_SMI
    for name, text in files.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    environment = {"PATH": str(tools), "FAKE_BENCH": str(tools / "bench"), "STEPSIM_CALIBRATE": "/nowhere",
                   "TMPDIR": str(folder), **settings}
    out = folder / "out"
    done = subprocess.run([SCRIPT, out], env=environment, capture_output=True, text=True, timeout=60)
    summary = (out / "summary.txt").read_text() if (out / "summary.txt").exists() else ""
    names = sorted(p.name for p in out.iterdir()) if out.exists() else []
    assert not [p for p in folder.iterdir() if p.name not in ("tools", "out")], "left behind"
    return done.returncode, summary + done.stderr, names


CASES = {
    "no GPU": (dict(gpu=False), 77, ["no GPU"], []),
    "no device": (dict(FAKE_NO_DEVICE="1"), 77, ["no CUDA device: played"], ["log.txt", "summary.txt"]),
    "all right": (dict(), 0, ["verify kernels: ok", "measure collectives kernels: ok", "nccl: skipped",
                              "profiles: skipped: no PyTorch", "nothing failed"],
                  ["gpu.jsonl", "log.txt", "summary.txt"]),
    "kernels wrong": (dict(FAKE_WRONG="kernels"), 1,
                      ["verify kernels: FAILED (exit 1): got 1, expected 2", "measure collectives: ok"],
                      ["gpu.jsonl", "log.txt", "summary.txt"]),
    "build fails": (dict(FAKE_BUILD_FAILS="1"), 1, ["build: FAILED (exit 1): no compiler", "something failed"],
                    ["log.txt", "summary.txt"]),
}


def main():
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
