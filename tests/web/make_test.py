#!/usr/bin/env python3
"""`cmake -DSTEPSIM_WEB=ON` makes the page where no ccache is installed.

usage: make_test.py     a compiler that writes empty files plays emcc
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    with tempfile.TemporaryDirectory(prefix="stepsim page ") as folder:
        build = pathlib.Path(folder) / "build"
        environment = dict(os.environ, CCACHE_DISABLE="1")
        for words in (["-S", ROOT, "-B", build, "-G", "Ninja", "-DSTEPSIM_WEB=ON", "-DSTEPSIM_CCACHE=OFF", "-DSTEPSIM_TESTS=OFF",
                       "-DSTEPSIM_MPI=OFF", "-DSTEPSIM_CUDA=OFF", f"-DSTEPSIM_EMCC={ROOT / 'tests/web/emcc'}"],
                      ["--build", build, "--target", "whatif"]):
            done = subprocess.run(["cmake", *map(str, words)], env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"FAILED: cmake {words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        if "STEPSIM_SETTINGS" not in (build / "whatif.html").read_text():
            sys.exit("FAILED: the page has no settings")


if __name__ == "__main__":
    main()
