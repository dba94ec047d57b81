#!/usr/bin/env python3
"""Writes the layer tables models/NAME.json from the recipes, or checks the written ones.

  generate.py [NAME...]                          write the tables (default: all) beside this file
  generate.py --check [NAME...]                  compare byte for byte; exit 4 on a difference
  generate.py NAME... --input HxW --output DIR   networks on images of another size

Exit codes: 0 written or equal, 2 wrong use, 4 a table differs from its recipe.
"""

import argparse
import difflib
import json
import re
import sys
from math import prod
from pathlib import Path

sys.dont_write_bytecode = True  # the folder holds data and sources only

from network import Network, RecipeError
from recipes import RECIPES

FOLDER = Path(__file__).resolve().parent


def model_table(recipe, image_size=None, sequence_length=None):
    """The table of a recipe as a dict in file order; optionally for another input."""
    if recipe.image:
        image_size = tuple(image_size or recipe.image[1:])
    elif image_size:
        raise RecipeError(f"{recipe.name} has no image input")
    network = Network(image_size, sequence_length or recipe.sequence_length)
    for line in recipe.lines:
        network.add(line)
    layers = network.layers
    if recipe.runs_before:
        layers = with_execution_index(layers, recipe.runs_before)
    return {"schema_version": 1, "kind": "model", "name": recipe.name, "family": recipe.family,
            "source": recipe.source, "input": input_of(recipe, network),
            "totals": totals_of(layers), "layers": layers}


def input_of(recipe, network):
    if recipe.image:
        height, width = network.image_size
        return {"channels": recipe.image[0], "height": height, "width": width}
    values = {"sequence_length": network.sequence_length}
    if recipe.max_sequence_length:
        values["max_sequence_length"] = recipe.max_sequence_length
    if recipe.causal:
        values["causal"] = True
    return values


def totals_of(layers):
    tensors = [tensor for layer in layers for tensor in layer["tensors"]]
    return {"elements": sum(prod(tensor["shape"]) for tensor in tensors),
            "tensors": len(tensors), "layers": len(layers),
            "macs": sum(layer["macs"] for layer in layers)}


def with_execution_index(layers, runs_before):
    """Adds the 1-based forward position of each layer; registration order stays the file's."""
    order = layers
    for moved, anchor in runs_before:
        block = [layer for layer in order if is_part_of(layer, moved)]
        rest = [layer for layer in order if not is_part_of(layer, moved)]
        place = next(i for i, layer in enumerate(rest) if is_part_of(layer, anchor))
        order = rest[:place] + block + rest[place:]
    positions = {layer["name"]: position for position, layer in enumerate(order, 1)}
    return [{key: value for key, value in layer.items() if key != "tensors"}
            | {"execution_index": positions[layer["name"]], "tensors": layer["tensors"]}
            for layer in layers]


def is_part_of(layer, module):
    """Whether the layer is `module`, or lies inside it when the name ends in a dot."""
    return layer["name"].startswith(module) if module.endswith(".") else layer["name"] == module


def format_table(table):
    """JSON text with one line per header key and one per layer."""
    header = [f'  "{key}": {json.dumps(value)},' for key, value in table.items()
              if key != "layers"]
    layers = ",\n".join(f"    {json.dumps(layer)}" for layer in table["layers"])
    return "\n".join(["{", *header, '  "layers": [', layers, "  ]", "}", ""])


def read_arguments(arguments):
    parser = argparse.ArgumentParser(description="Writes or checks the layer tables of networks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks (default: all)")
    parser.add_argument("--check", action="store_true", help="compare with the written tables")
    parser.add_argument("--input", metavar="HxW", help="image size, such as 448x448")
    parser.add_argument("--output", metavar="DIR", type=Path, help="folder of the tables")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in RECIPES:
            near = difflib.get_close_matches(name, RECIPES, n=1)
            parser.error(f'unknown model "{name}"'
                         + (f'; did you mean "{near[0]}"?' if near else ""))
    options.image_size = None
    if options.input is not None:
        if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", options.input):
            parser.error(f"--input: must be HxW with sizes >= 1, got {options.input}")
        if not options.names or options.output is None:
            parser.error("--input needs the networks and --output: "
                         "the tables beside the generator keep their input")
        options.image_size = tuple(map(int, options.input.split("x")))
    options.names = options.names or list(RECIPES)
    options.output = options.output or FOLDER
    return options


def main(arguments=None):
    options = read_arguments(arguments)
    try:
        texts = {name: format_table(model_table(RECIPES[name], options.image_size))
                 for name in options.names}
    except RecipeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    different = 0
    for name, text in texts.items():
        path = options.output / f"{name}.json"
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        elif not path.is_file() or path.read_bytes() != text.encode():
            print(f"{path}: differs from its recipe; run generate.py {name}", file=sys.stderr)
            different += 1
    return 4 if different else 0


if __name__ == "__main__":
    sys.exit(main())
