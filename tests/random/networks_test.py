#!/usr/bin/env python3
"""Random scenarios on a star: where flow level takes the time of alpha_beta, it names the same bottleneck.

    networks_test.py STEPSIM [--valid N] [--seed S] [--index I]

Every scenario is run on both network models with parts of messages of any size. N counts the pairs whose
iteration times are within 1e-9 of each other and that expose some communication.
"""
import argparse
import copy
import pathlib
import resource
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]
import net  # noqa: E402
from documents import with_value  # noqa: E402
from moving_seed import moving_seed  # noqa: E402
from random_test import MEMORY_LIMIT, made, targets, without_refused  # noqa: E402

CLOSE = 1e-9
SHARDED = [None, "zero1", None, "zero2", None, "full_shard"]
# Of one network model alone.
OTHER_MODELS = {"packet", "calibration", "cost", "broadcast_cost", "ports"}


def on_star(document, index):
    """The scenario on a star without a file, which both models know."""
    document = copy.deepcopy(document)
    cluster = document["cluster"]
    for key in ("topology", "preset", "conditions"):
        cluster.pop(key, None)
    document.pop("jobs", None)
    shards = SHARDED[index % len(SHARDED)]
    if shards and document["training"].get("algorithm", "sync_sgd") == "sync_sgd":
        document["training"] |= {"algorithm": "sync_sgd", "sharding": shards}
    network = {k: v for k, v in cluster.get("network", {}).items() if k not in OTHER_MODELS}
    cluster["network"] = {"latency_s": 1e-5, "bandwidth_Bps": 1e9} | network
    return with_value(document, "/communication/chunking", "real")


def summary_of(stepsim, document, model):
    """(The summary or None, the document less what this model refuses)."""
    for _ in range(5):
        document = with_value(document, "/cluster/network/model", model)
        answer = stepsim("run", stepsim.write(document), "--json", output="r.json")
        smaller = without_refused(document, answer.err) if answer.code == net.BAD_INPUT else None
        if smaller is None:
            break
        document = smaller
    return (net.checks.parsed(answer.written)["summary"] if answer.code == 0 else None), document


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stepsim")
    parser.add_argument("--valid", type=int, default=300, help="pairs of scenarios that take the same time")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--index", type=int)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    seed = options.seed if options.seed is not None else moving_seed()
    pairs, failed, alike, index = targets(seed), 0, 0, options.index or 0
    with tempfile.TemporaryDirectory() as folder:
        stepsim = net.Stepsim(str(pathlib.Path(options.stepsim).resolve()), folder, 60)
        while alike < options.valid:
            _, document, is_spoilt = made(seed, index, pairs, 0.15)
            flow, document = (None, None) if is_spoilt else summary_of(stepsim, on_star(document, index), "flow")
            plain = summary_of(stepsim, document, "alpha_beta")[0] if flow else None
            if plain and plain["exposed_communication_s"] > 0 and \
                    abs(flow["iteration_time_s"] - plain["iteration_time_s"]) <= CLOSE * plain["iteration_time_s"]:
                alike += 1
                if flow["bottleneck"] != plain["bottleneck"]:
                    failed += 1
                    print(f"FAILED: {flow['bottleneck']} on flow, {plain['bottleneck']} on alpha_beta\n"
                          f"  seed {seed} index {index}", flush=True)
            index += 1
            if options.index is not None:
                break
    print(f"seed {seed}: {alike} pairs of {index} scenarios, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
