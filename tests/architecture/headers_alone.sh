#!/bin/sh
# Every header compiles alone: a file that includes only it passes the compiler, warnings included.
# Headers of the MPI back end are left out where there is no MPI.
# usage: headers_alone.sh COMPILER
cd "$(dirname "$0")/../.." || exit 2
compiler=${1:-g++}
folders=sim
[ -d calibrate ] && folders="sim calibrate"
mpi=$(mpicxx --showme:incdirs 2>/dev/null) && skipped=' ' || skipped='calibrate/mpi/'
for folder in $mpi; do
  flags="$flags -isystem $folder"
done
export flags
# shellcheck disable=SC2016,SC2086
find $folders -name '*.hpp' | grep -v "$skipped" | sort | xargs -P "$(nproc)" -I HEADER sh -c '
  "$0" -std=c++20 -Isim -I. $flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
       -fsyntax-only -include HEADER -x c++ /dev/null || { echo "HEADER: does not compile alone"; exit 1; }
' "$compiler"
