"""What is wrong with a configuration of a framework for training, by the keys that the framework has.

framework_keys.json has the keys, their types and the words that they allow. Keys whose value is a list are not in it.
"""
import functools
import json
import pathlib

TYPES = {"integer": (int,), "number": (int, float), "string": (str,), "boolean": (bool,)}


@functools.cache
def frameworks():
    return json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())


def leaves(document, prefix=""):
    """Every value that is not a table, with the names of its tables and its own joined by dots."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def fits(value, kind):
    if isinstance(kind, list):
        return any(type(value) is type(word) and value == word for word in kind)
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def problems(framework, document):
    """A sentence for each key that the framework does not have and for each value of a wrong type."""
    keys = frameworks()[framework]["keys"]
    sentences = []
    for key, value in leaves(document):
        kind = keys.get(key)
        if kind is None:
            sentences.append(f"The keys of {framework} have no {key}.")
        elif not fits(value, kind):
            expected = f"one of {', '.join(map(json.dumps, kind))}" if isinstance(kind, list) else f"of type {kind}"
            sentences.append(f"The value {value!r} of {key} is not {expected}.")
    return sentences
