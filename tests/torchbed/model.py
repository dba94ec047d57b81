"""Layers of a model or of a trace, scaled to a time of computing and to bytes that a slow network can carry.

A layer is {"name", "forward_s", "backward_s", "tensors": [shape, ..]}, layers in forward order, tensors in the
order in which their gradients become ready. Time of layers without times is in proportion to their
multiplications; a tenth of all time is divided equally, for norms and embeddings.
"""
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def loaded(name):
    """`name`: a file of models/ without its ending, or one of traces/ with `trace:` before it."""
    kind, _, file = name.rpartition(":")
    data = json.loads((ROOT / ("traces" if kind else "models") / f"{file}.json").read_text("utf-8"))
    if kind:
        return [{"name": layer["name"], "forward_s": layer["forward_s"], "backward_s": layer["backward_s"],
                 "tensors": [tensor.get("shape") or [tensor["elements"]] for tensor in layer.get("tensors", [])]}
                for layer in data["layers"]]
    most = max(1, sum(layer["macs"] for layer in data["layers"]))
    layers = []
    for layer in data["layers"]:
        part = layer["macs"] / most + 0.1 / len(data["layers"])
        # The gradient of a bias is ready before that of its weight.
        layers.append({"name": layer["name"], "forward_s": part, "backward_s": 2 * part,
                       "tensors": [tensor["shape"] for tensor in reversed(layer["tensors"])]})
    return layers


def scaled_shape(shape, factor):
    """About `factor` times as many elements; matrices stay matrices, whose two sizes shrink."""
    if factor == 1:
        return list(shape)
    if len(shape) == 1:
        return [max(1, round(shape[0] * factor))]
    first = max(1, round(shape[0] * math.sqrt(factor)))
    rest = math.prod(shape[2:])
    return [first, max(1, round(math.prod(shape) * factor / first / rest)), *shape[2:]]


def scaled(name, compute_s, total_bytes):
    """(layers, factor on bytes): forward and backward take compute_s, gradients have about total_bytes."""
    layers = loaded(name)
    time = sum(layer["forward_s"] + layer["backward_s"] for layer in layers)
    size = 4 * sum(math.prod(shape) for layer in layers for shape in layer["tensors"])
    factor = total_bytes / size
    for layer in layers:
        layer["forward_s"] *= compute_s / time
        layer["backward_s"] *= compute_s / time
        layer["tensors"] = [scaled_shape(shape, factor) for shape in layer["tensors"]]
    return layers, factor


def scenario_layers(layers):
    """Layers of a scenario, one per tensor, so that the order in which gradients become ready is given: the
    last one first."""
    found = []
    for layer in layers:
        tensors = layer["tensors"] or [None]
        for k in reversed(range(len(tensors))):
            entry = {"name": f"{layer['name']}.{k}", "gradient_bytes": 4 * math.prod(tensors[k]) if tensors[k] else 0,
                     "forward_s": layer["forward_s"] if k == len(tensors) - 1 else 0,
                     "backward_s": layer["backward_s"] if k == 0 else 0}
            if tensors[k]:
                entry.update(dtype="float32", shape=tensors[k])
            found.append(entry)
    return found
