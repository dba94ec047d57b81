#!/usr/bin/env python3
"""Notes of a release from CHANGELOG.md: what breaks, what is new, what is fixed, how accurate and how
fast this version is beside the last, and the SHA-256 of its files.

usage: release/notes.py [VERSION] [--files FILE...] [--measured THIS.json [LAST.json]]
VERSION: a heading of CHANGELOG.md; default the first one. THIS and LAST hold {"name": number}, for
example errors of predictions and seconds of benchmarks; LAST is the file of the version before.
"""
import argparse
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Heading of the notes <- headings of the changelog; what stands under no heading is new.
PARTS = {"Breaking": ("Answers that change", "Breaking", "Removed"),
         "New": ("New", "Added", "Building", ""),
         "Fixed": ("Fixed", "Safer")}


def sections(text, version):
    """{heading: [entries]} of a version, entries as they are written, over several lines or not."""
    match = re.search(rf"(?ms)^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text)
    if match is None:
        known = re.findall(r"(?m)^## (\S+)", text)
        sys.exit(f"{version}: CHANGELOG.md has {', '.join(known)}")
    found, heading = {}, ""
    for line in match.group(1).splitlines():
        if line.startswith("- "):
            found.setdefault(heading, []).append(line)
        elif line.startswith("  ") and found.get(heading):
            found[heading][-1] += "\n" + line
        elif line.strip():
            heading = line.strip().rstrip(":").lstrip("# ")
    return found


def notes(text, version):
    found = sections(text, version)
    unknown = set(found) - {each for names in PARTS.values() for each in names}
    out = [f"# stepsim {version}", ""]
    for title, names in {**PARTS, **{each: (each,) for each in sorted(unknown)}}.items():
        entries = [entry for name in names for entry in found.get(name, [])]
        if entries:
            out += [f"## {title}", "", *entries, ""]
    return out


def measured(this, last):
    out = ["## Accuracy and speed", "", "| | this version | the last |", "|---|---|---|"]
    for name, value in this.items():
        before = f"{last[name]:.4g}" if name in last else "-"
        out.append(f"| {name} | {value:.4g} | {before} |")
    return [*out, ""]


def sums(files):
    out = ["## SHA-256", "", "```"]
    for file in sorted(files):
        out.append(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    return [*out, "```", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("version", nargs="?")
    parser.add_argument("--files", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--measured", nargs="+", type=pathlib.Path, default=[])
    options = parser.parse_args()
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = options.version or re.search(r"(?m)^## (\S+)", text).group(1)
    out = notes(text, version)
    if options.measured:
        tables = [json.loads(file.read_text()) for file in options.measured[:2]]
        out += measured(tables[0], tables[1] if len(tables) > 1 else {})
    if options.files:
        out += sums(options.files)
    print("\n".join(out).rstrip())


if __name__ == "__main__":
    main()
