#!/usr/bin/env python3
"""Every importer with the beginning of every other kind of file, 64 KiB at most: one line, exit code 3,
little memory.

    wrong_format.py STEPSIM [PARTS]

With PARTS one of so many parts of the files, another one for every commit.
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[up]) for up in (0, 1)]
import samples  # noqa: E402
from moving_seed import moving_part  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FORMATS = ["kineto", "caffe-log", "layer-table", "osu", "nccl-tests", "nccl-inspector", "nccl-topology",
           "pytorch-et", "chakra", "astra-text", "hf-config", "auto"]
HEAD = 64 << 10
MEMORY_LIMIT = 300 << 20  # the program maps about 100 MiB


def inputs(stepsim):
    """Name, content, and the formats that may take it."""
    for form, (name, content, _) in samples.IMPORTS.items():
        yield name, content(), {form.split(",")[0], "auto"}
    for place in ("examples", "models", "topologies", "traces"):
        kinds = set()
        for path in sorted((ROOT / place).glob("*.json")):
            kind = path.name.split(".", 1)[1]
            if kind not in kinds:
                kinds.add(kind)
                yield path.name, path.read_bytes(), set()
    for path in sorted((ROOT / "tests/golden/input").iterdir()):
        own = {"layers.csv": {"layer-table", "auto"}, "machine.xml": {"nccl-topology", "auto"},
               "osu.log": {"osu", "auto"}}
        yield path.name, path.read_bytes(), own.get(path.name, set())
    yield "program", pathlib.Path(stepsim).read_bytes(), set()
    yield "README.md", (ROOT / "README.md").read_bytes(), set()
    yield "zeros", bytes(HEAD), set()
    yield "ones", b"\xff" * HEAD, set()
    yield "one byte", b"{", set()
    yield "no bytes", b"", set()
    yield "packed", b"\x1f\x8b" + bytes(HEAD), set()


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def main():
    stepsim = str(pathlib.Path(sys.argv[1]).resolve())
    parts = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    has_sanitizer = b"__asan_init" in pathlib.Path(stepsim).read_bytes()
    pairs = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, content, own in moving_part(list(inputs(stepsim)), parts):
            for form in FORMATS:
                if form in own:
                    continue
                path = pathlib.Path(folder) / "input"
                path.write_bytes(content[:HEAD])
                flags = ["--ranks", "4"] if form in ("osu", "nccl-tests") else []
                done = subprocess.run([stepsim, "import", form, "input", *flags, "-o", "out.json",
                                       "--quiet"], cwd=folder, capture_output=True, timeout=600,
                                      check=False, preexec_fn=None if has_sanitizer else limited)
                pairs += 1
                error = done.stderr.decode(errors="replace")
                # Problems of rows are listed, a line each.
                lines = error.splitlines()
                clean = lines and all(line.startswith("error: input") for line in lines)
                left = (pathlib.Path(folder) / "out.json").exists()
                if done.returncode != 3 or not clean or left:
                    failures += 1
                    print(f"{form} of {name}: exit {done.returncode}, {error[:500]}")
    print(f"{pairs} pairs, {failures} failures")
    return 1 if failures or pairs < 35 else 0


if __name__ == "__main__":
    sys.exit(main())
