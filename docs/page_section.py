"""A section of a page that a program writes: what stands between two markers."""
import argparse
import difflib
import pathlib
import sys


def renewed(page, mark, lines, check):
    """Puts `lines` between `<!-- MARK: .. -->` and `<!-- end of MARK -->` of `page`, and returns 0; with `check` nothing
    is written, and 1 is returned where the page says otherwise."""
    old = page.read_text(encoding="utf-8")
    start = old.index("\n", old.index(f"<!-- {mark}: ")) + 1
    stop = old.index(f"<!-- end of {mark} -->", start)
    new = old[:start] + "\n" + "\n".join(lines).rstrip() + "\n\n" + old[stop:]
    if check:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), str(page), "now"))
        return int(new != old)
    page.write_text(new, encoding="utf-8")
    return 0


def main(description, page, mark, section):
    """`section`: the lines of a section, by the program that the command line names."""
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("stepsim", metavar="BINARY", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    return renewed(page, mark, section(options.stepsim.resolve()), options.check)
