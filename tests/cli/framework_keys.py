"""Keys and types of the settings of frameworks, as framework_keys.json lists them from the commits that it names."""
import json
import pathlib

FRAMEWORKS = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
TYPES = {"integer": int, "boolean": bool, "string": str}


def flat(document, before=""):
    for key, value in document.items():
        if isinstance(value, dict):
            yield from flat(value, before + key + ".")
        else:
            yield before + key, value


def problems(framework, document):
    """A sentence for each key that the framework does not have, and each value of another type."""
    known = FRAMEWORKS[framework]["keys"]
    found = []
    for key, value in flat(document):
        kind = known.get(key)
        if kind is None:
            found.append(f"{framework} has no key {key}.")
        elif value not in kind if isinstance(kind, list) else type(value) is not TYPES[kind]:
            found.append(f"{framework}: {key} cannot be {value!r}.")
    return found
