#!/usr/bin/env bash
# Builds the benchmarks and the yardsticks and prints each figure beside its goal, as Markdown.
# usage: tests/bench/run.sh [YARDSTICKS] [--into PAGE.md]      (docs/performance.md has the place)
# YARDSTICKS is a folder with reference programs (default ../shared/bench); those that can be built
# here run in alternation with ours, so that a ratio never compares two machines or two moments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
yardsticks=../shared/bench
if [[ $# -gt 0 && $1 != --* ]]; then
  yardsticks=$1
  shift
fi
build=build/bench

cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DSTEPSIM_TESTS=OFF -DSTEPSIM_BENCH=ON >&2
cmake --build $build --parallel "$(nproc)" >&2

mkdir -p $build/yardsticks
g++ -O2 -static tests/bench/peak.cpp -o $build/yardsticks/peak
for source in "$yardsticks"/*_bench.cpp; do
  [[ -e $source ]] || continue
  program=$build/yardsticks/$(basename "$source" .cpp)
  libraries=()
  [[ $program == *sg_bench ]] && libraries=(-lsimgrid)
  [[ $program -nt $source ]] || g++ -std=c++20 -O3 -march=native "$source" -o "$program" "${libraries[@]}" 2>/dev/null ||
    echo "$source: cannot be built here, left out" >&2
done

# ns-3 as the distribution builds it (libns3-dev, libgsl-dev).
modules=(ns3-core ns3-network ns3-internet ns3-point-to-point ns3-applications)
if [[ -e $yardsticks/ns3_incast.cpp ]] && ! { pkg-config --exists "${modules[@]}" 2>/dev/null &&
  # shellcheck disable=SC2046
  g++ -std=c++17 -O2 "$yardsticks/ns3_incast.cpp" -o $build/yardsticks/ns3_incast $(pkg-config --cflags --libs "${modules[@]}") 2>/dev/null; }; then
  echo "ns3_incast.cpp: cannot be built here, left out" >&2
fi

exec /usr/bin/python3 tests/bench/figures.py $build "$@"
