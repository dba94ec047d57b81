#!/usr/bin/env python3
"""Every code block of every page runs as written, in an empty folder, or says why it does not run
(page_blocks.py). Blocks of command output belong to docs/update_outputs.py.

usage: blocks_test.py BUILD [PAGE ...]
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
import page_blocks  # noqa: E402

ROOT = page_blocks.ROOT


def pages():
    """The pages of a paper are written by `stepsim reproduce`, from the commands that it has run."""
    yield from sorted(page for page in ROOT.glob("*.md") if page.name != "CHANGELOG.md")
    for folder in ("docs", "examples", "traces", "models", "topologies", "notebooks", "reproduce"):
        yield from sorted(page for page in (ROOT / folder).rglob("*.md") if page.parent.name != "reproduce"
                          or page.name == "README.md")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    problems, blocks, left_out = [], 0, 0
    for page in [pathlib.Path(name).resolve() for name in sys.argv[2:]] or pages():
        found = [block for block in page_blocks.blocks_of(page.read_text()) if block.kind != "output"]
        blocks += len(found)
        left_out += sum(1 for block in found if block.reason)
        with tempfile.TemporaryDirectory() as name:
            runner = page_blocks.Runner(pathlib.Path(name), build)
            for block in found:
                problem = "" if block.reason else runner.problem(block)
                if problem:
                    problems.append(f"{page.relative_to(ROOT)}:{block.line}: {problem}")
    print("\n".join(problems) or f"{blocks - left_out} blocks run, {left_out} say why not")
    return 1 if problems or blocks == left_out else 0


if __name__ == "__main__":
    sys.exit(main())
