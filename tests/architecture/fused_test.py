#!/usr/bin/python3
"""No multiplication and addition is fused, on whatever processor the project is built for
(sim/same_bits.cmake): a run and a sweep give the same bits.

usage: fused_test.py BUILD_DIR
Looks at the command of every source, then at the assembly of the kernels of runs and sweeps,
compiled with the project's options for a processor that can fuse. Exit 77: the compiler knows none.
"""
import concurrent.futures
import json
import pathlib
import platform
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OFF = "-ffp-contract=off"
# Options that allow the compiler to fuse, wherever they come from.
ALLOWS = re.compile(r"-ffp-contract=(?!off)|-Ofast|-ffast-math|-funsafe-math-optimizations"
                    r"|--use_fast_math")

# The arithmetic of a step on the way of `run` and on the short way of `sweep`. Files with clones for
# several instruction sets join by themselves.
KERNELS = ["collectives/formula/closed_form_ring.cpp", "links/flow/flow_level.cpp", "buckets/cost.cpp",
           "buckets/sending.cpp", "study/sweep/sweep_quick.cpp", "programs/step/exchange_times.cpp",
           "buckets/optimal.cpp"]
# This one has an a + b m in it, so that a compiler that may fuse does.
SAMPLE = "collectives/formula/closed_form_ring.cpp"

# Architecture -> options that let the compiler fuse, its instructions for it.
FUSED = {
    "x86_64": (["-mfma"], r"\bvfn?m(?:add|sub)"),
    "aarch64": ([], r"\bf(?:n?madd|n?msub|mla|mls)\b"),
}


def entries(build):
    """(source, folder, command) of all; a unity file stands for the sources that it includes."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file, arguments = entry["file"], shlex.split(entry["command"])
        parts = [file]
        if pathlib.Path(file).parent.name == "Unity":
            parts = re.findall(r'(?m)^#include "(.+)"$', pathlib.Path(file).read_text(encoding="utf-8"))
        for part in parts:
            own = [part if argument == file else argument for argument in arguments]
            yield pathlib.Path(part), entry["directory"], own


def wrong_options(file, arguments):
    """What is wrong with the options of one source, or None."""
    wanted = f"-Xcompiler={OFF}" if file.suffix == ".cu" else OFF
    if wanted not in arguments:
        return f"{file}: compiled without {wanted}"
    allowed = [a for a in arguments if ALLOWS.search(a)]
    return f"{file}: {' '.join(allowed)} allows to fuse" if allowed else None


def assembly(directory, arguments, extra):
    """The assembly of a source at full optimisation, or None if the compiler refuses `extra`."""
    left = iter(arguments)
    kept = []
    for argument in left:
        if argument == "-o":
            next(left)
        elif argument != "-c":
            kept.append(argument)
    done = subprocess.run([*kept, "-O3", *extra, "-S", "-o", "-"], cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.stdout if done.returncode == 0 else None


def main():
    commands = {} # a file that several programs compile: the command of the first
    problems = []
    for file, directory, arguments in entries(pathlib.Path(sys.argv[1])):
        commands.setdefault(file, (directory, arguments))
        problems += filter(None, [wrong_options(file, arguments)])
    print(f"{len(commands)} sources")

    flags, instruction = FUSED.get(platform.machine(), ([], None))
    sample = commands[ROOT / "sim" / SAMPLE]
    able = instruction and assembly(*sample, [*flags, "-ffp-contract=fast"])
    if problems or not able:
        print("\n".join(problems) or "the compiler fuses nothing on this machine: not looked further")
        return 1 if problems else 77
    if not re.search(instruction, able):
        print(f"{SAMPLE}: nothing is fused where it may be: this test cannot fail")
        return 1

    clones = [str(file.relative_to(ROOT / "sim")) for file in commands
              if file.is_relative_to(ROOT / "sim") and '"base/vector_clones.hpp"' in file.read_text(encoding="utf-8")]
    kernels = sorted({*KERNELS, *clones})
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda name: assembly(*commands[ROOT / "sim" / name], flags), kernels))
    for name, text in zip(kernels, texts):
        found = re.findall(instruction, text) if text else None
        print(f"sim/{name}: {'does not compile' if found is None else len(found)} fused")
        if found != []:
            problems.append(name)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
