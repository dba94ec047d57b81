#!/usr/bin/env bash
# The packages on a machine with nothing on it: a minimal Debian 12 in a folder, the .deb installed
# by apt, used by an ordinary user, removed; then the wheel in a virtual environment.
# usage: tests/chroot/package.sh PACKAGES [FOLDER]   PACKAGES: a folder made by release/package.sh
# needs root and mmdebstrap (else exit 77); 2 minutes
set -euo pipefail
packages=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ((EUID != 0)) || ! command -v mmdebstrap >/dev/null; then
  echo "skipped: needs root and mmdebstrap"
  exit 77
fi

folder=${2:-$(mktemp -d)}
root=$folder/root
mkdir -p "$folder"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)

finish() {
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  [[ -n ${1:-} ]] || rm -rf "$folder"
}
trap 'finish "${2:-}"' EXIT

check() {
  echo "check: $1"
  shift
  "$@" || { echo "FAILED"; exit 1; }
}
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
as_user() { # in an empty folder of a user without rights
  inside setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user bash -euc "cd /home/user/empty; $1"
}

mmdebstrap --quiet --variant=minbase bookworm "$root" "${mirror:-http://deb.debian.org/debian}"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
inside apt-get update -qq
inside useradd --create-home --uid 1000 user
inside install -d -o user /home/user/empty
inside bash -c 'find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path /home \) -prune -o -print' | sort >"$folder/before"

cp "$packages"/stepsim_*.deb "$root/tmp/stepsim.deb"
cp "$packages"/python3-stepsim_*.deb "$root/tmp/python3-stepsim.deb"
cp "$packages"/*.whl "$root/tmp/"
inside apt-get install --no-install-recommends -y -s /tmp/stepsim.deb >"$folder/plan"
check "it pulls at most 6 packages" test "$(grep -c '^Inst' "$folder/plan")" -le 7
inside apt-get install --no-install-recommends -y --print-uris /tmp/stepsim.deb >"$folder/uris"
# URIs of the mirror alone: 'URI' NAME SIZE HASH
check "of at most 12 MB" test "$(grep "^'http" "$folder/uris" | awk '{sum += $3} END {print sum + 0}')" -le 12000000
inside apt-get install --no-install-recommends -y -qq /tmp/stepsim.deb >/dev/null

examples=/usr/share/stepsim/examples
check "a shipped scenario runs" as_user "stepsim run $examples/quickstart.scenario.json >run.txt && grep -q 'iteration time' run.txt"
check "a command of the documentation runs in an empty folder" as_user "stepsim run examples/quickstart.scenario.json 2>&1 | grep -q 'note: examples/quickstart.scenario.json is not here'"
check "shipped models and networks are found by name" as_user "stepsim models >/dev/null && stepsim init --model llama3_8b --gpu h100 --cluster dgx_h100 --nodes 2 -o s.json >/dev/null && stepsim run s.json >/dev/null"
check "a sweep that ships runs" as_user "stepsim sweep $examples/quickstart.sweep.json -o out.jsonl --quiet"
check "the what-if page ships" as_user "stepsim web -o whatif.html && cmp whatif.html /usr/share/stepsim/whatif.html"
check "help names the installed documentation" as_user "stepsim run --help | grep -q /usr/share/doc/stepsim/docs/file-formats.md"
check "and it is there" as_user "test -s /usr/share/doc/stepsim/docs/file-formats.md"
check "calibration fits shipped samples" as_user "stepsim-calibrate fit $examples/h100x8.samples.json --op allreduce --assume ring -o c.calibration.json >/dev/null"
for command in $(inside stepsim --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
  check "stepsim-$command has a man page" test -s "$root/usr/share/man/man1/stepsim-$command.1.gz"
done
check "bash completes" as_user "bash -c 'source /usr/share/bash-completion/completions/stepsim; COMP_WORDS=(stepsim comp); COMP_CWORD=1; _stepsim; [[ \${COMPREPLY[*]} == compare ]]'"

inside apt-get purge -y -qq stepsim >/dev/null
inside apt-get autoremove -y -qq --purge >/dev/null
inside bash -c 'find / -xdev \( -path /proc -o -path /tmp -o -path /var -o -path /home \) -prune -o -print' | sort >"$folder/after"
check "removing it leaves nothing" diff "$folder/before" "$folder/after"

inside apt-get install --no-install-recommends -y -qq python3 python3-venv >/dev/null
check "the wheel installs without an index" as_user "python3 -m venv venv && venv/bin/pip install -q --no-index /tmp/stepsim-*.whl"
cat >"$root/home/user/six.py" <<'PYTHON'
import json, subprocess, sys, pathlib, stepsim
example = next(pathlib.Path(sys.prefix).rglob("examples/quickstart.scenario.json"))
program = pathlib.Path(sys.prefix) / "bin/stepsim"
text = subprocess.run([program, "run", example, "--json"], capture_output=True, text=True, check=True).stdout
assert stepsim.run(example).summary == json.loads(text)["summary"]
table = stepsim.sweep(example, over={"/cluster/nodes": [8, 16]})
assert [row["nodes"] for row in table] == [8, 16]
PYTHON
check "and gives the numbers of the command" as_user "venv/bin/python3 ../six.py"
cp tests/cli/walks_test.py "$root/home/user/"
[[ ! -d ../shared/data/nccl-tests ]] || { mkdir "$root/home/user/data" && cp -r ../shared/data/nccl-tests "$root/home/user/data/"; }
check "three newcomers come to their answers with the wheel" as_user "venv/bin/python3 ../walks_test.py venv/bin/stepsim venv/bin/stepsim-calibrate ../data"
inside apt-get install --no-install-recommends -y -qq /tmp/stepsim.deb /tmp/python3-stepsim.deb >/dev/null
check "the module of the package runs, too" as_user "python3 -c 'import stepsim; print(stepsim.run(\"$examples/quickstart.scenario.json\").summary.iteration_time_s)'"
check "and with the packages" as_user "python3 ../walks_test.py /usr/bin/stepsim /usr/bin/stepsim-calibrate ../data"
echo "all checks passed"
