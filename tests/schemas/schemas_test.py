#!/usr/bin/env python3
"""The JSON Schemas: valid draft-07, true of every shipped file, complete, and their examples run.

    schemas_test.py [--stepsim build/stepsim]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {p.name.removesuffix(".schema.json"): json.loads(p.read_text())
           for p in sorted((ROOT / "schemas").glob("*.schema.json"))}
STEPSIM = ROOT / "build" / "stepsim"
# Kinds whose reader exists; the others are only described so far.
READ_KINDS = ["collective", "compression_breakeven", "cost", "flows", "library_calibration", "links",
              "measured_training", "model", "network_calibration", "node_preset", "problem",
              "program", "samples", "scenario", "sparse_semantics", "sweep", "topology", "trace"]
# What commands write with --json -> its kind.
WRITTEN_KINDS = {"explain": "explanation", "flows": "flows_result",
                 "run": "result", "semantics": "sparse_semantics_result"}


def load(path):
    """A JSON file without duplicate keys."""
    def unique(pairs):
        keys = [key for key, _ in pairs]
        assert len(keys) == len(set(keys)), f"{path}: duplicate key"
        return dict(pairs)
    return json.loads(path.read_text(), object_pairs_hook=unique)


def shipped_files():
    for folder in ["models", "traces", "topologies", "topologies/nodes", "topologies/conditions", "examples"]:
        yield from sorted((ROOT / folder).glob("*.json"))


def validator(kind):
    return jsonschema.Draft7Validator(SCHEMAS[kind])


def transcripts(command):
    """(command line, output) of every `stepsim COMMAND .. --json` in tests/golden that succeeds."""
    for path in sorted((ROOT / "tests" / "golden").glob("*.txt")):
        for part in path.read_text().split("\n$ stepsim ")[1:]:
            line, _, output = part.partition("\n")
            if line.startswith(command + " ") and "--json" in line:
                output = "".join(each for each in output.splitlines(keepends=True)
                                 if not each.startswith(("! ", "[exit ")))
                yield line, json.loads(output)


def fields(schema, pointer=""):
    """Every (pointer, subschema) of named fields, lists by their first element."""
    for key, value in schema.get("properties", {}).items():
        yield f"{pointer}/{key}", value
        yield from fields(value, f"{pointer}/{key}")
    for word in ["anyOf", "oneOf"]:
        for part in schema.get(word, []):
            yield from fields(part, pointer)
    if isinstance(schema.get("items"), dict):
        yield from fields(schema["items"], f"{pointer}/0")


class Schemas(unittest.TestCase):
    def test_each_schema_is_valid_draft_07(self):
        self.assertGreaterEqual(len(SCHEMAS), 12)
        for kind, schema in SCHEMAS.items():
            with self.subTest(kind=kind):
                self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")
                jsonschema.Draft7Validator.check_schema(schema)

    def test_every_field_is_described_and_its_examples_and_default_are_valid(self):
        for kind, schema in SCHEMAS.items():
            for pointer, field in fields(schema):
                with self.subTest(kind=kind, field=pointer):
                    if "const" not in field:
                        self.assertTrue(field.get("description"), "no description")
                    check = jsonschema.Draft7Validator(field)
                    for value in field.get("examples", []):
                        check.validate(value)
                    if "default" in field:
                        check.validate(field["default"])

    def test_examples_of_each_kind_validate(self):
        for kind, schema in SCHEMAS.items():
            self.assertTrue(schema["examples"], kind)
            for example in schema["examples"]:
                with self.subTest(kind=kind):
                    validator(kind).validate(example)

    def test_an_unknown_key_is_refused_in_every_kind(self):
        for kind, schema in SCHEMAS.items():
            example = dict(schema["examples"][0], no_such_key={"a": 1})
            with self.subTest(kind=kind):
                self.assertFalse(validator(kind).is_valid(example))

    def test_every_shipped_file_validates(self):
        files = list(shipped_files())
        self.assertTrue(files)
        for path in files:
            with self.subTest(file=str(path.relative_to(ROOT))):
                tree = load(path)
                validator(tree["kind"]).validate(tree)

    def test_what_commands_write_has_the_keys_of_its_schema_and_all_that_are_required(self):
        for command, kind in WRITTEN_KINDS.items():
            outputs = list(transcripts(command))
            self.assertTrue(outputs, command)
            for line, output in outputs:
                with self.subTest(command=line):
                    validator(kind).validate(output)
                    for key in SCHEMAS[kind]["required"]:
                        less = {name: value for name, value in output.items() if name != key}
                        self.assertFalse(validator(kind).is_valid(less), key)

    def test_network_profiles_name_a_source_for_each_number(self):
        for path in sorted((ROOT / "topologies").glob("*.calibration.json")):
            tree = load(path)
            if (tree["source"].get("importer") or "").startswith("stepsim-calibrate"):
                # Of one origin: a file with its checksum, or what was in force while measuring.
                self.assertTrue(tree["source"]["files"] or tree["source"]["options"])
                continue
            numbers = [f"/network/{key}" for key, value in tree.get("network", {}).items()
                       if type(value) in (int, float) and key != "nominal_Bps"]  # the link's name
            numbers += [f"/collectives/{i}" for i, _ in enumerate(tree.get("collectives", []))]
            numbers += [f"/compression_costs/{key}" for key in tree.get("compression_costs", {})]
            numbers += ["/dense_inflation"] if "dense_inflation" in tree else []
            self.assertTrue(numbers)
            for pointer in numbers:
                with self.subTest(file=path.name, number=pointer):
                    self.assertTrue(tree["source"]["numbers"][pointer])


    def test_node_types_name_a_source_for_each_number(self):
        files = sorted((ROOT / "topologies" / "nodes").glob("*.json"))
        self.assertGreaterEqual(len(files), 16)
        for path in files:
            for key, value in load(path).items():
                with self.subTest(file=path.name, key=key):
                    self.assertFalse(isinstance(value, (int, float)) and key != "schema_version"
                                     and not isinstance(value, bool), "no source")


class Commands(unittest.TestCase):
    """stepsim check agrees with the schemas."""

    def setUp(self):
        if not STEPSIM.exists():
            self.skipTest(f"{STEPSIM} is not built")

    def check(self, path):
        return subprocess.run([str(STEPSIM), "check", str(path)], capture_output=True, text=True, timeout=600, cwd=ROOT)

    def test_examples_pass_check(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in READ_KINDS:
                for i, example in enumerate(SCHEMAS[kind]["examples"]):
                    path = pathlib.Path(folder) / f"{kind}{i}.json"
                    path.write_text(json.dumps(example))
                    with self.subTest(kind=kind, example=i):
                        done = self.check(path)
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_shipped_files_pass_check(self):
        for path in shipped_files():
            with self.subTest(file=str(path.relative_to(ROOT))):
                done = self.check(path)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_schema_prints_is_the_schema_in_the_folder(self):
        for kind in SCHEMAS:
            done = subprocess.run([str(STEPSIM), "schema", kind], capture_output=True, text=True, timeout=600, cwd=ROOT)
            with self.subTest(kind=kind):
                self.assertEqual(done.returncode, 0, done.stderr)
                committed = (ROOT / "schemas" / f"{kind}.schema.json").read_text()
                self.assertEqual(done.stdout, committed, f"stepsim schema {kind} -o schemas/{kind}.schema.json")

    def test_flows_with_background_load_have_the_keys_of_their_schema(self):
        background = '/network/packet/background={"load": 0.3, "size_bytes": 1e5, "transport": "dlcp"}'
        done = subprocess.run([str(STEPSIM), "flows", "examples/incast.flows.json", "--set", background,
                               "--json"], capture_output=True, text=True, timeout=600, cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        output = json.loads(done.stdout)
        self.assertGreater(output["background"]["started"], 0)
        validator("flows_result").validate(output)

    def test_an_unknown_key_fails_check(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in READ_KINDS:
                path = pathlib.Path(folder) / f"{kind}.json"
                path.write_text(json.dumps(dict(SCHEMAS[kind]["examples"][0], no_such_key=1)))
                with self.subTest(kind=kind):
                    self.assertEqual(self.check(path).returncode, 3)

    def test_an_imported_topology_validates_and_passes_check(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "machine.json"
            made = subprocess.run([str(STEPSIM), "import", "nccl-topology",
                                   "tests/golden/input/machine.xml", "-o", str(path)],
                                  capture_output=True, text=True, timeout=600, cwd=ROOT)
            self.assertEqual(made.returncode, 0, made.stderr)
            tree = load(path)
            validator("topology").validate(tree)
            self.assertEqual(len(tree["gpus"]), 2)
            done = self.check(path)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--stepsim", type=pathlib.Path, default=STEPSIM)
    options, rest = parser.parse_known_args()
    STEPSIM = options.stepsim
    unittest.main(argv=[sys.argv[0], *rest])
