#!/usr/bin/env python3
"""One version everywhere: CMake, CHANGELOG, CITATION, README and `stepsim --version`.

usage: version_test.py STEPSIM
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def found(pattern, text):
    match = re.search(pattern, text, re.M)
    return match.group(1) if match else None


def main():
    citation = (ROOT / "CITATION.cff").read_text()
    printed = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout
    versions = {
        "CMakeLists.txt": found(r"project\(stepsim VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()),
        # The newest release; what comes after it stands under "Unreleased".
        "CHANGELOG.md": found(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text()),
        "CITATION.cff": found(r"^version: ([\d.]+)", citation),
        "README.md": found(r"stepsim_([\d.]+)_amd64", (ROOT / "README.md").read_text()),
        "stepsim --version": found(r"^stepsim ([\d.]+)", printed),
    }
    if len(set(versions.values())) != 1 or None in versions.values():
        sys.exit(f"FAILED: {versions}")
    for needed in (r"^date-released: \d{4}-\d\d-\d\d$", r"^authors:$", r"^references:$"):
        if not re.search(needed, citation, re.M):
            sys.exit(f"FAILED: CITATION.cff has no line {needed}")
    print(versions["CMakeLists.txt"])


if __name__ == "__main__":
    main()
