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
# Budgets in lines, and the count of the tree whose rooms were not yet divided like this.
ROOMS = [
    ('cli', 13776, 7900), ('study', 13470, 8600), ('run', 8700, 4900), ('scenario', 16900, 9600),
    ('programs', 9440, 5300), ('collectives', 11601, 8400), ('import', 11918, 9000),
    ('links', 6680, 5500), ('buckets', 3374, 2300), ('nccl', 2188, 1800), ('layers', 1220, 1150),
    ('events', 196, 250), ('document', 3873, 2700), ('plot', 2387, 1900), ('base', 1645, 1350),
]
CPP = ('C++', 'C/C++ Header')
TOTALS = [('calibrate', CPP + ('CUDA',), 14554, 11800), ('tests', CPP + ('Python',), 67577, 60000)]


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
    rows = ['| room | lines before | lines now | budget |', '|---|---|---|---|']
    now = {room: lines_of(f'sim/{room}', CPP) for room, _, _ in ROOMS}
    for room, before, budget in ROOMS:
        rows.append(f'| `{room}` | {before:,} | {now[room]:,} | {budget:,} |')
    rows.append(f'| sim | {sum(row[1] for row in ROOMS):,} | {sum(now.values()):,} | '
                f'{sum(row[2] for row in ROOMS):,} |')
    for folder, languages, before, budget in TOTALS:
        rows.append(f'| {folder} | {before:,} | {lines_of(folder, languages):,} | {budget:,} |')
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
