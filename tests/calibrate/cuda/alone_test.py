#!/usr/bin/env python3
"""calibrate/cuda/alone really builds and starts: every room and the program are compiled and linked
there, with the kernels that this build has compiled anyway, by nvcc or, without one, on the played machine.

    alone_test.py SOURCE_DIR LIBRARY...     libraries with the kernels and what they need
    alone_test.py SOURCE_DIR                without nvcc: says what is skipped
"""
import pathlib
import subprocess
import sys
import tempfile


def run(*command, expected=0):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == expected, (command, done.returncode, done.stdout[-4000:], done.stderr[-4000:])
    return done.stdout + done.stderr


def main():
    source, *kernels = sys.argv[1:]
    if not kernels:
        print("skipped: kernels compiled by nvcc (no CUDA toolkit 12 or later in PATH or /usr/local/cuda)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        # Not optimized: only whether it links is of interest.
        run("cmake", "-S", pathlib.Path(source, "calibrate/cuda/alone"), "-B", folder, "-G", "Ninja", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=24",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O0", f"-DSTEPSIM_KERNELS={';'.join(kernels)}")
        run("cmake", "--build", folder, "-j", "2", "--target", "gpu_bench")
        text = run(f"{folder}/gpu_bench", "--ranks", "0", "-o", f"{folder}/none", expected=2)
        assert "--ranks" in text, text


main()
