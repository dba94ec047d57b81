#!/usr/bin/env bash
# Eight shards of a sweep of ten million points merge to the bytes of one process. Not run by ctest:
# it takes minutes of all cores and 60 GB of disk.
# usage: tests/cli/merge_large.sh STEPSIM [POINTS [FOLDER]]
set -euo pipefail
stepsim=$(realpath "$1")
points=${2:-10000000}
folder=$(mktemp -d -p "${3:-.}" stepsim.XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >sweep.json <<JSON
{"kind": "sweep",
 "scenario": {"workload": {"layers": [{"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 1000000}]},
              "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}},
 "axes": [{"field": "/cluster/nodes", "values": [2, 4, 8, 16, 32, 64, 128, 256]},
          {"field": "/cluster/network/bandwidth_Bps", "from": 1e8, "to": 1e11, "steps": $((points / 8)), "scale": "log"}]}
JSON
time "$stepsim" sweep sweep.json -o whole.jsonl --quiet --max-seconds 1e6
for shard in 0 1 2 3 4 5 6 7; do
  "$stepsim" sweep sweep.json -o part.jsonl --shard "$shard/8" --quiet --max-seconds 1e6
done
time "$stepsim" merge part.shard-*-of-8.jsonl -o merged.jsonl --quiet
ls -l whole.jsonl merged.jsonl
cmp whole.jsonl merged.jsonl
echo "$points points: the merged file is that of one process"
