"""Pairs of words that never go together in a scenario, with the rule that forbids them: the interface's
"a key without meaning is an error", and what each network level and algorithm is defined for."""

ASYNC, SYNC_SERVER, PIPE = "parameter_server async", "parameter_server sync", "pipe_sgd"
SSP, ISLANDS = "parameter_server ssp", "diloco sync_sgd"
UNBOUND = {ASYNC, SSP}
LATE = {PIPE, "od_sgd"}  # apply gradients of earlier iterations
ROUNDS = {"local_sgd", "diloco", ISLANDS, "easgd"}
ALGORITHMS = {"sync_sgd", PIPE, "od_sgd", SYNC_SERVER} | UNBOUND | ROUNDS
PLANNERS = {"single", "wfbp", "ddp", "horovod", "mg_wfbp", "mg_wfbp_small_tensors", "optimal", "eager",
            "exhaustive", "caps", "groups"}
OWN_ORDER = {"asc_wfbp", "priority", "dear", "omgs"}
SCHEDULES = PLANNERS | OWN_ORDER
CODECS = {"fp16", "truncate16", "quantize8", "custom_codec"}
GATHERED = {"topk", "dgc", "gaussian_k", "gtopk_tree", "gtopk_butterfly", "gtopk_exact", "sparcml_rd",
            "sparcml_split", "topk_dsa", "ok_topk", "hierarchical_topk", "omnireduce", "qsgd", "signsgd",
            "powersgd", "custom"}
SPARSE = GATHERED - {"qsgd", "signsgd", "powersgd", "custom"}
FORMULA_ONLY = {"sparcml_split", "topk_dsa", "ok_topk", "omnireduce"}
COLLECTIVES = {"mst", "be", "bruck", "ring", "recursive_doubling", "lp", "double_binary_tree",
               "hierarchical", "hierarchical_leader", "ring_rails", "two_level", "nvls", "nvls_tree",
               "collnet", "parameter_server", "auto", "library", "calibrated"}
IN_SWITCH = {"nvls", "nvls_tree", "collnet"}
NETWORKS = {"flow", "packet"}
METHODS = {"closed_form", "max_plus", "events"}

# Keys of the schema that no scenario may have.
NEVER = {"/communication/exchange_sizes"}

FORBIDDEN = [
    (("job", {"samples", "tokens", "failures"}), ("workload", {"jobs"}), "one training"),
    (("algorithm", {SYNC_SERVER, "easgd"} | UNBOUND), ("collective", COLLECTIVES), "servers move the gradients"),
    (("algorithm", UNBOUND), ("schedule", SCHEDULES - {"single"}), "asynchronous: one message"),
    (("algorithm", UNBOUND), ("method", METHODS), "asynchronous: no collective"),
    (("collective", {"calibrated"}), ("method", METHODS), "a measured curve"),
    (("collective", {"library"}), ("method", METHODS), "the model of a library"),
    (("collective", {"library"}), ("level", NETWORKS | {"cost", "calibration"}), "a node type gives the cost"),
    (("collective", {"library"}), ("compression", GATHERED | CODECS), "dense gradients"),
    (("algorithm", ALGORITHMS - {"sync_sgd"} - LATE), ("compression", GATHERED), "an all-reduce"),
    (("algorithm", ALGORITHMS - {"sync_sgd"}), ("schedule", OWN_ORDER), "an order of its own"),
    (("algorithm", UNBOUND), ("workload", {"jobs"}), "asynchronous: one job"),
    (("workload", {"jobs"}), ("level", {"alpha_beta", "cost", "calibration"}), "jobs share a network"),
    (("workload", {"jobs"}), ("schedule", {"omgs"}), "not tried: costs of every size on a network"),
    (("algorithm", ROUNDS - {ISLANDS}), ("schedule", SCHEDULES | {"trace"}), "a step exchanges nothing"),
    (("algorithm", ROUNDS), ("compression", CODECS), "outer_compression is that of rounds"),
    (("algorithm", ROUNDS), ("collective", {"parameter_server"}), "an all-reduce ends a round"),
    (("algorithm", {ISLANDS}), ("gpus", {"one"}), "islands: several ranks of a node"),
    (("algorithm", {ISLANDS}), ("collective", {"calibrated", "nvls"}), "islands: several nodes"),
    (("workload", {"jobs"}), ("method", {"closed_form", "max_plus"}), "flow and packet: events"),
    (("workload", {"trace", "model"}), ("schedule", {"exhaustive"}), "at most 20 gradients"),
    (("workload", {"trace", "model"}), ("level", {"packet"}), "not tried: too many packets"),
    (("workload", {"layers", "model", "jobs"}), ("schedule", {"trace"}), "a trace's measured buckets"),
    (("workload", {"trace", "model", "jobs"}), ("schedule", {"groups"}), "names the layers of one workload"),
    (("schedule", {"trace"}), ("level", {"packet"}), "not tried: traces are too many packets"),
    (("level", NETWORKS), ("method", {"closed_form", "max_plus"}), "flow and packet: events"),
    (("level", NETWORKS), ("collective", {"calibrated"}), "a curve has no messages"),
    (("level", NETWORKS), ("compression", FORMULA_ONLY | {"hierarchical_topk"}), "no messages of its own"),
    (("level", {"alpha_beta", "cost"}), ("collective", {"calibrated"}), "needs a measured curve"),
    (("level", NETWORKS), ("collective", IN_SWITCH | {"ring_rails"}), "no cables of a topology"),
    (("gpus", {"one"}), ("collective", {"hierarchical", "hierarchical_leader", "ring_rails", "two_level"}
                         | IN_SWITCH), "several ranks of a node"),
    (("gpus", {"one"}), ("compression", {"hierarchical_topk"}), "several ranks of a node"),
    (("schedule", {"asc_wfbp"}), ("compression", GATHERED - {"powersgd"}), "asc_wfbp: a linear cost"),
    (("schedule", {"omgs"}), ("compression", {"-", "none"} | CODECS), "omgs: sparse only"),
    (("schedule", {"priority"}), ("compression", GATHERED | CODECS), "priority: dense chunks"),
    (("schedule", {"dear"}), ("compression", GATHERED), "dear: an exchange that sums"),
    (("compression", FORMULA_ONLY), ("method", {"max_plus", "events"}), "known by a formula only"),
]


def forbidden(one, two):
    """The rule against two (dimension, word) in one scenario, or None."""
    for first, second, words in FORBIDDEN:
        for a, b in ((one, two), (two, one)):
            if matches(a, first) and matches(b, second):
                return words
    return None


def matches(word, pattern):
    """(dimension, word) against (dimension, words)."""
    return word[0] == pattern[0] and word[1] in pattern[1]
