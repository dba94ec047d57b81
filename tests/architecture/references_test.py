#!/usr/bin/python3
"""Every short name that a comment or a test cites (COL 5.6, MER 8, IO K1) has a row in docs/references.md.

usage: references_test.py [SOURCE_DIR]
Prints every citation without a row as FILE:LINE: message; exit 1 if there is one.
"""
import pathlib
import re
import sys

NAMES = "CLU|COL|INP|MER|MOD|IO|CAL|PERF|SPA|PIP|PKT|REP|TRN"
FOLDERS = ["sim", "tests", "models", "traces", "topologies", "notebooks", "calibrate", "examples", "schemas"]
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".sh", ".md", ".cmake", ".txt", ".ipynb", ".json", ""}
SELF = {"tests/architecture/references_test.py", "tests/architecture/self_test.py"}

# A section or a row of a table: 5.6, 14, K1, D11; a letter alone only where a bracket, a comma or
# another end follows, so that "COL 4, P a power of two" cites COL 4.
ITEM = r"(?:\d+(?:\.\d+)*|[A-Z]\d+|[A-Z](?=[),;:.\"']|$| to | and ))(?![\w])"
GAP = r"\s+(?:(?://|#)\s*)?"  # a citation may go on behind the marker of the next comment line
CITATION = re.compile(rf"\b({NAMES}){GAP}({ITEM}(?:(?:,{GAP}|{GAP}and{GAP}|{GAP}to{GAP}){ITEM})*)")
ROW = re.compile(r"^\|((?: *`(?:" + NAMES + r") [\w.]+`,?)+) *\|", re.M)


def between(first, last):
    """5.1 to 5.8 and K1 to K5 mean all of them; other ends stand for themselves."""
    head, tail = (re.fullmatch(r"(.*?)(\d+)", end) for end in (first, last))
    if not head or not tail or head.group(1) != tail.group(1):
        return [first, last]
    return [f"{head.group(1)}{n}" for n in range(int(head.group(2)), int(tail.group(2)) + 1)]


def citations(text):
    """(offset, label) of everything that is cited."""
    for match in CITATION.finditer(text):
        items = []
        tokens = re.findall(rf"\bto\b|{ITEM}", match.group(2))
        for position, token in enumerate(tokens):
            if token == "to":
                continue
            after_to = position > 1 and tokens[position - 1] == "to"
            items += between(tokens[position - 2], token) if after_to else [token]
        for item in dict.fromkeys(items):
            yield match.start(), f"{match.group(1)} {item}"


def rows(root):
    page = (root / "docs/references.md").read_text(encoding="utf-8")
    return {label for row in ROW.findall(page) for label in re.findall(r"`([^`]+)`", row)}


def check_references(root):
    known = rows(root)
    count = 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            if (not path.is_file() or path.suffix not in SUFFIXES or str(relative) in SELF
                    or "__pycache__" in path.parts):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for offset, label in citations(text):
                count += 1
                if label not in known:
                    line = text.count("\n", 0, offset) + 1
                    yield f"{relative}:{line}: {label} has no row in docs/references.md"
    if count == 0:
        yield "no citation found: the pattern or the folders are wrong"


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here
    problems = list(check_references(root))
    print("\n".join(problems) if problems else f"every citation has one of {len(rows(root))} rows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
