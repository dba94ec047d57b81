#!/usr/bin/env python3
"""Counts the lines of every room and writes the table of docs/extending.md.

Lines are cloc's: no blanks, no comments. A room is a folder of sim/; calibrate/ is one more, counted
in C++ and CUDA, and tests/ in C++ and Python. With --check nothing is written; the exit code is 1
where the table is not what cloc counts.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'extending.md'
START, END = '<!-- rooms -->', '<!-- end of rooms -->'
# The lines that the design gives each room.
ROOMS = [
    ('cli', 7900), ('study', 8600), ('run', 4900), ('scenario', 9600),
    ('programs', 5300), ('collectives', 8400), ('import', 9000),
    ('links', 5500), ('buckets', 2300), ('nccl', 1800), ('layers', 1150),
    ('events', 250), ('document', 2700), ('plot', 1900), ('base', 1350),
]
CPP = ('C++', 'C/C++ Header')
TOTALS = [('calibrate', CPP + ('CUDA',), 11800), ('tests', CPP + ('Python',), 60000)]


def lines_of(folder, languages):
    """Lines of one folder in these languages of cloc."""
    files = subprocess.run(['git', 'ls-files', folder], cwd=ROOT, check=True, text=True,
                           capture_output=True).stdout
    count = ['cloc', '--json', '--quiet', '--timeout', '0', '--list-file=-']
    done = subprocess.run(count, cwd=ROOT, check=True, text=True, capture_output=True,
                          input=files).stdout
    counted = json.loads(done) if done.strip() else {}
    return sum(counted[language]['code'] for language in languages if language in counted)


def table():
    """The table as Markdown."""
    rows = ['| room | lines | budget |', '|---|---|---|']
    now = {room: lines_of(f'sim/{room}', CPP) for room, _ in ROOMS}
    for room, budget in ROOMS:
        rows.append(f'| `{room}` | {now[room]:,} | {budget:,} |')
    rows.append(f'| sim | {sum(now.values()):,} | {sum(row[1] for row in ROOMS):,} |')
    for folder, languages, budget in TOTALS:
        rows.append(f'| {folder} | {lines_of(folder, languages):,} | {budget:,} |')
    return '\n'.join(rows)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument('--check', action='store_true', help='compare instead of writing')
    check = options.parse_args().check
    page = PAGE.read_text()
    renewed = re.sub(f'{START}.*?{END}', lambda _: f'{START}\n{table()}\n{END}', page, flags=re.S)
    if check:
        return 0 if renewed == page else 1
    PAGE.write_text(renewed)
    return 0


if __name__ == '__main__':
    sys.exit(main())
