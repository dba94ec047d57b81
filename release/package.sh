#!/usr/bin/env bash
# Makes the Debian packages stepsim and python3-stepsim, and the wheel of the Python module.
#   release/package.sh FOLDER [BUILD]
# FOLDER gets the packages and is built in; BUILD is a finished release build of this tree whose
# libraries are linked, after it was brought up to date (else everything is compiled). Programs hold
# neither MPI nor CUDA, which few machines have in the same version. The what-if page is that of
# BUILD; where there is none, emscripten compiles it. STEPSIM_WEB=OFF makes packages without the page.
# Where a tool is missing, exit 2 with the command that installs it, before anything is compiled.
# With SOURCE_DATE_EPOCH two runs give the same bytes; without it the date of the last commit counts.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
needed=(g++:g++ cmake:cmake ninja:ninja-build python3:python3 file:file dpkg-deb:dpkg dpkg-shlibdeps:dpkg-dev)
web=${STEPSIM_WEB:-ON}
[[ $web == OFF || -e ${2:-}/whatif.html ]] || needed+=(emcc:emscripten)
missing=()
for each in "${needed[@]}"; do
  command -v "${each%:*}" >/dev/null || missing+=("${each#*:}")
done
if ((${#missing[@]} > 0)); then
  echo "release/package.sh: these packages are missing; install them with: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  [[ ${missing[*]} != *emscripten* ]] || echo "STEPSIM_WEB=OFF makes packages without the what-if page, for which emscripten is needed." >&2
  exit 2
fi
folder=$(mkdir -p "$1" && cd "$1" && pwd)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)}
built=(-DSTEPSIM_WEB="$web")
if [[ -n ${2:-} ]]; then
  built+=(-DSTEPSIM_BUILT="$(cd "$2" && pwd)")
  cmake --build "$2" --parallel "${JOBS:-$(nproc)}" --target stepsim stepsim-calibrate # ./quickstart builds stepsim alone
fi
cmake -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
  -DSTEPSIM_TESTS=OFF -DSTEPSIM_MPI=OFF -DSTEPSIM_CUDA=OFF -DCMAKE_SKIP_RPATH=ON "${built[@]}" >"$folder/configure.log" ||
  { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder/build" --parallel "${JOBS:-$(nproc)}" --target stepsim stepsim-calibrate whatif
(umask 022 && cd "$folder/build" && cpack -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip -B "$folder/packed" >"$folder/cpack.log") || { cat "$folder/cpack.log"; exit 1; }
# Packed again with a dictionary that holds both programs, which share most of their code.
for package in "$folder"/packed/*.deb; do
  rm -rf "$folder/unpacked"
  dpkg-deb -R "$package" "$folder/unpacked"
  dpkg-deb --root-owner-group -Zxz -z9 -Sextreme -b "$folder/unpacked" "$folder/$(basename "$package")" >/dev/null
done
rm -rf "$folder/unpacked" "$folder/packed"
python3 "$source/python/wheel.py" "$folder/build" "$folder"
ls -l "$folder"/*.deb "$folder"/*.whl
