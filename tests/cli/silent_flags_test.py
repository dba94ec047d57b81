#!/usr/bin/python3
"""What a user typed is used or refused, and nothing that lies there is replaced without a word; what
is refused is in tests/golden/bad_input.json.

usage: silent_flags_test.py STEPSIM [WORD]
"""
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "files"), str(TESTS / "fuzz")]
import samples  # noqa: E402
from harness import ROOT, cases_in, changed, check, run_cases  # noqa: E402

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


def long_work_of_a_program_is_refused_as_that_of_a_scenario_is(place):
    """--max-seconds limits the work of a program, too"""
    place.run("program", "s.json", "-o", "p.json", code=0)
    tree = json.loads(place.path("p.json").read_text())
    place.write("p.json", {**tree, "iterations": 100_000})
    for command in ("run", "explain", "program"):
        place.refused(command, "p.json", "--max-seconds", "1e-9", code=1, says=["more than --max-seconds"])
        place.run(command, "p.json", code=0)


def what_an_answer_cannot_show_is_refused(place):
    """flags of what only JSON, only a file or only another format has are refused elsewhere"""
    ring = ("collective", "--op", "allreduce", "--algorithm", "be", "--ranks", "4", "--bytes", "1MB",
            "--latency", "10us", "--bandwidth", "1.25GB/s")
    over = ("s.json", "--over", "/cluster/nodes=2,4")
    for flag in ("--transfers", "--per-rank"):
        for form in ("table", "csv", "markdown"):
            place.refused(*ring, flag, "--format", form, code=2, says=flag)
        place.run(*ring, flag, "--json", code=0)
    place.refused("compare", *over, "--columns", "speedup", "--json", code=2, says="--columns")
    place.refused("sweep", *over, "--resume", code=2, says="--resume")
    place.write("osu.log", (ROOT / "examples/osu_allreduce.log").read_text())
    place.refused("import", "osu", "osu.log", "--ranks", "8", "--allow-unknown-sizes", code=2,
                  says="--allow-unknown-sizes has no meaning for format osu")
    place.refused("converge", "s.json", "--problem", "logistic", "--max-seconds", "1e-12", code=1, says="--max-seconds")


def a_key_that_no_point_reads_is_named(place):
    """compare, sweep and solve say which key of the scenario they left out"""
    leftover = ("--set", "/communication/credit_bytes=5")
    nodes = ("s.json", "--over", "/cluster/nodes=2,4")
    solve = ("solve", "s.json", "--for", "/cluster/nodes", "--between", "2,8", "--target", "iteration_time_s=1ms")
    for words in (("compare", *nodes), ("sweep", *nodes), solve):
        error = place.run(*words, *leftover).stderr.decode()
        check("left out: credit_bytes" in error, words, error)
    error = place.run("compare", "s.json", "--over", "/communication/schedule=single,priority",
                      *leftover, code=0).stderr.decode()
    check("left out" not in error, "a schedule reads it", error)


def a_flag_without_a_meaning_is_refused_at_a_point_and_for_one_algorithm(place):
    """a key that the algorithm or the point of a sweep does not read is refused where it is typed"""
    place.sweep("h.jsonl")
    place.refused("run", "h.jsonl", "--point", "1", "--checkpoint-s", "3s", code=2,
                  says="--checkpoint-s 3s: checkpoint_s has no meaning")
    ring = ("collective", "--op", "allreduce", "--ranks", "4", "--bytes", "1MB", "--latency", "10us",
            "--bandwidth", "1.25GB/s", "--algorithm")
    for flag, value, algorithms in (("--servers", "2", "ring,parameter_server"),
                                    ("--placement", "sharded", "ring,parameter_server"),
                                    ("--candidates", "ring,be", "ring,auto")):
        place.refused(*ring, "ring", flag, value, code=2, says=[flag, "applies to", "only"])
        place.run(*ring, algorithms, flag, value, code=0)
    place.refused(*ring, "ring", "--root", "1", code=2, says=["--root", "broadcast and reduce"])


def what_stands_next_to_a_stronger_word_is_checked(place):
    """names next to all, and a number of parameters next to known sizes, must be right"""
    place.refused("compare", "s.json", "--algorithms", "all,foo", code=2, says="foo")
    place.write("kin.json", samples.kineto())
    place.refused("import", "kineto", "kin.json", "-o", "t.json", "--parameters", "25M", code=3,
                  says="--parameters 25000000 differs by 1 % or more")


def whether_it_fits_is_not_told_of_an_unknown_gpu(place):
    """--must-fit warns where the memory of no GPU is known"""
    nodes = ("s.json", "--over", "/cluster/nodes=2,4")
    for words in (("run", "s.json"), ("compare", *nodes), ("sweep", *nodes)):
        for known, warns in (((), True), (("--set", "/cluster/gpu_memory_bytes=8e10"), False)):
            error = place.run(*words, "--must-fit", *known, code=0).stderr.decode()
            check(("warning: --must-fit" in error) == warns, words, known, error)


def a_flag_with_a_wrong_value_is_refused_by_its_name(place):
    """what a flag set is the flag's fault in every command, with exit code 2"""
    nodes = ("s.json", "--over", "/cluster/nodes=2,4")
    speed = ("s.json", "--for", "/cluster/network/bandwidth_Bps", "--between", "1Gbps,9Gbps", "--target", "speedup=2")
    for words in (("run", "s.json"), ("compare", *nodes), ("sweep", *nodes), ("solve", *speed),
                  ("compare", "s.json", "--algorithms", "ddp,wfbp")):
        place.refused(*words, "--samples", "0", code=2, says="--samples 0: must be an integer")
        place.refused(*words, "--set", "/training/iterations=0", code=2, says="--set /training/iterations=0: must be")
    place.refused("reproduce", "lp", "--jobs", "0", code=2, says="--jobs 0: must be an integer")


def every_result_has_the_same_keys(place):
    """what a run does not have is null or empty, and never left out"""
    def keys(*flags):
        tree = json.loads(place.run("run", "s.json", "--json", *flags, code=0).stdout)
        return {(part, key) for part in ("summary", "network", "meta") for key in tree[part]} | set(tree)
    usual = keys()
    check({"units", "program", "overrides", "estimate", "measured_total"} <= usual, usual)
    for words in (("/training/sharding/strategy=full_shard",), ("/training/algorithm=pipe_sgd",),
                  ("/training/algorithm=parameter_server", "/training/mode=async"),
                  ("/cluster/network/model=flow",)):
        flags = [word for each in words for word in ("--set", each)]
        check(keys(*flags) == usual, flags, keys(*flags) ^ usual)


if __name__ == "__main__":
    run_cases(cases_in(globals()))
