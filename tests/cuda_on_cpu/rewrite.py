#!/usr/bin/env python3
"""Makes C++ of the CUDA sources in calibrate/cuda, for the shim beside this file.

    rewrite.py SOURCE_DIR OUTPUT_DIR FILE.cu|FILE.cuh ...

Launches become calls, `__shared__` variables become words that know who uses them, and every kernel
says its name where it begins; one that is a lambda expression has the name of its place. FILE.cu becomes OUTPUT_DIR/FILE.cpp, FILE.cuh
OUTPUT_DIR/calibrate/cuda/FILE.cuh where it is changed, and a copy of before is removed where it is not;
OUTPUT_DIR/kernel_names.cpp lists the kernels.
"""
import pathlib
import re
import sys

LAUNCH = re.compile(r"(\w+(?:<[\w:]+>)?)\s*<<<(.*?)>>>\((.*?)\);", re.S)
SHARED = re.compile(r"__shared__ ([\w:]+) (\w+)((?:\[[^\]]*\])+);")
KERNEL = re.compile(r"(__global__ void (\w+)\([^{}]*?\) \{)")
LAMBDA = re.compile(r"(\[=[^\]]*\] __device__(?:\([^)]*\))? \{)")


def split(arguments):
    """At the commas outside parentheses."""
    parts, depth, part = [], 0, ""
    for c in arguments:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def launch(match):
    kernel, configuration, arguments = match.groups()
    grid, threads, shared, stream = split(configuration)
    return f'cuda_on_cpu::launch("{kernel}", {kernel}, {grid}, {threads}, {shared}, {stream}, {arguments});'


def rewritten(path, kernels):
    text = path.read_text()
    kernels += [match[1] for match in KERNEL.findall(text)]
    text = KERNEL.sub(r'\1 static const bool was_entered = cuda_on_cpu::entered("\2");', text)

    def named(match):
        kernels.append(f"{path.name}:{text.count(chr(10), 0, match.start()) + 1}")
        return f'{match[1]} static const bool was_entered = cuda_on_cpu::entered("{kernels[-1]}");'

    text = LAMBDA.sub(named, text)
    text = LAUNCH.sub(launch, text)
    text = SHARED.sub(r"static cuda_on_cpu::Shared<\1\3> \2;", text)
    left = [word for word in ("<<<", "__shared__") if word in text]
    if left or len(re.findall("__global__ void|\\] __device__", text)) != text.count("cuda_on_cpu::entered("):
        sys.exit(f"{path}: {left or 'a kernel'} not understood")
    return f'#line 1 "{path}"\n{text}'


def write(path, text):
    """What has not changed keeps its time, so that it is not compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    source, output = map(pathlib.Path, sys.argv[1:3])
    kernels = []
    for name in sys.argv[3:]:
        text = rewritten(source / name, kernels)
        path = output / "calibrate" / "cuda" / name if name.endswith(".cuh") else output / f"{name[:-3]}.cpp"
        if name.endswith(".cuh") and "cuda_on_cpu::" not in text:
            path.unlink(missing_ok=True)  # the original serves
        else:
            write(path, text)
    names = "".join(f'      "{kernel}",\n' for kernel in kernels)
    write(output / "kernel_names.cpp",
          '#include "shim/blocks.hpp"\n\nnamespace cuda_on_cpu {\n\nconst std::vector<std::string>& kernels() {\n'
          f"  static const std::vector<std::string> names{{\n{names}  }};\n  return names;\n}}\n\n}} // namespace cuda_on_cpu\n")


main()
