#!/usr/bin/env python3
"""No key of a scenario is ignored silently.

    keys_test.py STEPSIM [--share 1] [--seed N] [--only BASE] [--pointer TEXT] [--all]

Every key of schemas/scenario.schema.json is changed in every base scenario (bases.py). Some value
must change the result, or be refused with an error, or be answered by a warning that names the key
and says that it is unused; or the key is a label (LABELS), or documented as neutral in that place
(NEUTRAL). What a base prints as its resolved scenario must run again with the same result.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

from bases import LAYERS, STAR, all_bases

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))
from pointers import assigned, tokens  # noqa: E402

# A resolved scenario names what was left to its default, so that `defaults` has less to say.
IGNORED_PARTS = ("meta", "scenario", "warnings", "defaults")

# Keys that name things, or that permit what is refused elsewhere.
LABELS = {"/$schema", "/schema_version", "/kind", "/name", "/allow_unusual", "/workload/accept_estimate"}

# (key, bases, reason): the key has its meaning there, but these scenarios cannot show it. A base
# after "-" is an exception.
LINKS = "buffer thresholds count where packets meet"
QUIET = "packet * -packet, server"
NEUTRAL = [
    ("*", "one worker", "nothing is exchanged, so that a sweep may start at one worker"),
    ("/seed", "* -jitter * -packet, server", "counts where something is random"),
    ("/training/server_split", "*server*", "one server holds everything"),
    ("/training/discard_iterations", "* -jitter lognormal -jitter gamma", "where iterations differ"),
    ("/training/convergence/x[12]", "* -packet, server", "counts where gradients are lost"),
    ("/training/convergence/beta", "* -packet, server", "counts where gradients are lost"),
    ("/workload/layers/1/shape", "* -compression powersgd", "for low-rank compression"),
    ("/workload/layers/1/dtype", "*", "with a shape, a word is the only one that fits"),
    ("/communication/compression/costs/merge_s*", "*", "a method pays for the work that it does"),
    ("/communication/compression/costs/select_s_per_entry", "*", "a method pays for its work"),
    ("/communication/compression/residual_mask", "*", "moves values, for converge and semantics"),
    ("/communication/reduction_mode",
     "* -collective lp -collective double_binary_tree -collective hierarchical_leader",
     "counts where adding can overlap the next message"),
    ("/communication/chunking", "* -collective ring -collective lp", "counts where parts are cut"),
    ("/communication/element_bytes", "flow, topk", "lists have elements of their own"),
    ("/communication/element_bytes", "*server*", "one server holds everything"),
    ("/communication/element_bytes", "flow, dlcp", "one server holds everything"),
    ("/communication/cost_form", "compression *", "counts for the dense run beside it"),
    ("/communication/cost_form", "schedule omgs", "counts for the dense run beside it"),
    ("/communication/cost_form", "flow, topk", "counts for the dense run beside it"),
    ("/communication/cost_form", "jitter*", "the forms of a ring are equal"),
    ("/communication/compression/baseline", "flow, pipe_sgd", "both schedules send as long"),
    ("/communication/block_bytes", "collective *", "auto takes no pipeline here"),
    ("/communication/block_bytes", "compression hierarchical_topk", "auto of the dense run takes no pipeline here"),
    ("/communication/lp_last_hop", "collective auto", "auto takes no pipeline here"),
    ("/cluster/network/block_latency_s", "collective auto", "auto takes no pipeline here"),
    ("/cluster/network/block_latency_s", "two levels", "auto takes no pipeline here"),
    ("/cluster/intra_network/latency_s", "collective nvls_tree", "the switch has a start-up of its own"),
    ("/cluster/network/reduction_Bps", "collective nvls_tree", "switches and streams add"),
    ("/cluster/nvls_Bps", "collective auto", "auto takes an algorithm without switches here"),
    ("/communication/copy_bandwidth_Bps", "* -schedule single -schedule ddp -pipe_sgd width 3 -server single",
     "counts where gradients are merged"),
    ("/communication/concurrency", "* -schedule ddp, two at once -schedule caps -schedule asc_wfbp",
     "counts where messages meet"),
    ("/communication/fusion_bytes", "schedule horovod", "nothing is fused here"),
    ("/communication/blocking", "schedule horovod", "no message is under way at a tick"),
    ("/communication/prefetch", "schedule dear", "all-gathers are done before"),
    ("/communication/credit_bytes", "*flow, priority", "one chunk is under way"),
    ("/cluster/network/packet/transport*", "flow*", "flows have the loss bound of dlcp alone"),
    ("/cluster/rank_placement", "*", "a star is symmetric"),
    ("/cluster/nics_per_node", "two levels", "a flat ring uses one interface"),
    ("/cluster/nics_per_node", "compression hierarchical_topk", "uses one interface"),
    ("/cluster/network/packet/*buffer*", QUIET, LINKS),
    ("/cluster/network/packet/*buffer*", "packet, dctcp*", LINKS),
    ("/cluster/network/packet/drop_packets*", "packet, dctcp*", LINKS),
    ("/cluster/network/packet/drop_packets/protected", "packet, server", LINKS),
    ("/cluster/network/packet/queues", "packet dlcp", "a ring's parts have one class"),
    ("/cluster/network/packet/mark_packets", QUIET, LINKS),
    ("/cluster/network/packet/drop_packets*", QUIET, LINKS),
    ("/cluster/network/packet/control_bytes", "packet*", "control packets are few"),
    ("/cluster/network/packet/ack_bytes", "packet raw", "raw sends none"),
    ("/cluster/network/packet/faults/drop_packets_once", "packet*", "names one packet"),
    ("/cluster/network/packet/transport/*", "packet * -packet, server",
     "counts where packets are lost"),
    ("/cluster/network/packet/transport/*", "packet, dctcp*", "counts where packets are lost"),
    ("/cluster/network/packet/transport/loss_fill", "packet*", "moves values, not time"),
    ("/cluster/network/packet/transport/rescale", "packet*", "moves values, not time"),
    ("/cluster/network/packet/transport/priority_map", "packet*", "both rank these layers alike"),
    ("/cluster/network/packet/transport/protect_large", "packet*", "counts where large values are dropped"),
    ("/communication/next_forward", "model*", "the last message is of the first layer"),
    ("/variability/compute_cv", "jitter empirical", "a list has its own; 0 switches it off"),
]

# Objects that a base may lack: a small one that is valid, to see whether it has a meaning at all.
OBJECTS = {
    "/workload/device": {"flops_Ps": 1e12, "utilization": 0.5},
    "/workload/measured": {"compute_s": 0.01},
    "/workload/measured_step": {"step_s": 0.02, "batch_size": 4},
    "/cluster/intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9},
    "/cluster/network/cost": {"startup_s": 1e-4, "per_byte_s": 1e-8},
    "/cluster/network/broadcast_cost": {"startup_s": 1e-4, "per_byte_s": 1e-8},
    "/cluster/network/packet": {"header_bytes": 100, "transport": {"kind": "dlcp"}},
    "/cluster/network/packet/transport": {"kind": "dlcp"},
    "/cluster/network/packet/buffer": {"scope": "port", "packets": 5},
    "/cluster/network/packet/drop_packets": {"droppable": 3, "middle": 3, "protected": 3},
    "/cluster/network/packet/faults": {"link_loss": [{"link": 0, "probability": 0.2}]},
    "/cluster/network/packet/background": {"load": 0.3, "size_bytes": 20000},
    "/training/convergence": {"epochs_lossless": 10, "iterations_per_epoch": 100, "x2": 0.5,
                              "beta": 1},
    "/communication/compression": {"method": "fp16"},
    "/communication/compression/costs": {"select_s": 1e-4, "form": "linear"},
    "/communication/compression/baseline": {"schedule": "mg_wfbp"},
    "/limits": {"simulated_s": 1e-6},
    "/variability": {"compute_cv": 0.2},
}

# Values that differ from the default and can be seen, where the schema alone does not give them.
VALUES = {
    "/workload/trace": [str(REPOSITORY / "traces/resnet50.ddp.2xa100.json")],
    "/workload/model": ["alexnet"],
    "/workload/layers": [[dict(LAYERS[1], gradient_bytes=800000, shape=[500, 400])]],
    "/workload/layers/1/shape": [[100000, 1], [400, 250]],
    "/workload/layers/1/gradient_bytes": [200000],
    "/workload/layers/1/dtype": ["float64", "float16", None],
    "/workload/sequence_length": [16],
    "/workload/gpu": ["b200"],
    "/workload/dtype": ["fp8"],
    "/workload/recompute": ["full"],
    "/training/activation_bytes": [2e10],
    "/workload/measured_step/batch_size": [2],
    "/workload/measured_step/sequence_length": [64],
    "/workload/scale_backward_to_s": [0.05],
    "/cluster/nodes": [2, 4],
    "/cluster/gpus_per_node": [2],
    "/cluster/nics_per_node": [2],
    "/cluster/topology": [dict(STAR, bandwidth_Bps=3e7)],
    "/cluster/rank_placement": ["spread", [3, 1, 0, 2, 5, 4]],
    "/cluster/network/latency_s": [1e-3],
    "/cluster/network/delay_s": [1e-3],
    "/cluster/network/bandwidth_Bps": [3e7],
    "/cluster/network/block_latency_s": [1e-6],
    "/cluster/network/reduction_Bps": [3e7],
    "/cluster/network/efficiency": [0.3],
    "/cluster/network/copy_engines": [1],
    "/cluster/network/calibration": [str(REPOSITORY / "topologies/icdcs19.calibration.json")],
    "/cluster/network/cost": [{"startup_s": 3e-4, "per_byte_s": 1e-8}],
    "/cluster/network/broadcast_cost": [{"startup_s": 3e-4, "per_byte_s": 1e-8}],
    "/cluster/network/packet/mtu_wire_bytes": [9000, 500],
    "/cluster/network/packet/ack_bytes": [1400],
    "/cluster/network/packet/control_bytes": [1400],
    "/cluster/network/packet/buffer/packets": [3],
    "/cluster/network/packet/buffer/scope": ["shared", "unlimited", "port"],
    "/cluster/network/packet/mark_packets": [1, 3],
    "/cluster/network/packet/queues": [2],
    "/cluster/network/packet/drop_packets/droppable": [2],
    "/cluster/network/packet/drop_packets/middle": [2],
    "/cluster/network/packet/drop_packets/protected": [2],
    "/cluster/network/packet/faults/link_loss": [[{"link": 0, "probability": 0.3}]],
    "/cluster/network/packet/faults/drop_packets_once": [[{"link": 0, "flow": 1, "seq": 1}]],
    "/cluster/network/packet/background/load": [0.4],
    "/cluster/network/packet/background/size_bytes": [40000],
    "/cluster/network/packet/background/cdf": [[[100, 0.5], [50000, 1]]],
    "/cluster/network/packet/transport/rto_min_s": [0.1, 1e-5],
    "/cluster/network/packet/transport/rto_initial_s": [0.1, 1e-5],
    "/cluster/network/packet/transport/g": [1],
    "/cluster/network/packet/transport/alpha0": [0],
    "/cluster/network/packet/transport/loss_bound_per_layer": [{"0": 0.7, "1": 0.7, "2": 0.7}],
    "/training/iterations": [7],
    "/training/discard_iterations": [0, 1, 2, 3],
    "/training/exchange_s": [0.5],
    "/training/update_s": [0.5],
    "/training/input_s": [0.5],
    "/training/sync_s": [0.5],
    "/training/wait_s": [0.5],
    "/training/host_copy_Bps": [1e6],
    "/training/max_width": [1],
    "/training/width_tolerance": [10],
    "/training/warmup_iterations": [2],
    "/training/servers": [2, 3],
    "/training/convergence/x1": [0, 0.4],
    "/communication/candidates": [["mst"], ["be"], ["lp"]],
    "/communication/block_bytes": [1000],
    "/communication/element_bytes": [4, 4000],
    "/communication/bucket_bytes": [1000, 500000],
    "/communication/first_bucket_bytes": [1000],
    "/communication/fusion_bytes": [1000],
    "/communication/cycle_s": [0.5],
    "/communication/phase_s": [3e-4],
    "/communication/copy_bandwidth_Bps": [1e7],
    "/communication/concurrency": [1, 3],
    "/communication/contention": [0.1, 0.7],
    "/communication/partition_bytes": [1000],
    "/communication/credit_bytes": [1000, 300000],
    "/communication/dear_layers": [1],
    "/communication/compression": ["fp16", "quantize8", {"method": "topk", "density": 0.01}],
    "/communication/compression/method": ["quantize8", "fp16", "truncate16"],
    "/communication/compression/density": [0.2],
    "/communication/compression/k": [7],
    "/communication/compression/density_warmup": [[0.5, 0.25]],
    "/communication/compression/iterations_per_epoch": [2],
    "/communication/compression/encode_Bps": [1e7],
    "/communication/compression/decode_Bps": [1e7],
    "/communication/compression/dense_warmup_iterations": [0, 2],
    "/communication/compression/block": [4],
    "/communication/compression/bits": [3],
    "/communication/compression/bucket": [3],
    "/communication/compression/ratio": [2.5, 7],
    "/variability/compute_cv": [0.3, 1],
    "/variability/exchange_cv": [0.3, 1],
    "/variability/factors": [[1, 3]],
    "/variability/stragglers": [[{"worker": 0, "factor": 3}]],
    "/limits/simulated_s": [1e-6],
    "/method": ["events", "max_plus", "closed_form"],
}


def leaves(node, pointer, found):
    """Pointers of a schema with the values that it shows for each; lists by their element 0."""
    values = found.setdefault(pointer, [])
    values += node.get("enum", [])
    values += [node["const"]] if "const" in node else []
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    default = node.get("default")
    if "boolean" in kinds:
        values += [True, False]
    if ("integer" in kinds or "number" in kinds) and "enum" not in node:
        start = default if isinstance(default, (int, float)) else 1
        more = [start * 3 + 1, start + 1]
        if "maximum" in node and node["maximum"] <= 1:
            more = [start / 2, 0.9, 0.1]
        values += [int(v) if "integer" in kinds else v for v in more]
        values += [start / 3] if "number" in kinds and start else []
    for key, child in node.get("properties", {}).items():
        leaves(child, f"{pointer}/{key}", found)
    for part in ("oneOf", "anyOf", "allOf"):
        for child in node.get(part, []):
            leaves(child, pointer, found)
    items = node.get("items")
    if isinstance(items, dict) and "object" in json.dumps(items.get("type", "")):
        leaves(items, f"{pointer}/1", found)
    return found


def get(tree, pointer):
    for token in tokens(pointer):
        if isinstance(tree, list):
            index = int(token) if token.isdigit() else len(tree)
            tree = tree[index] if index < len(tree) else None
        elif isinstance(tree, dict):
            tree = tree.get(token)
        else:
            return None
    return tree


class Program:
    def __init__(self, program, folder):
        self.program, self.folder, self.runs = program, folder, 0

    def __call__(self, scenario):
        """(exit code, what the run says without meta and scenario, warnings, errors, scenario)."""
        self.runs += 1
        handle, path = tempfile.mkstemp(suffix=".json", dir=self.folder)
        with os.fdopen(handle, "w") as file:
            json.dump(scenario, file)
        try:
            done = subprocess.run([self.program, "run", path, "--json"], capture_output=True,
                                  text=True, timeout=600, check=False, cwd=self.folder)
        except subprocess.TimeoutExpired:
            return 124, None, [], "takes more than 600 s", None
        finally:
            os.unlink(path)
        if done.returncode != 0:
            return done.returncode, None, [], done.stderr, None
        result = json.loads(done.stdout)
        warnings = result["warnings"]
        resolved = result["scenario"]
        said = {key: value for key, value in result.items() if key not in IGNORED_PARTS}
        return 0, said, warnings, "", resolved


def unused(warnings, pointer):
    """A warning that names the key and says that it does nothing."""
    key = tokens(pointer)[-1]
    return any(key in text and ("no effect" in text or "unused" in text) for text in warnings)


def in_bases(name, places):
    """Of "pattern -exception -exception"."""
    pattern, *exceptions = places.split(" -")
    return fnmatch.fnmatchcase(name, pattern) and not any(fnmatch.fnmatchcase(name, each) for each in exceptions)


def neutral(pointer, name):
    return any(fnmatch.fnmatchcase(pointer, key) and in_bases(name, places) for key, places, _ in NEUTRAL)


def check_base(run, name, scenario, pointers, args):
    """Problems of one base."""
    code, plain, warnings, errors, resolved = run(scenario)
    if code != 0:
        return [f"{name}: does not run: {errors.strip()}"]
    problems = []
    code, again, _, errors, _ = run(resolved)
    if code != 0:
        problems.append(f"{name}: its resolved scenario does not run: {errors.strip()}")
    elif again != plain:
        problems.append(f"{name}: its resolved scenario gives another result")
    refused = set()  # objects that have no meaning here: nothing in them has
    for pointer, values in pointers.items():
        if args.pointer not in pointer or any(pointer.startswith(p + "/") for p in refused):
            continue
        if pointer in LABELS or neutral(pointer, name) and not args.all:
            continue
        if zlib.crc32(f"{args.seed} {name} {pointer}".encode()) % 1000 >= 1000 * args.share:
            continue
        if pointer.startswith("/workload/") and isinstance(scenario["workload"], list):
            continue  # jobs have the keys of a workload each
        parent = pointer.rsplit("/", 1)[0]
        last = tokens(pointer)[-1]
        if last == "1" or (parent.endswith("/1") and get(scenario, parent) is None):
            continue
        here, before = scenario, plain
        missing = [p for p in OBJECTS if pointer.startswith(p + "/") and not isinstance(get(scenario, p), (dict, list))]
        for p in missing:
            here = assigned(here, p, OBJECTS[p])
        if missing:
            code, before, _, _, _ = run(here)
            if code != 0:
                continue  # the object itself was looked at
        if pointer in OBJECTS and get(scenario, pointer) is None:
            values = [OBJECTS[pointer]]
        elif pointer in VALUES:
            values = VALUES[pointer]
        elif not values:
            continue
        current = get(here, pointer)
        seen = None
        for value in values:
            if value == current and type(value) is type(current):
                continue
            changed = assigned(here, pointer, value)
            code, after, warnings, errors, _ = run(changed)
            if code not in (0, 1, 3):
                problems.append(f"{name}: {pointer} = {value}: exit code {code}: {errors}")
            if code != 0:
                seen = "refused"
            elif after != before:
                seen = "changed"
            elif unused(warnings, pointer):
                seen = "warned"
            else:
                seen = seen or "ignored"
                continue
            break
        if seen == "refused" and pointer in OBJECTS and get(scenario, pointer) is None:
            refused.add(pointer)
        if seen == "ignored":
            problems.append(f"{name}: {pointer} is ignored")
    return problems


def check_all(program, check, bases, *arguments, words):
    """The exit code of a test that checks every base, in as many threads as there are cores."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        run = Program(program, folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for each in [pool.submit(check, run, *base, *arguments) for base in bases.items()]:
                for problem in each.result():
                    problems.append(problem)
                    print(problem, flush=True)
    print(f"{len(bases)} bases, {words}: {run.runs} runs, {len(problems)} problems")
    return 1 if problems or not bases else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--only", default="*", help="bases, with wildcards")
    parser.add_argument("--pointer", default="", help="a part of the pointers")
    parser.add_argument("--all", action="store_true", help="neutral ones too")
    parser.add_argument("--share", type=float, default=0.25, help="of all keys and bases; 1 by hand")
    parser.add_argument("--seed", type=int, default=1, help="which share")
    args = parser.parse_args()
    schema = json.loads((REPOSITORY / "schemas/scenario.schema.json").read_text())
    pointers = leaves(schema, "", {})
    del pointers[""]
    bases = {name: scenario for name, scenario in all_bases(REPOSITORY).items() if fnmatch.fnmatchcase(name, args.only)}
    return check_all(args.stepsim, check_base, bases, pointers, args,
                     words=f"{len(pointers)} keys, share {args.share} of seed {args.seed}")


if __name__ == "__main__":
    sys.exit(main())
