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


def test_efficiency(path):
    """The efficiency is that against one worker, whose computing loses nothing to others."""
    for gpus, faster in ((1, 1), (8, math.exp(-0.03 - 0.012 * 3))):
        for flags in ((), ("/training/micro_batches=4",), ("/training/algorithm=local_sgd", "/training/local_steps=4"),
                      ("/training/algorithm=parameter_server",), ("/training/algorithm=parameter_server", "/training/mode=async", "/cluster/gpus_per_node=1",
                       "/communication/schedule=null")):
            sets = [word for flag in flags for word in ("--set", flag)]
            summary = answer("run", path, *sets, "--set", f"/workload/measured/gpus={gpus}")["summary"]
            ideal = answer("run", path, *sets, "--set", "/workload/measured/gpus=null", "--conditions", "ideal")["summary"]
            shares = 1 / faster ** (1 - 1 / math.sqrt(4)) if "/training/micro_batches=4" in flags else 1  # L / m^q
            alone = (ideal["forward_s"] + ideal["backward_s"]) * faster * shares + ideal["update_s"]
            close(summary["scaling_efficiency"] * summary["iteration_time_s"], alone, (gpus, flags))
            workers = 4 if "/cluster/gpus_per_node=1" in flags else 32
            close(summary["speedup"], workers * summary["scaling_efficiency"], (gpus, flags))
    one = answer("run", path, "--set", "/cluster/nodes=1", "--set", "/cluster/gpus_per_node=1")["summary"]
    rows = answer("compare", path, "--over", "/cluster/nodes=2,4,16")["rows"]
    for row in rows:
        close(row["scaling_efficiency"], one["iteration_time_s"] / row["iteration_time_s"], row["nodes"])


def test_what_has_no_effect(path):
    said = stepsim("run", path, "--set", "/cluster/network/latency_s=0.1", "--set", "/cluster/preset=dgx_a100", "--json")
    warnings = json.loads(said)["warnings"]
    assert any("/cluster/network/latency_s has no effect: typical conditions have a shorter latency in its place" in text for text in warnings), warnings
    assert not any("latency_s" in text for text in answer("run", path)["warnings"])
    for pointer in ("/cluster/network/delay_s", "/cluster/intra_network/delay_s", "/cluster/intra_network/latency_s"):
        warnings = answer("run", path, "--set", f"{pointer}=50ms")["warnings"]
        assert sum(text.startswith(f"{pointer} has no effect") for text in warnings) == 1, (pointer, warnings)
    other = {"model": "llama3_8b", "gpu": "h100", "batch_size": 1}
    tree = {**SCENARIO, "workload": other, "cluster": {"preset": "dgx_a100", "nodes": 4}}
    path.with_name("other.json").write_text(json.dumps(tree))
    for gpu, warned in (("h100", True), ("a100-40", False)):
        warnings = answer("run", path.with_name("other.json"), "--set", f"/workload/gpu={gpu}", "--set", "/training/sharding=full_shard")["warnings"]
        assert warned == any(text == "the times of layers are those of h100, but dgx_a100 has NVIDIA A100 SXM4" for text in warnings), warnings


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


def test_efficiency_is_ordered_as_the_step(path):
    """The time of one worker is the same in every row, so that the order of efficiencies is that of the paired steps."""
    schedules = ("--over", "/communication/schedule=wfbp,ddp,single,mg_wfbp")
    by_time, by_efficiency = answer("compare", path, *schedules), answer("compare", path, *schedules, "--best", "efficiency")
    ranks = [{row["schedule"]: (row["stated_rank"], row["not_told_apart"]) for row in found["rows"]} for found in (by_time, by_efficiency)]
    assert ranks[0] == ranks[1] and len(by_efficiency["best_set"]) == len(by_time["best_set"]), ranks
    text = stepsim("compare", path, *schedules, "--best", "efficiency", "--quiet")
    assert "not told apart: " in text and "rank" in text.splitlines()[0]
    rows = answer("compare", path, "--over", "/cluster/nodes=2,4,64", "--best", "efficiency")["rows"]
    for row in rows:
        beats = [math.log(other["scaling_efficiency"] / row["scaling_efficiency"]) > max(0.05, QUANTILE * deviation(other, row)) for other in rows]
        assert row["stated_rank"] == 1 + sum(beats), row["nodes"]
    assert any(row["stated_rank"] > 1 for row in rows)


def test_undefined_alternatives(path):
    """An alternative that the scenario cannot have costs its row alone, and says why; without any row that is the error."""
    for conditions, code, name, reason in (
            ("typical", 2, "ps_async", "typical conditions are not defined for asynchronous servers with several GPUs per machine: "
             "a machine pushes once for all of its GPUs, which wait for one another"),
            ("ideal", 3, "asc_wfbp", "schedule asc_wfbp needs a linear cost (startup_s, per_byte_s)")):
        flags = ("--conditions", conditions)
        done = subprocess.run([STEPSIM, "compare", path, "--algorithms", "all", "--format", "jsonl", *flags],
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        names = [json.loads(line)["algorithm"] for line in done.stdout.splitlines()]
        assert name not in names and {"ddp", "topk", "ps_sync"} <= set(names), names
        (line,) = (each for each in done.stderr.splitlines() if f"{name}" in each and "the row is left out" in each)
        assert line.endswith(f": the row is left out: {reason}"), line
        assert reason in stepsim("compare", path, "--algorithms", name, *flags, code=code)


def test_ideal_library(path):
    """The interval of a library says nothing about the order of real runs, and nothing of what a measured step leaves."""
    other = path.with_name("library.json")
    other.write_text(json.dumps({"kind": "scenario", "workload": {"model": "bert_large", "gpu": "h100", "batch_size": 8},
                                 "cluster": {"preset": "dgx_h100", "nodes": 4}}))
    rows = answer("compare", other, "--over", "/communication/schedule=ddp,single")["rows"]
    for row in rows:
        assert {part["factor"] for part in row["interval_parts"]} == {"library", "estimate"}
        assert row["interval_level"] == 0.8 and row.get("stated_rank") is None, row
    found = answer("run", other, "--measured-total", "0.9", "--at", "/cluster/nodes=2")["measured_total"]
    assert found["iteration_time_low_s"] is None


def digits(value):
    """A number with four digits or more before the point."""
    return f"{value:.{max(0, 3 - math.floor(math.log10(value)))}f}"


def band(record, factor):
    low, high = (digits(record[f"iteration_time_{end}_s"] * factor) for end in ("low", "high"))
    return f"({low} to {high}, 80 %)"


def in_ms(record):
    return digits(record["iteration_time_s"] * 1e3) + " " + band(record, 1e3)


def in_words(record):
    factor, unit = (1, "s") if record["iteration_time_s"] >= 1 else (1e3, "ms")
    return digits(record["iteration_time_s"] * factor) + f" {unit} " + band(record, factor)


def test_bands(path):
    """Text never has a step without its interval, wherever it stands."""
    summary = answer("run", path)["summary"]
    lines = stepsim("run", path, "--quiet").splitlines()
    (line,) = (each for each in lines if each.startswith("iteration time"))
    assert line.split() == f"iteration time {in_ms(summary)}".replace(" (", " 100.0 % (").split(), line
    (most,) = (each for each in lines if each.startswith("interval from "))
    explained = answer("explain", path)
    assert most.startswith(f"interval from {summary['interval_parts'][0]['factor']} ("), most
    assert most.endswith(f"; measure {explained['measure_next'][0]['what']}"), most
    text = stepsim("explain", path, "--quiet")
    assert text.startswith(f"A training step takes {in_words(summary)}."), text
    (line,) = (each for each in text.splitlines() if each.startswith("period "))
    assert line.endswith(band(summary, 1e3)), line
    page = stepsim("report", path, "--quiet", "-o", "-")
    assert f"A step takes {in_words(summary)} on 32 workers" in page and f"A training step takes {in_words(summary)}." in page
    over = ("--over", "/communication/schedule=ddp,single", "--over", "/cluster/nodes=2,4")
    for command in ("compare", "sweep"):
        file = path.with_name(f"{command}.jsonl")
        stepsim(command, path, *over, "--quiet", "-o", file)
        text = stepsim(command, path, *over, "--quiet")
        chosen = stepsim(command, path, *over, "--quiet", "--columns", "iteration_time_s")
        rows = [json.loads(each) for each in file.read_text().splitlines() if "iteration_time_s" in each]
        for row in rows:
            for table in (text, chosen):
                assert in_ms(row) in " ".join(table.split()), (command, row["iteration_time_s"], table)
            # The small table is one of throughput, which is as far off.
            rate, low, high = (digits(row["samples_per_s"] * row["iteration_time_s"] / row[key]) for key in
                               ("iteration_time_s", "iteration_time_high_s", "iteration_time_low_s"))
            assert f"{rate} ({low} to {high}, 80 %)" in text, (command, text)
    best = max(rows, key=lambda row: row["samples_per_s"])
    assert f"a step of {in_words(best)}" in stepsim("report", file, "--quiet", "-o", "-")
    found = answer("tune", path, "--knob", "schedule")["best"]
    row = answer("run", path, "--set", f"/communication/schedule={found['value']}")["summary"]
    text = stepsim("tune", path, "--knob", "schedule", "--quiet")
    assert f": {in_words(row)} per iteration" in text and in_ms(row) in " ".join(text.split()), text
    # The example of the definition.
    horovod = {**SCENARIO, "workload": {"model": "resnet50", "batch_size": 64, "measured": {"forward_s": 0.1, "backward_s": 0.2, "gpus": 1}},
               "communication": {"schedule": "horovod", "collective": "ring"}}
    horovod["cluster"] = json.loads(json.dumps(SCENARIO["cluster"]))
    horovod["cluster"]["network"]["bandwidth_Bps"] = 3.125e9 * 0.949288
    other = path.with_name("horovod.json")
    other.write_text(json.dumps(horovod))
    assert " ".join(stepsim("run", other, "--quiet").split()).count("414.5 100.0 % (344.8 to 653.7, 80 %)") == 1
    assert "interval from c_cloud (" in stepsim("run", other, "--quiet")
    assert ", 80 %)" not in "".join(stepsim(name, path, "--conditions", "ideal", "--quiet") for name in ("run", "explain"))


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


def test_solve_of_integers(path):
    """Ends of ranges of integers are where the metric of either end first meets the target, also where they are equal."""
    place, small = "/cluster/nodes", path.with_name("small.json")
    tree = json.loads(json.dumps(SCENARIO))
    tree["workload"] = {"layers": [{"name": f"l{i}", "forward_s": 0.004, "backward_s": 0.008, "gradient_bytes": 3000000} for i in range(8)]}
    tree["cluster"] = {"nodes": 4, "gpus_per_node": 4, "network": {"latency_s": 5e-6, "bandwidth_Bps": 1.1866e9, "transport": "tcp"},
                       "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 1.197e10, "bus": "pcie"}}
    small.write_text(json.dumps(tree))
    ends = ("iteration_time_s", "iteration_time_low_s", "iteration_time_high_s")
    rows = answer("compare", small, "--over", f"{place}={','.join(map(str, range(2, 17)))}")["rows"]
    speedups = {row["nodes"]: [row["speedup"] * row["iteration_time_s"] / row[end] for end in ends] for row in rows}

    def first(target, end):
        return next((nodes for nodes in sorted(speedups) if nodes > 2 and speedups[nodes][end] >= target > speedups[nodes - 1][end]), None)
    kinds = set()
    for target in (10, speedups[2][0] * 1.02, *[(speedups[nodes][0] + speedups[nodes + 1][0]) / 2 for nodes in (2, 3, 5, 9, 15)]):
        (crossing,) = answer("solve", small, "--for", place, "--between", "2,16", "--target", f"speedup={target!r}")["crossings"]
        low, high = crossing["range"]["low"], crossing["range"]["high"]
        assert crossing["value"] == first(target, 0) and (low, high) == (first(target, 1), first(target, 2)), (target, crossing)
        kinds.add((low is None, high is None, low == crossing["value"], high == crossing["value"]))
    assert len(kinds) > 1, kinds
    # The rate of TCP jumps where its cap is that of rented machines: all three cross the target at the jump.
    cloud = path.with_name("jump.json")
    tree = json.loads(json.dumps(SCENARIO))
    tree["workload"] = {"layers": [{"name": "one", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 100000000}]}
    tree["cluster"] = {"nodes": 2, "gpus_per_node": 2, "network": {"latency_s": 5e-6, "bandwidth_Bps": 1.5e9, "transport": "tcp_cloud"},
                       "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 3e11, "bus": "pcie"}}
    tree["communication"] = {"collective": "ring", "schedule": "wfbp"}
    cloud.write_text(json.dumps(tree))
    rate = "/cluster/network/bandwidth_Bps"
    before, after = (answer("run", cloud, "--set", f"{rate}={value}")["summary"] for value in (1.5999e9, 1.6e9))
    target = (before["iteration_time_s"] + after["iteration_time_s"]) / 2
    for crossing in answer("solve", cloud, "--for", rate, "--between", "1e9,6e9", "--target", f"iteration_time_s={target!r}")["crossings"]:
        low, high = crossing["range"]["low"], crossing["range"]["high"]
        assert (low is None or low <= crossing["value"]) and (high is None or crossing["value"] <= high), crossing
    # The low end crosses the target only behind a jump: it is no end of the range of the crossing before it.
    tree["workload"] = {"layers": [{"name": f"l{i}", "forward_s": f, "backward_s": 2 * f, "gradient_bytes": b}
                                   for i, (f, b) in enumerate([(0.011, 36800000), (0.039, 42400000), (0.009, 16800000), (0.036, 40000000)])]}
    tree["cluster"] |= {"nodes": 3, "gpus_per_node": 8, "intra_network": {"latency_s": 0, "bandwidth_Bps": 1.5e11, "bus": "pcie"}}
    tree["communication"]["collective"] = "two_level"
    tree["conditions"] = {"kind": "typical", "factors": {"c_cloud": {"value": 8e8, "low": 6.4e8, "high": 1.12e9}, "q": 0.5, "s_bus": 1.1,
                                                         "e_sched": {"value": 0.63, "low": 0.504, "high": 0.882}}}
    cloud.write_text(json.dumps(tree))
    solved = answer("solve", cloud, "--for", rate, "--between", "1e9,1e11", "--target", "iteration_time_s=0.38479523176927805")["crossings"]
    assert solved[0]["value"] < 1.6e9 and solved[0]["range"] == {"low": None, "high": None}, solved


def test_tune(path):
    found = answer("tune", path, "--knob", "schedule")
    best, current = found["best"], next(each for each in found["references"] if each["name"] == "current")
    rows = {row["schedule"]: row for row in
            answer("compare", path, "--over", f"/communication/schedule=ddp,{best['value']}")["rows"]}
    close(rows["ddp"]["iteration_time_s"], current["iteration_time_s"], "current")
    ratio = math.log(best["iteration_time_s"] / current["iteration_time_s"])
    first, second = moves(rows[best["value"]]), moves(rows["ddp"])
    apart = [[a - b for a, b in zip(first.get(factor, (0, 0)), second.get(factor, (0, 0)))] for factor in {*first, *second}]
    up = math.sqrt(2 * 0.035 ** 2 + sum(max(0, *each) ** 2 for each in apart))
    down = math.sqrt(2 * 0.035 ** 2 + sum(min(0, *each) ** 2 for each in apart))
    close(found["gain_low"], 1 - math.exp(ratio + QUANTILE * up), "gain_low", 1e-6)
    close(found["gain_high"], 1 - math.exp(ratio - QUANTILE * down), "gain_high", 1e-6)
    assert found["advice"] == ("change" if found["gain_low"] > 0 else "leave")
    assert "gain_low" not in answer("tune", path, "--knob", "schedule", "--conditions", "ideal")


def test_emit_ddp_gives_the_advice_of_tune(path):
    """One rule says whether another bucket size is worth it, whoever asks."""
    advice = set()
    for rate, factor in (("3.125e9", 3), ("50e9", 3), ("50e9", 0.3)):
        flags = ("--set", f"/cluster/network/bandwidth_Bps={rate}", "--set", "/cluster/network/transport=rdma",
                 "--set", f"/workload/measured/forward_s={0.05 * factor}", "--set", f"/workload/measured/backward_s={0.1 * factor}")
        emitted = json.loads(stepsim("tune", path, "--emit", "ddp", *flags, "--quiet", "-o", "-"))
        row = answer("run", path, *flags)["summary"]
        close(emitted["default_step_s"], row["iteration_time_s"], "default")
        assert emitted["advice"] == ("change" if emitted["gain_low"] > 0 else "leave"), emitted
        assert emitted["gain_low"] <= emitted["gain"] <= emitted["gain_high"], emitted
        assert ("may be none" in emitted["python"]) == (emitted["advice"] == "leave"), emitted["python"]
        tuned = answer("tune", path, "--knob", "bucket_bytes", *flags)
        if emitted["predicted_step_s"] == tuned["best"]["iteration_time_s"]:
            assert [tuned[key] for key in ("gain", "gain_low", "gain_high", "advice")] == [emitted[key] for key in ("gain", "gain_low", "gain_high", "advice")]
            advice.add("equal")
        advice.add(emitted["advice"])
    assert "equal" in advice and "leave" in advice, advice
    assert "gain_low" not in json.loads(stepsim("tune", path, "--emit", "ddp", "--conditions", "ideal", "--quiet", "-o", "-"))


def test_measure_next(path):
    """What one more step would leave, by the linear posterior of all factors in matrix form."""
    found = answer("explain", path)["measure_next"]
    assert {each["what"] for each in found} == {"one step on all 4 machines", "one step on 2 machines"}
    check_posterior(path, found)
    # Where computing is estimated, that of another model is known, too.
    other = path.with_name("estimated.json")
    other.write_text(json.dumps({**SCENARIO, "workload": {"model": "bert_large", "gpu": "h100", "batch_size": 32}}))
    found = answer("explain", other)["measure_next"]
    totals = {model["name"]: model for model in answer("models", "list")["models"]}
    large = [model for model in totals.values() if model["elements"] >= totals["bert_large"]["elements"] / 10]
    most = max(large, key=lambda model: model["elements"] / model["macs"])["name"]
    assert {each["what"] for each in found} == {"one step on all 4 machines", "one step on 2 machines", f"one step of {most} on all 4 machines"}
    check_posterior(other, found)


def check_posterior(path, found):
    assert all(a["high_s"] <= b["high_s"] for a, b in zip(found, found[1:]))
    asked = answer("run", path)["summary"]
    for each in found:
        other = answer("run", path, *[word for text in each["set"] for word in ("--set", text)])["summary"]
        slopes = [{factor: (high - low) / 2 for factor, (high, low) in moves(of).items()} for of in (asked, other)]
        if "step of" in each["what"]:  # the estimate of another model is another one
            slopes[1]["other"] = slopes[1].pop("estimate")
        names = sorted(slopes[0])
        g, h = ([of.get(name, 0) for name in names] for of in slopes)
        # Prior covariance 1; after one observation along h with noise 0.05 it is 1 - h h' / (h'h + 0.05^2).
        seen = sum(value * value for value in slopes[1].values()) + 0.05 ** 2
        after = sum(g[i] * ((i == j) - h[i] * h[j] / seen) * g[j] for i in range(len(g)) for j in range(len(g)))
        left = after / sum(value * value for value in g)
        for end in ("low", "high"):
            before = (math.log(asked[f"iteration_time_{end}_s"] / asked["iteration_time_s"]) / QUANTILE) ** 2
            beside = 0.06 if "step of" in each["what"] else 0.04  # another series, or the same
            width = QUANTILE * math.sqrt(beside ** 2 + left * (before - 0.06 ** 2))
            close(each[f"{end}_s"], asked["iteration_time_s"] * math.exp(width if end == "high" else -width), end)


def test_explain(path):
    """Every factor that counts is a row, and its step is that of a run with the factor set."""
    found = answer("explain", path)["what_if"]
    rows = [row for row in found if row["change"].startswith("without ")]
    parts = {part["factor"] for part in answer("run", path)["summary"]["interval_parts"]} - {"rest", "q"}
    assert {row["change"].split()[1] for row in rows} <= parts and len(rows) >= 5, (rows, parts)
    for row in rows:
        flags = [word for each in row["set"] for word in ("--set", each)]
        close(answer("run", path, *flags)["summary"]["iteration_time_s"], row["iteration_time_s"], row["change"])
        assert row["gain"] >= -1e-9, row
    # Changes of keys start from what the keys say, not from what is left of it.
    twice = next(row for row in found if row["change"] == "twice the bandwidth of the network")
    assert "/cluster/network/bandwidth_Bps=6.25e+09" in twice["set"] or \
        "/cluster/network/bandwidth_Bps=6250000000" in twice["set"], twice


def test_random_times(path):
    """The uncertainty of a mean of few random iterations is a part of the interval, and more iterations narrow it."""
    random = path.with_name("random.json")
    random.write_text(json.dumps({**SCENARIO, "variability": {"compute_cv": 0.3}}))
    widths = []
    for more in ([], ["--set", "/training/iterations=400"], ["--replications", "40"]):
        summary = answer("run", random, *more)["summary"]
        low, step, high = (summary[f"iteration_time{end}_s"] for end in ("_low", "", "_high"))
        of = moves(summary)
        close(math.log(high / step) / QUANTILE, math.hypot(0.06, *(max(0, *each) for each in of.values())), "upper part")
        close(math.log(step / low) / QUANTILE, math.hypot(0.06, *(max(0, *(-x for x in each)) for each in of.values())),
              "lower part")
        close(sum(part["share"] for part in summary["interval_parts"]), 1, "shares")
        widths.append(of["iterations"][0] - of["iterations"][1])
    assert widths[0] > 2 * max(widths[1:]), widths


def test_measured_total(path):
    """A measured step of another number of machines: the same ratio, and what both have in common drops out."""
    at = ("--set", "/cluster/nodes=16")
    asked, near = answer("run", path, *at)["summary"], answer("run", path, "--set", "/cluster/nodes=2")["summary"]
    found = answer("run", path, *at, "--measured-total", "0.9", "--at", "/cluster/nodes=2")["measured_total"]
    assert found["at"] == ["/cluster/nodes=2"] and found["measured_s"] == 0.9
    close(found["predicted_s"], near["iteration_time_s"], "predicted")
    step = asked["iteration_time_s"] * 0.9 / near["iteration_time_s"]
    close(found["iteration_time_s"], step, "corrected")
    up = down = 0.04 ** 2
    x, y = moves(asked), moves(near)
    for factor in {*x, *y}:
        changes = [a - b for a, b in zip(x.get(factor, (0, 0)), y.get(factor, (0, 0)))]
        up += max(0, *changes) ** 2
        down += min(0, *changes) ** 2
    close(found["iteration_time_low_s"], step * math.exp(-QUANTILE * math.sqrt(down)), "low")
    close(found["iteration_time_high_s"], step * math.exp(QUANTILE * math.sqrt(up)), "high")
    width = math.log(asked["iteration_time_high_s"] / asked["iteration_time_low_s"])
    assert math.log(found["iteration_time_high_s"] / found["iteration_time_low_s"]) < 0.5 * width
    itself = answer("run", path, "--measured-total", "900ms")["measured_total"]
    close(itself["iteration_time_s"], 0.9, "itself")
    assert "says too little about one on several" in stepsim(
        "run", path, "--measured-total", "0.9", "--at", "/cluster/nodes=1", code=2)
    assert "a step on several machines says too little about one on one machine" in stepsim(
        "run", path, "--set", "/cluster/nodes=1", "--measured-total", "0.9", "--at", "/cluster/nodes=4", code=2)
    assert "--at needs --measured-total" in stepsim("run", path, "--at", "/cluster/nodes=2", code=2)
    for other in ("/communication/schedule=single", "/training/algorithm=local_sgd", "/cluster/network/transport=rdma",
                  "/workload/model=resnet50", "/cluster={}", "/communication/collective=tree"):
        said = stepsim("run", path, "--measured-total", "0.9", "--at", "/cluster/nodes=2", "--at", other, code=2)
        assert said.startswith(f"error: --at {other.split('=')[0]}: ") and said.count("\n") == 1, said
    for wrong, words in (("/cluster/nodes=2.5", "/cluster/nodes=2.5: must be an integer in [1, 1048576], got 2.5"), ("nodes", "nodes: must be POINTER=VALUE")):
        assert stepsim("run", path, "--measured-total", "0.9", "--at", wrong, code=2) == f"error: --at {words}\n"
    assert "measured      one step of 900.0 ms with /cluster/nodes=2" in stepsim(
        "run", path, *at, "--measured-total", "0.9", "--at", "/cluster/nodes=2", "--quiet")


# Standard deviations between sites: of the logarithm, or of the value itself.
TAU = {"e_nvlink": 0.30, "c_cloud": 0.5, "a_nccl": 0.8, "h_tcp": 0.7, "s_net": 0.15, "e_tcp": 0.05}
PLAIN = {"l_0": 0.025, "l_1": 0.006}
START = {"e_nvlink": 0.79, "c_cloud": 0.8e9, "a_nccl": 7e-5, "h_tcp": 4e-5, "s_net": 1.24, "l_0": 0.03, "l_1": 0.012,
         "e_tcp": 1.0}


def shift(factor, value):
    return (value - START[factor]) / PLAIN[factor] if factor in PLAIN else math.log(value / START[factor]) / TAU[factor]


def moved(factor, z):
    return START[factor] + z * PLAIN[factor] if factor in PLAIN else START[factor] * math.exp(z * TAU[factor])


def test_missing_factors(path):
    """A file without some factors names all of them in one line, in the order of the shipped file."""
    shipped = json.loads((pathlib.Path(__file__).parents[2] / "topologies/conditions/typical.json").read_text())
    names = list(shipped["factors"])
    gone = [names[-1], names[0], names[5]]
    file = path.with_name("short.conditions.json")
    file.write_text(json.dumps({**shipped, "factors": {name: value for name, value in shipped["factors"].items() if name not in gone}}))
    missing = ", ".join(name for name in names if name in gone)
    assert stepsim("run", path, "--set", f"/conditions/file={file}", code=3) == f"error: {file}: /factors: must have all factors; missing: {missing}\n"


def test_files_of_factors(path):
    """Every factor of a file of one's own says so."""
    shipped = json.loads((pathlib.Path(__file__).parents[2] / "topologies/conditions/typical.json").read_text())
    file = path.with_name("mine.conditions.json")
    file.write_text(json.dumps(shipped))
    for sets, of_file in ((("--set", f"/conditions/file={file}"), True), ((), False)):
        reasons = [each["reason"] for each in answer("run", path, *sets)["defaults"] if each["pointer"].startswith("/conditions/factors/")]
        assert reasons and all(each.endswith(f", of {file}") == of_file for each in reasons), reasons


def test_line_rates(path):
    """The rate of a line that is typed by hand gets a hint where TCP carries the bytes."""
    def hints(rate, transport, *flags):
        warnings = answer("run", path, "--set", f"/cluster/network/bandwidth_Bps={rate}", "--set", f"/cluster/network/transport={transport}", *flags)["warnings"]
        return [each for each in warnings if "TCP carries" in each]
    hint = "/cluster/network has the rate of a line: 1.187 GB/s is what TCP carries on 10 Gb/s"
    assert hints(1.25e9, "tcp") == hints(1.25e9, "tcp_cloud") == [hint]
    assert hints(1.187e9, "tcp") == hints(1.25e9, "rdma") == hints(1.25e9, "tcp", "--set", "/cluster/network/efficiency=0.95") == []


def test_wrong_factors(path):
    """One line per factor, with its values."""
    for factor, problem in (({"value": 0.3, "low": 0.4, "high": 0.5}, ": low, value and high must rise and be above 0, got 0.4, 0.3 and 0.5"),
                            ({"value": 0, "low": 0, "high": 1}, ": low, value and high must rise and be above 0, got 0, 0 and 1"),
                            ({"low": 0.2, "high": 0.4}, "/value: required (a number)"), ({}, "/value: required (a number)"),
                            ({"value": "x", "low": 0.2, "high": 0.4}, '/value: must be a number >= 0, got "x"'),
                            ({"value": 0}, "/value: must be above 0, got 0")):
        file = path.with_name("wrong.json")
        file.write_text(json.dumps({**SCENARIO, "conditions": {"kind": "typical", "factors": {"e_nvlink": factor}}}))
        said = stepsim("run", file, code=3)
        assert f"{file}: /conditions/factors/e_nvlink{problem}\n" in said and said.count("e_nvlink") == 1 + ("0, 0 and 1" in said), said


def test_words_of_what_is_lost(path):
    """What counts no time is not listed."""
    def line(*flags):
        words = [word for flag in flags for word in ("--set", flag)]
        (found,) = (each for each in stepsim("run", path, *words, "--quiet").splitlines() if each.startswith("conditions "))
        return found.split(None, 1)[1]
    assert line() == "typical: a message costs 70.00 us more, computing takes 1.094 times as long, and beside an exchange 1.240 times that"
    assert line("/workload/measured/gpus=32") == "typical: a message costs 70.00 us more, computing beside an exchange takes 1.240 times as long"
    assert line("/cluster/nodes=1", "/cluster/gpus_per_node=1") == "typical: computing is as measured"


def test_fit_conditions(path):
    """The fitted factors are the minimum of what is asked for, computed from runs alone; ranges get narrower."""
    base = json.loads(path.read_text())
    rows = []
    for nodes, schedule, step_s in ((2, "ddp", 0.60), (4, "ddp", 0.95), (8, "wfbp", 1.10), (4, "single", 1.4)):
        tree = json.loads(json.dumps(base))
        tree["cluster"]["nodes"], tree["communication"]["schedule"] = nodes, schedule
        rows.append({"scenario": tree, "step_s": step_s})
    steps = path.with_name("mine.steps.json")
    steps.write_text(json.dumps({"schema_version": 1, "kind": "measured_steps", "source": "our own runs", "rows": rows}))
    fitted = path.with_name("mine.conditions.json")
    stepsim("fit-conditions", steps, "-o", fitted)
    stepsim("check", fitted)
    factors = json.loads(fitted.read_text())["factors"]
    z = {factor: shift(factor, factors[factor]["value"]) for factor in START}
    assert all(abs(value) <= 2 + 1e-9 for value in z.values()), z
    assert max(abs(value) for value in z.values()) > 0.3, z

    def objective(at):
        total = sum(value ** 2 / 2 for value in at.values())
        given = {factor: moved(factor, value) for factor, value in at.items()}
        lines = "".join(json.dumps({**row["scenario"], "conditions": {"kind": "typical", "factors": given}}) + "\n" for row in rows)
        done = subprocess.run([STEPSIM, "run", "--lines", "-"], input=lines, capture_output=True, text=True, timeout=600)
        for row, line in zip(rows, done.stdout.splitlines()):
            r = math.log(json.loads(line)["summary"]["iteration_time_s"] / row["step_s"]) / 0.05 / 3
            total += 9 * (math.sqrt(1 + r * r) - 1)
        return total
    least = objective(z)
    assert least < objective(dict.fromkeys(START, 0.0)) - 1
    for factor in START:
        for step in (-0.05, 0.05):
            if abs(z[factor] + step) <= 2:
                assert objective({**z, factor: z[factor] + step}) >= least - 1e-7, (factor, step)
    shipped = json.loads((pathlib.Path(__file__).parents[2] / "topologies/conditions/typical.json").read_text())["factors"]
    for factor in START:
        assert factors[factor]["tau"] <= shipped[factor]["tau"] + 1e-12, factor
    assert factors["c_cloud"]["tau"] < 0.7 * shipped["c_cloud"]["tau"]
    assert factors["e_pcie"]["value"] == shipped["e_pcie"]["value"]
    own, other = (answer("run", path, *flags)["summary"] for flags in (("--set", f"/conditions/file={fitted}"), ()))
    assert own["iteration_time_high_s"] / own["iteration_time_low_s"] < other["iteration_time_high_s"] / other["iteration_time_low_s"]
    # A step that is computing alone tells of computing alone.
    rows[:] = [{"scenario": {**base, "cluster": {**base["cluster"], "nodes": 1}}, "step_s": 0.18}]
    steps.write_text(json.dumps({"schema_version": 1, "kind": "measured_steps", "rows": rows}))
    stepsim("fit-conditions", steps, "-o", fitted, "--force")
    factors = json.loads(fitted.read_text())["factors"]
    assert factors["l_0"]["value"] > shipped["l_0"]["value"] and factors["s_bus"]["value"] == shipped["s_bus"]["value"]
    # Only what a step moves was fitted to it: the bus is not what a step on several machines waits for.
    rows[:] = [{"scenario": base, "step_s": 0.9}]
    steps.write_text(json.dumps({"schema_version": 1, "kind": "measured_steps", "rows": rows}))
    shown = answer("fit-conditions", steps)["factors"]
    told = {factor for factor, value in shown.items() if value.get("evidence") == "fitted to 1 step"}
    assert told == {factor for factor in START if shown[factor]["value"] != shipped[factor]["value"]} and "e_nvlink" not in told, told


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "typical.json"
    file.write_text(json.dumps(SCENARIO))
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(file)
            print(f"ok: {name}")
