#!/usr/bin/python3
"""What a user typed is used or refused, and nothing that lies there is replaced without a word; what
is refused is in tests/golden/bad_input.json.

usage: silent_flags_test.py STEPSIM [WORD]
"""
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "files"), str(TESTS / "fuzz")]
import samples  # noqa: E402
from harness import cases_in, changed, check, run_cases  # noqa: E402

TYPICAL = ("--conditions", "typical")


def what_an_import_writes_besides_replaces_no_other_file(place):
    """--variability and --cost of an import replace no file of another kind"""
    place.write("kin.json", samples.kineto())
    words = ("import", "kineto", "kin.json", "-o", "out.json", "--allow-unknown-sizes", "--quiet")
    for flag in ("--variability", "--cost"):
        mine = place.write("mine.json", {"kind": "scenario"})
        before = place.path(mine).read_bytes()
        place.refused(*words, flag, mine, code=2, says=[mine, "holds another kind of file"])
        check(place.path(mine).read_bytes() == before, flag, "replaced", mine)
        place.run(*words, flag, mine, "--force", code=0)
        place.run(*words, flag, mine, code=0)  # of its own kind


def a_point_under_other_conditions_is_no_change_of_files(place):
    """a point, or a result, under other conditions does not blame files that have changed"""
    place.write("s.json", changed(cluster={"network": "25g-tcp"}))
    place.sweep("h.jsonl")
    place.run("run", "s.json", "-o", "r.json", code=0)
    for words in (("run", "h.jsonl", "--point", "1"), ("report", "r.json", "-o", "r.html")):
        done = place.run(*words, *TYPICAL, code=0)
        check(b"has changed since" not in done.stderr, words, done.stderr)
    check("--conditions typical" in place.path("r.html").read_text(), "the page leaves out a flag")


def a_field_with_a_line_end_is_one_record(place):
    """a CSV file whose cells have line ends is checked record by record"""
    place.run("sweep", "s.json", "--over", '/name="a\\nb","c"', "-o", "nl.csv", "--quiet", code=0)
    check(place.path("nl.csv").read_text().count("\n") == 5, "no cell has a line end")
    done = place.run("check", "nl.csv", code=0)
    check("2 of 2 points" in done.stdout.decode(), done.stdout)


def what_does_not_fit_gives_no_settings(place):
    """where nothing fits, --emit writes no file of a framework"""
    place.write("s.json", {
        "kind": "scenario", "training": {"sharding": "full_shard"},
        "workload": {"model": "resnet50", "gpu": "a100-80", "batch_size": 8,
                     "accept_estimate": True},
        "cluster": {"nodes": 2, "gpu_memory_bytes": 1_000_000_000,
                    "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}}})
    done = place.run("plan-training", "s.json", "--emit", "torchtitan", "-o", "planned.py", code=4)
    check(not place.path("planned.py").exists(), "wrote", place.names())
    check(b"no settings are written" in done.stderr, done.stderr)


if __name__ == "__main__":
    run_cases(cases_in(globals()))
