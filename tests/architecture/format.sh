#!/bin/sh
# clang-format finds nothing to change in our sources; prints the files where it does.
# usage: format.sh [--fix]
cd "$(dirname "$0")/../.." || exit 2
command -v clang-format-14 >/dev/null || { echo "skipped: no clang-format-14, whose form the files are kept in"; exit 77; }
files=$(find sim calibrate tests web \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh' \) | sort)
# shellcheck disable=SC2086
if [ "$1" = --fix ]; then
  exec clang-format-14 -i $files
fi
# shellcheck disable=SC2086
changed=$(clang-format-14 --dry-run $files 2>&1 | sed -n 's/^\([^:]*\):[0-9].*clang-format-violations.*/\1/p' | sort -u)
[ -z "$changed" ] || { echo "$changed"; echo "not formatted: run tests/architecture/format.sh --fix"; exit 1; }
echo "$(echo "$files" | wc -l) files are formatted"
