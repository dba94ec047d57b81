#!/usr/bin/env bash
# ./quickstart on a machine with nothing on it: a minimal Debian 12 in a folder, a clone of this
# tree, two runs. Shows that the packages it names are enough, that the first run leaves a table,
# a .jsonl and a picture, that the second takes seconds, and that README and the cookbook run line
# by line with what is there then.
# usage: tests/chroot/run.sh [FOLDER]     needs root and mmdebstrap (else exit 77); 5 to 15 minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ((EUID != 0)) || ! command -v mmdebstrap >/dev/null; then
  echo "skipped: needs root and mmdebstrap"
  exit 77
fi

folder=${1:-$(mktemp -d)}
root=$folder/root
mkdir -p "$folder"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)

finish() {
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  [[ -n ${1:-} ]] || rm -rf "$folder"
}
trap 'finish "${1:-}"' EXIT

mmdebstrap --quiet --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}"
git clone --quiet --no-hardlinks . "$root/stepsim"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"

run() { # seconds go to the variable `took`
  local start=$SECONDS
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" /stepsim/quickstart 2>&1 |
    tee "$folder/$1.log"
  took=$((SECONDS - start))
}

check() {
  echo "check: $1"
  shift
  "$@" || { echo "FAILED"; exit 1; }
}

run first
first=$took
check "the table has a row per network" grep -Eq '^10 GbE, TCP, 50 us +[0-9.]+ +[0-9]+ %' "$folder/first.log"
check "a sentence says what nodes gain" grep -Eq '^On 64 nodes training is [0-9.]+ times as fast as on one' "$folder/first.log"
check "it shows the warning of the trace" grep -q 'host-bound: the GPU idles' "$folder/first.log"
check "results/quickstart.jsonl has points" grep -q '"record":"point"' "$root/stepsim/results/quickstart.jsonl"
check "results/quickstart.png is a picture" test "$(head -c 4 "$root/stepsim/results/quickstart.png" | tail -c 3)" = PNG
cp "$root/stepsim/results/quickstart.jsonl" "$folder/first.jsonl"

run second
check "the second run installs nothing" grep -q 'packages are installed' "$folder/second.log"
check "the second run gives the same numbers" cmp "$folder/first.jsonl" "$root/stepsim/results/quickstart.jsonl"
check "the second run takes seconds" test "$took" -le 60
inside() { env -i PATH=/stepsim/build:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" "$@"; }
check "README and the cookbook run as written" inside /usr/bin/python3 /stepsim/tests/docs/blocks_test.py \
  /stepsim/build /stepsim/README.md /stepsim/docs/cookbook.md
check "stepsim-calibrate is built as README says" inside cmake --build /stepsim/build --target stepsim-calibrate
check "their outputs are what the commands print" inside /usr/bin/python3 /stepsim/docs/update_outputs.py \
  --check /stepsim/README.md /stepsim/docs/cookbook.md
echo "first run $first s (installs and builds), second run $took s"
