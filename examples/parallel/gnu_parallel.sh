#!/bin/sh
# A sweep in 8 processes by GNU parallel, on this machine (or others: see parallel --sshlogin).
#   examples/parallel/gnu_parallel.sh sweep.json results/out.jsonl
set -eu
sweep=$1
output=$2
stepsim=${STEPSIM:-stepsim}
shards=8
seq 0 $((shards - 1)) |
  parallel "$stepsim" sweep "$sweep" -o "$output" --shard {}/$shards --jobs 1 --resume
"$stepsim" merge "${output%.*}".shard-*-of-$shards."${output##*.}" -o "$output"
