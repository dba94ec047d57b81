"""Reads our JSON Schemas: which values a field takes, and whether a document keeps to its schema.

A field is a leaf of a schema, named by its JSON pointer with `-` for the index of a list. Its
values come in four classes: `default` (default or example), `inside`, `bound` (at a bound, just
inside it, or far away where there is no bound) and `beyond` (out of range, of another type, an
unknown word). `problems` says which pointers of a document break its schema: the reader must refuse
each of them, and may refuse more (rules over several keys are not in a schema).
"""
import json
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
# Written as they stand, since Python would not print them: beyond double, and not JSON at all.
RAW = {"@1e400@": "1e400", "@-1e400@": "-1e400"}


def load(kind):
    """The schema of one kind of file."""
    return json.loads((ROOT / "schemas" / f"{kind}.schema.json").read_text())


def text_of(document):
    """JSON text of a document, with the raw numbers of RAW."""
    text = json.dumps(document, indent=1)
    for mark, raw in RAW.items():
        text = text.replace(f'"{mark}"', raw)
    return text


def is_a(value, word):
    """True if a value has the type of a schema's word; 3.0 counts as an integer, true never does."""
    if word in ("number", "integer"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return word == "number" or isinstance(value, int) or value == math.floor(value)
    return isinstance(value, TYPES[word])


def problems(schema, value, pointer=""):
    """Pointers at which a value breaks its schema; of an anyOf the part of the same type."""
    if value in RAW if isinstance(value, str) else False:
        return [pointer]
    if "anyOf" in schema:
        found = [problems(part, value, pointer) for part in schema["anyOf"]]
        return [] if [] in found else max(found, key=lambda p: max(map(len, p)))
    if "const" in schema and value != schema["const"]:
        return [pointer]
    if "enum" in schema and not any(type(value) is type(w) and value == w for w in schema["enum"]):
        return [pointer]
    if "type" in schema:
        words = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_a(value, word) for word in words):
            return [pointer]
    if isinstance(value, dict):
        return object_problems(schema, value, pointer)
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return [pointer]
        return [p for i, item in enumerate(value) if "items" in schema
                for p in problems(schema["items"], item, f"{pointer}/{i}")]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        inside = (value >= schema.get("minimum", value) and value <= schema.get("maximum", value)
                  and value > schema.get("exclusiveMinimum", -math.inf)
                  and value < schema.get("exclusiveMaximum", math.inf))
        return [] if inside and math.isfinite(value) else [pointer]
    return []


def object_problems(schema, value, pointer):
    """The problems of an object: its members, what it lacks, what it has too many of."""
    fields = schema.get("properties", {})
    found = [f"{pointer}/{key}" for key in schema.get("required", []) if key not in value]
    for key, member in value.items():
        if member is None and key not in schema.get("required", []) and key in fields:
            continue  # null says that a key is left to its default
        if key in fields:
            found += problems(fields[key], member, f"{pointer}/{key}")
        elif isinstance(schema.get("additionalProperties"), dict):
            found += problems(schema["additionalProperties"], member, f"{pointer}/{key}")
        elif schema.get("additionalProperties") is False:
            found.append(f"{pointer}/{key}")
    if "oneOf" in schema:
        fitting = [one for one in schema["oneOf"] if all(key in value for key in one.get("required", []))]
        if len(fitting) != 1:
            found.append(pointer)
    if "not" in schema and all(key in value for key in schema["not"].get("required", ["?"])):
        found.append(pointer)
    return found


def leaves(schema, pointer=""):
    """Every (pointer, schema) of the fields below an object; a field with parts is one leaf too."""
    for key, field in schema.get("properties", {}).items():
        here = f"{pointer}/{key}"
        parts = field.get("anyOf", [field])
        plain = [p for p in parts if "properties" not in p and not holds_objects(p)]
        if plain:
            yield here, {"anyOf": plain, **{k: field[k] for k in ("default", "examples") if k in field}}
        for part in parts:
            if "properties" in part:
                yield from leaves(part, here)
            elif holds_objects(part):
                yield from leaves(part["items"], f"{here}/-")


def holds_objects(part):
    """True for a list whose elements are objects with fields of their own."""
    return isinstance(part.get("items"), dict) and "properties" in part["items"]


def scale_of(pointer):
    """Lowest and highest everyday value of an open number, by the unit at the end of its key."""
    key = pointer.rsplit("/", 1)[-1]
    if key.endswith("_Bps") or key == "flops_Ps":
        return (1e12, 1e15) if key == "flops_Ps" else (1e6, 1e11)
    for ending, scale in (("_s_per_element", (1e-12, 1e-9)), ("_s_per_entry", (1e-10, 1e-8)),
                          ("_s_per_element_log2", (1e-13, 1e-10)), ("per_byte_s", (1e-11, 1e-8)),
                          ("_s", (1e-6, 1e-2)), ("_bytes", (1, 1e7)), ("seed", (0, 2**62))):
        if key.endswith(ending):
            return scale
    return (1, 16)


def value_of(field, pointer, kind, rng):
    """One value of a class for a leaf; None for the class `beyond` of a field that takes all."""
    part = rng.choice(field.get("anyOf", [field]))
    if kind == "default":
        known = field.get("examples", []) + ([field["default"]] if "default" in field else [])
        return rng.choice(known) if known else value_of(field, pointer, "inside", rng)
    if kind == "beyond":
        return beyond(field, part, rng)
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return rng.choice(part["enum"])
    words = part.get("type", "string")
    word = words if isinstance(words, str) else rng.choice(words)
    if word == "null":
        return None
    if word == "boolean":
        return rng.random() < 0.5
    if word == "string":
        return rng.choice(["a", "", "x y", "\u00e9"])
    if word == "array":
        count = rng.choice([1, 1, 2, 3]) + part.get("minItems", 0) - 1 if part.get("minItems", 0) else 2
        count = min(count, part.get("maxItems", count))
        return [value_of(part["items"], pointer, kind, rng) for _ in range(max(0, count))]
    if word == "object":
        return {}
    return number(part, word, pointer, kind, rng)


def number(part, word, pointer, kind, rng):
    """A number inside a field's range, or at one of its ends."""
    whole = word == "integer"
    low = part.get("minimum", part.get("exclusiveMinimum"))
    high = part.get("maximum", part.get("exclusiveMaximum"))
    if kind == "bound":
        ends = []
        if low is not None:
            open_low = "exclusiveMinimum" in part
            ends += ([] if open_low else [low]) + (
                [low + 1] if whole else [math.nextafter(low, math.inf), low + 1e-300 if low == 0 else low])
        if high is not None:
            open_high = "exclusiveMaximum" in part
            ends += ([] if open_high else [high]) + ([high - 1] if whole else [math.nextafter(high, -math.inf)])
        else:
            ends += [2**31 - 1, 2**31, 2**32, 2**53] if whole else [1e9, 1e15, 1e300, 1.7976931348623157e308]
        ends = [e for e in ends if not problems(part, e)]
        return rng.choice(ends)
    scale = scale_of(pointer)
    lower = scale[0] if low is None else max(low, scale[0] if scale[0] > low else low)
    upper = scale[1] if high is None else min(high, scale[1])
    if lower > upper:
        lower, upper = (low or 0), (high if high is not None else upper)
    if low == 0 and rng.random() < 0.05 and "exclusiveMinimum" not in part:
        return 0
    if lower > 0 and upper / lower > 20:
        value = math.exp(rng.uniform(math.log(lower), math.log(upper)))
    else:
        value = rng.uniform(lower, upper)
    if whole:
        return max(math.ceil(lower), min(round(value), math.floor(upper)))
    value = float(f"{value:.3g}")
    return value if not problems(part, value) else upper


def beyond(field, part, rng):
    """A value that the field's schema refuses."""
    tries = ["no_such_word", "25Gbps", True, [], {}, None, -1, -1e-300, 0, 0.5, 1.5, -(2**63), 2**63,
             2**64, 1e19, 1e300, [[]], {"": 0}, "@1e400@", "@-1e400@"]
    for word in ("minimum", "exclusiveMinimum"):
        if word in part:
            tries += [part[word] - 1, math.nextafter(part[word], -math.inf), part[word]] * 2
    for word in ("maximum", "exclusiveMaximum"):
        if word in part:
            tries += [part[word] + 1, math.nextafter(part[word], math.inf), part[word]] * 2
    tries = [t for t in tries if problems(field, t)]
    return rng.choice(tries) if tries else None
