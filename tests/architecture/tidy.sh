#!/bin/sh
# clang-tidy over our sources, in parallel over compile_commands.json; every finding is an error.
# usage: tidy.sh BUILD_DIR [FILE_REGEX]     (default: all files of sim, calibrate and tests)
cd "$(dirname "$0")/../.." || exit 2
build=${1:?usage: tidy.sh BUILD_DIR [FILE_REGEX]}
files=${2:-"^$PWD/(sim|calibrate|tests)/.*\.cpp$"}
command -v run-clang-tidy-16 >/dev/null || { echo "skipped: no clang-tidy-16"; exit 77; }
clang-tidy-16 --verify-config || exit 1
# The wrapper prints a command line per file and nothing when a file is clean.
run-clang-tidy-16 -p "$build" -j "$(nproc)" -quiet "$files" 2>/dev/null >"$build/tidy.log"
code=$?
grep -E '(error|warning):' "$build/tidy.log" | sort -u
echo "$(grep -cE '^clang-tidy-16|^/usr.*clang-tidy' "$build/tidy.log") files checked"
exit $code
