#!/usr/bin/env python3
"""release/package.sh twice: equal bytes, within their limits; the wheel in a virtual environment
gives the numbers of the command. On an empty Debian: tests/chroot/package.sh.

usage: package_test.py BUILD     exit 77 without the tools of Debian packages
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIX = """
import json, pathlib, subprocess, sys, stepsim
example = pathlib.Path(sys.prefix) / "share/stepsim/examples/quickstart.scenario.json"
text = subprocess.run([pathlib.Path(sys.prefix) / "bin/stepsim", "run", example, "--json"],
                      capture_output=True, text=True, check=True).stdout
assert stepsim.run(example).summary == json.loads(text)["summary"]
assert len(stepsim.sweep(example, over={"/cluster/nodes": [8, 16]})) == 2
assert stepsim.version().startswith("stepsim ")
"""


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"FAILED: {words}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def main():
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "ninja"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="stepsim package ") as name:
        folder = pathlib.Path(name) / "packages"
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
        package = [ROOT / "release/package.sh", folder, build]
        run(*package, env=environment)
        files = sorted([*folder.glob("*.deb"), *folder.glob("*.whl")])
        first = {file.name: file.read_bytes() for file in files}
        if len(first) != 3:
            sys.exit(f"FAILED: made {sorted(first)}")
        run(*package, env=environment)
        for file in files:
            if file.read_bytes() != first[file.name]:
                sys.exit(f"FAILED: {file.name} differs when it is made again")
        limits = {".deb": 5e6, ".whl": 10e6}
        page = build / "whatif.html"  # made only where emscripten is installed; it comes on top
        extra = page.stat().st_size if page.exists() else 0
        for file in files:
            if file.stat().st_size > limits[file.suffix] + extra:
                sys.exit(f"FAILED: {file.name} has {file.stat().st_size} bytes")
        if shutil.which("lintian"):
            errors = subprocess.run(["lintian", "--allow-root", *map(str, folder.glob("*.deb"))],
                                    capture_output=True, text=True).stdout
            if any(line.startswith("E: ") for line in errors.splitlines()):
                sys.exit(f"FAILED: lintian\n{errors}")
        venv = pathlib.Path(name) / "venv mit Ümlaut"
        run(sys.executable, "-m", "venv", venv)
        wheel = next(folder.glob("*.whl"))
        run(venv / "bin/python3", "-m", "pip", "install", "-q", "--no-index", wheel)
        plain = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        run(venv / "bin/python3", "-c", SIX, cwd=name, env=plain)
        if page.exists():
            run(venv / "bin/stepsim", "web", "-o", "whatif.html", cwd=name, env=plain)
            if (pathlib.Path(name) / "whatif.html").read_bytes() != page.read_bytes():
                sys.exit("FAILED: the wheel has another what-if page than the build")
            run("dpkg-deb", "-x", next(folder.glob("stepsim_*.deb")), pathlib.Path(name) / "deb")
            run(pathlib.Path(name) / "deb/usr/bin/stepsim", "web", "-o", "deb.html", cwd=name, env=plain)
            if (pathlib.Path(name) / "deb.html").read_bytes() != page.read_bytes():
                sys.exit("FAILED: the .deb has another what-if page than the build")
        for file in files:
            print(f"{file.stat().st_size:>9} bytes  {file.name}")


if __name__ == "__main__":
    main()
