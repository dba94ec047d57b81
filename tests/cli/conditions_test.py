#!/usr/bin/python3
"""Typical conditions in every command: the same step by every route, orders, ranges and gains that follow from the
parts of the intervals, by formulas of their own.

usage: conditions_test.py STEPSIM
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

STEPSIM = pathlib.Path(sys.argv[1]).resolve()
QUANTILE = 1.2816
SCENARIO = {
    "kind": "scenario", "conditions": "typical",
    "workload": {"model": "bert_base", "batch_size": 32, "measured": {"forward_s": 0.05, "backward_s": 0.1, "gpus": 1}},
    "cluster": {"nodes": 4, "gpus_per_node": 8,
                "network": {"bandwidth_Bps": 3.125e9, "latency_s": 1e-6, "transport": "tcp_cloud"},
                "intra_network": {"bandwidth_Bps": 150e9, "latency_s": 1e-6, "bus": "nvlink"}},
    "communication": {"schedule": "ddp", "collective": "ring"}}


def stepsim(*arguments, code=0):
    done = subprocess.run([STEPSIM, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def answer(*arguments):
    return json.loads(stepsim(*arguments, "--json", "--quiet"))


def close(a, b, what, relative=1e-9):
    assert abs(a - b) <= relative * max(abs(a), abs(b)), (what, a, b)


def moves(record):
    return {part["factor"]: (part["at_high"], part["at_low"]) for part in record["interval_parts"]}


def deviation(x, y):
    """Standard deviation of the logarithm of the ratio of two times."""
    first, second = moves(x), moves(y)
    total = 2 * 0.035 ** 2
    for factor in {*first, *second}:
        a, b = first.get(factor, (0, 0)), second.get(factor, (0, 0))
        total += max(abs(a[0] - b[0]), abs(a[1] - b[1])) ** 2
    return math.sqrt(total)


def test_flag(path):
    typical, ideal = answer("run", path), answer("run", path, "--conditions", "ideal")
    assert typical["summary"]["interval_level"] == 0.8
    assert ideal["summary"]["interval_level"] is None and ideal["summary"]["interval_parts"] == []
    assert ideal["summary"]["iteration_time_s"] < typical["summary"]["iteration_time_s"]
    bare = json.loads(path.read_text())
    del bare["conditions"], bare["cluster"]["network"]["transport"], bare["cluster"]["intra_network"]["bus"]
    del bare["workload"]["measured"]["gpus"]
    plain = path.with_name("bare.json")
    plain.write_text(json.dumps(bare))
    assert answer("run", plain)["summary"] == ideal["summary"]
    assert "transport: required with typical conditions" in stepsim("run", plain, "--conditions", "typical", code=3)
    assert "unknown, did you mean typical?" in stepsim("run", plain, "--conditions", "typicl", code=2)


def test_orders(path):
    """Ranks of compare are those of the paired formula; run, compare and sweep give the same intervals."""
    found = answer("compare", path, "--over", "/communication/schedule=wfbp,ddp,single,mg_wfbp")
    rows = found["rows"]
    for row in rows:
        summary = answer("run", path, "--set", f"/communication/schedule={row['schedule']}")["summary"]
        for key in ("iteration_time_s", "iteration_time_low_s", "iteration_time_high_s", "interval_parts"):
            assert summary[key] == row[key], key

    def beats(x, y):
        difference = math.log(y["iteration_time_s"] / x["iteration_time_s"])
        return difference > max(0.05, QUANTILE * deviation(x, y))
    for row in rows:
        assert row["stated_rank"] == 1 + sum(beats(other, row) for other in rows), row["schedule"]
        told = row is rows[0] or beats(rows[0], row)
        assert (row["not_told_apart"] is None) == told, row["schedule"]
    assert found["best_set"] == [i for i, row in enumerate(rows) if row["stated_rank"] == 1]
    assert any(row["stated_rank"] > 1 for row in rows) and len(found["best_set"]) > 1
    listed = answer("compare", path, "--algorithms", "wfbp,ddp,single,mg_wfbp")["rows"]
    assert [row["stated_rank"] for row in listed] == [row["stated_rank"] for row in rows]
    text = stepsim("compare", path, "--over", "/communication/schedule=wfbp,ddp,single,mg_wfbp", "--quiet")
    assert "not told apart: " in text and "rank" in text.splitlines()[0]


def test_solve(path):
    """At the ends of the range the ends of the interval meet the target."""
    place, fast = "/cluster/network/bandwidth_Bps", ("--set", "/cluster/network/transport=rdma")

    def solved(target, *flags):
        return answer("solve", path, *fast, "--for", place, "--between", "2Gbps,90Gbps", "--target", target, *flags)["crossings"]

    def at(value):
        return answer("run", path, *fast, "--set", f"{place}={value!r}")["summary"]
    (crossing,) = solved("iteration_time_s=300ms")
    assert crossing["range"]["low"] < crossing["value"] < crossing["range"]["high"]
    close(at(crossing["range"]["low"])["iteration_time_low_s"], 0.3, "low", 1e-6)
    close(at(crossing["range"]["high"])["iteration_time_high_s"], 0.3, "high", 1e-6)
    (rate,) = solved("samples_per_s=3500")
    end = at(rate["range"]["low"])
    close(end["samples_per_s"] * end["iteration_time_s"] / end["iteration_time_low_s"], 3500, "rate", 1e-6)
    (open_end,) = solved("iteration_time_s=230ms")
    assert open_end["range"]["high"] is None and open_end["range"]["low"] is not None
    assert "above 90 Gb/s)" in stepsim("solve", path, *fast, "--for", place, "--between", "2Gbps,90Gbps",
                                       "--target", "iteration_time_s=230ms", "--quiet")
    assert all("range" not in each for each in solved("iteration_time_s=200ms", "--conditions", "ideal"))


def test_tune(path):
    found = answer("tune", path, "--knob", "schedule")
    best, current = found["best"], next(each for each in found["references"] if each["name"] == "current")
    rows = {row["schedule"]: row for row in
            answer("compare", path, "--over", f"/communication/schedule=ddp,{best['value']}")["rows"]}
    close(rows["ddp"]["iteration_time_s"], current["iteration_time_s"], "current")
    ratio = math.log(best["iteration_time_s"] / current["iteration_time_s"])
    spread = QUANTILE * deviation(rows[best["value"]], rows["ddp"])
    close(found["gain_low"], 1 - math.exp(ratio + spread), "gain_low", 1e-6)
    close(found["gain_high"], 1 - math.exp(ratio - spread), "gain_high", 1e-6)
    assert found["advice"] == ("change" if found["gain_low"] > 0 else "leave")
    assert "gain_low" not in answer("tune", path, "--knob", "schedule", "--conditions", "ideal")


def test_explain(path):
    """Every factor that counts is a row, and its step is that of a run with the factor set."""
    found = answer("explain", path)["what_if"]
    rows = [row for row in found if row["change"].startswith("without the loss of ")]
    parts = {part["factor"] for part in answer("run", path)["summary"]["interval_parts"]} - {"rest", "q"}
    assert {row["change"].split()[4] for row in rows} <= parts and len(rows) >= 5, (rows, parts)
    for row in rows:
        flags = [word for each in row["set"] for word in ("--set", each)]
        close(answer("run", path, *flags)["summary"]["iteration_time_s"], row["step_s"], row["change"])
        assert row["gain"] >= -1e-9, row
    # Changes of keys start from what the keys say, not from what is left of it.
    twice = next(row for row in found if row["change"] == "twice the bandwidth of the network")
    assert "/cluster/network/bandwidth_Bps=6.25e+09" in twice["set"] or \
        "/cluster/network/bandwidth_Bps=6250000000" in twice["set"], twice


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "typical.json"
    file.write_text(json.dumps(SCENARIO))
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(file)
            print(f"ok: {name}")
