"""Broken promises that are known: (name of the check, in which scenarios, why it stands here).

An entry is removed when its mend has landed. A failure that an entry covers is counted, not reported.
"""



def section(scenario, name):
    value = scenario.get(name)
    return value if isinstance(value, dict) else {}


def without_method(scenario, seen):
    compression = section(scenario, "communication").get("compression")
    return isinstance(compression, dict) and compression.get("method", "none") == "none"


def warms_up(scenario, seen):
    compression = str(section(scenario, "communication").get("compression"))
    return "ok_topk" in compression or "density_warmup" in compression


def horovod(scenario, seen):
    return section(scenario, "communication").get("schedule") == "horovod"


KNOWN = [
    ("neutral straggler", lambda scenario, seen: "parameter_server" in str(scenario),
     "synchronous servers are evaluated in two ways, of equal workers and of others"),
    ("neutral straggler", lambda scenario, seen: "compression" in section(scenario, "communication"),
     "a compressed step is evaluated in two ways"),
    ("hang", lambda scenario, seen: section(scenario, "cluster").get("gpus_per_node", 1) > 1,
     "many evaluations by messages on two levels are not estimated first"),
    ("iterations", warms_up, "iterations of a warm-up are moved by the wrong amount"),
    ("negative", lambda scenario, seen: "/iterations/" in seen and warms_up(scenario, seen),
     "iterations of a warm-up are moved by the wrong amount"),
    ("lines", lambda scenario, seen: "a\\nb" in seen, "a line break in a key"),
    ("accepted", without_method, "invalid keys beside compression none"),
    ("compute", horovod, "horovod: the wait for a tick counts as computing"),
    ("resolved", lambda scenario, seen: "exchange has no meaning for pipe_sgd" in seen,
     "the resolved scenario of pipe_sgd has a key without meaning"),
    ("resolved", lambda scenario, seen: "topology" in section(scenario, "cluster")
     and section(section(scenario, "cluster"), "network").get("model", "alpha_beta") == "alpha_beta",
     "a topology under alpha_beta"),
]


def known(name, scenario, seen):
    """The words of the entry that covers a failure, or None."""
    for check, covers, words in KNOWN:
        if check == name and covers(scenario, seen):
            return words
    return None
