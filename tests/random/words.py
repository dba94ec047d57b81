"""Combinations of the words that decide what is simulated, and the keys that may stand beside them.

A combination has one word per dimension (DIMENSIONS). APPLIES follows the table of keys in the interface:
for which combinations a key may stand in a scenario. Rules over several keys are not written down but
learnt: documents.without takes away what an error of the reader points at.
"""
import itertools

import rules
import schema

SCENARIO = schema.load("scenario")
LEAVES = dict(schema.leaves(SCENARIO))


def words(pointer):
    """The words of an enum leaf."""
    return [w for part in LEAVES[pointer]["anyOf"] for w in part.get("enum", [])]


DIMENSIONS = {
    "algorithm": ["sync_sgd", "pipe_sgd", "od_sgd", "parameter_server sync", "parameter_server async",
                  "parameter_server ssp", "local_sgd", "diloco", "diloco sync_sgd", "easgd"],
    "schedule": ["-"] + words("/communication/schedule"),
    "collective": ["-"] + words("/communication/collective"),
    "compression": ["-"] + words("/communication/compression/method"),
    "level": ["alpha_beta", "cost", "calibration", "flow", "packet"],
    "variability": ["none", "stragglers", "exchange"] + words("/variability/distribution"),
    "gpus": ["one", "several"],
    "workload": ["layers", "model", "trace", "jobs"],
    "method": words("/method"),
    "conditions": ["ideal", "typical"],
    "job": ["none", "samples", "tokens", "failures"],
}
CODECS = {"fp16", "truncate16", "quantize8", "custom_codec"}
TRANSPORTS = words("/cluster/network/packet/transport/kind")
CALIBRATIONS = ["10g-tcp", "25g-tcp", "100g-roce", "icdcs19", "100g-ib"]
NETWORKS = {"flow", "packet"}
SSP, ISLANDS = "parameter_server ssp", "diloco sync_sgd"

# Which combinations a key may stand in, by the start of its pointer; the longest match decides.
APPLIES = {
    "/communication/schedule": lambda d: False,  # dimensions are set by hand
    "/communication/collective": lambda d: False,
    "/communication/compression": lambda d: False,
    "/communication/library": lambda d: d["collective"] == "library",
    "/communication/library/calibration": lambda d: False,  # a file
    "/communication/library/version": lambda d: False,
    "/communication/library/algorithms": lambda d: False,  # many leave nothing
    "/communication/library/protocols": lambda d: False,
    "/communication/candidates": lambda d: d["collective"] == "auto",
    "/communication/block_bytes": lambda d: d["collective"] in ("lp", "double_binary_tree"),
    "/communication/reduction_mode": lambda d: collective(d),
    "/communication/chunking": lambda d: collective(d),
    "/communication/element_bytes": lambda d: collective(d) and d["level"] in NETWORKS,
    "/communication/cost_form": lambda d: d["collective"] in ("mst", "be", "lp", "double_binary_tree"),
    "/communication/ring_startup": lambda d: d["collective"] in ("-", "ring") and collective(d),
    "/communication/lp_last_hop": lambda d: d["collective"] == "lp",
    "/communication/exchange_sizes": lambda d: d["compression"] not in {"-", "none"} | CODECS,
    "/communication/pipeline_chunks": lambda d: (d["collective"] == "collnet" or
                                                 (d["collective"] == "two_level" and d["level"] not in NETWORKS)),
    "/communication/intra_algorithm": lambda d: d["collective"] == "hierarchical_leader",
    "/communication/inter_algorithm": lambda d: d["collective"].startswith("hierarchical"),
    "/communication/exchange": lambda d: (d["algorithm"] == "sync_sgd" and d["collective"] in ("mst", "be", "lp")),
    "/communication/overlap_backward": lambda d: d["algorithm"] in ("sync_sgd", ISLANDS),
    "/communication/buckets": lambda d: d["schedule"] == "fixed_count",
    "/communication/bucket_bytes": lambda d: d["schedule"] in ("ddp", "dear"),
    "/communication/first_bucket_bytes": lambda d: d["schedule"] == "ddp",
    "/communication/framework": lambda d: False,
    "/communication/ddp_mode": lambda d: d["schedule"] in ("ddp", "caps"),
    "/communication/gradient_as_bucket_view": lambda d: d["schedule"] in ("ddp", "caps"),
    "/communication/caps_mib": lambda d: d["schedule"] == "caps",
    "/communication/schedule_name": lambda d: d["schedule"] in ("caps", "groups"),
    "/communication/groups": lambda d: False,  # by the layers of the workload
    "/communication/fusion_bytes": lambda d: d["schedule"] == "horovod",
    "/communication/cycle_s": lambda d: d["schedule"] == "horovod",
    "/communication/phase_s": lambda d: d["schedule"] == "horovod",
    "/communication/blocking": lambda d: d["schedule"] == "horovod",
    "/communication/concurrency": lambda d: (d["schedule"] == "asc_wfbp" or d["algorithm"] == "sync_sgd" and
                                             d["schedule"] in ("wfbp", "ddp", "fixed_count", "trace", "caps", "groups")
                                             and d["collective"] != "parameter_server"),
    "/communication/channel_shares": lambda d: (d["algorithm"] == "sync_sgd" and d["level"] not in NETWORKS and
                                                d["schedule"] in ("wfbp", "ddp", "fixed_count", "trace", "caps", "groups")
                                                and d["collective"] != "parameter_server"),
    "/communication/contention": lambda d: d["schedule"] == "asc_wfbp" and d["level"] not in NETWORKS,
    "/communication/preset": lambda d: d["schedule"] == "priority",
    "/communication/partition_bytes": lambda d: d["schedule"] == "priority",
    "/communication/credit_bytes": lambda d: d["schedule"] == "priority",
    "/communication/dear_layers": lambda d: d["schedule"] == "dear",
    "/communication/prefetch": lambda d: d["schedule"] == "dear",
    "/communication/copy_bandwidth_Bps": lambda d: d["algorithm"] == "sync_sgd" or rounds(d),
    "/communication/plan_cost": lambda d: d["schedule"] in ("horovod", "mg_wfbp", "mg_wfbp_small_tensors",
                                                            "optimal", "eager", "asc_wfbp"),
    "/communication/next_forward": lambda d: d["algorithm"] in ("sync_sgd", ISLANDS),
    "/training": lambda d: True,
    "/training/algorithm": lambda d: False,
    "/training/mode": lambda d: False,
    "/training/servers": lambda d: server(d) or d["algorithm"] == "easgd",
    "/training/placement": lambda d: server(d) or d["algorithm"] == "easgd",
    "/training/server_split": lambda d: server(d),
    "/training/server_mode": lambda d: (d["algorithm"] in ("parameter_server async", SSP)
                                        and d["level"] not in NETWORKS),
    "/training/staleness_bound": lambda d: d["algorithm"] == SSP,
    "/training/local_steps": lambda d: rounds(d) or d["algorithm"] == "easgd",
    "/training/fragments": lambda d: rounds(d),
    "/training/overlap_steps": lambda d: rounds(d),
    "/training/fragment_pattern": lambda d: rounds(d),
    "/training/outer_gate": lambda d: rounds(d),
    "/training/outer_value_bytes": lambda d: rounds(d) or d["algorithm"] == "easgd",
    "/training/inner": lambda d: False,  # a dimension with the algorithm
    "/training/outer_update_s": lambda d: d["algorithm"].startswith("diloco"),
    "/training/outer_compression": lambda d: False,  # one word or object is put in by hand
    "/training/outer_network": lambda d: rounds(d) and d["level"] == "alpha_beta",
    "/training/outer_network/transport": lambda d: False,  # put in by hand with the conditions
    "/training/outer_network/ranks": lambda d: (rounds(d) and d["level"] == "alpha_beta" and d["algorithm"] != ISLANDS),
    "/training/pipeline_width": lambda d: pipe(d),
    "/training/max_width": lambda d: pipe(d),
    "/training/width_tolerance": lambda d: pipe(d),
    "/training/warmup_iterations": lambda d: pipe(d),
    "/training/warmup_switch": lambda d: pipe(d),
    "/training/drain": lambda d: pipe(d),
    "/training/compute_slowdown": lambda d: pipe(d) or (
        (d["algorithm"] == "sync_sgd" and d["level"] in NETWORKS | {"alpha_beta"}
         or rounds(d) and d["level"] == "alpha_beta") and d["variability"] == "none"
        and d["compression"] in ("-", "none") and d["schedule"] != "dear"), "/training/overlap": lambda d: False,
    "/training/reduced_precision": lambda d: d["conditions"] == "typical",
    "/communication/host_reduction": lambda d: d["conditions"] == "typical",
    "/conditions": lambda d: False,  # put in by hand, and what its factors depend on
    "/cluster/network/transport": lambda d: False,
    "/cluster/intra_network/bus": lambda d: False,
    "/training/host_copy_Bps": lambda d: not server(d),
    "/training/exchange_s": lambda d: (not server(d) and d["algorithm"] != ISLANDS and d["level"] == "alpha_beta"),
    "/training/convergence": lambda d: False,
    "/training/optimizer": lambda d: True,
    "/training/gradient_lifetime": lambda d: False,
    "/training/context_bytes": lambda d: True,
    "/training/activation_bytes": lambda d: True,
    "/training/micro_batches": lambda d: program(d),
    "/training/accumulation_exchange": lambda d: program(d),
    "/training/sharding": lambda d: False,  # one word or object is put in by hand
    "/cluster": lambda d: False,
    "/cluster/gpu_memory_bytes": lambda d: True,
    "/cluster/nics_per_node": lambda d: (d["gpus"] == "several"
                                         and d["collective"] not in ("-", "ring", "lp", "ring_rails")),
    "/cluster/nvlink_domain_nodes": lambda d: (d["level"] == "alpha_beta" and collective(d)
                                               and d["collective"] in ("-", "ring", "two_level")),
    "/cluster/nvls_Bps": lambda d: d["collective"] == "auto" and collective(d),
    "/cluster/nvls_startup_s": lambda d: d["collective"] in ("nvls", "nvls_tree") and collective(d),
    "/cluster/switch_latency_s": lambda d: d["collective"] == "collnet" and collective(d),
    "/cluster/rank_placement": lambda d: d["level"] in NETWORKS,
    "/cluster/network/reduction_Bps": lambda d: d["level"] == "alpha_beta" and d["collective"] != "library",
    "/cluster/network/delay_s": lambda d: d["level"] == "alpha_beta",
    "/cluster/intra_network/delay_s": lambda d: d["gpus"] == "several",
    "/cluster/network/block_latency_s": lambda d: d["collective"] in ("lp", "double_binary_tree"),
    "/cluster/intra_network/block_latency_s": lambda d: d["collective"] in ("lp", "double_binary_tree"),
    "/cluster/network/efficiency": lambda d: d["level"] == "alpha_beta",
    "/cluster/network/copy_engines": lambda d: True,
    "/cluster/network/count_headers": lambda d: d["level"] == "flow",
    "/cluster/network/packet": lambda d: d["level"] == "packet",
    "/cluster/network/packet/transport": lambda d: False,
    "/cluster/network/packet/faults": lambda d: False,
    "/cluster/network/packet/background": lambda d: False,
    "/workload": lambda d: False,
    "/workload/granularity": lambda d: d["workload"] != "jobs",
    "/workload/batch_size": lambda d: d["workload"] in ("layers", "trace"),
    "/workload/scale_backward_to_s": lambda d: d["workload"] != "jobs",
    "/workload/backward_factor": lambda d: d["workload"] == "model",
    "/workload/layer_overhead_s": lambda d: d["workload"] == "model",
    "/workload/value_bytes": lambda d: d["workload"] == "model",
    "/workload/attention": lambda d: d["workload"] == "model",
    "/workload/loss": lambda d: d["workload"] == "model",
    "/workload/kernels": lambda d: d["workload"] == "model",
    "/variability": lambda d: False,
    "/job": lambda d: False,  # a dimension
    "/seed": lambda d: True,
    "/name": lambda d: True,
    "/limits/simulated_s": lambda d: True,
}

# Keys of a compression's own.
COMPRESSION_KEYS = {
    "fp16": [], "powersgd": ["rank"], "qsgd": ["bits", "bucket"], "signsgd": [],
    "omnireduce": ["density", "block", "value_bytes"],
    "truncate16": ["encode_Bps", "decode_Bps", "count_scale_bytes", "scale_agreement"],
    "quantize8": ["encode_Bps", "decode_Bps", "count_scale_bytes", "scale_agreement"],
    "custom_codec": ["ratio", "encode_Bps", "decode_Bps", "count_scale_bytes", "scale_agreement"],
    "custom": ["name", "exchange", "bytes_per_worker", "compress_s", "merge_s", "decompress_s"],
}
SPARSE_KEYS = ["index_bytes", "value_bytes", "select_stream", "residual_mask", "allgather", "broadcast",
               "split_values_indices", "round_barriers", "selected_ratio", "support_overlap",
               "density_warmup"]
COSTS = [p.rsplit("/", 1)[-1] for p in LEAVES if p.startswith("/communication/compression/costs/")]


def server(d):
    return d["algorithm"].startswith("parameter_server")


def pipe(d):
    return d["algorithm"] == "pipe_sgd"


def rounds(d):
    """True where a round of several steps ends with an all-reduce."""
    return d["algorithm"] == "local_sgd" or d["algorithm"].startswith("diloco")


def program(d):
    """True where micro-batches and sharding may stand."""
    return (d["algorithm"] == "sync_sgd" and d["schedule"] != "dear"
            and not (d["collective"] == "parameter_server" and d["level"] in NETWORKS))


def collective(d):
    """True where an all-reduce moves dense gradients."""
    return (not server(d) and d["algorithm"] != "easgd" and d["compression"] in {"-", "none"} | CODECS
            and d["collective"] not in ("library", "calibrated"))


def combination(rng, fixed=()):
    """A combination of words: `fixed` ones as given, the rest at random and mostly without conflict."""
    d = {name: rng.choice(choices) for name, choices in DIMENSIONS.items()}
    if rng.random() < 0.6:
        d["level"] = "alpha_beta"
    if rng.random() < 0.5:
        d["workload"] = "layers"
    if rng.random() < 0.6:
        d["method"] = "auto"
    for name, odds in (("compression", 0.5), ("variability", 0.4), ("gpus", 0.6), ("algorithm", 0.4),
                       ("collective", 0.2), ("schedule", 0.2), ("conditions", 0.7), ("job", 0.5)):
        if rng.random() < odds:
            d[name] = DIMENSIONS[name][0]
    fixed = dict(fixed)
    d.update(fixed)
    return calm(d, set(d) - set(fixed))


# What a word cannot do without.
NEEDS = {"trace": ("workload", "trace"), "calibrated": ("level", "calibration"), "jobs": ("level", "flow"),
         "omgs": ("compression", "topk"),
         "hierarchical": ("gpus", "several"), "hierarchical_leader": ("gpus", "several"),
         "ring_rails": ("gpus", "several"), "two_level": ("gpus", "several"),
         "nvls": ("gpus", "several"), "nvls_tree": ("gpus", "several"),
         "collnet": ("gpus", "several"), ISLANDS: ("gpus", "several"),
         "hierarchical_topk": ("gpus", "several")}


def calm(d, free):
    """Makes a combination without the conflicts of rules.py: words get what they need, then of two words in
    conflict one of a dimension in `free` is put back to its first word, the later dimension first."""
    for _ in range(4):
        for name, word in list(d.items()):
            needed, value = NEEDS.get(word, (name, word))
            if needed in free and needed != name:
                d[needed] = value
        for one, two in itertools.combinations(list(d.items()), 2):
            if rules.forbidden(one, two):
                for name in (two[0], one[0]):
                    if name in free and d[name] != DIMENSIONS[name][0]:
                        d[name] = DIMENSIONS[name][0]
                        break
    return d


def applies(pointer, d):
    """Whether a key may stand beside the words of a combination."""
    parts = pointer.split("/")
    for length in range(len(parts), 1, -1):
        rule = APPLIES.get("/".join(parts[:length]))
        if rule:
            return rule(d)
    return False


def reaches(pointer, d):
    """Whether a scenario for a combination may get a key, one of those made by hand included."""
    if pointer.startswith("/workload/-"):
        return d["workload"] == "jobs"
    if pointer.startswith("/workload/layers"):
        return d["workload"] == "layers"
    if pointer.startswith("/cluster/network/packet"):
        return d["level"] == "packet"
    if pointer.startswith("/communication/compression/"):
        key = pointer.split("/")[3]
        own = COMPRESSION_KEYS.get(d["compression"])
        return d["compression"] not in ("-", "none") and (own is None or key in own)
    if pointer.startswith("/variability/"):
        return d["variability"] != "none"
    return applies(pointer, d) or applies(pointer, d) == (pointer in APPLIES)
