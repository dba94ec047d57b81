#!/usr/bin/python3
"""Sums up ctest runs: failed tests, skipped tests with their reasons, and as the last line
`N passed, N failed`.

usage: summary.py NAME=JUNIT.xml ...
Skipped is a test that ends with 77 (its reason is its last line of output), or one that passes
after a line that starts with "skipped:". Exit 1 if a test failed or none ran.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

SKIP_LINE = re.compile(r"(?:^|\s)skipped: *(.*\S)")


# Debian's package for what a reason says is missing, by a word of the reason.
PACKAGES = {"zsh": "zsh", "fish": "fish", "sbatch": "slurm-wlm munge", "slurm": "slurm-wlm munge",
            "parallel": "parallel", "python3-distributed": "python3-distributed", "mpirun": "openmpi-bin libopenmpi-dev", "strace": "strace",
            "chromium": "chromium", "node": "nodejs", "emscripten": "emscripten", "matplotlib": "python3-matplotlib",
            "mmdebstrap": "mmdebstrap", "dpkg-deb": "dpkg", "dpkg-shlibdeps": "dpkg-dev", "ip": "iproute2",
            "tar": "tar", "groff": "groff", "clang-format-14": "clang-format-14",
            "clang-tidy-16": "clang-tidy-16", "nvcc": "nvidia-cuda-toolkit"}


def packages_for(reason):
    """" (apt-get install zsh)", or nothing where no package would help, such as for privileges."""
    words = re.findall(r"[\w-]+", reason)
    found = dict.fromkeys(PACKAGES[word] for word in words if word in PACKAGES)
    return f" (apt-get install {' '.join(found)})" if found else ""


def reason_in(output):
    """What stands behind "skipped: " in lines of the output, without the time that a case took; doctest
    prints it as "MESSAGE: skipped: ..."."""
    found = [re.sub(r" \(\d+\.\d s\)$", "", match.group(1))
             for match in map(SKIP_LINE.search, output.splitlines()) if match]
    return "; ".join(dict.fromkeys(found)) or None


def outcome(case):
    """("passed" | "failed" | "skipped", reason) of one JUnit test case of ctest."""
    output = case.findtext("system-out") or ""
    reason = reason_in(output)
    status = case.get("status")
    skipped = case.find("skipped")
    if status == "run" and case.find("failure") is None:
        return ("skipped", reason) if reason else ("passed", "")
    if status == "notrun" and skipped is not None and "SKIP_RETURN_CODE" in skipped.get("message", ""):
        last = output.strip().splitlines()[-1:] or ["no reason given"]
        return "skipped", reason or last[0]
    return "failed", (case.find("failure").get("message") if case.find("failure") is not None else f"status {status}")


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    lines = {"failed": [], "skipped": []}
    reasons = {}
    for argument in sys.argv[1:]:
        name, _, file = argument.partition("=")
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            kind, reason = outcome(case)
            counts[kind] += 1
            if kind == "failed":
                lines["failed"].append(f"failed ({name}): {case.get('name')}: {reason}")
            if kind == "skipped":
                reasons.setdefault(reason, []).append(f"{case.get('name')} ({name})")
    for reason, names in sorted(reasons.items()):
        print(f"skipped: {reason}{packages_for(reason)}")
        for name in names:
            print(f"    {name}")
    print("\n".join(lines["failed"]), end="\n" if lines["failed"] else "")
    print(f"{counts['skipped']} skipped")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
