#!/usr/bin/env python3
"""Joins test files into one that is compiled at once: most of a test's time goes into its headers.

    join_tests.py OUTPUT FILE ...

What the files include comes first, each header once; the rest of each file stands in a namespace of
its own, so that names of one file stay its own: around the file, or within the namespace of the
project that it opens. Messages and reports name the files themselves.
"""
import pathlib
import re
import sys

OPENS = re.compile(r"^namespace (stepsim[\w:]*) \{$", re.MULTILINE)


def main():
    output, *files = map(pathlib.Path, sys.argv[1:])
    includes, bodies = [], []
    for file in files:
        lines = file.read_text().split("\n")
        unusual = [line for line in lines if line.startswith("#") and not line.startswith("#include ")]
        if unusual:
            sys.exit(f"{file}: {unusual[0]}: a joined test has no directives but #include")
        includes += [line for line in lines if line.startswith("#include ") and line not in includes]
        body = "\n".join("" if line.startswith("#include ") else line for line in lines)
        named = f'#line 1 "{file}"\n' + OPENS.sub(rf"namespace \1::{file.stem} {{", body) + "\n"
        bodies.append(named if OPENS.search(body) else f"namespace {file.stem} {{\n{named}}}\n")
    output.write_text("\n".join(includes) + "\n" + "".join(bodies))


if __name__ == "__main__":
    main()
