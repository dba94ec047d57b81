#!/bin/bash
# Measures the test bed and what the program predicts of it, for docs/testbed.md. Root, two cores or
# more that do nothing else, about half an hour.
#   docs/testbed_measure.sh BUILD_DIR [collectives|library|conditions|replay]
# writes docs/testbed/PxRATE.errors.jsonl.gz, topologies/testbed-PxRATE.calibration.json,
# docs/testbed/PxRATE.library.jsonl.gz, docs/testbed/PxRATE-CONDITION.conditions.jsonl.gz and
# .topology.json, docs/testbed/PxRATE.replay.json and docs/images/testbed.svg.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "$1")
part=${2:-all}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

quiet() { # waits until the machine does nothing, but not for ever
  local load try
  for try in {1..12}; do
    read -r load _ < /proc/loadavg
    awk -v load="$load" 'BEGIN { exit !(load < 0.5) }' && return
    sleep 5
  done
}

collectives() { # P RATE SECONDS
  local name=$1x${2,,}
  quiet
  echo "== $name"
  tests/testbed run "$1" --rate "$2" -- "$build/stepsim-calibrate" mpi \
    -o "$scratch/testbed-$name.calibration.json" --table "$scratch/$name.errors.jsonl" \
    --rate "$2" --max-seconds "$3" --quiet
  gzip -9n "$scratch/$name.errors.jsonl"
  mv "$scratch/$name.errors.jsonl.gz" docs/testbed/
  mv "$scratch/testbed-$name.calibration.json" topologies/
}

# Open MPI's own collectives, told which algorithm to use, beside what single messages predict. The
# numbers are those of coll_tuned_*_algorithm in Open MPI 4.1.
library() { # P RATE SECONDS
  local name=$1x${2,,} assumed allreduce broadcast
  rm -f "$scratch/library.jsonl"
  while read -r assumed allreduce broadcast; do
    quiet
    echo "== library $name $assumed"
    OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=$allreduce \
    OMPI_MCA_coll_tuned_bcast_algorithm=${broadcast%:*} \
    OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize=${broadcast#*:} \
      tests/testbed run "$1" --rate "$2" -- "$build/stepsim-calibrate" mpi --assume "$assumed" \
      -o "$scratch/library.calibration.json" --table "$scratch/part.jsonl" \
      --rate "$2" --max-seconds "$3" --quiet --force
    cat "$scratch/part.jsonl" >> "$scratch/library.jsonl"
    rm "$scratch/part.jsonl" "$scratch/library.calibration.json"
  done << 'ALGORITHMS'
allreduce=ring,broadcast=mst 4 6:0
allreduce=be,broadcast=lp 6 3:32768
allreduce=recursive_doubling 3 0:0
ALGORITHMS
  grep '"algorithm":"library_' "$scratch/library.jsonl" | gzip -9n > "docs/testbed/$name.library.jsonl.gz"
}

# A network that is not alike everywhere: a slow link, two switches, a rank that begins late. The
# topology that the tool finds is what the collectives are predicted over.
conditions() { # P RATE SECONDS NAME [BED_FLAGS] -- [TOOL_FLAGS]
  local ranks=$1 rate=$2 seconds=$3 name=$1x${2,,}-$4 bed=()
  shift 4
  while [[ $1 != -- ]]; do
    bed+=("$1")
    shift
  done
  shift
  quiet
  echo "== $name"
  tests/testbed run "$ranks" --rate "$rate" "${bed[@]}" -- "$build/stepsim-calibrate" mpi \
    -o "$scratch/conditions.calibration.json" --table "$scratch/$name.conditions.jsonl" "$@" \
    --rate "$rate" --max-seconds "$seconds" --quiet --force
  gzip -9n "$scratch/$name.conditions.jsonl"
  mv "$scratch/$name.conditions.jsonl.gz" docs/testbed/
}

# A model of a hundred megabytes is too much for these links: gradients times 0.03, layer times
# times 5.
replay() { # P RATE
  local name=$1x${2,,}
  quiet
  echo "== replay $name"
  tests/testbed run "$1" --rate "$2" -- "$build/stepsim-calibrate" replay \
    examples/testbed.scenario.json --calibration "topologies/testbed-$name.calibration.json" \
    --compute sleep --schedules wfbp,single,ddp,mg_wfbp,optimal --scale-bytes 0.03 --scale-time 5 \
    --iterations 20 --json -o "$scratch/replay.json"
  mv "$scratch/replay.json" "docs/testbed/$name.replay.json"
}

if [[ $part == all || $part == collectives ]]; then
  # Within what two cores can carry, and beyond.
  while read -r ranks rate seconds; do
    collectives "$ranks" "$rate" "$seconds"
  done << 'BEDS'
4 200Mbps 130
8 100Mbps 200
2 400Mbps 45
4 100Mbps 120
2 200Mbps 45
2 100Mbps 60
8 200Mbps 80
2 500Mbps 45
BEDS
fi
if [[ $part == all || $part == library ]]; then
  library 4 200Mbps 100
  library 8 100Mbps 150
fi
if [[ $part == all || $part == conditions ]]; then
  for bed in "4 110 50Mbps 100Mbps 2" "8 120 25Mbps 200Mbps 5"; do
    read -r ranks seconds slow uplink late <<< "$bed"
    name=docs/testbed/${ranks}x100mbps
    conditions "$ranks" 100Mbps "$seconds" slow --slow "$late=$slow" -- --topology "$name-slow.topology.json"
    conditions "$ranks" 100Mbps "$seconds" uplink --uplink "$uplink" -- --topology "$name-uplink.topology.json"
    conditions "$ranks" 100Mbps "$seconds" late -- --late "$late=30ms"
  done
fi
if [[ $part == all || $part == replay ]]; then
  for bed in "4 200Mbps" "8 100Mbps" "2 400Mbps" "4 100Mbps"; do
    replay $bed
  done
fi
"$build/stepsim-calibrate" report docs/testbed/{2x100,2x200,2x400,4x100,4x200,8x100}mbps.errors.jsonl.gz \
  --min-bytes 16kB --quiet -o "$scratch/testbed.md"
mv "$scratch/testbed.svg" docs/images/
