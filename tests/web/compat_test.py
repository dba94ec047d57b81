#!/usr/bin/env python3
"""What the page's older C++ library lacks and the engine uses is in web/compat.hpp. Needs no emscripten, so that a
change of the engine that the page could not compile is seen everywhere.

    compat_test.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Parts of std::ranges that libc++ 13 has itself.
OWN = {"greater", "less", "equal_to", "subrange", "next", "size", "begin", "end"}


def page_sources():
    """The sources that web/CMakeLists.txt compiles, with the headers of their floors."""
    rules = (ROOT / "web/CMakeLists.txt").read_text()
    floors = re.search(r"foreach\(floor (.*?)\)", rules).group(1).split()
    for floor in floors:
        yield from sorted(path for path in (ROOT / "sim" / floor).rglob("*.?pp"))
    for name in re.findall(r"PROJECT_SOURCE_DIR}/(sim/\S+\.cpp)", rules):
        yield ROOT / name


def main():
    compat = (ROOT / "web/compat.hpp").read_text()
    given = set(re.findall(r"constexpr \w+(?: \w+)*?\s+(\w+)\(", compat)) | set(re.findall(r"constexpr \w+ (\w+);", compat))
    wrong, read = [], 0
    for path in page_sources():
        read += 1
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for name in re.findall(r"\bstd::(?:ranges|views)::(\w+)", line.split("//")[0]):
                if name not in given | OWN:
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: std::ranges::{name} is not in web/compat.hpp")
    if read < 100 or not given >= {"find", "max", "reverse", "drop", "equal"}:
        sys.exit(f"FAILED: {read} sources read, found {sorted(given)}")
    if wrong:
        sys.exit("FAILED:\n" + "\n".join(wrong))
    print(f"{read} sources of the page use nothing that it lacks")


if __name__ == "__main__":
    main()
