"""Base scenarios: every training algorithm, collective, schedule, network model and compression.

Each is small, so that a run takes a few milliseconds. `base(...)` merges parts into a scenario;
BASES maps a name to a scenario that runs as it is.
"""
import copy

# Six workers: no power of two, and parts of a gradient are not whole bytes. The first layer has no
# gradient, so its next forward may start before the last message ends.
LAYERS = [
    {"name": "in", "forward_s": 5e-4, "backward_s": 5e-4, "gradient_bytes": 0},
    {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 400000,
     "shape": [250, 400], "dtype": "float32"},
    {"name": "b", "forward_s": 2e-3, "backward_s": 3e-3, "gradient_bytes": 200000,
     "shape": [500, 100], "dtype": "float32"},
    {"name": "c", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 2002, "shape": [1001],
     "dtype": "float16"},
]
LINK = {"latency_s": 1e-5, "bandwidth_Bps": 1.25e8, "reduction_Bps": 1e9}
STAR = {"preset": "star", "hosts": 8, "latency_s": 1e-5, "bandwidth_Bps": 1.25e8}
TWO_LEVELS = {"nodes": 2, "gpus_per_node": 3, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9}}
MODEL = {"model": "alexnet", "batch_size": 2, "device": {"flops_Ps": 1e12, "utilization": 0.5}}
SERVER = {"training": {"algorithm": "parameter_server"}}
SPARSE = {"density": 0.01, "costs": {"select_s": 1e-5, "select_s_per_element": 1e-9}}


def merged(scenario, part):
    """`part` over `scenario`: objects key by key, anything else replaced; None removes a key."""
    result = dict(scenario)
    for key, value in part.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def base(*parts):
    scenario = {"kind": "scenario", "workload": {"layers": LAYERS},
                "cluster": {"nodes": 6, "network": LINK},
                "training": {"iterations": 4}, "communication": {"schedule": "wfbp"}}
    for part in parts:
        scenario = merged(scenario, part)
    return scenario


def communication(**keys):
    return {"communication": keys}


def training(**keys):
    return {"training": keys}


def network(model, packet=None, **more):
    """The network of a simulated cluster: packet is its block, more other keys of `network`."""
    keys = {"model": model, **more}
    if packet is not None:
        keys["packet"] = packet
    return {"cluster": {"network": keys}}


def compression(method, **keys):
    return {"communication": {"schedule": "single", "compression": {"method": method, **keys}}}


ON_STAR = {"cluster": {"topology": STAR, "network": {"latency_s": None, "bandwidth_Bps": None, "reduction_Bps": None}}}
NO_LINK = {"cluster": {"network": {"latency_s": None, "bandwidth_Bps": None, "reduction_Bps": None}}}
NO_SCHEDULE = communication(schedule=None)


def all_bases(repository):
    profiles = f"{repository}/topologies"
    bases = {}
    for collective in ("ring", "mst", "be", "bruck", "recursive_doubling", "lp", "double_binary_tree", "auto"):
        bases[f"collective {collective}"] = base(communication(collective=collective))
    for collective in ("hierarchical", "hierarchical_leader"):
        bases[f"collective {collective}"] = base({"cluster": TWO_LEVELS}, communication(collective=collective))
    for collective in ("ring_rails", "two_level", "collnet"):
        bases[f"collective {collective}"] = base({"cluster": TWO_LEVELS}, communication(collective=collective))
    bases["collective nvls_tree"] = base({"cluster": TWO_LEVELS},
                                         {"cluster": {"gpus_per_node": 4, "nvls_Bps": 3e11}},
                                         communication(collective="nvls_tree"))
    bases["collective parameter_server"] = base(communication(collective="parameter_server"))
    bases["collective calibrated"] = base(
        NO_LINK, {"cluster": {"nodes": 8, "network": {
            "calibration": f"{profiles}/k80-10gbe.calibration.json"}}}, communication(collective="calibrated"))
    bases["two levels"] = base({"cluster": TWO_LEVELS})
    bases["reduce_broadcast"] = base(communication(collective="mst", exchange="reduce_broadcast"))
    bases["schedule ddp"] = base(communication(schedule="ddp", bucket_bytes=500000))
    bases["schedule ddp, two at once"] = base(communication(schedule="ddp", bucket_bytes=100000, concurrency=2))
    bases["schedule horovod"] = base(communication(schedule="horovod", cycle_s=5e-3))
    bases["schedule caps"] = base(communication(schedule="caps", caps_mib=[0.1]))
    bases["schedule groups"] = base(communication(schedule="groups", groups=[[3], [2, "a"]]))
    for schedule in ("single", "mg_wfbp", "mg_wfbp_small_tensors", "optimal",
                     "eager", "exhaustive", "asc_wfbp", "priority", "dear"):
        bases[f"schedule {schedule}"] = base(communication(schedule=schedule))
    bases["schedule omgs"] = base(compression("topk", **SPARSE), communication(schedule="omgs"))

    bases["pipe_sgd"] = base(training(algorithm="pipe_sgd"))
    bases["od_sgd"] = base(training(algorithm="od_sgd"))
    bases["pipe_sgd width 3"] = base(training(algorithm="pipe_sgd", pipeline_width=3), communication(schedule="single"))
    bases["pipe_sgd optimal width"] = base(training(algorithm="pipe_sgd", pipeline_width="optimal"))
    bases["pipe_sgd fp16"] = base(training(algorithm="pipe_sgd"), compression("fp16"))
    bases["pipe_sgd quantize8"] = base(training(algorithm="pipe_sgd"), compression("quantize8"))
    bases["server"] = base(SERVER)
    bases["server single"] = base(SERVER, communication(schedule="single"))
    bases["server, two"] = base(SERVER, training(servers=2), communication(schedule="single"))
    bases["server colocated"] = base(SERVER, training(placement="colocated"))
    bases["server sharded"] = base(SERVER, training(placement="sharded"))
    bases["server straggler"] = base(SERVER, communication(schedule="single"), {"variability": {
        "stragglers": [{"worker": 1, "factor": 1.5}]}})
    bases["server quantize8"] = base(SERVER, compression("quantize8"))
    bases["server async"] = base(SERVER, training(mode="async"), NO_SCHEDULE)
    bases["server ssp"] = base(SERVER, training(mode="ssp", staleness_bound=1), NO_SCHEDULE)
    bases["server async quantize8"] = base(SERVER, training(mode="async"), compression("quantize8"), NO_SCHEDULE)

    for gather_by in ("broadcast_tensors", "broadcast_view"):
        zero = training(sharding={"strategy": "zero1", "gather_by": gather_by})
        bases[f"zero1 by {gather_by}"] = base(zero)
    bases["broadcast_cost"] = base(NO_LINK, zero, {"cluster": {"network": {
        "cost": {"startup_s": 1e-4, "per_byte_s": 1e-8}, "broadcast_cost": {"startup_s": 1e-4, "per_byte_s": 1e-8}}}})
    bases["local_sgd"] = base(training(algorithm="local_sgd", local_steps=3), NO_SCHEDULE)
    bases["easgd"] = base(training(algorithm="easgd", local_steps=3), NO_SCHEDULE)
    bases["diloco"] = base(training(algorithm="diloco", local_steps=4, overlap_steps=1, outer_update_s=1e-3,
                                    outer_compression={"method": "int8"}), NO_SCHEDULE)
    bases["diloco in fragments"] = base(training(algorithm="diloco", local_steps=4, fragments=2,
                                                 outer_gate="layer"), NO_SCHEDULE)
    bases["diloco between islands"] = base(
        {"cluster": TWO_LEVELS}, training(algorithm="diloco", local_steps=3, inner="sync_sgd"),
        communication(collective="ring"))
    bases["diloco over a link of its own"] = base(
        training(algorithm="diloco", local_steps=3,
                 outer_network={"latency_s": 0.01, "bandwidth_Bps": 1e7, "ranks": 2}), NO_SCHEDULE)
    bases["diloco, flow"] = base(network("flow"), training(algorithm="diloco", local_steps=3), NO_SCHEDULE)

    for method in ("fp16", "truncate16", "quantize8"):
        bases[f"compression {method}"] = base(compression(method))
    for method in ("qsgd", "signsgd"):
        bases[f"compression {method}"] = base(compression(method, costs=SPARSE["costs"]))
    bases["compression custom_codec"] = base(compression("custom_codec", ratio=3))
    bases["compression custom"] = base(compression(
        "custom", name="mine", bytes_per_worker="8 * n * density", density=0.01, exchange="allgather",
        merge_s=1e-5, decompress_s="20us"))
    bases["compression codec with rates"] = base(compression("quantize8", encode_Bps=1e9, decode_Bps=2e9))
    for method in ("topk", "dgc", "gaussian_k", "gtopk_tree", "gtopk_butterfly", "gtopk_exact",
                   "sparcml_rd", "sparcml_split", "topk_dsa", "ok_topk"):
        bases[f"compression {method}"] = base(compression(method, **SPARSE))
    bases["compression hierarchical_topk"] = base({"cluster": TWO_LEVELS}, compression("hierarchical_topk", **SPARSE))
    bases["compression omnireduce"] = base(compression("omnireduce", block=64, **SPARSE))
    bases["compression powersgd"] = base(compression("powersgd", rank=2, costs=SPARSE["costs"]))

    bases["cost"] = base(NO_LINK, {"cluster": {"network": {"cost": {"startup_s": 1e-4, "per_byte_s": 1e-8}}}})
    bases["exchange_s"] = base(training(exchange_s=0.01))
    bases["calibration"] = base(NO_LINK, {"cluster": {"network": {
        "calibration": f"{profiles}/icdcs19.calibration.json"}}})
    bases["calibration with curves"] = base(NO_LINK, {"cluster": {"nodes": 4, "network": {
        "calibration": f"{profiles}/testbed-4x100mbps.calibration.json"}}}, communication(collective="be"))
    bases["alpha_beta on a topology"] = base(ON_STAR)
    bases["flow"] = base(network("flow"))
    bases["flow on a topology"] = base(ON_STAR, network("flow"))
    bases["flow, server"] = base(SERVER, network("flow"))
    bases["flow, priority"] = base(network("flow"), communication(schedule="priority"))
    bases["flow, topk"] = base(network("flow"), compression("topk", **SPARSE))
    bases["flow, pipe_sgd"] = base(network("flow"), training(algorithm="pipe_sgd"))
    bases["flow, dlcp"] = base(SERVER, network("flow", {"transport": {"kind": "dlcp"}}))
    for transport in ("raw", "reno", "dctcp", "pfabric", "dlcp"):
        bases[f"packet {transport}"] = base(
            network("packet", {"transport": {"kind": transport}}), training(iterations=2))
    bases["packet window"] = base(
        network("packet", {"transport": {"kind": "window"}, "buffer": {"scope": "unlimited"}}), training(iterations=2))
    bases["packet, server"] = base(SERVER, network("packet", {"transport": {"kind": "dlcp"}}), training(iterations=2))
    bases["packet, dctcp server on a topology"] = base(
        ON_STAR, SERVER, network("packet", {"transport": {"kind": "dctcp"}}), training(iterations=2))

    bases["model"] = base({"workload": {"layers": None, **MODEL}})
    bases["model, measured"] = base({"workload": {
        "layers": None, **MODEL, "device": None, "measured": {"compute_s": 0.01}}})
    bases["model, gpu"] = base({"workload": {
        "layers": None, "model": "gpt2", "batch_size": 2, "gpu": "h100",
        "measured_step": {"step_s": 0.01, "batch_size": 4, "sequence_length": 256}}})
    bases["trace"] = base({"workload": {
        "layers": None, "trace": f"{repository}/traces/resnet50.ddp.2xa100.json"}}, communication(schedule="ddp"))
    jobs = base(network("flow"))
    jobs["workload"] = [{"layers": LAYERS, "nodes": 3}, {"layers": LAYERS[:2], "nodes": 3}]
    bases["two jobs"] = jobs
    for law in ("lognormal", "uniform", "gamma"):
        bases[f"jitter {law}"] = base({"variability": {"distribution": law, "compute_cv": 0.1}})
    bases["jitter empirical"] = base({"variability": {
        "distribution": "empirical", "factors": [1, 1.5], "compute_cv": 1}})
    bases["jitter of the exchange"] = base({"variability": {"exchange_cv": 0.1}})
    bases["straggler"] = base({"variability": {"stragglers": [{"worker": 1, "factor": 1.5}]}})
    bases["one worker"] = base({"cluster": {"nodes": 1}})
    return bases
