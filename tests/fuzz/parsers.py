#!/usr/bin/env python3
"""Every importer under libFuzzer with the address and undefined-behaviour sanitizers, for as long as asked.

    parsers.py BUILD_DIR [--parser NAME] [--seconds S] [--keep FOLDER]

BUILD_DIR is that of the preset `fuzz` (cmake --workflow --preset fuzz; clang 16 and libclang-rt-16-dev). Each importer starts from the
inputs of samples.py and, where they are there, from the real ones of ../shared/data that are small; S are
CPU seconds of each (default 600). Inputs that reached new code are kept in FOLDER/NAME and are first inputs
of the next run; a finding is kept as FOLDER/NAME.crash-... Exit 1 for a finding.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import samples

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared/data"
LARGEST = 60_000  # bytes of a first input

# The functions of samples.py whose inputs are for the importer, and where its real ones lie.
PARSERS = {
    "kineto": ([samples.kineto], ["kineto/**/*", "traces/*.json.gz"]),
    "kineto-windows": ([samples.kineto], ["kineto/**/*", "traces/*.json.gz"]),
    "pytorch-et": ([samples.execution_trace], ["traces/*_et.json.gz"]),
    "ddp-log": ([samples.ddp_log], []),
    "flight-record": ([samples.flight_record], []),
    "size-table": ([samples.size_table], []),
    "chakra": ([samples.chakra, samples.chakra_json], ["chakra/**/*", "astra/*.et"]),
    "chakra-samples": ([samples.chakra, samples.chakra_json], ["chakra/**/*", "astra/*.et"]),
    "astra-text": ([samples.astra_text], ["astra/**/*.txt"]),
    "caffe-log": ([samples.caffe_log], ["b-caffe/**/*"]),
    "layer-table": ([samples.layer_table, samples.archive], []),
    "osu": ([samples.osu], ["collectives/**/*"]),
    "nccl-tests": ([samples.nccl_tests, samples.nccl_json], ["nccl-tests/**/*"]),
    "nccl-inspector": ([samples.nccl_inspector], []),
    "nccl-topology": ([samples.topology_xml], ["topo/*.xml", "traces/*.xml"]),
    "hf-config": ([samples.model_config], []),
}


def first_inputs(name, folder):
    functions, patterns = PARSERS[name]
    folder.mkdir(parents=True, exist_ok=True)
    for function in functions:
        (folder / function.__name__).write_bytes(function())
    found = sorted({path for pattern in patterns for path in DATA.glob(pattern)
                    if path.is_file() and path.stat().st_size <= LARGEST})
    for number, path in enumerate(found[:60]):
        (folder / f"real{number}").write_bytes(path.read_bytes())


def run(build, name, seconds, keep):
    inputs = keep / name
    first_inputs(name, inputs)
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    runs = used = findings = 0
    while used < seconds and not findings:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as folder:
            done = subprocess.run(
                [build / "parsers_fuzz", "-timeout=30", "-rss_limit_mb=3072", "-malloc_limit_mb=2048", "-close_fd_mask=1",
                 f"-max_total_time={max(1, int(seconds - used))}", f"-max_len={2 * LARGEST}", "-print_final_stats=1",
                 f"-artifact_prefix={keep}/{name}.", inputs],
                env={**os.environ, "STEPSIM_PARSER": name, "STEPSIM_FOLDER": folder}, capture_output=True, text=True,
                errors="replace", check=False)
        runs += int((re.findall(r"number_of_executed_units: (\d+)", done.stderr) or [0])[-1])
        findings = done.returncode != 0
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = now.ru_utime + now.ru_stime - began.ru_utime - began.ru_stime
    covered = (re.findall(r"cov: (\d+)", done.stderr) or ["0"])[-1]
    print(f"{name}: {runs} inputs in {used:.0f} CPU seconds, {covered} edges, {len(list(inputs.iterdir()))} inputs kept, "
          f"{'a finding' if findings else 'no finding'}", flush=True)
    if findings:
        print(done.stderr[-6000:], flush=True)
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--parser", choices=sorted(PARSERS), action="append")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build/fuzz-inputs")
    options = parser.parse_args()
    return 1 if sum([run(options.build, name, options.seconds, options.keep.resolve())
                     for name in options.parser or PARSERS]) else 0


if __name__ == "__main__":
    sys.exit(main())
