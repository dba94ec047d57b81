#!/bin/sh
# Every header compiles alone: a file that includes only it passes the compiler, warnings included.
# usage: headers_alone.sh COMPILER
cd "$(dirname "$0")/../.." || exit 2
compiler=${1:-g++}
folders=sim
[ -d calibrate ] && folders="sim calibrate"
# shellcheck disable=SC2086
find $folders -name '*.hpp' | sort | xargs -P "$(nproc)" -I HEADER sh -c '
  "$0" -std=c++20 -Isim -I. -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
       -fsyntax-only -include HEADER -x c++ /dev/null || { echo "HEADER: does not compile alone"; exit 1; }
' "$compiler"
