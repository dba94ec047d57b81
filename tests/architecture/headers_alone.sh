#!/bin/sh
# Every header compiles alone: a file that includes only it passes the compiler, warnings included.
# A header that is the first include of the source of its name is compiled so wherever sources are
# compiled one by one, as the build under sanitizers does; the others are compiled here, all of
# them with ALL as a second argument. Headers of the MPI back end are left out where there is no MPI.
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
# The path of a header, unless its source is in the build under sanitizers and includes it first.
is_alone() {
  source="${1%.hpp}.cpp"
  case $1 in calibrate/*) return 0 ;; esac
  [ -f "$source" ] || return 0
  [ "$(grep -m1 '^#include' "$source")" != "#include \"${1#sim/}\"" ]
}
all=$2
headers() {
  while read -r header; do
    if [ -n "$all" ] || is_alone "$header"; then echo "$header"; fi
  done
}
# shellcheck disable=SC2016,SC2086
find $folders -name '*.hpp' | grep -v "$skipped" | sort | headers | xargs -P "$(nproc)" -I HEADER sh -c '
  "$0" -std=c++20 -Isim -I. $flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
       -fsyntax-only -include HEADER -x c++ /dev/null || { echo "HEADER: does not compile alone"; exit 1; }
' "$compiler"
