#!/usr/bin/python3
"""Every relative link of a Markdown file leads to a file or folder that exists, and to a heading or an
id in it; a link to an anchor alone leads to one of its own file."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def markdown_files():
    yield from ROOT.glob("*.md")
    for folder in ["docs", "notebooks", "examples", "models", "topologies", "traces", "calibrate", "sim"]:
        yield from (ROOT / folder).rglob("*.md")


def anchors_of(file):
    """Ids, and headings as GitHub makes links of them."""
    text = file.read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^#+ (.+)$", text)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings} | set(
        re.findall(r'<a id="([^"]+)">', text))


def main():
    missing = []
    links = 0
    for file in markdown_files():
        for target in LINK.findall(file.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            name, _, anchor = target.partition("#")
            place = file.parent / name if name else file
            if not place.exists():
                missing.append(f"{file.relative_to(ROOT)}: {target}: no such file")
            elif anchor and anchor not in anchors_of(place):
                missing.append(f"{file.relative_to(ROOT)}: {target}: no such heading")
    print("\n".join(missing) if missing else f"{links} links lead to files")
    return 1 if missing or not links else 0


if __name__ == "__main__":
    sys.exit(main())
