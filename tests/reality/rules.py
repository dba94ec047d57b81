"""How a published measurement becomes a scenario of stepsim: one set of rules for all rows.

The rules were written before the first comparison; nothing in them is fitted to the rows. Links have the
nominal rate of their kind, and networks the latency and the share of payload of the shipped profiles.
The time of computation is the measured step on the fewest GPUs that the source gives. Every key that a
prediction depends on is named, so that a change of a default changes no prediction.

A row is a dictionary with the columns of reproduce/scoreboard/rows.csv; its README explains them.
"""
import dataclasses
import json
import math
import pathlib

# Share of the line rate that is payload under TCP: the shipped 10g-tcp profile, measured over nominal.
TCP_PAYLOAD = 1186.61 / 1250
TCP_LATENCY_S = 30.27e-6
SLOW_TCP_LATENCY_S = 436e-6  # the shipped profile of 1 Gb/s
SLOW_TCP_GBPS = 1.25
RDMA_LATENCY_S = 8.19e-6

# Network between machines -> latency in s, share of the line rate that arrives.
FABRICS = {
    "tcp": (TCP_LATENCY_S, TCP_PAYLOAD),
    "ipoib": (TCP_LATENCY_S, TCP_PAYLOAD),
    "rdma": (RDMA_LATENCY_S, 1.0),
    "aries": (RDMA_LATENCY_S, 1.0),
}

PCIE3_BPS = 0.76 * 15.75e9  # 16 lanes, of which packets leave three quarters
# Links between the GPUs of one machine -> bytes/s of one ring.
BUSES = {
    "pcie3": PCIE3_BPS,
    "pcie_host": PCIE3_BPS,
    "nvlink1": 80e9,
    "nvlink2": 150e9,
    "nvlink2x2": 50e9,
    "nvswitch2": 150e9,
    "nvlink3": 300e9,
    "nvlink4": 474.58e9,
    "none": 12e9,
}
BUS_LATENCY_S = 4.46e-6  # the shipped nvlink profile, for every bus

FAST_NODE_GBPS = 400  # from this rate on a machine has one interface per GPU
MOST_INTERFACES = 8

# Models without a shipped table: (shipped table, parameters that its tensors are scaled to).
SCALED_TABLES = {
    "txl_base": ("gpt2", 192e6),
    "txl_large": ("gpt2_medium", 257e6),
    "efficientnet_b0": ("resnet152", 5.29e6),
    "efficientnet_b4": ("resnet152", 19.34e6),
    "resnext101": ("resnet101", 44.18e6),
    "seresnext101": ("resnet101", 48.96e6),
    "bart_large": ("bert_large", 406e6),
    "inception_v3": ("inception_v4", 23.83e6),
    "fasterrcnn": ("resnet50", 34e6),
}
OTHER_TABLE = "gpt2_xl"  # "inline:NAME:PARAMETERS" of a name that is not above

# Method of the source -> schedule of stepsim.
SCHEDULES = {
    "BSP-A2A": "single", "WFBP-A2A": "wfbp", "MG-WFBP": "mg_wfbp", "ByteScheduler-A2A": "priority",
    "BSP-PS": "single", "WFBP-PS": "wfbp", "ByteScheduler-PS": "priority",
    "ps_cpu": "wfbp", "ps_nodes": "wfbp", "ps_dedicated_nodes": "wfbp",
    "ddp": "ddp", "fsdp": "ddp", "horovod": "horovod", "horovod_cpu": "horovod", "single": "single",
}
# Servers on machines; the GPUs of one machine exchange as usual.
SERVERS_ON_MACHINES = {"BSP-PS", "WFBP-PS", "ByteScheduler-PS", "ps_nodes", "ps_dedicated_nodes"}
SERVER_ON_HOST = "ps_cpu"  # the variables are on the CPU of the one machine

SCHEDULE_OPTIONS = {
    "ddp": {"bucket_bytes": 25 * 2**20, "ddp_mode": "rebuilt"},
    "horovod": {"fusion_bytes": 128 * 2**20, "cycle_s": 1e-3, "phase_s": 0, "blocking": False},
    "priority": {"partition_bytes": 4_000_000, "credit_bytes": 16_000_000}, # those of ByteScheduler
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """What a prediction may differ in. `bus_share` and `fabric_share`: share of the rates above by kind
    of link; a prediction with shares is not blind."""
    name: str = "blind"
    collective: str = "ring"
    bus_share: dict = dataclasses.field(default_factory=dict)
    fabric_share: dict = dataclasses.field(default_factory=dict)


VARIANTS = {name: Variant(name, collective)
            for name, collective in (("blind", "ring"), ("hierarchical", "hierarchical"), ("auto", "auto"))}


def variant_of_file(path):
    """The variant of a file {"collective", "intra_eff": {bus: share}, "fab_eff": {fabric: share}}."""
    tree = json.loads(path.read_text(encoding="utf-8"))
    return Variant(path.name.replace(".params.json", ""), tree.get("collective", "ring"),
                   tree.get("intra_eff", {}), tree.get("fab_eff", {}))


def number(row, column):
    """The column as a number; 0 where the source says nothing."""
    return float(row[column]) if row[column] else 0.0


def counts_steps(row):
    """Whether the source gives steps per second, else samples (or tokens) per second of all GPUs."""
    return row["unit"] == "steps/s"


def samples_of(row):
    """Samples (or tokens) of one step of all GPUs."""
    return number(row, "batch_per_gpu") * accumulation(row) * int(row["gpus"])


def accumulation(row):
    return int(float(row["grad_accum"] or 1))


def measured_step_s(row):
    """Seconds of the measured step."""
    speed = float(row["measured"])
    return 1 / speed if counts_steps(row) else samples_of(row) / speed


def computation_s(row):
    """(forward, backward) seconds of a step without communication: from the measurement on the fewest
    GPUs. Forward is a third of a batch, backward two thirds; with accumulation all batches but the last come
    first and overlap with nothing."""
    speed = number(row, "base_measured")
    batch_s = (1 / speed if counts_steps(row)
               else number(row, "batch_per_gpu") * number(row, "base_gpus") / speed)
    before_s = (accumulation(row) - 1) * batch_s
    return before_s + batch_s / 3, batch_s * 2 / 3


@dataclasses.dataclass(frozen=True)
class Link:
    latency_s: float
    bandwidth_Bps: float


def bus_of(row, variant):
    """The link between the GPUs of one machine."""
    kind = row["intra"]
    return Link(BUS_LATENCY_S, BUSES[kind] * variant.bus_share.get(kind, 1))


def fabric_of(row, variant):
    """The link between machines, or None for one machine."""
    kind = row["fabric"]
    if kind == "none":
        return None
    latency_s, share = FABRICS[kind]
    gbps = number(row, "gbps_per_node")
    if kind == "tcp" and gbps <= SLOW_TCP_GBPS:
        latency_s = SLOW_TCP_LATENCY_S
    return Link(latency_s, gbps / 8 * 1e9 * (share * variant.fabric_share.get(kind, 1)))


class Tables:
    """Layer tables: the shipped ones, and scaled ones that it writes into a folder."""

    def __init__(self, models, folder):
        self.models, self.folder = pathlib.Path(models), folder

    def model(self, name):
        """What a scenario calls the model: a shipped name, or the path of a scaled table."""
        if not name.startswith("inline:"):
            return name
        _, kind, *parameters = name.split(":")
        base, elements = SCALED_TABLES.get(kind) or (OTHER_TABLE, float(parameters[0]))
        table = json.loads((self.models / f"{base}.json").read_text(encoding="utf-8"))
        factor = elements / table["totals"]["elements"]
        table["name"] = "_".join([kind, *parameters])
        table["totals"]["elements"] = 0
        for tensor in (tensor for layer in table["layers"] for tensor in layer["tensors"]):
            count = max(1, round(math.prod(tensor["shape"]) * factor))
            tensor["shape"] = [count]
            table["totals"]["elements"] += count
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{table['name']}.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        return str(path)


def workload_of(row, tables):
    """(workload, factor): the factor is the bytes that a gradient really has over those of its type."""
    forward_s, backward_s = computation_s(row)
    sent_bytes = number(row, "gradient_bytes_per_element")
    value_bytes = 2 if sent_bytes < 4 else 4
    workload = {"model": tables.model(row["table"]), "batch_size": 1, "granularity": "tensor",
                "measured": {"forward_s": forward_s, "backward_s": backward_s},
                "value_bytes": value_bytes}
    if row["seq_len"]:
        workload["sequence_length"] = int(row["seq_len"])
    return workload, sent_bytes / value_bytes


def network_of(link, factor):
    return {"model": "alpha_beta", "latency_s": link.latency_s, "bandwidth_Bps": link.bandwidth_Bps / factor,
            "efficiency": 1, "reduction_Bps": 0}


def flat_cluster(ranks, link, factor):
    return {"nodes": ranks, "gpus_per_node": 1, "network": network_of(link, factor)}


def slowest(bus, fabric):
    """A ring through machines and their GPUs takes as long as a ring of its slowest link."""
    return Link(max(bus.latency_s, fabric.latency_s), min(bus.bandwidth_Bps, fabric.bandwidth_Bps))


def two_level_cluster(row, bus, fabric, factor):
    per_node = int(row["gpus_per_node"])
    fast = number(row, "gbps_per_node") >= FAST_NODE_GBPS
    interfaces = min(per_node, MOST_INTERFACES) if fast else 1
    each = Link(fabric.latency_s, fabric.bandwidth_Bps / interfaces)
    return {"nodes": int(row["nodes"]), "gpus_per_node": per_node, "nics_per_node": interfaces,
            "network": network_of(each, factor),
            "intra_network": {"latency_s": bus.latency_s, "bandwidth_Bps": bus.bandwidth_Bps / factor}}


def servers_of(row):
    """The keys of `training` for an exchange through servers."""
    method = row["method"]
    training = {"algorithm": "parameter_server", "mode": "sync", "server_split": "even",
                "placement": "sharded" if method == "ps_nodes" else "dedicated"}
    if method == SERVER_ON_HOST:
        training["servers"] = int(row["gpus_per_node"])
    elif training["placement"] == "dedicated":
        training["servers"] = int(row["nodes"])
    return training


def schedule_of(row, one_machine):
    schedule = SCHEDULES[row["method"]]
    if one_machine and row["method"] in SERVERS_ON_MACHINES and schedule != "single":
        return "wfbp"
    return schedule


def scenario_of(row, variant, tables):
    """The scenario of one row.

    Workers of servers on machines are machines: what is inside them is not expressed."""
    nodes, per_node = int(row["nodes"]), int(row["gpus_per_node"])
    bus, fabric = bus_of(row, variant), fabric_of(row, variant)
    workload, factor = workload_of(row, tables)
    one_machine = nodes == 1 and per_node > 1
    collective = None
    training = {"algorithm": "sync_sgd"}
    if row["method"] == SERVER_ON_HOST:
        training, cluster = servers_of(row), flat_cluster(per_node, bus, factor)
    elif row["method"] in SERVERS_ON_MACHINES and not one_machine:
        training, cluster = servers_of(row), flat_cluster(nodes, fabric, factor)
    elif variant.name == "hierarchical" and not one_machine and per_node > 1:
        collective, cluster = "hierarchical", two_level_cluster(row, bus, fabric, factor)
    else:
        collective = "ring" if variant.collective == "hierarchical" else variant.collective
        link = bus if one_machine else fabric if per_node == 1 else slowest(bus, fabric)
        cluster = flat_cluster(nodes * per_node, link, factor)

    schedule = schedule_of(row, one_machine)
    communication = {"schedule": schedule, "chunking": "real", "cost_form": "exact",
                     "next_forward": "per_layer", "overlap_backward": True,
                     "reduction_mode": "overlapped", **SCHEDULE_OPTIONS.get(schedule, {})}
    if collective:
        communication |= {"exchange": "allreduce", "collective": collective}
    training |= {"iterations": 3, "sync_s": 0, "update_s": 0}
    return {"schema_version": 1, "kind": "scenario", "workload": workload, "cluster": cluster,
            "training": training, "communication": communication}
