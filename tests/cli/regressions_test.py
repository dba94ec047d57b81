#!/usr/bin/python3
"""Wrong answers that users found, each as the property that was broken, through the commands that a
user types. Faults of files, memory and time are in tests/files/regressions_test.py, first steps in
first_steps_test.py.

usage: regressions_test.py STEPSIM [WORD]
"""
import json
import pathlib
import re
import signal
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "files"), str(TESTS / "fuzz")]
import samples  # noqa: E402
from harness import ROOT, cases_in, check, run_cases  # noqa: E402

EVEN = 1e-9  # relative; sums of the same numbers in another order
SERVER = {"algorithm": "parameter_server"}
ASYNC = {"algorithm": "parameter_server", "mode": "async"}


def layer(forward_s=1e-3, backward_s=2e-3, gradient_bytes=1_000_000, **more):
    return {"name": "a", "forward_s": forward_s, "backward_s": backward_s, "gradient_bytes": gradient_bytes, **more}


def scenario(*layers, nodes=4, latency_s=1e-5, bandwidth_Bps=1.25e9, workload=None, cluster=None,
             network=None, **sections):
    network = network or {"latency_s": latency_s, "bandwidth_Bps": bandwidth_Bps}
    return {"kind": "scenario", "workload": workload or {"layers": list(layers) or [layer()]},
            "cluster": {"nodes": nodes, "network": network, **(cluster or {})}, **sections}


# ResNet-50 on two A100 with the buckets of PyTorch, without the key that names its granularity.
def measured_trace(place):
    trace = json.loads((ROOT / "traces/resnet50.ddp.2xa100.json").read_text())
    trace.pop("granularity", None)
    place.write("measured.json", trace)
    return trace


# A log of B-Caffe, whose authors send the gradients of a layer together.
def caffe_trace(place):
    place.write("caffe.log", samples.caffe_log())
    place.run("import", "caffe-log", "caffe.log", "-o", "caffe.json", "--quiet", code=0)
    return {"trace": "caffe.json"}


def result(place, tree, *flags):
    done = place.run("run", place.write("case.json", tree), "--json", *flags, code=0)
    return dict(json.loads(done.stdout), stderr=done.stderr.decode())


def summary(place, tree, *flags):
    return result(place, tree, *flags)["summary"]


def shown(place, tree, *flags):
    return place.run("run", place.write("case.json", tree), *flags, code=0).stdout.decode()


def refused(place, tree, says):
    place.refused("run", place.write("case.json", tree), code=3, says=says)


def near(a, b, relative=EVEN):
    return abs(a - b) <= relative * max(abs(a), abs(b))


def a_ring_has_all_cards_of_a_machine_under_typical_conditions(place):
    """under typical conditions, where a ring has all cards of a machine, their number is taken and no less counts"""
    tree = scenario(layer(gradient_bytes=10**8), nodes=4, cluster={"preset": "dgx_h100"},
                    communication={"collective": "ring"})
    del tree["cluster"]["network"]
    refused(place, dict(tree, cluster={**tree["cluster"], "nics_per_node": 4}), "uses one network card of a node")
    tree["conditions"] = "typical"
    times = [summary(place, {**tree, "cluster": {**tree["cluster"], "nics_per_node": cards}})["communication_s"]
             for cards in (1, 2, 4, 8)]
    check(times == sorted(times, reverse=True) and times[0] > 1.5 * times[2], times)


def a_typed_rate_of_tcp_is_doubted_beside_a_library(place):
    """the model of a library says that it takes a typed rate of TCP for what messages reach"""
    tree = scenario(cluster={"preset": "dgx_h100"}, communication={"collective": "library"}, conditions="typical",
                    network={"bandwidth_Bps": "100Gbps", "transport": "tcp"})
    warns = [any(text.startswith("rate_of_tcp") for text in result(place, {**tree, **change})["warnings"])
             for change in ({}, {"cluster": {**tree["cluster"], "network": "100g-tcp"}},
                            {"cluster": {**tree["cluster"], "network": {"bandwidth_Bps": "100Gbps"}}})]
    check(warns == [True, False, False], warns)


def a_study_takes_the_step_that_was_measured(place):
    """study answers for the step of a trace whose times were scaled, in parts of which none is negative, and tells
    nothing of the step where a forward pass alone was recorded"""
    trace = json.loads((ROOT / "traces/resnet50.ddp.2xa100.json").read_text())

    def scaled(factor, **options):
        tree = json.loads(json.dumps(trace))
        for each in tree["layers"]:
            each.update({key: each[key] * factor for key in ("forward_s", "backward_s")})
        tree.update({key: tree[key] * factor for key in ("update_s", "framework_s", "input_s", "other_s")})
        tree.update(time_basis="wall", time_scale=factor)
        tree["source"].setdefault("options", {}).update(options)
        place.write("scaled.json", tree)
        return json.loads(place.run("study", "scaled.json", "--json", "--quiet", code=0).stdout)["trace"]

    recorded = json.loads(place.run("study", "resnet50.ddp.2xa100", "--json", "--quiet", code=0).stdout)["trace"]
    wall, measured = scaled(5.2, time="wall"), scaled(1.9, measured_step_s=0.09)
    check(all(near(wall[key], recorded[key], 1e-6) for key in ("measured_s", "step_s")), wall)
    words = [{point["bottleneck"] for point in json.loads(place.run(
        "study", name, *flags, "--json", "--quiet", code=0).stdout)["points"]}
        for name, *flags in (("resnet50.ddp.2xa100",), ("resnet50.ddp.2xa100", "--ideal"), ("gpt2.h100",))]
    check(words == [{"host"}, {"compute"}, {"compute"}], words)
    check(near(measured["measured_s"], 0.09) and near(measured["step_s"], 0.09, 0.01), measured)
    for each in (recorded, wall, measured):
        check(all(part["seconds"] >= 0 for part in each["gap"]), each["gap"])
    forward = place.run("study", "alexnet.a100", "--cluster", "dgx_h100", "--quiet", code=0).stdout.decode()
    check("the recorded steps are forward passes alone" in forward, forward)


def what_is_uncalibrated_is_said_in_every_answer(place):
    """an answer that a node type without measurements decides says so"""
    tree = scenario(cluster={"preset": "gb200_nvl72"}, communication={"collective": "library"})
    del tree["cluster"]["network"]
    check(any("Uncalibrated" in text for text in result(place, tree)["warnings"]), "no word of it")


def operators_are_no_blocks_of_a_model(place):
    """a plan for a trace whose layers name no blocks counts none"""
    place.run("init", "--trace", "gpt2.h100", "--nodes", "2", "--cluster", "dgx_h100", "-o", "g.json", "--quiet", code=0)
    plan = json.loads(place.run("plan-training", "g.json", "--json", "--quiet", code=0).stdout)
    check(all(row["blocks"] in (None, 1) for row in plan["rows"]), [row["blocks"] for row in plan["rows"]])


def jobs_beside_each_other_have_no_best_merge(place):
    """the schedule of a job is not blamed for the messages of another job"""
    tree = scenario(workload=[{"layers": [layer()], "nodes": 2}] * 2,
                    cluster={"topology": "star_16", "network": {"model": "flow"}}, network={"model": "flow"},
                    communication={"schedule": "ddp"})
    check(summary(place, tree)["merge"]["gap_to_optimal"] is None, summary(place, tree)["merge"])


def a_slow_host_is_a_cause_of_a_longer_step(place):
    """of a measured step that is longer than predicted the launches that were late in the trace explain their part"""
    place.run("init", "--trace", "resnet50.ddp.2xa100", "--nodes", "2", "--network", "25g-tcp", "-o", "h.json", "--quiet",
              code=0)
    for kind in ("ideal", "typical"):
        found = json.loads(place.run("explain", "h.json", "--conditions", kind, "--measured", "300ms", "--json",
                                     "--quiet", code=0).stdout)
        host = [row["seconds"] for row in found["gap"] if row["cause"].startswith("kernels that the host")]
        check(len(host) == 1 and near(host[0], 0.168, 0.02), found["gap"])


def samples_of_other_lengths_are_compared_by_their_tokens(place):
    """of several lengths of a sample the best is that with most tokens per second, not the shortest"""
    place.run("init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", "2", "-o", "l.json",
              "--quiet", code=0)
    done = place.run("compare", "l.json", "--over", "/workload/sequence_length=1024,4096", "--json", "--quiet", code=0)
    best = [row["sequence_length"] for row in json.loads(done.stdout)["rows"] if row["ratio"] == 1]
    check(best == [4096], best)


def a_formula_without_shared_cards_says_so(place):
    """hierarchical_topk, whose formula shares no network card, says how much longer GPUs take that share one"""
    def warned(cards):
        tree = scenario(layer(gradient_bytes=4_000_000), nodes=2,
                        cluster={"gpus_per_node": 4, "nics_per_node": cards,
                                 "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 1e11}},
                        communication={"compression": {"method": "hierarchical_topk", "density": 0.01}})
        return [text for text in result(place, tree)["warnings"] if text.startswith("own_cards")]

    check("4 times" in warned(1)[0] and "2 times" in warned(2)[0] and not warned(4), warned(1))


def few_iterations_with_a_slow_worker_are_explained_as_they_run(place):
    """explain of three iterations of od_sgd with a slow worker has the exposed communication of the run"""
    layers = [layer(*times) for times in ((1e-3, 9e-5, 160_000), (1.8e-3, 9.8e-3, 4_300_000), (7e-4, 5e-4, 4_100_000))]
    tree = scenario(*layers, nodes=3, latency_s=3.9e-5, bandwidth_Bps=1.67e8,
                    cluster={"gpus_per_node": 2, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1.7e10}},
                    communication={"schedule": "wfbp", "compression": {"method": "hierarchical_topk", "density": 0.2}},
                    training={"algorithm": "od_sgd", "iterations": 3},
                    variability={"stragglers": [{"worker": 2, "factor": 1.1}]})
    ran = summary(place, tree)["exposed_communication_s"]
    done = place.run("explain", place.write("case.json", tree), "--json", "--quiet", code=0)
    check(ran > 0 and near(json.loads(done.stdout)["summary"]["exposed_communication_s"], ran), ran)


def more_bandwidth_is_never_a_loss(place):
    """no change that doubles a bandwidth lengthens the step, also where the rate was fitted to what messages reach"""
    large = layer(gradient_bytes=10**8)
    for network, preset in (("100g-tcp", "dgx_h100"), ("56g-ib", None), (None, "pcie3x4"), (None, "l40sx8")):
        tree = scenario(large, cluster={"preset": preset} if preset else {}, conditions="typical",
                        communication={"collective": "auto"}, network=network or {})
        if not network:
            del tree["cluster"]["network"]
        found = json.loads(place.run("explain", place.write("case.json", tree), "--json", "--quiet", code=0).stdout)
        worse = [row for row in found["what_if"] if row["change"].startswith("twice the") and row["gain"] < -1e-9]
        check(not worse, network, preset, worse)


def nodes_of_many_gpus_name_their_inner_network(place):
    """several GPUs of a node never talk over the network between nodes for want of a key"""
    for nodes, nics in ((8, 1), (8, 4), (1, 1)):
        tree = scenario(nodes=nodes, cluster={"gpus_per_node": 4, "nics_per_node": nics},
                        communication={"collective": "be", "schedule": "single"})
        refused(place, tree, ["/cluster/intra_network", "nvlink"])
        tree["cluster"]["intra_network"] = {"latency_s": 3e-6, "bandwidth_Bps": 2.4e11}
        inner = summary(place, tree)["iteration_time_s"]
        check(nodes > 1 or inner < 0.0032, "the inner network of one node is not used:", inner)


def a_drawn_time_below_bytes_per_bandwidth_is_explained(place):
    """a run that drawn factors make shorter than bytes / bandwidth warns; its bound counts them"""
    tree = scenario(nodes=3, latency_s=0, bandwidth_Bps=1e7, variability={"exchange_cv": 2}, training={"iterations": 3})
    carried = 3e-3 + 2 * 2 / 3 * 1e6 / 1e7
    below = 0
    for seed in range(1, 9):
        found = result(place, tree, "--seed", seed)
        numbers = found["summary"]
        if numbers["iteration_time_s"] < carried * (1 - EVEN):
            below += 1
            check("below bytes / bandwidth" in found["stderr"], "seed", seed, "iteration",
                  numbers["iteration_time_s"], "of at least", carried, repr(found["stderr"]))
        check(numbers["lower_bound_s"] <= numbers["iteration_time_s"] * (1 + EVEN), "seed", seed,
              "bound", numbers["lower_bound_s"], "iteration", numbers["iteration_time_s"])
    check(below > 0, "no seed drew factors below 1")


def one_worker_exchanges_nothing(place):
    """one worker with horovod's cycles has speed-up 1 and nothing exposed, however short its step"""
    for forward_s, backward_s in ((1e-3, 2.5e-3), (0, 1e-282)):
        tree = scenario(layer(forward_s, backward_s), nodes=1, communication={"schedule": "horovod"})
        numbers = summary(place, tree)
        found = [numbers[key] for key in ("communication_s", "exposed_communication_s", "speedup")]
        check(found == [0, 0, 1], found)
        check(near(numbers["iteration_time_s"], forward_s + backward_s), numbers["iteration_time_s"])


def a_density_needs_a_method(place):
    """a density without a method is refused, and one beyond its range even next to method none"""
    def with_compression(compression):
        return scenario(communication={"schedule": "wfbp", "compression": compression})
    dense = summary(place, with_compression({"method": "none", "density": 0.01}))
    check(dense["wire_bytes"] == summary(place, with_compression({}))["wire_bytes"], dense)
    for compression in ({"density": 0.001}, {"density": 7}, {"method": "none", "density": 7}):
        refused(place, with_compression(compression), "/communication/compression/density")


def studies_send_what_the_trace_sent(place):
    """compare and sweep send the tensors of a layer together where the source of the trace did"""
    tree = scenario(workload=caffe_trace(place), nodes=64, latency_s=45e-6, communication={"schedule": "wfbp"})
    by_layer = summary(place, tree, "--set", "/workload/granularity=layer")["iteration_time_s"]
    by_tensor = summary(place, tree, "--set", "/workload/granularity=tensor")["iteration_time_s"]
    check(by_tensor > 1.2 * by_layer, by_tensor, by_layer)
    place.sweep("o.jsonl", nodes="64", scenario="case.json")
    swept = json.loads(place.path("o.jsonl").read_text().splitlines()[1])["iteration_time_s"]
    check(near(swept, by_layer), "sweep", swept, "by layer", by_layer, "by tensor", by_tensor)
    rows = place.run("compare", "case.json", "--over", "/communication/schedule=wfbp,single", code=0).stdout.decode()
    check(f"{by_layer * 1e3:#.4g}" in rows, "compare", rows, "by layer", by_layer)


def an_imported_log_is_sent_as_it_was(place):
    """run sends the tensors of a layer of an imported log together and says so"""
    tree = scenario(workload=caffe_trace(place), nodes=128, communication={"schedule": "wfbp"})
    speedup = summary(place, tree)["speedup"]
    by_layer = summary(place, tree, "--set", "/workload/granularity=layer")["speedup"]
    check(near(speedup, by_layer), speedup, by_layer)
    check("granularity layer" in shown(place, tree), "the granularity is not named")


def the_default_schedule_is_one_that_frameworks_use(place):
    """without a schedule, a measured trace is sent in its buckets; the result names the default"""
    measured_trace(place)
    tree = scenario(workload={"trace": "measured.json"}, nodes=32, bandwidth_Bps=3.125e9)
    default = result(place, tree)
    ddp = summary(place, tree, "--set", "/communication/schedule=ddp")
    check(near(default["summary"]["iteration_time_s"], ddp["iteration_time_s"]),
          default["summary"]["iteration_time_s"], ddp["iteration_time_s"])
    inline = shown(place, scenario())
    check("assumed: schedule ddp" in inline, inline)
    for training in (SERVER, {"algorithm": "pipe_sgd"}):
        buckets = result(place, scenario(layer(), layer(), training=training))["buckets"]
        check(len(buckets) == 1, training, len(buckets), "buckets")


def measured_buckets_stand_next_to_simulated_ones(place):
    """run shows how long the exchanges of a measured trace took, and warns where they differ"""
    trace = measured_trace(place)
    tree = scenario(workload={"trace": "measured.json"}, nodes=2, latency_s=5e-6, bandwidth_Bps=2.5e10)
    text = shown(place, tree)
    for bucket in trace["buckets"]:
        check(f"{bucket['median_s'] * 1e3:.3f}" in text, "the measured", bucket["median_s"], "s are not shown")
    check("times as long as predicted here" in result(place, tree)["stderr"], "no warning")


def more_workers_are_better_where_they_finish_more(place):
    """compare over numbers of workers marks the most work per second, and two axes are a pivot"""
    place.write("case.json", scenario(layer(1e-2, 3e-2, 40_000_000)))
    rows = place.run("compare", "case.json", "--over", "/cluster/nodes=1,2,4,8", code=0).stdout.decode().splitlines()
    best = [row.split()[0] for row in rows if row.endswith("best")]
    rate = {nodes: nodes / summary(place, scenario(layer(1e-2, 3e-2, 40_000_000), nodes=nodes))
            ["iteration_time_s"] for nodes in (1, 2, 4, 8)}
    check(best == [str(max(rate, key=rate.get))], "best", best, "rates", rate)
    both = place.run("compare", "case.json", "--over", "/cluster/nodes=4,8", "--over",
                     "/cluster/network/bandwidth_Bps=10Gbps,25Gbps", code=0).stdout.decode()
    check("(down)" in both and "(across)" in both, "no pivot:", both)


def elements_come_from_the_type_of_the_gradient(place):
    """k and wire bytes of a compression count elements by the type of the gradient"""
    def numbers(dtype, **compression):
        tree = scenario(layer(gradient_bytes=4_000_000, dtype=dtype),
                        communication={"schedule": "single", "compression": compression})
        return summary(place, tree)
    for dtype, size in (("float16", 2), ("bfloat16", 2), ("float32", 4)):
        for sent in (2, 4):
            found = numbers(dtype, method="topk", density=0.01, value_bytes=sent)["k"]
            check(found == 4_000_000 / size / 100, "k of", dtype, "sent in", sent, "bytes:", found)
    for method, factor in (("fp16", 1), ("truncate16", 1), ("quantize8", 2)):
        dense, sent = (numbers("float16", method=each)["wire_bytes"] for each in ("none", method))
        check(near(dense, factor * sent), method, "sends", sent, "of", dense)
    half = scenario(workload={"model": "resnet50", "value_bytes": 2, "batch_size": 32,
                              "device": {"flops_Ps": 1e14, "utilization": 0.5}},
                    communication={"schedule": "single", "compression": {"method": "topk", "density": 0.01}})
    found = result(place, half)
    check(found["summary"]["k"] == found["buckets"][0]["elements"] // 100, found["summary"]["k"])


def a_fixed_exchange_has_no_compression(place):
    """exchange_s next to a compression is refused: it would speed up nothing but the comparison"""
    for compression in ({"method": "fp16"}, {"method": "gtopk_tree", "density": 0.01}):
        refused(place, scenario(layer(1e-2, 2e-2), training={"exchange_s": 0.5},
                                communication={"schedule": "single", "compression": compression}), "exchange_s")


def a_key_of_communication_counts_or_is_refused(place):
    """keys of copies, overlap, start-up and servers change the result, or are refused"""
    layers = [layer(1e-2, 2e-2, size) for size in (1_000_000, 1_000_000, 2_000_000)]
    one = [layer(1e-2, 1e-2, 400_000_000)]
    for training, layers_of, section, key, value in (
            ({"algorithm": "pipe_sgd"}, layers, "communication", "copy_bandwidth_Bps", 1e8),
            ({"algorithm": "pipe_sgd"}, layers, "communication", "overlap_backward", False),
            (ASYNC, layers, "communication", "copy_bandwidth_Bps", 1e8),
            (ASYNC, layers, "communication", "overlap_backward", False),
            (SERVER, layers, "communication", "ring_startup", "2P"),
            ({**SERVER, "servers": 4, "placement": "dedicated"}, one, "training", "server_split",
             "whole")):
        schedule = {"schedule": "ddp"} if training["algorithm"] == "pipe_sgd" else {}
        tree = scenario(*layers_of, bandwidth_Bps=1.33e8, training=dict(training), communication=schedule)
        plain = result(place, tree)
        tree[section][key] = value
        done = place.run("run", place.write("case.json", tree), "--json")
        if done.returncode == 0:
            found = json.loads(done.stdout)
            check(found["buckets"] != plain["buckets"] or
                  found["summary"]["communication_s"] != plain["summary"]["communication_s"],
                  training, key, value, "changes nothing")
        else:
            check(done.returncode == 3 and f"/{section}/{key}" in done.stderr.decode(), done.stderr)


def a_device_does_not_reach_its_peak(place):
    """without a utilization, a device does not reach its peak, and the assumption is shown"""
    def tree(**device):
        return scenario(workload={"model": "resnet50", "batch_size": 64, "device": {"flops_Ps": 1.957e13, **device}})
    peak, default = (summary(place, tree(**device))["compute_s"] for device in ({"utilization": 1}, {}))
    check(default > 1.5 * peak, default, "at peak", peak)
    check("utilization 0." in shown(place, tree()), "the assumed utilization is not shown")


def rows_of(text, first, indent=0):
    # {label: ms} of the table that begins with this label, of rows that are indented so far
    lines = text[text.index(f"\n{first} "):].split("\n\n")[0].splitlines()[1:]
    cells = [re.match(r"( *)(.*?)  +([\d.]+) ", line) for line in lines]
    return {cell[2]: float(cell[3]) for cell in cells if cell and len(cell[1]) == indent}


def parts_that_stand_beside_each_other_add_up(place):
    """under typical conditions the parts of a step add up, and what is part of one stands below it"""
    network = {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9, "transport": "tcp"}
    tree = scenario(*[layer()] * 8, network=network, conditions="typical", communication={"schedule": "wfbp"})
    text = shown(place, tree)
    step, parts = rows_of(text, "iteration time"), rows_of(text, "iteration time", 2)
    inner = rows_of(text, "iteration time", 4)
    check(near(sum(parts.values()), step["iteration time"], 1e-3), parts, "are not", step)
    check(0 < inner["of that interference"] < parts["exposed communication"], inner, parts)
    explained = place.run("explain", "case.json", code=0).stdout.decode()
    inner = rows_of(explained, "period", 2)
    check("interference" not in rows_of(explained, "period"), explained)
    check(inner["of that interference"] < rows_of(explained, "period")["exposed communication"], explained)


def a_picture_says_what_is_drawn(place):
    """a picture whose scenario is varied or changed by a flag says so beside its name"""
    place.write("case.json", dict(scenario(nodes=8), name="mine, 8 nodes"))
    place.run("sweep", "case.json", "--over", "/cluster/nodes=2,4", "-o", "s.jsonl", code=0)
    place.run("plot", "s.jsonl", "--x", "nodes", "--y", "iteration_time_s", "-o", "p.svg", code=0)
    for page, words in (("a.html", ["case.json", "--set", "/cluster/nodes=4"]),
                        ("b.html", ["s.jsonl"]), ("c.html", ["s.jsonl", "--point", "1"])):
        place.run("report", *words, "-o", page, code=0)
    for name, says in (("p.svg", "mine, 8 nodes, with nodes varied"),
                       ("a.html", "<h1>mine, 8 nodes, with /cluster/nodes=4</h1>"),
                       ("b.html", "<h1>mine, 8 nodes, with nodes varied</h1>"),
                       ("c.html", "<h1>mine, 8 nodes, point 1 of s.jsonl</h1>")):
        check(says in place.path(name).read_text(), name, "does not say", says)
    place.run("init", "--nodes", "8", "-o", "i.json", code=0)
    name = json.loads(place.path("i.json").read_text())["name"]
    check("8 node" not in name, name, "is wrong once --set changes it")


def where_tcp_decides_the_break_even_says_so(place):
    """compression that wins on every network only because of TCP's cap says so"""
    def warnings(transport):
        network = {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9, "transport": transport}
        costs = {"compression": {"method": "topk", "density": 1e-3, "costs": {"select_s": 1e-2}}}
        tree = scenario(layer(2e-2, 4e-2, 100_000_000), network=network, conditions="typical", communication=costs)
        done = place.run("compare", place.write("case.json", tree), "--break-even", "--algorithms", "ddp,topk", code=0)
        return done.stdout.decode(), done.stderr.decode()
    text, said = warnings("tcp")
    check(said.count("/conditions/factors/c_tcp") == 1 and "topk" in said, text, said)
    check("c_tcp" not in warnings("rdma")[1], "RDMA has no cap")


def a_calibration_tells_run_what_it_tells_collective(place):
    """times of traffic both ways count for algorithms that were not measured, and for auto (CAL D9)"""
    for nodes, algorithms in ((2, ("auto",)), (7, ("ring", "mst", "auto")), (8, ("auto", "swing"))):
        for algorithm in algorithms:
            tree = scenario(layer(0, 0, 8_000_000), nodes=nodes,
                            network={"calibration": "testbed-8x100mbps"},
                            communication={"collective": algorithm, "schedule": "single"})
            found = result(place, tree)
            done = place.run("collective", "--op", "allreduce", "--algorithm", algorithm, "--ranks",
                             nodes, "--bytes", "8MB", "--calibration", "testbed-8x100mbps",
                             "--param", "chunking=real", "--json", code=0)
            asked = json.loads(done.stdout)
            check(near(found["summary"]["iteration_time_s"], asked["max_plus_s"]), nodes, algorithm,
                  found["summary"]["iteration_time_s"], asked["max_plus_s"])
            check(asked["chosen"] != "double_binary_tree", "it loses the times of both ways")
            check(found["buckets"][0]["algorithm"] == (asked["chosen"] or algorithm), algorithm)
    place.write("case.json", scenario(network={"calibration": "testbed-8x100mbps"}, nodes=7))
    done = place.run("tune", "case.json", "--knob", "collective", "--json", code=0)
    check(json.loads(done.stdout)["best"]["value"] == "bruck", done.stdout)


def synchronous_servers_start_all_layers_behind_the_last_pull(place):
    """no layer of the next iteration goes ahead of the pull, with gradients or without (PIP 3.2)"""
    free, sent = layer(10e-3, 0, 0), layer(1e-3, 2e-3, 8_000_000)
    for schedule in ("single", "wfbp", "ddp", "asc_wfbp"):
        two, one = (summary(place, scenario(*layers, training=SERVER,
                                            communication={"schedule": schedule}))["iteration_time_s"]
                    for layers in ((free, sent), (layer(11e-3, 2e-3, 8_000_000),)))
        check(near(two, one), schedule, two, one)


def a_measured_step_needs_no_accepted_estimate(place):
    """what a refusal advises is taken"""
    tree = scenario(nodes=1, workload={"model": "resnet101", "gpu": "v100", "batch_size": 64})
    refused(place, tree, "give measured_step")
    tree["workload"]["measured_step"] = {"step_s": 0.5, "batch_size": 64}
    check(near(summary(place, tree)["iteration_time_s"], 0.5), "the measured step does not come back")


def what_hides_the_other_does_not_depend_on_the_last_digit(place):
    """a step that computing bounds is as long without the starts of messages as without their transfers"""
    tree = scenario(workload={"model": "resnet20", "batch_size": 32, "device": {"flops_Ps": 1e13, "utilization": 0.001}},
                    network={"latency_s": 2.9e-5, "bandwidth_Bps": 1e9, "transport": "tcp_cloud"},
                    training={"algorithm": "pipe_sgd"}, conditions="typical",
                    communication={"collective": "parameter_server", "schedule": "mg_wfbp_small_tensors",
                                   "compression": {"method": "gtopk_tree", "density": 1}})
    figures = [summary(place, dict(tree, variability={"stragglers": [{"worker": 0, "factor": factor}]}))
               for factor in [1 + 1e-11 * tiny for tiny in range(12)]]
    check(figures[0]["bottleneck"] == "compute", "computing bounds the step")
    check(all(near(figures[0]["communication_s"], each["communication_s"], 1e-8) for each in figures),
          f"one word of communication: {[each['communication_s'] for each in figures]}")


def jobs_have_iterations_of_their_own(place):
    """the exchanges of the second job outlast its computing, those of the first have no bytes"""
    tree = scenario(nodes=4, workload=[{"layers": [layer(gradient_bytes=0)], "nodes": 2},
                                       {"layers": [layer(gradient_bytes=10_000)], "nodes": 2}],
                    cluster={"topology": {"preset": "star", "hosts": 4, "latency_s": 1e-6, "bandwidth_Bps": 1e9}},
                    network={"model": "flow"}, training={"iterations": 2})
    jobs = result(place, tree)["jobs"]
    check(all(near(job["alone_iteration_time_s"], 3e-3, 0.01) for job in jobs), f"an iteration takes 3 ms: {jobs}")


def a_result_is_explained_as_its_own_scenario(place):
    """changes that leave keys of a scenario without a meaning are tried on the scenario of a result, too"""
    tree = scenario(layer(), layer(), training={"sharding": {"strategy": "full_shard", "wrapping": {"policy": "layer"}}})
    place.run("run", place.write("case.json", tree), "-o", "result.json", code=0)
    rows = [[row["change"] for row in json.loads(place.run("explain", name, "--json", code=0).stdout)["what_if"]]
            for name in ("case.json", "result.json")]
    check(rows[0] == rows[1] and "sharding zero1" in rows[0], f"the same changes: {rows}")
    place.run("run", "result.json", "--set", "/training/sharding/strategy=zero1", "-o", "zero1.json", code=0)


def a_worker_that_waits_bounds_no_exchange(place):
    """half of the workers wait for a slow one, and the exchanges of a pipeline take longer than all of them compute"""
    slow = {"stragglers": [{"worker": 0, "factor": 1.5}]}
    tree = scenario(layer(4e-3, 8e-3, 30_000_000), training={"algorithm": "pipe_sgd"})
    figures = [summary(place, dict(tree, variability=each)) for each in ({}, slow)]
    check(near(figures[0]["iteration_time_s"], figures[1]["iteration_time_s"]), "the slow worker costs nothing")
    check(figures[1]["straggler_wait_s"] > 0.1 * figures[1]["iteration_time_s"], "the others wait")
    check([each["bottleneck"] for each in figures] == ["bandwidth", "bandwidth"], f"{figures[1]['bottleneck']}")
    bound = summary(place, dict(tree, variability={"stragglers": [{"worker": 0, "factor": 5}]}))
    check(bound["bottleneck"] == "straggler", "five times slower bounds it")


def what_bounds_a_step_has_a_change(place):
    """where adding gradients bounds the step, faster additions are among the changes and help most"""
    tree = scenario(layer(gradient_bytes=10_000_000),
                    network={"latency_s": 1e-5, "bandwidth_Bps": 1e10, "reduction_Bps": 2e8})
    told = json.loads(place.run("explain", place.write("case.json", tree), "--json", code=0).stdout)
    best = min(told["what_if"], key=lambda row: row["iteration_time_s"])
    check(best["change"] == "additions twice as fast", f"{best}")


def training_without_its_compression_is_tried(place):
    """where selecting costs more than it saves, the best change is to send gradients as they are"""
    tree = scenario(communication={"compression": {"method": "topk", "density": 0.01,
                                                   "costs": {"select_s_per_element": 1e-7}}})
    told = json.loads(place.run("explain", place.write("case.json", tree), "--json", code=0).stdout)
    best = min(told["what_if"], key=lambda row: row["iteration_time_s"])
    check(best["change"] == "gradients without compression", f"{best}")
    dense = summary(place, dict(tree, communication={}))["iteration_time_s"]
    check(near(best["iteration_time_s"], dense), f"{best['iteration_time_s']} is that of dense training, {dense}")


def more_servers_are_tried(place):
    """one server is the port that everything goes through: one on every worker helps most"""
    tree = scenario(layer(), nodes=8, training={"algorithm": "parameter_server"})
    told = json.loads(place.run("explain", place.write("case.json", tree), "--json", code=0).stdout)
    best = min(told["what_if"], key=lambda row: row["iteration_time_s"])
    check(best["change"] == "a server on every worker", f"{best}")


def a_trace_without_its_host_says_so_at_once(place):
    """init tells of a host that the times leave out, and of the command that keeps it"""
    said = place.run("init", "--trace", "resnet50.ddp.2xa100", "-o", "s1.json", code=0)
    text = (said.stdout + said.stderr).decode()
    check("host-bound: " in text and "stepsim study resnet50.ddp.2xa100" in text, text)


def a_best_value_that_is_worse_is_left(place):
    """the values of a knob may all be slower than the scenario, which has none of them"""
    tree = scenario(layer(0.1, 0.2), training={"algorithm": "easgd", "local_steps": 8})
    text = place.run("tune", place.write("case.json", tree), "--knob", "pipeline_width", code=0).stdout.decode()
    slower = float(re.search(r"^current .*?(-?[\d.e-]+)$", text, flags=re.M)[1])
    check((slower < 0) == ("leave it: the scenario as it is takes" in text), text)


def a_measured_step_that_cannot_be_is_doubted(place):
    """a measured step far outside the interval of its prediction is another unit, or says nothing of the factors"""
    tree = scenario(layer(0.1, 0.2), network={"latency_s": 1e-5, "bandwidth_Bps": 1.25e9, "transport": "tcp"},
                    conditions="typical")

    def doubts(measured):
        return [text for text in result(place, tree, "--measured-total", measured)["warnings"] if "is far from" in text]

    check([len(doubts(each)) for each in ("310ms", "310us", "310s")] == [0, 1, 1], "two of three")


def waiting_is_no_exchange(place):
    """exchanges that take no time leave the time that workers wait for other reasons"""
    tree = scenario(network={"latency_s": 1e-9, "bandwidth_Bps": 1e14}, training={"wait_s": 0.02}, allow_unusual=True)
    tree["cluster"]["network"]["latency_s"] = 1e-3
    told = place.run("explain", place.write("case.json", tree), code=0).stdout.decode()
    check("a step would take 23.00 ms" in told and "20.00 ms of it waiting" in told, told.splitlines()[2])


def messages_that_leave_a_measured_curve_say_so(place):
    """compressed messages take latency and bandwidth of a calibration whose curves are of dense ones"""
    def warned(compression):
        tree = json.loads((ROOT / "examples/testbed.scenario.json").read_text())
        tree["workload"]["trace"] = str(ROOT / "traces/resnet50.ddp.2xa100.json")
        tree["cluster"]["network"]["calibration"] = str(ROOT / "topologies/testbed-4x200mbps.calibration.json")
        tree["communication"]["compression"] = compression
        return any("was measured for dense gradients" in text for text in result(place, tree)["warnings"])

    check([warned(each) for each in ("none", "fp16", "truncate16")] == [False, False, True], "one of three")


def a_studied_trace_that_keeps_the_host_says_nothing_else(place):
    """the trace that study writes has the host's time in it, and no advice to keep it"""
    place.run("study", "resnet50.ddp.2xa100", "--gpus", "8", "-o", "D", code=0)
    trace = json.loads((place.folder / "D" / "trace.json").read_text())
    check(trace["time_basis"] == "wall", trace["time_basis"])
    check(not any("keeps the host" in text for text in trace["warnings"]), f"{trace['warnings']}")


def more_servers_than_workers_slow_no_asynchronous_worker(place):
    """a push takes the port of its worker, however many servers have a part of it"""
    for workers, servers in ((1, 2), (1, 8), (2, 4), (4, 4), (4, 32)):
        tree = scenario(layer(0.1, 0.2), nodes=workers, latency_s=0, bandwidth_Bps=1e7,
                        training={**ASYNC, "servers": servers, "iterations": 20})
        took = summary(place, tree)["iteration_time_s"]
        check(near(took, 0.3 + 2 * 1e6 / 1e7), workers, "workers and", servers, "servers take", took)
    gpus = {"gpus_per_node": 4, "intra_network": {"latency_s": 0, "bandwidth_Bps": 1e12}}
    for servers in (1, 2, 4, 8):  # ports are busy for 0.8 s of 3.2 at most
        tree = scenario(layer(1, 2), nodes=2, latency_s=0, bandwidth_Bps=1e7, cluster=gpus, training={**ASYNC, "servers": servers, "iterations": 20})
        took = summary(place, tree)["iteration_time_s"]
        check(near(took, 3.2), "2 machines of 4 GPUs and", servers, "servers take", took)
    # The part of the server on the worker's own machine stays there.
    tree = scenario(layer(0.1, 0.2), nodes=4, latency_s=0, bandwidth_Bps=1e7)
    for mode in ("sync", "async"):
        tree["training"] = {**ASYNC, "mode": mode, "placement": "sharded", "iterations": 20}
        sent = summary(place, tree)
        check(near(sent["iteration_time_s"], 0.3 + 2 * 0.1 * 3 / 4) and near(sent["wire_bytes"], 1.5e6), mode, sent)


def the_switch_of_a_node_adds_no_bytes(place):
    """gradients of one byte, and what codecs make of others, take no sums in a switch (CLU 5.1)"""
    def tree(dtype, collective, **communication):
        return {"kind": "scenario", "cluster": {"nodes": 4, "preset": "dgx_h100"},
                "workload": {"layers": [layer(gradient_bytes=100_000_000, dtype=dtype)]},
                "communication": {"schedule": "single", "collective": collective, **communication}}
    for collective in ("auto", "library"):
        for dtype, adds in (("bfloat16", True), ("int8", False), ("float8", False)):
            chosen = result(place, tree(dtype, collective))["buckets"][0]["algorithm"]
            check(("nvls" in chosen) == adds, collective, dtype, chosen)
    for dtype, more in (("int8", {}), ("float32", {"compression": "quantize8"})):
        refused(place, tree(dtype, "nvls_tree", **more),
                ["/communication/collective", "does not add elements of one byte"])


def commands_agree_about_an_answer(place):
    """what one command says of an answer is what the next one says"""
    quick, trace = ROOT / "examples/quickstart.scenario.json", ROOT / "traces/resnet50.ddp.2xa100.json"
    pipe = ["--set", "/training/algorithm=pipe_sgd", "--set", "/training/warmup_iterations=8"]
    dear = ["--set", "/communication/schedule=dear", "--set", "/communication/dear_layers=40"]
    cost = ["--set", f"/cluster/network/cost={ROOT / 'examples/allreduce.cost.json'}"]
    job = ["--set", "/workload/batch_size=64", "--samples", "1e9", "--price-per-gpu-hour", "2"]
    for code, words, says in (
            (0, ["init", "-o", "i.json"], ""),
            (2, ["compare", quick, *dear, "--over", "/communication/bucket_bytes=1MiB,25MiB"],
             "bucket_bytes has no meaning beside dear_layers"),
            (0, ["compare", "i.json", "--over", "/cluster/nodes=1,2,4,8", "-o", "c.json"], ""),
            (0, ["report", "c.json", "--json"], "best by throughput: nodes 8, a step"),
            (3, ["run", "c.json"], "kind comparison: stepsim compare"),
            (0, ["explain", "i.json"], r"collective mst .*-178.6 % *\n"),
            (0, ["study", trace, "-o", "st"], ""),
            (0, ["compare", "st/scenario.json", "--over", "/communication/schedule=wfbp,ddp"],
             r"wfbp +24\d\.\d (.|\n)*not told apart"), # nobody measured a wait for each message
            (0, ["explain", "st/scenario.json"], "twice the bandwidth of the network"),
            (0, ["study", "linear21.rtx2080ti", "--cluster", "dgx_h100", "--gpus", "8", "-o", "linear.h100"],
             r"on 1 GPU \(NVIDIA .*2080 Ti\), as if of one dgx_h100"),
            (0, ["compare", "i.json", "--set", "/training/input_s=0.2", "--algorithms", "ddp,pipe_sgd,ps_sync"],
             r"(?s)^(?!.*left out: input_s)"),
            (0, ["tune", "i.json", "--knob", "bucket_bytes", "--json"], "iteration_time_high_s"),
            (0, ["run", "i.json", "--measured-total", "110ms", "--at", "/cluster/nodes=4", *job,
                 "-o", "m.json"], ""),
            (0, ["run", "i.json", "--measured-total", "110ms", "--at", "/cluster/nodes=4", *job],
             r"throughput +4040 samples/s, corrected(.|\n)*2.865 days .*, 1.1 K USD"),
            (0, ["report", "m.json", "-o", "m.html"], "corrected by a measured step"),
            (0, ["init", "--model", "llama2_13b", "--gpu", "h100", "--nodes", "2", "-o", "l.json"], ""),
            (4, ["plan-training", "l.json"], "each of 75 combinations needs more memory"),
            (0, ["tune", quick, *pipe, "--knob", "pipeline_width"], r"current +2 +(\S+) +0\n"),
            (2, ["tune", quick, *cost, "--knob", "collective"], "has no meaning for exchanges whose"),
            (0, ["compare", "i.json", "--rows", "c2.json"], r"speed-up(.|\n)* 2.95")):
        if "c2.json" in words:
            place.run("init", "--nodes", "2", "-o", "c2.json", code=0)
        done = place.run(*words, code=code)
        text = (done.stdout + done.stderr).decode()
        check(re.search(says, text), *words, "does not say", says, "but", text)
    cut = place.start_until(signal.SIGINT, 1, ".unfinished", "study", trace, "-o", "cut")
    cut.communicate()
    check(cut.returncode == 130 and not place.path("cut").exists(), "left by", cut.returncode)


def a_study_says_each_warning_once(place):
    """a warning stands once in what study prints, and once on its page"""
    said = place.run("study", "resnet50.ddp.2xa100", "-o", "D", code=0).stderr.decode()
    page = place.path("D/report.html").read_text()
    check(said.count("host-bound: ") == 1 and page.count("host-bound: ") == 1, said, page.count("host-bound: "))


def the_sizes_of_a_library_have_units(place):
    """warnings name the smallest and the largest size that a library was measured with, in their units"""
    lines = ["# Collective test starting: all_reduce_perf",
             "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor)"]
    lines += [f"#  Rank  {rank} Group  0 Pid {rank + 1} on a device  {rank} [0000:1{rank}:00] NVIDIA H100"
              for rank in range(8)]
    lines.append("#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong")
    for size, us in ((2**25, 182.9), (2**26, 313.7), (2**27, 564.8), (2**28, 1081), (2**29, 2115), (2**30, 4001)):
        time = f"{us} {size / us / 1e3} {1.75 * size / us / 1e3} 0"
        lines.append(f"{size} {size // 4} float sum -1 {time} {time}")
    place.write("nccl.log", "\n".join(lines) + "\n")
    said = place.run("study", "gpt2.h100", "--gpus", "8", "--logs", "nccl.log", "-o", "D", code=0).stderr.decode()
    check("no measurement below 33.55 MB: " in said, said)
    check("outside_measured_sizes: measured from 33.55 MB to 1.074 GB\n" in said, said)


def waiting_in_other_collectives_is_no_transfer(place):
    """study tells what other collectives carry, which more GPUs slow down, from ranks that wait in them"""
    said = place.run("study", "dlrm.8xv100", "-o", "D", code=0).stderr.decode()
    parts = {part["part"]: part["seconds"] for part in json.loads(place.path("D/study.json").read_text())["trace"]["gap"]}
    check(parts["other_collectives"] < 1e-4 and "take longer on more GPUs" not in said, parts, said)
    check("ranks waited 4.601 ms of the step for each other in collectives that exchange no gradients" in said, said)


def hybrid_shard_names_what_crosses_the_network(place):
    """run names the all-reduce of hybrid_shard between its groups, which follows the last micro-batch"""
    for groups, size, sharding in ((4, 2, {}), (2, 4, {"shard_ranks": 4})):
        tree = scenario(cluster={"gpus_per_node": 2, "intra_network": "nvlink"},
                        training={"micro_batches": 8, "sharding": {"strategy": "hybrid_shard", **sharding}})
        text = shown(place, tree)
        check(f"gradients in groups of {size}, all-reduce of their shards between the {groups}\n" in text, text)
        check("8 micro-batches, exchanged in groups after each, between them after the last\n" in text, text)
    text = shown(place, tree, "--set", "/training/accumulation_exchange=last")
    check("8 micro-batches, exchanged after the last\n" in text, text)


def rounds_name_the_link_of_their_exchanges(place):
    """run names the network of outer exchanges, what it loses, and the algorithm of its own exchanges"""
    link = {"latency_s": 0.04, "bandwidth_Bps": 1.25e8, "transport": "rdma"}
    for algorithm, inner, whose in (("diloco", "step", "32 ranks"), ("local_sgd", "sync_sgd", "4 islands")):
        training = {"algorithm": algorithm, "local_steps": 5, "inner": inner, "outer_network": link}
        tree = scenario(cluster={"preset": "dgx_h100"}, network="100g-roce", training=training,
                        communication={"collective": "library"})
        tree["workload"]["layers"][0]["dtype"] = "bfloat16"
        text = shown(place, tree, "--conditions", "ideal")
        algorithm = re.search(r"exchange +(\w+) allreduce of ", text)[1]
        check(algorithm in ("ring", "auto") and f"between {whose} over 125.0 MB/s, 40.00 ms per message" in text, text)
        text = shown(place, tree, "--conditions", "typical")
        share = float(re.search(r"outer exchanges reach (\S+) % of the rate", text)[1])
        check(f"over {1.25 * share:.4g} MB/s" in text, share, text)


def a_comparison_keeps_what_it_says(place):
    """the JSON and the pages of a comparison hold its warnings and what it took for granted"""
    place.run("init", "--trace", "gpt2.h100", "--nodes", "8", "--cluster", "dgx_h100", "-o", "g.json", "--quiet", code=0)
    over = ["--over", "/communication/collective=ring,library"]
    said = place.run("compare", "g.json", *over, "--json", "-o", "c.json", code=0).stderr.decode().splitlines()
    place.run("compare", "g.json", *over, "-o", "c.html", code=0)
    place.run("report", "c.json", "-o", "page.html", "--quiet", code=0)
    found = json.loads(place.path("c.json").read_text())
    warnings = [line.removeprefix("warning: ") for line in said if line.startswith("warning: ")]
    check(len(warnings) > 2 and found["warnings"] == warnings, found.get("warnings"), said)
    check(any(line.startswith("assumed: ") for line in said), said)
    for line in [*warnings, *(line for line in said if line.startswith(("assumed: ", "left out: ")))]:
        words = line.replace("'", "&#39;").replace('"', "&quot;")
        for page in ("c.html", "page.html"):
            check(words in place.path(page).read_text() or line in place.path(page).read_text(), page, "lacks", line)


def a_filter_has_its_unit_in_the_picture(place):
    """the line under a picture has the value of --where in its unit, however it was typed"""
    place.run("sweep", "s.json", "--over", "/cluster/network/bandwidth_Bps=10,100Gbps", "--over",
              "/cluster/nodes=2,4", "-o", "o.jsonl", "--quiet", code=0)
    for typed in ("12500000000", "100Gbps"):
        place.run("plot", "o.jsonl", "--x", "nodes", "--y", "iteration_time_s", "--where", f"bandwidth_Bps={typed}",
                  "-o", "o.svg", "--force", code=0)
        check("bandwidth = 100 Gb/s" in place.path("o.svg").read_text(), typed)


def one_of_a_kind_is_no_plural(place):
    """what an import counts is one bucket and one step where there is one"""
    place.write("k.json", samples.kineto())
    place.write("ddp.json", "{'bucket_sizes': '75264'}\n")
    said = place.run("import", "kineto", "k.json", "--ddp-log", "ddp.json", "--skip-steps", "2", "-o", "t.json",
                     code=0).stdout.decode()
    check("1 measured bucket, 1 step used, " in said, said)


def a_model_that_a_trace_does_not_need_is_named(place):
    """import says that it does not use --model where the trace has the sizes of its gradients"""
    place.write("k.json", samples.kineto())
    said = place.run("import", "kineto", "k.json", "--model", "resnet50", "-o", "t.json", code=0).stderr.decode()
    check("--model resnet50 is not used: the sizes are known from AccumulateGrad shapes" in said, said)


def no_tick_is_minus_zero(place):
    """an axis of a picture that starts at 0 has 0 there, not -0"""
    place.run("sweep", "s.json", "--over", "/cluster/nodes=2,4,8,16", "--over",
              "/communication/bucket_bytes=1,10,25MiB", "--set", "/communication/schedule=ddp", "-o", "o.jsonl",
              "--quiet", code=0)
    place.run("plot", "o.jsonl", "--x", "bucket_bytes", "--y", "iteration_time_s", "--by", "nodes", "-o", "o.svg", code=0)
    picture = place.path("o.svg").read_text()
    check(">0 B<" in picture and ">-0" not in picture, re.findall(r">(-?0[^<]*)<", picture))


def hints_lead_to_what_there_is(place):
    """study names --gpus to who types --nodes, and keys finds words that stand in values and meanings alone"""
    place.refused("study", "gpt2.h100", "--nodes", "4", code=2, says="use --gpus")
    for word, key in (("fsdp", "/training/sharding/preset"), ("zero1", "/training/sharding/strategy"),
                      ("bandwidth", "/cluster/network/bandwidth_Bps")):
        found = place.run("keys", word, code=0).stdout.decode()
        check(key + " " in found, word, found)
    place.refused("keys", "bandwith", code=2, says="did you mean bandwidth")
def buckets_have_the_type_of_their_all_reduce(place):
    """an all-reduce whose operator has a list of tensors has the type of its annotation, else of its gradients"""
    for types, bytes_each in (({"Input type": ["c10::BFloat16"]}, 2), ({}, 4)):
        trace = json.loads(samples.kineto())
        events = trace["traceEvents"]
        for at in [i for i, each in enumerate(events) if each["name"] == "record_param_comms"]:
            event = events[at]
            events[at - 2]["dur"] = 60  # the node of a gradient calls it
            event["args"] = {"Input Dims": [[18816], [], []], "Input type": ["TensorList", "", ""]}
            events.append(dict(event, cat="user_annotation", name="nccl:all_reduce", ts=event["ts"] + 1, dur=8,
                               args={"Input Dims": [[18816]], **types}))
        place.run("import", "kineto", place.write("k.json", trace), "-o", "t.json", "--force", "--quiet", code=0)
        for bucket in json.loads(place.path("t.json").read_text())["buckets"]:
            check(bucket["bytes"] == bytes_each * 18816, types, bucket)


def rounding_is_no_kink(place):
    """the step depends on a tiny operation alike on both sides, though differences of periods are rounded"""
    network = {"latency_s": 1e-5, "bandwidth_Bps": 3e9, "transport": "tcp"}
    place.write("s.json", scenario(layer(5.56e-4, 2e-9, 0), layer(5.56e-4, 2e-9, 4), nodes=8, network=network,
                                   conditions="typical"))
    found = json.loads(place.run("explain", "s.json", "--json", code=0).stdout)["derivatives"]
    check(found and not any(each["exact"] for each in found), found)
    for each in found:
        check(each["left"] == each["right"], each)


def configurations_of_other_models_name_a_table(place):
    """the configuration of a model that is no such decoder is refused with the tables that there are"""
    listed = place.run("models", "list", code=0).stdout.decode()
    for words, tables in (
            ({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}, "gpt2, gpt2_medium"),
            ({"model_type": "t5", "d_model": 1024, "num_layers": 24, "vocab_size": 32128}, "t5_large"),
            ({"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
              "hidden_act": "gelu", "intermediate_size": 4096, "vocab_size": 30522}, "bert_base or bert_large"),
            ({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
              "vocab_size": 65024}, "stepsim models list"),
            ({"model_type": "llava", "text_config": {"model_type": "llama"}}, "stepsim models list")):
        place.write("config.json", words)
        error = place.run("models", "show", "config.json", code=3).stderr.decode()
        check(error.count("error:") == 1 and len(error.splitlines()) == 1, error)
        check("is no decoder with gated MLP and RMS norms; give a model table (" + tables in error, error)
        for name in re.findall("[a-z]+[0-9]*_[a-z0-9_]+|gpt2(?=,)", tables):
            check(name + " " in listed, name, "is not shipped")
    place.write("config.json", {"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 8, "vocab_size": 100,
                                "num_hidden_layers": 2})
    place.refused("models", "show", "config.json", code=3, says="/intermediate_size: required")


def another_node_type_has_its_own_cards(place):
    """a node type put in the place of the one that init was given has its own number of network cards"""
    def step(*words):
        return json.loads(place.run("run", *words, "--json", code=0).stdout)["summary"]["iteration_time_s"]
    for preset in ("dgx_h100", "p4d", "p5"):
        place.run("init", "--trace", "gpt2.h100", "--nodes", "8", "--cluster", preset, "-o", preset + ".json", "--quiet",
                  code=0)
    for other in ("p4d", "p5"):
        check(step("dgx_h100.json", "--set", f"/cluster/preset={other}") == step(other + ".json"), other)


def a_second_communicator_needs_room_on_the_links(place):
    """no change is offered whose exchanges keep the links busy for longer than its step"""
    def tree(bandwidth_Bps):
        return scenario(*[layer(1e-3, 2e-3, 50_000_000) for _ in range(4)], bandwidth_Bps=bandwidth_Bps,
                        latency_s=1e-3, training={"sharding": "full_shard"})
    for bandwidth_Bps, has_room in ((1e9, False), (1e11, True)):
        place.write("s.json", tree(bandwidth_Bps))
        rows = json.loads(place.run("explain", "s.json", "--json", code=0).stdout)["what_if"]
        offered = any("two communicators" in row["change"] for row in rows)
        two = result(place, tree(bandwidth_Bps), "--set", "/training/sharding/communicators=2")
        check(("shared_links" in " ".join(two["warnings"])) != has_room, two["warnings"])
        check(offered == has_room, bandwidth_Bps, [row["change"] for row in rows])


def a_gpu_named_by_its_memory_has_it(place):
    """a GPU whose name says how much memory it has has it in machines of any size, others that of the node type"""
    for gpu, preset, memory, reason in (("a100-40", "dgx_a100", 40960 << 20, "memory of a100-40"),
                                        ("a100-80", "p4d", 81920 << 20, "memory of a100-80"),
                                        ("a100-80", "dgx_a100", 81920 << 20, "node type dgx_a100"),
                                        ("v100", "dgx2", 34059090657, "node type dgx2"),
                                        ("v100", None, 16e9, "memory of v100")):
        network = {"preset": preset} if preset else {"network": "25g-tcp"}
        tree = {"kind": "scenario", "workload": {"model": "llama2_7b", "gpu": gpu, "batch_size": 1},
                "cluster": {"nodes": 2, **network}}
        found = result(place, tree)
        check(found["summary"]["memory_capacity_bytes"] == memory, gpu, preset, found["summary"]["memory_capacity_bytes"])
        said = [each for each in found["defaults"] if each["pointer"] == "/cluster/gpu_memory_bytes"]
        check([each["reason"] for each in said] == [reason], gpu, preset, said)


def compressed_messages_that_leave_the_library_say_so(place):
    """beside a node type a compressed step, and the dense step that it is compared with, say whose messages they have"""
    tree = scenario(layer(gradient_bytes=100_000_000), cluster={"preset": "dgx_h100"}, network={})
    tree["cluster"].pop("network")
    says = "messages of fp16 take the links of the cluster instead, and so does the dense step"
    compressed = ["--set", "/communication/compression=fp16"]
    for words, warned in ((compressed, True), ([], False), ([*compressed, "--set", "/communication/collective=ring"], False)):
        check((says in " ".join(result(place, tree, *words)["warnings"])) == warned, words)
    tree["communication"] = {"collective": "library"}
    place.write("s.json", tree)
    done = place.run("compare", "s.json", "--algorithms", "ddp,fp16", code=0)
    check(done.stderr.decode().count(says) == 1, done.stderr)


def explain_tells_the_steady_state_beside_the_mean(place):
    """where a warm-up is among the iterations that count, explain gives both lengths of a step"""
    place.write("p.json", scenario(layer(gradient_bytes=100_000_000), training={
        "algorithm": "pipe_sgd", "iterations": 100, "warmup_iterations": 100}))
    said = json.loads(place.run("explain", "p.json", "--json", code=0).stdout)["sentences"][0]
    check(said == "A training step takes 123.1 ms on average; what follows is about the steady state, in which it takes 120.1 ms.", said)


def every_time_of_a_collective_has_one_key(place):
    """records of formulas, schedules, choices and libraries have their time at the key seconds"""
    place.run("collective", "--op", "allreduce", "--algorithm", "library,ring,auto", "--preset", "dgx_h100", "--shape",
              "1x8,2x8", "--bytes", "1MiB", "-o", "c.jsonl", code=0)
    records = [json.loads(line) for line in place.path("c.jsonl").read_text().splitlines()]
    records = [each for each in records if "algorithm" in each]
    check(len(records) >= 6, records)
    for each in records:
        check(each["seconds"] == each[each["method"] + "_s"] > 0, each)


def keys_are_found_by_the_words_of_the_field(place):
    """keys whose meaning has all words are listed behind those with them in their names"""
    for words, pointer in (("gradient accumulation", "/training/micro_batches"), ("Tensor Fusion", "/communication/fusion_bytes"),
                           ("jitter", "/variability/compute_cv"), ("accumulation", "/training/micro_batches"),
                           ("batch size", "/workload/batch_size"), ("nvlink-domain", "/cluster/nvlink_domain_nodes")):
        check(pointer in place.run("keys", words, code=0).stdout.decode(), words)


def jobs_that_end_go_on_beside_the_first(place):
    """the mean of a job is over iterations that the others share, however many iterations are asked for"""
    def job(forward_s, backward_s, size):
        return {"layers": [layer(forward_s, backward_s, size)], "nodes": 4}
    tree = scenario(workload=[job(0.02, 0.04, 100_000_000), job(0.0001, 0.0001, 10_000_000)], network={"model": "flow"},
                    nodes=8, cluster={"topology": {"preset": "leaf_spine", "leaves": 2, "hosts_per_leaf": 4, "spines": 1,
                                                   "bandwidth_Bps": 1e9, "uplink_bandwidth_Bps": 1e9, "latency_s": 1e-6},
                                      "rank_placement": "spread"}, communication={"collective": "ring", "schedule": "single"})
    for iterations in (10, 50):
        got = result(place, tree, "--set", f"/training/iterations={iterations}")
        first = got["jobs"][0]
        check(abs(got["summary"]["iteration_time_s"] / first["iteration_time_s"] - 1) < 1e-9, iterations, first)
        check(0.65 < first["iteration_time_s"] < 0.67 and abs(first["alone_iteration_time_s"] - 0.36) < 1e-3, iterations, first)


def cards_that_are_shared_do_not_slow_additions(place):
    """replicas that share a card add their own bytes alone, as on a star and as two_level does"""
    tree = scenario(layer(gradient_bytes=96_000_000), nodes=2, cluster={
        "gpus_per_node": 8, "intra_network": {"latency_s": 0, "bandwidth_Bps": 3e11}},
        network={"latency_s": 0, "bandwidth_Bps": 1e10, "reduction_Bps": 1e9}, training={
            "sharding": {"strategy": "hybrid_shard", "parameter_bytes": 4}}, communication={"collective": "ring"})
    times = [summary(place, tree, "--set", f"/cluster/network/model={model}")["iteration_time_s"]
             for model in ("alpha_beta", "flow")]
    check(abs(times[0] / times[1] - 1) < 1e-6, times)


def values_that_have_no_meaning_are_refused_beside_others(place):
    """a value of a sweep that changes nothing is an error, whatever the other values are"""
    place.write("d.json", scenario(training={"algorithm": "diloco", "local_steps": 5}))
    for values in ("none,fp16", "fp16", "none,truncate16,quantize8"):
        place.refused("compare", "d.json", "--over", f"/communication/compression={values}", code=2,
                      says="compression has no meaning for diloco")
    place.run("compare", "d.json", "--over", "/training/algorithm=sync_sgd,diloco", "--over",
              "/communication/compression=none,fp16", code=0)


def small_values_of_a_sweep_are_not_in_large_units(place):
    """a varied number of bytes of a value is shown as it was typed"""
    place.write("d.json", scenario(training={"algorithm": "diloco", "local_steps": 5}))
    text = place.run("compare", "d.json", "--over", "/training/outer_value_bytes=1,2,4", code=0).stdout.decode()
    check(text.startswith("outer_value_bytes  ") and re.search(r"^ +2 ", text, re.M), text)


def a_measured_step_far_from_the_estimate_is_told(place):
    """a measured step of another unit gets a warning, one near the estimate none"""
    tree = scenario(workload={"model": "llama3_8b", "gpu": "h100", "batch_size": 1, "sequence_length": 2048},
                    cluster={"gpus_per_node": 1})
    step = result(place, tree)["summary"]["compute_s"]
    for factor, told in ((1.2, False), (10, True), (0.2, True)):
        warnings = " ".join(result(place, tree, "--measured-step", f"{factor * step}s")["warnings"])
        check(("times as long as estimated" in warnings) == told, factor, warnings)


def ways_to_recompute_are_tried(place):
    """explain tries what an estimate may keep instead of computing it again, where the memory allows it"""
    place.write("l.json", scenario(workload={"model": "llama3_8b", "gpu": "h100", "batch_size": 1, "sequence_length": 2048,
                                             "recompute": "full"}, cluster={"preset": "dgx_h100", "nodes": 1},
                                   training={"sharding": "full_shard"}))
    tree = json.loads((place.path("l.json")).read_text())
    tree["cluster"].pop("network")
    place.write("l.json", tree)
    rows = json.loads(place.run("explain", "l.json", "--json", code=0).stdout)["what_if"]
    found = {row["change"]: row["gain"] for row in rows}
    check(found["recompute none"] > found["recompute selective_op"] > 0.05 and "recompute selective" not in found, found)


def copies_on_several_nodes_share_the_network_with_replicas(place):
    """hybrid_shard in groups of several nodes is not faster than its bytes allow, as on simulated links"""
    layers = [dict(layer(1e-3, 2e-3, 400_000_000), name=f"layers.{i}") for i in range(4)]
    network = {"latency_s": 0, "bandwidth_Bps": 1e10}
    tree = scenario(*layers, nodes=8, network=network, communication={"collective": "two_level"}, cluster={
        "gpus_per_node": 2, "nics_per_node": 2, "intra_network": {"latency_s": 0, "bandwidth_Bps": 1e12}}, training={
            "sharding": {"strategy": "hybrid_shard", "parameter_bytes": 2, "reduce_bytes": 4}})
    for ranks in (4, 8):
        check(summary(place, tree, "--set", f"/training/sharding/shard_ranks={ranks}")["iteration_time_s"] > 0.14, ranks)
    warned = " ".join(result(place, tree, "--set", "/training/sharding/shard_ranks=4", "--set",
                             "/training/sharding/communicators=2")["warnings"])
    check("shared_links" in warned, warned)


def exchanges_of_a_trace_are_told_without_waiting(place):
    """where the trace knows the waiting for other ranks, run compares the rest with its own exchanges"""
    trace = measured_trace(place)
    for bucket in trace["buckets"]:
        taken = bucket["min_s"]
        bucket |= {"median_s": 10 * taken, "max_s": 10 * taken, "transfer_s": taken, "wait_s": [0, 9 * taken]}
    place.write("measured.json", trace)
    got = result(place, scenario(workload={"trace": "measured.json"}, nodes=2))
    check([each["measured_s"] for each in got["measured_buckets"]] == [each["min_s"] for each in trace["buckets"]], got)
def logs(ranks=8, device="NVIDIA H100", title="all_reduce_perf"):
    rows = "".join(f"  {1 << i}  {1 << i - 2}  float  sum  -1  {30 + 2 ** i / 1e5:.2f}  1.0  1.5  0"
                   f"  {30 + 2 ** i / 1e5:.2f}  1.0  1.5  0\n" for i in range(10, 27))
    return (f"# Collective test starting: {title}\n# nThread 1 nGpus {ranks}\n" +
            "".join(f"#  Rank  {r} Group  0 Pid 1 on host device  {r} [0000:0{r}:00] {device}\n" for r in range(ranks)) +
            "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n" + rows)


def logs_of_other_gpus_are_named(place):
    """study --logs warns where the logs are of another GPU than that of the cluster, as of that of the trace"""
    for device, says in (("NVIDIA H100", None), ("A100-SXM4-40GB", "are those of A100-SXM4-40GB, but dgx_h100 has"),
                         ("AMD Instinct MI300X", "are those of AMD Instinct MI300X, but"), ("GPU", None)):
        place.write("nccl.log", logs(device=device))
        done = place.run("study", "gpt2.h100", "--gpus", "8", "--logs", "nccl.log", "--json", code=0)
        found = [each for each in json.loads(done.stdout)["warnings"] if each.startswith("the measured times are")]
        check(len(found) == (says is not None) and (not says or says in found[0]), device, found)
    place.write("times.csv", "system,op,nodes,gpus_per_node,bytes,time_us\n" + "".join(
        f"p5,allreduce,1,8,{1 << i},{30 + 2 ** i / 1e5}\n" for i in range(10, 27)))
    check(b"measured times are" not in place.run("study", "gpt2.h100", "--gpus", "8", "--logs", "times.csv", code=0).stderr)


def one_rank_exchanges_nothing(place):
    """times of one rank are imported with a warning, and no fit takes them"""
    place.write("one.log", logs(1))
    place.write("eight.log", logs())
    said = place.run("import", "nccl-tests", "one.log", "-o", "one.samples.json", code=0).stderr.decode()
    check("allreduce: one rank exchanges nothing" in said, said)
    check("one rank" not in place.run("import", "nccl-tests", "eight.log", "-o", "eight.samples.json",
                                      code=0).stderr.decode())
    place.write("one.txt", "# OSU MPI Allreduce Latency Test\n# Size Avg Latency(us)\n4 1.5\n8 1.6\n16 1.7\n")
    said = place.run("import", "osu", "one.txt", "--ranks", "1", "-o", "osu.samples.json", code=0).stderr.decode()
    check("one rank exchanges nothing" in said, said)
    for name in ("one.log", "one.samples.json"):
        place.refused("study", "gpt2.h100", "--gpus", "8", "--logs", name, code=3, says="one rank exchanges nothing")
    both = place.run("study", "gpt2.h100", "--gpus", "8", "--logs", "one.log", "eight.log", "--json", code=0)
    eight = place.run("study", "gpt2.h100", "--gpus", "8", "--logs", "eight.log", "--json", code=0)
    warned, answer = json.loads(both.stdout), json.loads(eight.stdout)
    check(warned["points"] == answer["points"], warned["points"], answer["points"])
    check(any("17 times of one rank" in each for each in warned["warnings"]), warned["warnings"])
    program = str(pathlib.Path(place.stepsim).with_name("stepsim-calibrate"))
    fit = lambda *names: subprocess.run([program, "fit", *names, "-o", "-"], cwd=place.folder, capture_output=True)
    check(b"one rank exchanges nothing" in fit("one.log").stderr, fit("one.log"))
    check(fit("one.log").returncode == 3, fit("one.log"))
    done = fit("one.log", "eight.log")
    check(done.returncode == 0 and b"one rank exchanges nothing" in done.stderr, done)
    check([each["ranks"] for each in json.loads(done.stdout)["collectives"]] == [8], done.stdout)


DECODER = {"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
           "intermediate_size": 1024, "vocab_size": 1000, "rms_norm_eps": 1e-6, "tie_word_embeddings": False}
ATTENTION, MLP = 4 * 256 * 256 + 2 * 256, 3 * 256 * 1024  # of a block; with its norms
PLAIN = 4 * (ATTENTION + MLP) + 256 + 2 * 1000 * 256


# What import hf-config says of a configuration: its elements, and what stands on standard error.
def config(place, tree, code=0, **keys):
    place.write("config.json", {**tree, **keys})
    done = place.run("import", "hf-config", "config.json", code=code)
    return json.loads(done.stdout)["totals"]["elements"] if code == 0 else 0, done.stderr.decode()


def the_decoder_of_a_model_for_images_is_read(place):
    """the decoder under text_config is read, and what is left out is named, also beside keys at the top"""
    check(config(place, DECODER)[0] == PLAIN)
    vision = {"depth": 4, "hidden_size": 64}
    text = {key: value for key, value in DECODER.items() if key != "tie_word_embeddings"}
    for tied in (False, True):
        elements, said = config(place, {"model_type": "some_vl", "text_config": text, "vision_config": vision,
                                        "audio_config": vision, "tie_word_embeddings": tied})
        check(elements == PLAIN - tied * 1000 * 256, elements)
        check("decoder alone is counted, without vision_config and audio_config" in said, said)
    elements, said = config(place, DECODER, vision_config=vision)
    check(elements == PLAIN and "without vision_config" in said, said)
    check("decoder alone" not in config(place, DECODER, vision_config=None)[1])
    nested = {"model_type": "some_vl", "text_config": {**DECODER, "model_type": "qwen3_text"}}
    check(config(place, nested)[0] == PLAIN + 4 * 2 * 64, "norms of queries and keys")
    check("/text_config/hidden_size: " in config(place, {"text_config": {**DECODER, "hidden_size": 0},
                                                         "architectures": []}, code=3)[1])


def blocks_that_are_no_attention_are_refused(place):
    """models with state-space blocks, linear attention or convolutions are refused, not counted as transformers"""
    for keys in ({"hybrid_override_pattern": "M-*-"}, {"mamba_num_heads": 4}, {"ssm_state_size": 16},
                 {"linear_attn_config": {"a": 1}}, {"linear_conv_kernel_dim": 4}, {"conv_L_cache": 3},
                 {"block_configs": [{}]}, {"layer_types": ["full_attention", "linear_attention"]},
                 {"layer_types": ["conv", "full_attention"]}):
        said = config(place, DECODER, code=3, **keys)[1]
        check(f"/{next(iter(keys))}: llama has blocks whose weights are not known" in said, said)
    for keys in ({"layer_types": ["full_attention", "sliding_attention", "deepseek_sparse_attention"]},
                 {"mamba_num_heads": None},
                 {"layer_types": ["attention"] * 4, "mamba_num_heads": 4}):
        check(config(place, DECODER, **keys)[0] == PLAIN, keys)


def experts_are_counted_by_all_their_keys(place):
    """experts are counted by the keys of any framework, and keys that tell of weights are named where none counts"""
    expert, router = 3 * 256 * 64, 256 * 8
    moe = dict(num_local_experts=8, num_experts_per_tok=2, moe_intermediate_size=64)

    def blocks(n, shared=0):
        return PLAIN + n * (8 * expert + router + shared - MLP)

    for keys, expected in (
            (moe, blocks(4)),
            (dict(moe, moe_layer_freq=[0, 1, 1, 1]), blocks(3)),
            (dict(moe, interleave_moe_layer_step=2), blocks(2)),
            (dict(moe, dense_intermediate_size=2048, first_k_dense_replace=1), blocks(3) + MLP),
            (dict(moe_num_experts=8, moe_k=2, moe_intermediate_size=64, moe_num_shared_experts=2,
                  moe_layer_start_index=1), blocks(3, 2 * expert)),
            (dict(moe, shared_intermediate_size=128), blocks(4, 2 * expert)),
            (dict(model_type="llama4_text", num_local_experts=8, num_experts_per_tok=1, intermediate_size=64,
                  intermediate_size_mlp=1024, interleave_moe_layer_step=2), blocks(2, expert))):
        elements, said = config(place, DECODER, **keys)
        check(elements == expected, keys, elements, expected, said)
        check("not read" not in said, said)
    said = config(place, DECODER, model_type="new", other_experts=64, swa_head_dim=32, router_aux_loss=1,
                  expert_dtype="x", moe_bias=False, num_nextn=1)[1]
    check("keys that are not read: other_experts, swa_head_dim\n" in said, said)


def encoders_and_heads_are_told_by_their_keys(place):
    """an encoder is refused by either name of its activation; a head that is assumed is named"""
    norms = {key: value for key, value in DECODER.items() if key not in ("rms_norm_eps", "tie_word_embeddings")}
    for key in ("hidden_act", "hidden_activation"):
        check(f"/{key}: gelu without rms_norm_eps" in config(place, norms, code=3, **{key: "gelu"})[1])
    check(config(place, norms, rms_norm_eps=1e-6, hidden_activation="gelu_pytorch_tanh")[0] == PLAIN)
    check(config(place, norms, model_type="smollm3")[0] == PLAIN - 1000 * 256)
    for key, says in (({}, True), ({"tie_word_embeddings": False}, False)):
        check(("no tie_word_embeddings" in config(place, norms, model_type="new", **key)[1]) == says, key)
    check("tie_word" not in config(place, norms)[1])


def checkpoints_of_workloads_are_named(place):
    """a workload of ASTRA-sim that runs layers forward again in the backward pass says that this is left out"""
    rows = "".join(f"l{i} -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1000 1\n" for i in range(3))
    for header, says in (("checkpoints: 1 0 checkpoint_initiates: 1 2", True), ("checkpoints: 0", False), ("", False),
                         ("checkpoints:", False)):
        place.write("w.txt", f"HYBRID_TRANSFORMER_FWD_IN_BCKWD {header}\n3\n{rows}")
        said = place.run("import", "astra-text", "w.txt", "-o", "w.json", "--force", code=0).stderr.decode()
        check(("checkpoints: the forward pass" in said) == says, header, said)


def kineto_trace(place, change):
    tree = json.loads(samples.kineto())
    for event in tree["traceEvents"]:
        change(event)
    place.write("t.json", tree)
    return place.run("import", "kineto", "t.json", "-o", "o.json", "--force", code=0).stderr.decode()


def a_compiled_graph_is_known_by_either_name(place):
    """one compiled graph that holds all gradients is named as that, whichever operator is above it"""
    for name in ("CompiledFunction", "Torch-Compiled Region: 0/0"):
        def compiled(event):
            number = event["args"].get("Sequence number")
            if number:  # both backward nodes belong to the first layer of the step
                event["args"]["Sequence number"] = number - (number + 1) % 2
            event["name"] = name if event["name"] == "aten::conv2d" else event["name"].replace("aten::linear", "aten::relu")
            if event["name"] == "aten::relu":
                del event["args"]["Sequence number"]
        said = kineto_trace(place, compiled)
        check("one compiled graph holds 2 gradients: without DDPOptimizer" in said, name, said)


def kernels_of_experts_are_no_kernels_of_nccl(place):
    """a trace that communicates by DeepEP alone is warned of as all-to-all, without a word of NCCL"""
    def changed(name):
        def change(event):
            event["name"] = event["name"].replace("ncclDevKernel_AllReduce", name)
            if event["name"] == "record_param_comms":
                event["name"], event["args"] = "aten::copy", {}
        return change
    said = kineto_trace(place, changed("dpsk::ep::internode::dispatch"))
    check("all-to-all or point-to-point kernels" in said and "NCCL" not in said, said)
    check("communication kernels without size arguments: no buckets" in said, said)
    said = kineto_trace(place, changed("ncclKernel_AllReduce"))
    check("all-to-all" not in said and "NCCL kernels without size arguments" in said, said)


def repetitions_are_no_times(place):
    """a log whose second column counts repetitions (Intel MPI Benchmarks, oneCCL) is refused, not read as OSU's"""
    rows = "".join(f"{4 << i:>12} 1000 0.9 1.1 {1 + i / 10}\n" for i in range(6))
    for text in ("# Benchmarking Allreduce\n# #processes = 4\n" +
                 "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n" + rows,
                 "        #bytes  #repetitions   t_min[usec]   t_max[usec]   t_avg[usec]  stddev[%]\n" + rows):
        place.write("imb.log", text)
        place.refused("import", "osu", "imb.log", "--op", "allreduce", "--ranks", "4", code=3,
                      says="whose second column counts repetitions")


if __name__ == "__main__":
    run_cases(cases_in(globals()))
