"""The points of the study of contention: which file, which settings, which seeds, what is measured.

A point is a command line: `stepsim flows FILE --set POINTER=VALUE .. --seed N`, or `stepsim run` for
training. Shapes, buffers,
thresholds and sizes are ours; the papers do not give theirs.
"""
import dataclasses
import json
import typing

TAU_S = 1.2e-6  # a full packet of 1500 bytes at 10 Gb/s
PAYLOAD = 1460
TRANSPORT = "/network/packet/transport"
SEEDS = range(1, 21)


@dataclasses.dataclass(frozen=True)
class Point:
    scenario: str
    arm: str
    x: typing.Any
    file: str
    settings: dict
    measure: typing.Callable
    seeds: typing.Iterable = SEEDS
    verb: str = "flows"


FILES = {"flows": "flows", "run": "scenario"}


def command(point, seed):
    words = ["stepsim", point.verb, f"examples/contention/{point.file}.{FILES[point.verb]}.json"]
    for pointer, value in point.settings.items():
        text = json.dumps(value, separators=(",", ":")) if not isinstance(value, str) else value
        words += ["--set", f"{pointer}={text}"]
    return [*words, "--seed", str(seed)]


def total(result, key):
    return sum(flow[key] for flow in result["flows"])


def completion(result, _):
    times = [flow["fct_s"] for flow in result["flows"]]
    return {"max_s": max(times), "min_s": min(times), "timeouts": total(result, "timeouts"),
            "duplicates": total(result, "duplicates")}


# Transports as arms: kind and what is set beside it.
TCP = {"reno": {f"{TRANSPORT}/kind": "reno"}, "dctcp": {f"{TRANSPORT}/kind": "dctcp"}}


def dlcp(bound, **settings):
    return {TRANSPORT: {"kind": "dlcp", "loss_bound_push": bound, **settings}}


BOUNDED = {"dlcp": dlcp(0.1), "dlcp, rate floor 1/16": dlcp(0.1, rate_floor=0.0625),
           "dlcp, no rate control": dlcp(0.1, rate_control="none")}
RELIABLE = {"dlcp": dlcp(0), "dlcp, rate floor 1/16": dlcp(0, rate_floor=0.0625),
            "dlcp, no rate control": dlcp(0, rate_control="none")}
FAN_IN = [1, 2, 3, 4, 6, 8, 12, 14, 16, 18, 24, 32, 48, 64]


def senders(count):
    return {"/topology/hosts": count + 1, "/flows/0/senders": count}


def incasts():
    for scenario, arms in {"Q1": TCP, "Q3": BOUNDED, "Q5": RELIABLE}.items():
        for arm, settings in arms.items():
            for count in FAN_IN:
                yield Point(scenario, arm, count, "incast", {**settings, **senders(count)}, completion)
    for arm, settings in {**TCP, "dlcp": dlcp(0.1)}.items():
        for rto in [0.001, 0.010, 0.200]:
            timer = {} if arm == "dlcp" else {f"{TRANSPORT}/rto_min_s": rto,
                                              f"{TRANSPORT}/rto_initial_s": rto}
            yield Point("Q2", arm, rto, "incast", {**settings, **timer}, completion)
        for size in [4096, 16384, 65536, 262144]:
            yield Point("Q4", arm, size, "incast",
                        {**settings, **senders(64), "/flows/0/size_bytes": size}, completion)


def one_flow(result, _):
    flow = result["flows"][0]
    return {"fct_s": flow["fct_s"], "probe_rounds": flow["probe_rounds"],
            "retransmissions": flow["retransmissions"]}


def loss_bounds():
    for rate, word in {"": "none", ", rate control": "dctcp"}.items():
        for loss in [0, 0.01, 0.05, 0.1] if not rate else [0.05]:
            faults = [{"link": "h0>switch", "probability": loss}] if loss else []
            for bound in [0, 0.01, 0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3]:
                yield Point("Q6", f"q = {loss:g}{rate}", bound, "lossy_flow",
                            {"/network/packet/faults/link_loss": faults,
                             **dlcp(bound, rate_control=word)}, one_flow)


def front_and_back(result, point):
    back, front = result["flows"][:2], result["flows"][2:]
    return {"front_s": max(flow["fct_s"] for flow in front),
            "last_s": max(*(flow["fct_s"] for flow in back),
                          *(point.x + flow["fct_s"] for flow in front))}


def layers():
    for kind, transport in {"raw": {}, "dlcp": dlcp(0.1, rate_control="none")}.items():
        for arm, priority in {f"{kind}, one queue": 2, f"{kind}, front first": 1}.items():
            for start in [0, 3e-5, 6e-5, 1.2e-4, 2.4e-4]:
                front = {f"/flows/{i}/{key}": value for i in (2, 3)
                         for key, value in (("start_s", start), ("priority", priority))}
                yield Point("Q7", arm, start, "two_layers", {**transport, **front}, front_and_back, [1])


def losses(result, _):
    found = {word: result["classes"][word] for word in ("protected", "droppable")}
    return {**{f"{word}_loss": counts["dropped"] / counts["sent"] for word, counts in found.items()},
            "accepted": sum(counts["delivered"] for counts in found.values()),
            "max_queue": max(link["max_queue_packets"] for link in result["links"]
                             if link["name"].startswith("switch"))}


def overloads():
    none = {"/network/packet/drop_packets": {"droppable": None, "middle": None}}
    arms = {"selective drop": ({}, SEEDS), "tail drop": (none, SEEDS),
            "selective drop, no jitter": ({"/start_jitter_s": 0}, [1])}
    for arm, (settings, seeds) in arms.items():
        for count in [2, 3, 4, 6, 8, 10, 12, 16]:
            yield Point("Q8", arm, count, "selective_drop", {**settings, **senders(count)}, losses,
                        seeds)


def uplinks(result, _):
    queues = [link["max_queue_packets"] for link in result["links"] if not link["name"].startswith("h")]
    loads = [link["bytes"] for link in result["links"] if link["name"].startswith("leaf0>spine")]
    return {"max_s": max(flow["fct_s"] for flow in result["flows"]), "max_queue": max(queues),
            "uplink_max": max(loads) / 1.5e6, "uplink_min": min(loads) / 1.5e6 if len(loads) == 4 else 0}


def crossings(result, _):
    return {"max_s": max(flow["fct_s"] for flow in result["flows"]),
            "max_queue": max(link["max_queue_packets"] for link in result["links"]
                             if not link["name"].startswith("h"))}


BALANCING = ["ecmp", "spray_random", "spray_round_robin"]


def spraying():
    for word in BALANCING:
        way = {"/network/packet/load_balancing": word}
        yield Point("Q9", word, "four uplinks", "four_uplinks", {**way, "/start_jitter_s": 0}, uplinks,
                    range(1, 201))
        buffers = {"/network/packet/buffer": {"scope": "port", "packets": 100},
                   "/network/packet/mark_packets": 65}
        for kind, settings in {"raw": {}, "reno": {**TCP["reno"], **buffers},
                               "dlcp": {**dlcp(0.1), **buffers}}.items():
            yield Point("Q9", word, f"permutation, {kind}", "permutation", {**way, **settings},
                        crossings)
    arms = {"reno": {TRANSPORT: {"kind": "reno"}},
            "reno, no fast retransmit": {TRANSPORT: {"kind": "reno", "dup_acks": 100000}},
            "dlcp": dlcp(0.1), "dlcp, no rate control": dlcp(0.1, rate_control="none"),
            "dlcp, p = 0": dlcp(0), "dlcp, p = 0, no rate control": dlcp(0, rate_control="none")}
    for arm, settings in arms.items():
        for word in BALANCING[1:]:
            yield Point("Q10", arm, word, "four_uplinks",
                        {"/network/packet/load_balancing": word, **settings}, overtaking)


def overtaking(result, _):
    return {"max_s": max(flow["fct_s"] for flow in result["flows"]),
            "retransmissions": total(result, "retransmissions"),
            "duplicates": total(result, "duplicates"), "timeouts": total(result, "timeouts"),
            "drops": sum(sum(link["drops"].values()) for link in result["links"]),
            "marks": sum(link["marks"] for link in result["links"])}


def lossy_links():
    for packets in [1000, 4000]:
        size = {f"/flows/{i}/packets": packets for i in range(4)} if packets != 1000 else {}
        for arm, settings in {"reno": TCP["reno"], "dlcp": dlcp(0.1),
                              "dlcp, no rate control": dlcp(0.1, rate_control="none")}.items():
            for loss in [0, 1e-4, 1e-3, 1e-2]:
                yield Point("Q12", f"{arm}, {packets} packets", loss, "ring_step",
                            {**settings, **size,
                             "/network/packet/faults/link_loss/0/probability": loss}, completion)


def with_mean(result, point):
    return {**completion(result, point), "mean_s": result["summary"]["mean_s"]}


def scales():
    protect = {"/flows/0/protect": {"every": 2, "offset": 0}}
    arms = {**TCP, "pfabric": {TRANSPORT: {"kind": "pfabric"}}, "dlcp": {**dlcp(0.1), **protect}}
    for arm, settings in arms.items():
        for count in [8, 16, 32, 64, 96, 128, 143]:
            yield Point("Q13", f"{arm}, 100 Gb/s", count, "incast_100g",
                        {**settings, **senders(count)}, with_mean)
    for arm, settings in {**TCP, "dlcp": dlcp(0.1)}.items():
        for count in [2, 4, 8, 16, 32, 64]:
            yield Point("Q13", f"{arm}, 1 MiB in all", count, "incast",
                        {**settings, **senders(count), "/flows/0/size_bytes": 2**20 // count},
                        completion)


PUSHES, WORKERS = 10, 8


def pushes(result, _):
    times = [flow["fct_s"] for flow in result["flows"]]
    each = [max(times[k * WORKERS:(k + 1) * WORKERS]) for k in range(PUSHES)]
    return {"slowest_s": max(each), "middle_s": sorted(each)[PUSHES // 2],
            "timeouts": total(result, "timeouts"),
            "lost": max(flow["lost_bytes"] / 16384 for flow in result["flows"])}


def background():
    for arm, settings in {**TCP, "dlcp": dlcp(0.1)}.items():
        for load in [0, 0.2, 0.4, 0.6, 0.8]:
            yield Point("Q14", arm, load, "background",
                        {**settings, "/network/packet/background/load": load}, pushes)


def iterations(result, _):
    times = [each["iteration_time_s"] for each in result["iterations"][1:]]
    summary = result["summary"]
    return {"iteration_s": sum(times) / len(times), "slowest_s": max(times),
            "exposed_s": summary["exposed_communication_s"], "lost": summary["loss_fraction"]}


def training():
    """Six layers, 1.26 MB; medians over few seeds, because iterations are long."""
    network = "/cluster/network/packet"
    transport = f"{network}/transport"
    seeds = {"ring": range(1, 7), "parameter_server": range(1, 11)}
    arms = {"reno": {}, "dctcp": {f"{transport}/kind": "dctcp"}, "dlcp": {transport: "dlcp"}}
    one_queue = {"dlcp, one queue": {transport: {"kind": "dlcp", "priority": False}}}
    reliable = {"dlcp, p = 0": {transport: {"kind": "dlcp", "loss_bound_push": 0}}}
    for file in ("ring", "parameter_server"):
        for arm, settings in {**arms, **reliable}.items():
            yield Point("Q11", arm, file, file, settings, iterations, seeds[file], "run")
    for arm, settings in {"reno": {}, "dlcp": arms["dlcp"]}.items():
        for loss in [0, 1e-4, 1e-3, 1e-2]:
            faults = [{"link": "h0>switch", "probability": loss}] if loss else []
            yield Point("Q12t", arm, loss, "ring", {**settings, f"{network}/faults/link_loss": faults},
                        iterations, seeds["ring"], "run")
    for arm, settings in arms.items():
        for nodes in [2, 4, 8, 16]:
            yield Point("Q13t", arm, nodes, "parameter_server",
                        {**settings, "/cluster/nodes": nodes, "/cluster/topology/hosts": nodes},
                        iterations, seeds["parameter_server"], "run")
    for file in ("parameter_server", "ring"):
        for arm, settings in {**arms, **one_queue}.items():
            for load in [0, 0.2, 0.4]:
                other = {"load": load, "size_bytes": 100000, "transport": "dctcp"}
                yield Point("Q14t", f"{arm}, {file}", load, file,
                            {**settings, f"{network}/background": other}, iterations, seeds[file], "run")


SCENARIOS = [*incasts(), *loss_bounds(), *layers(), *overloads(), *spraying(), *lossy_links(),
             *scales(), *background(), *training()]
