#!/usr/bin/python3
"""Executes every notebook from its first cell to its last; an error in a cell is a failure, and so
is a notebook that was committed with outputs. The commands in its text, indented lines that begin
with stepsim, are run as well, from the root of the repository.

usage: run_notebooks.py [--bin BUILD_DIR] [--keep DIR] [NOTEBOOK ...]
--keep writes the executed notebooks and their pictures to DIR, to look at.
"""
import argparse
import asyncio
import base64
import os
import pathlib
import shlex
import subprocess
import sys

try:
    import jupyter_client
    import nbclient
    import nbformat
    import ipykernel  # noqa: F401  (the kernel that runs the cells)
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError as missing:
    print(f"skipped: no python module {missing.name}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Run before each notebook: all have one kernel, which starts and imports once, and no name of another one.
FRESH = """get_ipython().run_line_magic("reset", "-f")
import sys
if "matplotlib.pyplot" in sys.modules:
    sys.modules["matplotlib.pyplot"].close("all")
del sys
"""


def committed_without_outputs(notebook):
    return all(not cell.get("outputs") and cell.get("execution_count") is None
               for cell in notebook.cells if cell.cell_type == "code")


def keep(notebook, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    number = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            pictures = output.get("data", {})
            if "image/png" in pictures:
                (folder / f"{name}_{number}.png").write_bytes(base64.b64decode(pictures["image/png"]))
            elif "image/svg+xml" in pictures:
                (folder / f"{name}_{number}.svg").write_text(pictures["image/svg+xml"], encoding="utf-8")
            number += is_picture(output)


def is_picture(output):
    return not {"image/png", "image/svg+xml"}.isdisjoint(output.get("data", {}))


def failed_commands(notebook):
    """The commands in the text of a notebook that do not succeed, each with what it says."""
    lines = [line for cell in notebook.cells if cell.cell_type == "markdown"
             for line in cell.source.splitlines() if line.startswith("    stepsim ")]
    runs = [(line.strip(), subprocess.run(shlex.split(line), cwd=ROOT, capture_output=True, encoding="utf-8"))
            for line in lines]
    return [f"{line}: exit code {run.returncode}: {run.stderr.strip()}" for line, run in runs if run.returncode]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    # The cells call the program as users do; the kernel is the python that runs this file.
    os.environ["PATH"] = f"{options.bin.resolve()}:{os.environ['PATH']}"
    os.environ["STEPSIM"] = str(options.bin.resolve() / "stepsim")
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    files = options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb"))
    failed = asyncio.run(failures(files, options))
    if not files:
        print("no notebook found")
    return 1 if failed or not files else 0


async def failures(files, options):
    failed = 0
    kernel = jupyter_client.AsyncKernelManager(kernel_name="python3")
    for file in files:
        notebook = nbformat.read(file, as_version=4)
        if not committed_without_outputs(notebook):
            print(f"{file.name}: has outputs; commit it without")
            failed += 1
        notebook.cells.insert(0, nbformat.v4.new_code_cell(FRESH))
        client = nbclient.NotebookClient(notebook, km=kernel, timeout=600,
                                         resources={"metadata": {"path": str(file.parent)}})
        try:
            await client.async_execute()
            notebook.cells.pop(0)
            pictures = sum(is_picture(output) for cell in notebook.cells for output in cell.get("outputs", []))
            print(f"{file.name}: {len(notebook.cells)} cells, {pictures} pictures")
        except nbclient.exceptions.CellExecutionError as error:
            print(f"{file.name}: {error}")
            failed += 1
        for text in failed_commands(notebook):
            print(f"{file.name}: {text}")
            failed += 1
        if options.keep:
            keep(notebook, options.keep, file.stem)
    if kernel.has_kernel:
        await kernel.shutdown_kernel(now=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
