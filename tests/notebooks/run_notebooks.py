#!/usr/bin/python3
"""Executes every notebook from its first cell to its last; an error in a cell is a failure, and so
is a notebook that was committed with outputs.

usage: run_notebooks.py [--bin BUILD_DIR] [--keep DIR] [NOTEBOOK ...]
--keep writes the executed notebooks and their pictures to DIR, to look at.
"""
import argparse
import base64
import os
import pathlib
import sys

try:
    import nbclient
    import nbformat
    import ipykernel  # noqa: F401  (the kernel that runs the cells)
    import matplotlib  # noqa: F401
    import pandas  # noqa: F401
except ImportError as missing:
    print(f"skipped: no python module {missing.name}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def committed_without_outputs(notebook):
    return all(not cell.get("outputs") and cell.get("execution_count") is None
               for cell in notebook.cells if cell.cell_type == "code")


def keep(notebook, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{name}.ipynb")
    number = 0
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            picture = output.get("data", {}).get("image/png")
            if picture:
                (folder / f"{name}_{number}.png").write_bytes(base64.b64decode(picture))
                number += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    # The cells call the program as users do; the kernel is the python that runs this file.
    os.environ["PATH"] = f"{options.bin.resolve()}:{os.environ['PATH']}"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    failed = 0
    files = options.notebooks or sorted((ROOT / "notebooks").glob("*.ipynb"))
    for file in files:
        notebook = nbformat.read(file, as_version=4)
        if not committed_without_outputs(notebook):
            print(f"{file.name}: has outputs; commit it without")
            failed += 1
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                                         resources={"metadata": {"path": str(file.parent)}})
        try:
            client.execute()
            pictures = sum("image/png" in output.get("data", {})
                           for cell in notebook.cells for output in cell.get("outputs", []))
            print(f"{file.name}: {len(notebook.cells)} cells, {pictures} pictures")
        except nbclient.exceptions.CellExecutionError as error:
            print(f"{file.name}: {error}")
            failed += 1
        if options.keep:
            keep(notebook, options.keep, file.stem)
    if not files:
        print("no notebook found")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
