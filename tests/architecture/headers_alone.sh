#!/bin/sh
# Headers compile alone: a file that includes only one of them passes the compiler, warnings
# included. A header that is the first include of the source of its name is compiled so wherever
# sources are compiled one by one (presets dev and tsan); of the others a quarter is compiled here,
# another one with every commit, and all headers with ALL as a second argument. What headers take from the standard library is compiled once for all
# of them: declared_test.py tells where such an include is missing. Headers of the MPI back end are
# left out where there is no MPI.
# usage: headers_alone.sh COMPILER [ALL]
cd "$(dirname "$0")/../.." || exit 2
compiler=${1:-g++}
folders=sim
[ -d calibrate ] && folders="sim calibrate"
mpi=$(mpicxx --showme:incdirs 2>/dev/null) && skipped=' ' || skipped='calibrate/mpi/'
for folder in $mpi; do
  flags="$flags -isystem $folder"
done
export flags
# The path of a header, unless its source includes it first.
is_alone() {
  source="${1%.hpp}.cpp"
  case $1 in calibrate/*) return 0 ;; esac
  [ -f "$source" ] || return 0
  [ "$(grep -m1 '^#include' "$source")" != "#include \"${1#sim/}\"" ]
}
export PYTHONDONTWRITEBYTECODE=1
all=$2
headers() {
  while read -r header; do
    if [ -n "$all" ] || is_alone "$header"; then echo "$header"; fi
  done | if [ -n "$all" ]; then cat; else part; fi
}
part() { # tests/moving_seed.py, moving_part()
  /usr/bin/python3 -c 'import sys
sys.path.insert(0, "tests")
import moving_seed
sys.stdout.writelines(moving_seed.moving_part(list(sys.stdin), 4))'
}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
common="-std=c++20 -Isim -I. $flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
export common
grep -hoE '^#include <[a-z_0-9]+>' $(find $folders -name '*.hpp') | sort -u >"$scratch/std.hpp"
# shellcheck disable=SC2086
"$compiler" $common -x c++-header "$scratch/std.hpp" -o "$scratch/std.hpp.gch" || exit 1
# shellcheck disable=SC2016,SC2086
find $folders -name '*.hpp' | grep -v "$skipped" | sort | headers | xargs -P "$(nproc)" -I HEADER sh -c '
  "$0" $common -fsyntax-only -include "$1/std.hpp" -include HEADER -x c++ /dev/null ||
    { echo "HEADER: does not compile alone"; exit 1; }
' "$compiler" "$scratch"
