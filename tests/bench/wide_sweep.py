#!/usr/bin/python3
"""A sweep of ten million points: time, memory and the bytes of its file by form and number of jobs, and the
same in eight shards that are merged, as a Markdown table.

usage: wide_sweep.py BUILD_DIR [--into PAGE.md]  (between its two comments "wide sweep" and "end of wide sweep")
TMPDIR needs 20 GB. Exit 1 if two files of one form differ.
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile

import growth

POINTS = 10_000_000
SHARDS = 8
COLUMNS = {"csv": ["--columns", "iteration_time_s,bottleneck"], "jsonl": []}


def timed(folder, command):
    """Wall seconds, peak megabytes and processor seconds."""
    done = subprocess.run([folder / "peak", folder / "measured", growth.BUILD / "stepsim", *map(str, command)], cwd=folder, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr}")
    return [float(word) for word in (folder / "measured").read_text().split()]


def digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main():
    lines, different = [], False

    def show(*cells):
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    show("ten million points", "wall clock", "processor time", "peak memory", "file", "SHA-256 begins with")
    show(*["---"] * 6)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["g++", "-O2", "-static", growth.HERE / "peak.cpp", "-o", folder / "peak"], check=True)

        def row(words, times, path):
            found = digest(path)
            wall, megabytes, seconds = times
            show(words, f"{wall:.3g} s", f"{seconds:.3g} s", f"{megabytes:.0f} MB", f"{path.stat().st_size / 1e9:.3g} GB", found[:16])
            path.unlink()
            return found
        for form in ("csv", "jsonl"):
            found = set()
            for jobs in (1, 2):
                command = [*growth.points(form, jobs=jobs)(folder, POINTS), *COLUMNS[form]]
                found.add(row(f"{form}, {jobs} job{'s' * (jobs > 1)}", timed(folder, command), folder / f"out.{form}"))
            if form == "csv":
                parts = [timed(folder, [*command, "--shard", f"{i}/{SHARDS}"]) for i in range(SHARDS)]
                names = sorted(path.name for path in folder.glob("out.shard-*.csv"))
                parts.append(timed(folder, ["merge", *names, "-o", "out.csv", "--quiet"]))
                sums = [sum(p[0] for p in parts), max(p[1] for p in parts), sum(p[2] for p in parts)]
                for part in names:
                    (folder / part).unlink()
                found.add(row(f"{form}, {SHARDS} shards one after the other, 2 jobs, merged", sums, folder / "out.csv"))
            different = different or len(found) > 1
    growth.into_page("wide sweep", lines)
    sys.exit(different)


if __name__ == "__main__":
    main()
