#!/usr/bin/python3
"""The C++ of docs/engine.md is what tests/links/engine_page_test.cpp compiles and runs."""
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    source = (ROOT / "tests/links/engine_page_test.cpp").read_text(encoding="utf-8")
    code = textwrap.dedent(source.split("// page\n")[1].split("  // end of page\n")[0])
    page = (ROOT / "docs/engine.md").read_text(encoding="utf-8").split("```cpp\n")[1].split("```")[0]
    print(page if page == code else f"docs/engine.md has\n{page}\nand the test\n{code}")
    return int(page != code)


if __name__ == "__main__":
    sys.exit(main())
