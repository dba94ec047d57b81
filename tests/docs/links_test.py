#!/usr/bin/python3
"""Every relative link of a Markdown file leads to a file or folder that exists."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def markdown_files():
    yield from ROOT.glob("*.md")
    for folder in ["docs", "notebooks", "examples", "models", "topologies", "traces", "calibrate", "sim"]:
        yield from (ROOT / folder).rglob("*.md")


def main():
    missing = []
    links = 0
    for file in markdown_files():
        for target in LINK.findall(file.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:|#", target):
                continue
            links += 1
            if not (file.parent / target.split("#")[0]).exists():
                missing.append(f"{file.relative_to(ROOT)}: {target}: no such file")
    print("\n".join(missing) if missing else f"{links} links lead to files")
    return 1 if missing or not links else 0


if __name__ == "__main__":
    sys.exit(main())
