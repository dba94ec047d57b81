"""A seed that moves with every change of the tree, and is the same wherever that tree is tested: what
passed here passes on another machine, and every commit tries other cases."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def moving_part(items, parts):
    """Every so many-th of a list; commits take turns, so that all are tried in time."""
    return items[moving_seed() % parts::parts] if parts > 1 else items


def moving_seed():
    """From the tree of the last commit; 1 where there is no git."""
    try:
        tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return 1
    return int(tree[:7], 16)
