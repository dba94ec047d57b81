#!/usr/bin/env python3
"""Makes the wheel of the module stepsim with the program and its data, with the standard library.

usage: python/wheel.py BUILD FOLDER
BUILD holds the program, linked statically (release/package.sh); the wheel goes to FOLDER. The same
files give the same bytes.
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[1]
TAG = "py3-none-manylinux_2_36_x86_64"
# Libraries that every Linux of that tag has.
ALLOWED = {"linux-vdso.so.1", "libz.so.1", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}


def version():
    return re.search(r"project\(stepsim VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)


def refuse_other_libraries(program):
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    others = {line.split()[0] for line in linked.splitlines() if "=>" in line} - ALLOWED
    if others:
        sys.exit(f"{program} needs {', '.join(sorted(others))}: install their static libraries and build anew")


def files(build, folder):
    """(name in the wheel, content, mode) of what the install rules give for the component."""
    subprocess.run(["cmake", "--install", build, "--strip", "--component", "stepsim", "--prefix", folder],
                   check=True, stdout=subprocess.DEVNULL)
    base = f"stepsim-{version()}"
    yield "stepsim.py", (SOURCE / "python/stepsim.py").read_bytes(), 0o644
    yield f"{base}.data/scripts/stepsim", (folder / "bin/stepsim").read_bytes(), 0o755
    for path in sorted((folder / "share/stepsim").rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            yield f"{base}.data/data/{name}", path.read_bytes(), 0o644
    yield f"{base}.dist-info/LICENSE", (SOURCE / "LICENSE").read_bytes(), 0o644
    yield f"{base}.dist-info/METADATA", (
        f"Metadata-Version: 2.1\nName: stepsim\nVersion: {version()}\n"
        "Summary: Simulator of distributed training of neural networks\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\nProvides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
        "Provides-Extra: dask\nRequires-Dist: distributed; extra == 'dask'\n"
        "Description-Content-Type: text/markdown\n\n").encode() + (SOURCE / "README.md").read_bytes(), 0o644
    yield f"{base}.dist-info/WHEEL", (
        f"Wheel-Version: 1.0\nGenerator: stepsim\nRoot-Is-Purelib: false\nTag: {TAG}\n").encode(), 0o644


def main():
    build, target = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    refuse_other_libraries(build / "stepsim")
    record = []
    path = target / f"stepsim-{version()}-{TAG}.whl"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(
            path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name)  # of 1980, so that the time of making it plays no part
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)

        for name, content, mode in files(build, pathlib.Path(folder)):
            add(name, content, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")
        name = f"stepsim-{version()}.dist-info/RECORD"
        add(name, ("".join(record) + f"{name},,\n").encode(), 0o644)
    print(path)


if __name__ == "__main__":
    main()
