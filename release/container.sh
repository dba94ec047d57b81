#!/usr/bin/env bash
# Builds the container without a network and walks through it as a newcomer would, without one, too.
# The base is a minimal Debian 12 that mmdebstrap makes from packages of the mirror of this machine.
# usage: release/container.sh PACKAGES [FOLDER]   PACKAGES: a folder made by release/package.sh
# FOLDER keeps the base and podman's images, else both are removed. Needs root, podman and mmdebstrap
# (else exit 77); 2 minutes
set -euo pipefail
for tool in podman mmdebstrap; do
  if ((EUID != 0)) || ! command -v "$tool" >/dev/null; then
    echo "skipped: needs root and $tool"
    exit 77
  fi
done
# crun takes no machine with both versions of control groups. The container has none, so that the
# second may be hidden, in a mount namespace of this script alone.
if [[ -d /sys/fs/cgroup/unified && -z ${STEPSIM_UNSHARED:-} ]]; then
  STEPSIM_UNSHARED=1 exec unshare -m bash "$0" "$@"
fi
[[ -z ${STEPSIM_UNSHARED:-} ]] || umount /sys/fs/cgroup/unified

packages=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${2:-$(mktemp -d)}
mkdir -p "$folder/work"
folder=$(cd "$folder" && pwd)
finish() {
  pod rm --force --ignore walk >/dev/null 2>&1
  [[ -n ${1:-} ]] || rm -rf "$folder"
}
trap 'finish "${2:-}"' EXIT
# Images apart from those of the machine, without overlays.
pod() { podman --root "$folder/images" --runroot "$folder/run" --storage-driver vfs --cgroup-manager cgroupfs "$@"; }
alone=(run --rm --network=none --cgroups=disabled --ulimit nofile=1024:1024 --ulimit nproc=1024:1024)

if [[ ! -s $folder/base.tar ]]; then # as debian:12-slim: no manuals, no translations, no perl but its base
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
  mmdebstrap --quiet --variant=apt --include=passwd,usr-is-merged --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --customize-hook='chroot "$1" apt-get purge -y -qq usrmerge perl "perl-modules-*" "libperl*" >/dev/null' \
    --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*' \
    bookworm "$folder/base.tar" "${mirror:-http://deb.debian.org/debian}"
fi
pod import --quiet "$folder/base.tar" localhost/debian12 >/dev/null
rm -rf "$folder/context"
mkdir -p "$folder/context/packages"
cp Containerfile "$folder/context/"
cp "$packages"/stepsim_*.deb "$folder/context/packages/"
pod build --pull=never --network=none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --build-arg BASE=localhost/debian12 -t stepsim "$folder/context"

check() {
  echo "check: $1"
  shift
  "$@" || { echo "FAILED"; exit 1; }
}
chown 1000 "$folder/work"
# One container for the walk; the folder of the user is /data.
pod rm --force --ignore walk >/dev/null 2>&1
pod "${alone[@]}" --detach --name walk -v "$folder/work:/data" --entrypoint sleep stepsim 1000 >/dev/null
inside() { pod exec walk "$@"; }
stepsim() { inside stepsim "$@"; }

check "it shows the help when nothing is said" test -n "$(pod "${alone[@]}" stepsim | grep 'stepsim run')"
check "no network is there" test "$(inside sh -c 'cat /proc/net/dev' | grep -c ' *[a-z0-9]*:')" -le 1
check "it runs as an ordinary user" test "$(inside id -u)" = 1000
check "there is no compiler" test -z "$(inside sh -c 'command -v gcc g++ cc clang make cmake || true')"
check "models ship" test -n "$(stepsim models | grep llama3_8b)"
check "init writes a scenario into the user's folder" stepsim init --nodes 8 --network 10g-tcp -o mine.scenario.json --quiet
check "which belongs to the user" test "$(stat -c %u "$folder/work/mine.scenario.json")" = 1000
check "run answers it" test -n "$(stepsim run mine.scenario.json | grep '^iteration time')"
check "compare ranks schedules" test -n "$(stepsim compare mine.scenario.json --over /communication/schedule=wfbp,single,ddp | grep best)"
check "sweep writes its points" stepsim sweep mine.scenario.json --over /cluster/nodes=2:64:x2 -o points.jsonl --quiet
check "report makes a page" stepsim report mine.scenario.json -o mine.html --quiet
check "calibration fits shipped samples" inside stepsim-calibrate fit /usr/share/stepsim/examples/h100x8.samples.json --op allreduce --assume ring -o c.calibration.json --quiet
check "web writes the page" stepsim web -o whatif.html --quiet
check "the documented command runs it" test -n "$(pod "${alone[@]}" -v "$folder/work:/data" stepsim run mine.scenario.json | grep '^iteration time')"
size=$(pod image inspect stepsim --format '{{.Size}}')
echo "the image has $((size / 1000000)) MB"
check "the image has at most 110 MB" test "$size" -le 110000000
echo "all checks passed"
