#!/usr/bin/env python3
"""Lists the calls between rooms of sim/ and writes them into docs/extending.md.

    room_calls.py BUILD           writes the list; BUILD is a build directory of GCC, as ./quickstart makes it
    room_calls.py BUILD --check   writes nothing; the exit code is 1 if a room calls one that does not stand below it

A call is a symbol that the objects of one room need and those of another define. The compiler has put some short
functions into their callers, so that the list is that of this compiler; the order of rooms does not depend on it.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'extending.md'
START, END = '<!-- calls -->', '<!-- end of calls -->'
ORDER = ('base', 'events', 'nccl', 'buckets', 'document', 'plot', 'links', 'collectives', 'layers', 'programs',
         'scenario', 'import', 'run', 'study', 'cli')
ON_THE_WAY = [room for room in ORDER[:ORDER.index('run') + 1] if room not in ('plot', 'import')]  # of run(scenario)
COUNTED = ('base', 'document')  # everybody calls them: their functions are counted, not named
SYMBOL = re.compile(r'.*:\s*[0-9a-f]*\s+([UTBDR]) (\S+)$')


def symbols(build):
    """{room: (symbols that it defines, symbols that it needs)}"""
    found = {}
    for room in ORDER:
        archive = build / 'sim' / room / f'libstepsim_{room}.a'
        text = subprocess.run(['nm', '-A', archive], check=True, text=True, capture_output=True).stdout
        pairs = [match.groups() for match in map(SYMBOL.match, text.splitlines()) if match]
        needed = {name for kind, name in pairs if kind == 'U'}
        found[room] = ({name for kind, name in pairs if kind != 'U'}, needed)
    return found


def calls(build):
    """{(caller, callee): symbols}"""
    found = symbols(build)
    owner = {name: room for room in reversed(ORDER) for name in found[room][0]}
    between = collections.defaultdict(set)
    for room, (_, needed) in found.items():
        for name in needed:
            if owner.get(name, room) != room:
                between[room, owner[name]].add(name)
    return between


def names(mangled):
    """The names of functions without their rooms, arguments and template arguments."""
    text = subprocess.run(['c++filt'], check=True, text=True, capture_output=True, input='\n'.join(sorted(mangled))).stdout
    shown = set()
    for line in text.splitlines():
        name = re.sub(r'\[abi:\w+\]', '', line.replace('operator()', 'operator').split('(')[0])
        while (shorter := re.sub(r'<[^<>]*>', '', name)) != name:
            name = shorter
        parts = name.split(' ')[-1].split('::')
        short = '::'.join(part for part in parts if part not in ('stepsim', 'study', 'io', 'keys', *ORDER))
        shown.add(short + '()' * short.endswith('operator'))
    return sorted(shown - {''}, key=str.lower)


def table(between):
    rows = ['| room | calls | functions and tables |', '|---|---|---|']
    for caller in reversed(ON_THE_WAY):
        for callee in reversed(ON_THE_WAY):
            called = names(between.get((caller, callee), ()))
            if called:
                text = str(len(called)) if callee in COUNTED else ', '.join(f'`{name}`' for name in called)
                rows.append(f'| `{caller}` | `{callee}` | {text} |')
    return '\n'.join(rows)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument('build', type=pathlib.Path)
    options.add_argument('--check', action='store_true', help='look for calls up the floors instead of writing')
    chosen = options.parse_args()
    between = calls(chosen.build)
    if chosen.check:
        climbing = [(pair, found) for pair, found in between.items() if ORDER.index(pair[1]) > ORDER.index(pair[0])]
        for (caller, callee), found in climbing:
            print(f'{caller} calls {callee}: {", ".join(names(found))}')
        return 1 if climbing or not between else 0
    page = PAGE.read_text(encoding='utf-8')
    PAGE.write_text(re.sub(f'{START}.*?{END}', lambda _: f'{START}\n{table(between)}\n{END}', page, flags=re.S),
                    encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
