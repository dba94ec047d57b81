#!/usr/bin/env bash
# Makes the Debian packages stepsim and python3-stepsim, and the wheel of the Python module.
#   release/package.sh FOLDER [BUILD]
# FOLDER gets the packages and is built in; BUILD is a finished release build of this tree whose
# libraries are linked (else everything is compiled). Programs hold neither MPI nor CUDA, which
# few machines have in the same version. The what-if page is that of BUILD; where there is none,
# STEPSIM_WEB=ON compiles it, AUTO does so where emcc is installed, and else the packages are without.
# With SOURCE_DATE_EPOCH two runs give the same bytes; without it the date of the last commit counts.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)}
built=(-DSTEPSIM_WEB="${STEPSIM_WEB:-OFF}")
[[ -n ${2:-} ]] && built+=(-DSTEPSIM_BUILT="$(cd "$2" && pwd)")
cmake -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
  -DSTEPSIM_TESTS=OFF -DSTEPSIM_MPI=OFF -DSTEPSIM_CUDA=OFF -DSTEPSIM_LINK_STATIC=ON -DCMAKE_SKIP_RPATH=ON "${built[@]}" >"$folder/configure.log" ||
  { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder/build" --parallel "${JOBS:-$(nproc)}" --target stepsim stepsim-calibrate whatif
(umask 022 && cd "$folder/build" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$folder/packed" >"$folder/cpack.log") || { cat "$folder/cpack.log"; exit 1; }
# Packed again with a dictionary that holds both programs, which share most of their code.
for package in "$folder"/packed/*.deb; do
  rm -rf "$folder/unpacked"
  dpkg-deb -R "$package" "$folder/unpacked"
  dpkg-deb --root-owner-group -Zxz -z9 -b "$folder/unpacked" "$folder/$(basename "$package")" >/dev/null
done
rm -rf "$folder/unpacked" "$folder/packed"
python3 "$source/python/wheel.py" "$folder/build" "$folder"
ls -l "$folder"/*.deb "$folder"/*.whl
