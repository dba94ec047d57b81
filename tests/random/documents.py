"""Scenarios as trees: setting, removing, finding members; mistakes put in by hand."""
import copy
import re

import schema
from words import LEAVES


def put(document, pointer, value):
    """Sets a member, with the objects above it; nothing where a list or a text is in the way."""
    *above, last = pointer.split("/")[1:]
    for key in above:
        if not isinstance(document, dict):
            return
        document = document.setdefault(key, {})
    if isinstance(document, dict):
        document.setdefault(last, value)


def without(document, pointer):
    """A copy without the member at a pointer, or without the nearest that exists above it; None if that
    is required."""
    tokens = [t for t in pointer.split("/")[1:]]
    copied = copy.deepcopy(document)
    parent, path = copied, []
    for token in tokens:
        key = int(token) if isinstance(parent, list) and token.isdigit() else token
        try:
            child = parent[key]
        except (KeyError, IndexError, TypeError):
            break
        path.append((parent, key))
        parent = child
    if len(path) < len(tokens) or not path or len(path) < 2:
        return None
    parent, key = path[-1]
    del parent[key]
    return copied


def with_value(document, pointer, value):
    """A copy with another value of a member, put in where there is none."""
    copied = copy.deepcopy(document)
    *above, last = pointer.split("/")[1:]
    parent = copied
    for key in above:
        parent = parent.setdefault(key, {}) if isinstance(parent, dict) else None
    if isinstance(parent, dict):
        parent[last] = value
    return copied


def named_pointers(error):
    """The pointers that an error names."""
    return re.findall(r"(?<![\w.])(/[a-z][\w/]*)", error)


def spoilt(rng, document):
    """A copy with one mistake that the schema or the format forbids, and what it is."""
    copied = copy.deepcopy(document)
    kind = rng.random()
    if kind < 0.1:
        parent = rng.choice(list(objects(copied)))
        parent[rng.choice(["nodess", "Seed", "", "x/y", "~", "latency_ms", "\u00fc", "a\nb", "\u001b[1m"])] = 1
        return copied, "unknown key"
    if kind < 0.2:
        parent = rng.choice(list(objects(copied)))
        if parent:
            del parent[rng.choice(list(parent))]
        return copied, "removed key"
    present = [p for p in LEAVES if "/-" not in p]
    pointer = rng.choice(present)
    if rng.random() < 0.6:  # rather a key that is there
        there = [p for p in present if get(copied, p) is not None]
        pointer = rng.choice(there) if there else pointer
    value = schema.value_of(LEAVES[pointer], pointer, "beyond", rng)
    *above, last = pointer.split("/")[1:]
    parent = copied
    for key in above:
        if not isinstance(parent.get(key), dict):
            parent[key] = {}
        parent = parent[key]
    parent[last] = value
    return copied, f"{pointer} beyond its range"


def get(document, pointer):
    for key in pointer.split("/")[1:]:
        if not isinstance(document, dict) or key not in document:
            return None
        document = document[key]
    return document


def present(document, pointer):
    """True if a document has a member at a leaf's pointer, `-` standing for any index."""
    nodes = [document]
    for key in pointer.split("/")[1:]:
        found = []
        for node in nodes:
            if key == "-" and isinstance(node, list):
                found += node
            elif isinstance(node, dict) and key in node:
                found.append(node[key])
        nodes = found
    return any(node is not None for node in nodes)


def objects(document):
    """Every object of a document."""
    if isinstance(document, dict):
        yield document
        for value in document.values():
            yield from objects(value)
    elif isinstance(document, list):
        for value in document:
            yield from objects(value)


def sets_a_word(pointer):
    """True for a pointer whose member chooses a word of the combination."""
    return pointer in ("/training/algorithm", "/training/mode", "/communication/schedule",
                       "/communication/collective", "/communication/compression",
                       "/communication/compression/method", "/cluster/network/model", "/workload",
                       "/cluster", "/cluster/network", "/cluster/nodes", "/method")
