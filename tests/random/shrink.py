"""Makes a failing scenario small: deletes members and elements as long as it still fails."""
import copy


def paths(tree, prefix=()):
    """Paths of all members and elements, the outer ones first."""
    level = [(prefix, tree)]
    while level:
        below = []
        for path, node in level:
            items = node.items() if isinstance(node, dict) else (enumerate(node) if isinstance(node, list) else ())
            for key, child in items:
                yield path + (key,)
                below.append((path + (key,), child))
        level = below


def removed(tree, path):
    copied = copy.deepcopy(tree)
    parent = copied
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return copied


def shrunk(scenario, fails, budget=150):
    """The smallest scenario found for which `fails` stays true; at most `budget` tries."""
    tries = 0
    again = True
    while again:
        again = False
        for path in list(paths(scenario)):
            if tries >= budget:
                return scenario
            try:
                smaller = removed(scenario, path)
            except (KeyError, IndexError, TypeError):
                continue  # went away with something above it
            tries += 1
            if fails(smaller):
                scenario = smaller
                again = True
                break
    return scenario
