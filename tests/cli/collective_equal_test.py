#!/usr/bin/python3
"""One collective asked for in three ways gives the same digits: by flags, by a file of kind collective,
and as the points of a sweep. Random collectives reach every key of the kind; what one way refuses, the
others refuse.

usage: collective_equal_test.py STEPSIM [SEED]
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "collective.schema.json").read_text())
CASES = 160
OPS = {"broadcast": ["mst", "be", "lp"], "reduce": ["mst", "be", "lp"],
       "allreduce": ["mst", "be", "bruck", "ring", "recursive_doubling", "lp", "double_binary_tree",
                     "swing", "hierarchical", "hierarchical_leader", "parameter_server"],
       "reduce_scatter": ["mst", "be", "bruck", "ring"], "allgather": ["mst", "be", "bruck", "ring"],
       "allgatherv": ["ring", "bruck", "be"], "alltoall": ["pairwise", "pairwise_pxn"]}
SELECT = ["density", "k", "index_bytes", "value_bytes", "selected_ratio"]
GATHER = SELECT + ["allgather", "split_values_indices"]
CODEC = ["ratio", "encode_Bps", "decode_Bps", "count_scale_bytes", "scale_agreement"]
METHODS = {"topk": GATHER, "gaussian_k": GATHER, "gtopk_tree": SELECT + ["round_barriers", "broadcast"],
           "sparcml_rd": SELECT + ["support_overlap"], "quantize8": CODEC, "custom_codec": CODEC,
           "custom": ["exchange", "bytes_per_worker"],
           "powersgd": ["rank", "shapes", "value_bytes"], "qsgd": ["bits", "bucket"],
           "omnireduce": SELECT[:4] + ["block"], "fp16": ["value_bytes"]}
FLAGS = {"/op": "--op", "/algorithm": "--algorithm", "/ranks": "--ranks", "/bytes": "--bytes",
         "/sizes": "--sizes", "/root": "--root", "/network/latency_s": "--latency",
         "/network/bandwidth_Bps": "--bandwidth", "/network/reduction_Bps": "--reduction-rate",
         "/network/block_latency_s": "--block-latency", "/links": "--links", "/topology": "--topology",
         "/network/delay_s": "--delay", "/network/calibration": "--calibration",
         "/intra_network/delay_s": "--intra-delay", "/intra_network/calibration": "--intra-calibration",
         "/enter_s": "--entry", "/late_s": "--late",
         "/gpus_per_node": "--gpus-per-node", "/ranks_per_node": "--ranks-per-node", "/nics_per_node": "--nics-per-node",
         "/intra_network/latency_s": "--intra-latency",
         "/intra_network/bandwidth_Bps": "--intra-bandwidth", "/options/block_bytes": "--block",
         "/options/candidates": "--candidates", "/options/servers": "--servers",
         "/options/placement": "--placement", "/compression/density": "--density",
         "/compression/k": "--k", "/compression/index_bytes": "--index-bytes",
         "/compression/value_bytes": "--value-bytes", "/compression/allgather": "--allgather",
         "/compression/broadcast": "--broadcast", "/method": "--method", "/shape": "--shape",
         "/options/pipeline_chunks": "--pipeline-chunks", "/nvlink_domain_nodes": "--nvlink-domain-nodes",
         "/nvls_Bps": "--nvls-rate", "/nvls_startup_s": "--nvls-startup", "/switch_latency_s": "--switch-latency",
         "/preset": "--preset", "/elements": "--elements", "/element_type": "--element-type",
         "/library/calibration": "--library", "/library/version": "--library-version",
         "/library/choice": "--choice", "/library/residual": "--residual",
         "/library/algorithms": "--library-algorithms", "/library/protocols": "--library-protocols"}
# Algorithms over nodes, and a key that counts for each alone.
OVER_NODES = {"nvls_tree": "/nvls_startup_s", "collnet": "/switch_latency_s", "two_level": "/nvlink_domain_nodes"}
VARIED = ["/ranks", "/bytes", "/network/latency_s", "/network/delay_s", "/network/bandwidth_Bps", "/algorithm",
          "/root", "/options/block_bytes", "/compression/density", "/options/servers", "/shape", "/preset"]
# What the model of a library is asked: ring is the schedule on the links of the node type.
NODES = ["dgx_h100", "dgx_a100", "p4d", "v100x4", "mi300x", "pcie3x4"]
SHAPES = ["1x4", "2x4", "4x2", "10x1", "16x4"]
LIBRARY = {"/library/choice": ["published", "calibrated"], "/library/residual": ["none", "kriging"],
           "/library/version": ["2.19", "2.29"], "/library/ll128": [True, False],
           "/library/algorithms": [["ring"], ["ring", "tree"]], "/library/protocols": [["ll", "simple"]],
           "/network/bandwidth_Bps": [2e10], "/nics_per_node": [1, 2]}


def form_of(schema):
    """The keys of a network, which may be a name instead."""
    return next((form for form in schema.get("anyOf", []) if "latency_s" in form.get("properties", {})), schema)


def leaves(schema, pointer=""):
    """Pointers of the keys that hold values; those of a nested file, and one without a flag, left out."""
    for key, value in schema["properties"].items():
        place = f"{pointer}/{key}"
        if "properties" in form_of(value):
            yield from leaves(form_of(value), place)
        elif key not in ("$schema", "schema_version", "kind", "name", "allow_unusual") and \
                place != "/intra_network/block_latency_s":
            yield place


def schema_at(pointer):
    at = SCHEMA
    for key in pointer.split("/")[1:]:
        at = form_of(at["properties"][key])
    return at


def value_of(rng, pointer, ranks):
    """A value of a key, mostly one that is right."""
    key = pointer.split("/")[-1]
    words = schema_at(pointer).get("enum")
    if words:
        return rng.choice(words)
    if schema_at(pointer).get("type") == "boolean":
        return rng.random() < 0.5
    number = {"latency_s": lambda: rng.uniform(1e-7, 1e-4), "delay_s": lambda: rng.choice([0, rng.uniform(0, 1e-3)]),
              "bandwidth_Bps": lambda: rng.uniform(1e8, 1e11),
              "reduction_Bps": lambda: rng.choice([0, rng.uniform(1e9, 1e11)]),
              "block_latency_s": lambda: rng.uniform(0, 1e-7), "block_bytes": lambda: rng.choice(["optimal", 64, 4096]),
              "density": lambda: rng.uniform(1e-3, 1), "k": lambda: rng.randint(1, 20),
              "selected_ratio": lambda: rng.uniform(0.5, 2), "ratio": lambda: rng.uniform(1, 8),
              "encode_Bps": lambda: rng.uniform(1e9, 1e11), "decode_Bps": lambda: rng.uniform(1e9, 1e11),
              "root": lambda: rng.randrange(ranks), "servers": lambda: rng.randint(1, ranks),
              "candidates": lambda: rng.sample(["ring", "be", "lp", "mst"], 2),
              "element_bytes": lambda: rng.choice([1, 4]), "index_bytes": lambda: rng.choice([4, 8]),
              "value_bytes": lambda: rng.choice([2, 4]), "bits": lambda: rng.randint(1, 16),
              "bucket": lambda: rng.randint(1, 999), "rank": lambda: rng.randint(1, 8),
              "block": lambda: rng.randint(1, 256), "gpus_per_node": lambda: rng.choice([1, 2, 4]),
              "nics_per_node": lambda: rng.choice([1, 1, 2]), "nvlink_domain_nodes": lambda: rng.choice([1, 2]),
              "pipeline_chunks": lambda: rng.choice([1, 2, 7, "optimal"]),
              "nvls_Bps": lambda: rng.uniform(1e11, 5e11), "nvls_startup_s": lambda: rng.uniform(1e-6, 1e-4),
              "switch_latency_s": lambda: rng.uniform(0, 1e-5),
              "bytes_per_worker": lambda: "8B * n",
              "shape": lambda: rng.choice(SHAPES), "preset": lambda: rng.choice(NODES)}
    return number[key]()


def random_library(rng):
    of = {"/op": rng.choice(list(OPS)[:5]), "/algorithm": rng.choice(["library", "library", "ring"]),
          "/preset": rng.choice(NODES), "/shape": rng.choice(SHAPES)}
    if of["/op"] not in ("allreduce", "allgather", "reduce_scatter"):
        of["/algorithm"] = "library"
    if rng.random() < 0.5:
        of["/bytes"] = rng.choice([0, 8, 2**20, 2**30])
    else:
        of["/elements"], of["/element_type"] = rng.randint(0, 10**9), rng.choice(["fp32", "bf16", "fp8_e4m3"])
    for pointer in rng.sample(list(LIBRARY), rng.randint(0, 3)):
        of[pointer] = rng.choice(LIBRARY[pointer])
    return of


def random_collective(rng, missing):
    """Pointer -> value; `sizes`, `enter_s` and `links` as what their files hold. Keys of `missing` come first."""
    ranks = rng.choice([1, 2, 3, 4, 6, 8, 16])
    op = rng.choice(["allreduce"] * 6 + list(OPS))
    wanted = [name for name, own in METHODS.items() if any(f"/compression/{key}" in missing for key in own)]
    method = rng.choice(wanted or list(METHODS)) if op == "allreduce" and rng.random() < 0.5 else None
    of = {"/op": op, "/algorithm": method or rng.choice(OPS[op] + ["auto"]), "/ranks": ranks}
    if op == "allgatherv" and rng.random() < 0.7:
        of["/sizes"] = [rng.randint(0, 10**6) for _ in range(ranks)]
    else:
        of["/bytes"] = 4 * rng.choice([0, 1, 5, 1000, 250_000])
    kind = rng.random()
    if kind < 0.2:
        of["/topology"] = "star_16"
    if kind > 0.1:
        of["/network/latency_s"] = value_of(rng, "/network/latency_s", ranks)
        of["/network/bandwidth_Bps"] = value_of(rng, "/network/bandwidth_Bps", ranks)
    if kind > 0.2 and rng.random() < 0.1:
        of["/network/calibration"] = "10g-tcp"
    if kind > 0.9 and ranks > 1:
        of["/links"] = {"links": [{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1e9}],
                        "enter_s": [rng.uniform(0, 1e-3) for _ in range(ranks)]}
    if of["/algorithm"].startswith("hierarchical") or rng.random() < 0.2:
        of["/intra_network/latency_s"], of["/intra_network/bandwidth_Bps"] = 1e-6, 1e11
        of["/gpus_per_node"] = value_of(rng, "/gpus_per_node", ranks)
        if kind >= 0.2:
            of["/nics_per_node"] = value_of(rng, "/nics_per_node", ranks)
        if rng.random() < 0.3:
            of["/intra_network/delay_s"] = value_of(rng, "/network/delay_s", ranks)
        if rng.random() < 0.3:
            of["/intra_network/calibration"] = "nvlink-a100"
    if op == "allreduce" and not method and 0.2 <= kind <= 0.9 and rng.random() < 0.1:
        return {"/op": op, "/algorithm": rng.choice(["ring", "hierarchical_leader"]), "/ranks": 8, "/bytes": 4000,
                "/ranks_per_node": rng.choice([[4, 2, 2], [1, 7]]), "/network/latency_s": 1e-5,
                "/network/bandwidth_Bps": 1e9, "/intra_network/latency_s": 1e-6,
                "/intra_network/bandwidth_Bps": 1e11}
    if op == "allreduce" and not method and kind >= 0.2 and kind <= 0.9 and rng.random() < 0.15:
        of |= {"/ranks": 8, "/gpus_per_node": 4, "/nics_per_node": 1, "/intra_network/latency_s": 1e-6,
               "/intra_network/bandwidth_Bps": 1e11, "/algorithm": next((name for name, key in OVER_NODES.items() if key in missing),
                                  rng.choice(list(OVER_NODES)))}
        of.pop("/network/calibration", None)
        own = {"collnet": ["switch_latency_s"], "nvls_tree": ["nvls_Bps", "nvls_startup_s"],
               "two_level": ["nvlink_domain_nodes"]}[of["/algorithm"]]
        return of | {f"/{key}": value_of(rng, f"/{key}", 8) for key in own}
    if rng.random() < 0.1:
        of["/enter_s"] = [rng.choice([0, rng.uniform(0, 1e-3)]) for _ in range(ranks)]
    if rng.random() < 0.1:
        of["/late_s"] = {str(rank): rng.uniform(0, 1e-3) for rank in rng.sample(range(ranks), min(2, ranks))}
    others = {key for key, counts in (("/root", op in ("broadcast", "reduce")),
                                      ("/options/servers", of["/algorithm"] == "parameter_server"),
                                      ("/options/placement", of["/algorithm"] == "parameter_server"),
                                      ("/options/candidates", of["/algorithm"] == "auto")) if not counts}
    keys = [p for p in leaves(SCHEMA) if p not in others and p.startswith(
        ("/options", "/root", "/method", "/network/re", "/network/bl", "/network/de"))]
    for pointer in [p for p in keys if p in missing][:1] + rng.sample(keys, rng.randint(0, 2)):
        of[pointer] = value_of(rng, pointer, ranks)
    if method:
        own = METHODS[method]
        first = [key for key in own if f"/compression/{key}" in missing][:1]
        for key in first + rng.sample(own, min(len(own), rng.randint(0, 3))):
            if key not in ("density", "k", "shapes"):
                of[f"/compression/{key}"] = value_of(rng, f"/compression/{key}", ranks)
        if "k" in own:
            key = rng.choice(["density", "density", "k"])
            of[f"/compression/{key}"] = value_of(rng, f"/compression/{key}", ranks)
        for key in ("rank", "block") + (("ratio",) if method == "custom_codec" else ()):
            if key in own and rng.random() < 0.95:
                of[f"/compression/{key}"] = value_of(rng, f"/compression/{key}", ranks)
        if method == "custom":
            of["/compression/bytes_per_worker"] = rng.choice([1000, 1e6, "n * 4 / P", "min(n, 100)"])
        if method == "powersgd" and rng.random() < 0.5:
            values = of["/bytes"] // of.get("/compression/value_bytes", 4)
            of["/compression/shapes"] = [[2, values // 2]] if values > 1 else [[max(values, 1)]]
    return of


def with_unit(pointer, value):
    """As a flag or a parameter takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        if pointer.endswith("shapes"):
            return ",".join("x".join(map(str, shape)) for shape in value)
        return ",".join(map(str, value))
    if isinstance(value, str):
        return value
    unit = "s" if pointer.endswith("_s") else "B/s" if pointer.endswith("_Bps") else ""
    return repr(value) + unit if isinstance(value, float) else f"{value}{unit}"


class Ways:
    def __init__(self, stepsim, folder):
        self.stepsim, self.folder = stepsim, folder

    def run(self, *words):
        return subprocess.run([self.stepsim, *map(str, words)], capture_output=True, text=True, cwd=self.folder,
                              timeout=600)

    def flags(self, of, varied):
        words = []
        for pointer, value in of.items():
            values = varied[1] if pointer == varied[0] else [value]
            if pointer == "/late_s":
                words += [word for rank, time in value.items() for word in ("--late", f"{rank}={time!r}s")]
                continue
            if pointer == "/ranks_per_node":
                values = value
            text = ",".join(with_unit(pointer, each) for each in values)
            if pointer in ("/sizes", "/enter_s", "/links"):
                text = f"{pointer[1:]}.json"
                (self.folder / text).write_text(json.dumps(value))
            name = pointer.split("/")[-1]
            words += [FLAGS[pointer], text] if pointer in FLAGS else ["--param", f"{name}={text}"]
        return self.run("collective", *words, "--json", "--quiet")

    def file(self, of, varied, rng):
        tree = {"kind": "collective"}
        for pointer, value in of.items():
            *above, last = pointer.split("/")[1:]
            at = tree
            for key in above:
                at = at.setdefault(key, {})
            at[last] = f"{last}.json" if last in ("sizes", "enter_s", "links") and rng.random() < 0.5 else value
        (self.folder / "c.json").write_text(json.dumps(tree))
        more = [] if varied[0] == "" else [FLAGS[varied[0]], ",".join(with_unit(varied[0], each) for each in varied[1])]
        return self.run("collective", "c.json", *more, "--json", "--quiet")

    def sweep(self, varied):
        pointer, values = varied if varied[0] else ("/name", ["a"])
        (self.folder / "s.json").write_text(json.dumps(
            {"kind": "sweep", "scenario": "c.json", "axes": [{"field": pointer, "values": values}]}))
        return self.run("sweep", "s.json", "--format", "jsonl", "--quiet", "--jobs", "1")


def check(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def main(stepsim, seed):
    rng = random.Random(seed)
    reached, refused, points = set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(stepsim, pathlib.Path(folder))
        case = 0
        while case < CASES or (set(leaves(SCHEMA)) - reached and case < 2 * CASES):
            case += 1
            of = random_library(rng) if rng.random() < 0.2 else random_collective(rng, set(leaves(SCHEMA)) - reached)
            choices = [p for p in VARIED if p in of and not (
                {"/links", "/sizes", "/enter_s", "/late_s", "/ranks_per_node"} & set(of) and p == "/ranks")]
            pointer = rng.choice(choices + [""])
            varied = (pointer, [])
            if pointer == "/algorithm":
                varied = (pointer, [of[pointer], rng.choice(OPS[of["/op"]])])
            elif pointer:
                more = rng.choice([2, 4, 8]) if pointer == "/ranks" else (
                    4 * rng.randint(0, 99) if pointer == "/bytes" else value_of(rng, pointer, of.get("/ranks", 8)))
                varied = (pointer, [of[pointer], more])
                if "optimal" in varied[1]:
                    varied = ("", [])
            by_flags = ways.flags(of, varied)
            by_file = ways.file(of, varied, rng)
            about = f"seed {seed}, case {case}: {of}, {varied}:\n{by_flags.stderr}{by_file.stderr}"
            check(by_flags.returncode in (0, 1, 2, 3) and by_file.returncode in (0, 1, 2, 3), about)
            if by_flags.returncode != 0:
                check(by_file.returncode != 0, about)
                check(by_flags.stdout == by_file.stdout == "", about)
                refused += 1
                continue
            check(by_file.returncode == 0 and by_flags.stdout == by_file.stdout, about)
            by_sweep = ways.sweep(varied)
            check(by_sweep.returncode == 0, about + by_sweep.stderr)
            rows = [json.loads(line) for line in by_sweep.stdout.splitlines()[1:]]
            records = [json.loads(line) for line in by_flags.stdout.splitlines()]
            check(len(rows) == len(records), about)
            for row, record in zip(rows, records):
                check(all(row[key] == value for key, value in record.items()), f"{about}{row}\n{record}")
            points += len(rows)
            reached |= set(of) | {"/library" for pointer in of if pointer.startswith("/library/")}
    missing = sorted(set(leaves(SCHEMA)) - reached)
    check(not missing, f"seed {seed}: keys that no collective had: {missing}")
    check(refused < case / 2, f"seed {seed}: {refused} of {case} collectives were refused")
    print(f"{points} points of {case - refused} collectives are the same in three ways, {refused} are refused in all")


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
