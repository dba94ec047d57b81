"""JSON pointers into trees that tests change."""
import json


def tokens(pointer):
    return [t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]]


def assign(tree, pointer, value):
    """Objects on the way are made; `-` and the number of elements stand for the place behind those of a list."""
    *path, last = tokens(pointer)
    for token in path:
        tree = tree[int(token)] if isinstance(tree, list) else tree.setdefault(token, {})
    if isinstance(tree, list):
        place = len(tree) if last == "-" else int(last)
        tree[place:place + 1] = [value]
    else:
        tree[last] = value


def assigned(tree, pointer, value):
    tree = json.loads(json.dumps(tree))  # parts that it shares are told apart
    assign(tree, pointer, value)
    return tree
