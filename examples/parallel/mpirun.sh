#!/bin/sh
# A sweep in 4 processes by mpirun; --shard auto reads the rank from the launcher's variables.
#   examples/parallel/mpirun.sh sweep.json results/out.jsonl
set -eu
sweep=$1
output=$2
stepsim=${STEPSIM:-stepsim}
ranks=4
mpirun -np $ranks ${MPIRUN_FLAGS:-} "$stepsim" sweep "$sweep" -o "$output" --shard auto --jobs 1 --resume
"$stepsim" merge "${output%.*}".shard-*-of-$ranks."${output##*.}" -o "$output"
