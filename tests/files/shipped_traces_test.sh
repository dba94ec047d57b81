#!/bin/sh
# The shipped traces are what traces/import_samples.sh makes of the public files, byte for byte.
# usage: shipped_traces_test.sh STEPSIM SOURCE_DIR; exit 77 where the public files are absent.
set -eu
data=$2/../shared/data
if [ ! -d "$data/kineto" ] || [ ! -d "$data/traces" ]; then
  echo "skipped: no sample files in $data"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2/traces/import_samples.sh" "$data" "$folder" "$1"
made=0
for trace in "$folder"/*.json; do
  cmp "$trace" "$2/traces/$(basename "$trace")"
  made=$((made + 1))
done
test "$made" -eq 13
