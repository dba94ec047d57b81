#!/usr/bin/env python3
"""release/package.sh twice: equal bytes, within their limits; the wheel in a virtual environment
gives the numbers of the command; the page is in each; without a tool it says what to install.
On an empty Debian: tests/chroot/package.sh.

usage: package_test.py BUILD     exit 77 without the tools of Debian packages
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import page_blocks  # noqa: E402

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


def refused_without(tool, package, words, folder):
    """Where one program is missing, the command fails and names the package that has it."""
    programs = folder / f"without {tool}"
    programs.mkdir()
    for program in pathlib.Path("/usr/bin").iterdir():
        if program.name != tool:
            (programs / program.name).symlink_to(program)
    done = subprocess.run(list(map(str, words)), env={"PATH": str(programs), "HOME": str(folder)}, capture_output=True,
                          text=True, cwd=folder)
    said = done.stdout + done.stderr
    if done.returncode == 0 or "apt-get install" not in said or package not in said:
        sys.exit(f"FAILED: without {tool}: exit {done.returncode}\n{said}")
    if any(folder.rglob("*.deb")):
        sys.exit(f"FAILED: without {tool} a package was made")


def run_readme(folder, binaries, python, module):
    """The commands of README print with the installed program what they print in the sources."""
    folder.mkdir()
    runner = page_blocks.Runner(folder, binaries, python, module)
    if problems := list(runner.problems("README.md", (ROOT / "README.md").read_text())):
        sys.exit(f"FAILED: {folder.name}: " + "\n".join(problems))


def main():
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "ninja"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is not installed")
            sys.exit(77)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="stepsim package ") as name:
        folder = pathlib.Path(name) / "packages"
        # A build without the page gets one from what plays emcc.
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000", CCACHE_DISABLE="1",
                           PATH=f"{ROOT / 'tests/web'}:{os.environ['PATH']}")
        package = [ROOT / "release/package.sh", folder, build]
        for tool, needed in (("file", "file"), ("dpkg-shlibdeps", "dpkg-dev"), ("emcc", "emscripten")):
            refused_without(tool, needed, [*package[:2], *([] if tool == "emcc" else [build])], pathlib.Path(name))
        run(*package, env=environment)
        for deb in folder.glob("stepsim_*.deb"):
            if "libc6" not in run("dpkg-deb", "-f", deb, "Depends"):
                sys.exit(f"FAILED: {deb.name} depends on nothing")
        files = sorted([*folder.glob("*.deb"), *folder.glob("*.whl")])
        first = {file.name: file.read_bytes() for file in files}
        if len(first) != 3:
            sys.exit(f"FAILED: made {sorted(first)}")
        run(*package, env=environment)
        for file in files:
            if file.read_bytes() != first[file.name]:
                sys.exit(f"FAILED: {file.name} differs when it is made again")
        limits = {".deb": 5e6, ".whl": 10e6}
        page = next(each / "whatif.html" for each in (build, folder / "build") if (each / "whatif.html").exists())
        for file in files:
            if file.stat().st_size > limits[file.suffix] + page.stat().st_size:
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
        unpacked = pathlib.Path(name) / "deb"
        for package in folder.glob("*.deb"):
            run("dpkg-deb", "-x", package, unpacked)
        run_readme(pathlib.Path(name) / "README with the wheel", venv / "bin", venv / "bin/python3", None)
        run_readme(pathlib.Path(name) / "README with the .deb", unpacked / "usr/bin", sys.executable,
                   unpacked / "usr/lib/python3/dist-packages")
        for kind, program in (("wheel", venv / "bin/stepsim"), (".deb", unpacked / "usr/bin/stepsim")):
            run(program, "web", "-o", "whatif.html", cwd=name, env=plain)
            if (pathlib.Path(name) / "whatif.html").read_bytes() != page.read_bytes():
                sys.exit(f"FAILED: the {kind} has another what-if page than the build")
        alone = subprocess.run(["cpack", "--config", folder / "build/CPackConfig.cmake", "-D", "shlibdeps=OFF", "-B", name],
                               capture_output=True, text=True)
        if alone.returncode == 0 or "dpkg-dev" not in alone.stderr:
            sys.exit(f"FAILED: cpack without dpkg-shlibdeps: exit {alone.returncode}\n{alone.stderr}")
        for file, content in first.items():
            print(f"{len(content):>9} bytes  {file}")


if __name__ == "__main__":
    main()
