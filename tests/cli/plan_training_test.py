#!/usr/bin/env python3
"""`stepsim plan-training` against every combination, each run by itself.

    plan_training_test.py STEPSIM [PROBLEMS]

The combinations, the bytes that decide whether one fits and the best of them are made here, apart from the program.
"""
import itertools
import json
import pathlib
import random
import re
import sys
import types
import unittest

from folder import Folder
import unittest.mock

import framework_keys

STRATEGIES = ["none", "zero1", "zero2", "full_shard", "shard_grad_op"]
PROBLEMS = 100


def problem(draw):
    """Layers, or a model on a GPU, with a memory that some combinations exceed."""
    nodes, gpus = draw.choice([2, 3, 4]), draw.choice([1, 2, 4])
    cluster = {"nodes": nodes, "network": {"latency_s": 10 ** draw.uniform(-6, -4), "bandwidth_Bps": 10 ** draw.uniform(8, 11)}}
    if gpus > 1:
        cluster.update(gpus_per_node=gpus, intra_network={"latency_s": 1e-6, "bandwidth_Bps": 10 ** draw.uniform(9, 11)})
    if draw.random() < 0.5:
        counts = [draw.randrange(1, 40) * 100_000 for _ in range(draw.randrange(1, 6))]
        workload = {"layers": [{"name": f"l{i}", "forward_s": draw.uniform(0, 0.01), "backward_s": draw.uniform(0, 0.02),
                                "gradient_bytes": 4 * count, "dtype": "float32"} for i, count in enumerate(counts)]}
        activations = 10 ** draw.uniform(6, 9)
        cluster["gpu_memory_bytes"] = int(1e9 + activations + draw.uniform(5, 30) * sum(counts))
        training = {"activation_bytes": activations, **({"compute_slowdown": draw.uniform(1, 2)} if draw.random() < 0.5 else {})}
    else:
        samples = draw.choice([1, 2, 4, 6])
        workload = {"model": draw.choice(["gpt2", "bert_base"]), "gpu": "h100", "batch_size": samples,
                    "sequence_length": draw.choice([128, 512])}
        cluster["gpu_memory_bytes"] = int(10 ** draw.uniform(9.2, 9.9))
        training = {}
    training["optimizer"] = draw.choice(["adam", "adam_fused", "sgd"])
    return {"kind": "scenario", "workload": workload, "cluster": cluster, "training": training,
            "communication": {"schedule": draw.choice(["ddp", "ddp", "wfbp"])}}


def wrappings(scenario, strategy, parts):
    """Units of 1, 2, 4, .. blocks, which are layers where no name has a number, one unit, and what an exact planner says."""
    blocks = len(scenario["workload"].get("layers", 12 * [None]))
    k = 1
    while k == 1 or k < blocks:
        yield {"policy": "block", "blocks": k}
        k *= 2
    yield {"policy": "all"}
    if strategy != "hybrid_shard" and parts == 1:
        yield {"policy": "optimal"}


def combinations(scenario):
    """Whole scenarios; those that the program refuses are among them."""
    samples = scenario["workload"].get("batch_size")
    recomputes = ["none", "selective_op", "full"] if samples else [None]
    divisions = [n for n in range(1, samples + 1) if samples % n == 0] if samples else [1]
    schedule = scenario["communication"]["schedule"]
    nodes, gpus = scenario["cluster"]["nodes"], scenario["cluster"].get("gpus_per_node", 1)
    groups = [size for size in range(2, nodes * gpus) if nodes * gpus % size == 0 and (size % gpus == 0 or gpus % size == 0)]
    ways = [(strategy, None) for strategy in STRATEGIES] + [("hybrid_shard", size) for size in groups]
    for (strategy, group), recompute, parts, factor in itertools.product(ways, recomputes, divisions, [1, 4, 16]):
        units = strategy not in STRATEGIES[:3]
        if factor > 1 and (units or schedule != "ddp"):
            continue
        one = json.loads(json.dumps(scenario))
        one["training"]["sharding"] = {"strategy": strategy, **({"shard_ranks": group} if group else {})}
        if recompute:
            one["workload"].update(recompute=recompute, batch_size=samples // parts)
            one["training"]["micro_batches"] = parts
        if units:
            one["communication"] = {}
        elif factor > 1:
            one["communication"]["bucket_bytes"] = factor * 25 * 2**20
        for wrapping in wrappings(scenario, strategy, parts) if units else [None]:
            if wrapping:
                one["training"]["sharding"]["wrapping"] = wrapping
            yield one


def yaml(text):
    """Maps in maps of words, numbers and booleans, as they are written."""
    words = {"true": True, "false": False}
    document = {}
    for line in text.splitlines():
        key, _, value = line.split("  #")[0].partition(":")
        if key.startswith("#"):
            continue
        value = value.strip()
        value = int(value) if value.isdigit() else words.get(value, value)
        place = inner if key.startswith("  ") else document
        place[key.strip()] = value
        if value == "":
            inner = place[key.strip()] = {}
    return document


def python(text):
    compile(text, "settings.py", "exec")
    return text


def torchtitan(text):
    """What the function of a recipe sets, by section."""
    module = types.ModuleType("torchtitan.distributed.activation_checkpoint")
    for name in ("FullAC", "SelectiveAC"):
        setattr(module, name, types.SimpleNamespace(Config=lambda name=name: name))
    names = {"torchtitan": types.ModuleType("torchtitan"), "torchtitan.distributed": types.ModuleType("distributed"),
             module.__name__: module}
    recipe = types.SimpleNamespace(training=types.SimpleNamespace(), parallelism=types.SimpleNamespace())
    with unittest.mock.patch.dict(sys.modules, names):
        scope = {}
        exec(text, scope)
        config = scope["planned"](recipe)
    return {"activation_checkpoint": config.activation_checkpoint, "training": vars(config.training),
            "parallelism": vars(config.parallelism)}


class PlanTraining(Folder):
    def best_of_all(self, scenario):
        lines = "".join(json.dumps(one) + "\n" for one in combinations(scenario))
        answers = [json.loads(line) for line in self.stepsim("run", "--lines", "-", "--quiet", code=(0, 3), input=lines)
                   .stdout.splitlines()]
        summaries = [answer["summary"] for answer in answers if "summary" in answer]
        self.assertTrue(summaries)
        times = [one["iteration_time_s"] for one in summaries if one["memory_fits"] is not False]
        return min(times, default=None), len(summaries)

    def test_the_best_is_that_of_all_combinations(self):
        draw = random.Random(20261127)
        fits = hybrids = larger = 0
        for number in range(PROBLEMS):
            scenario = problem(draw)
            self.write(scenario)
            with self.subTest(number=number):
                plan = json.loads(self.stepsim("plan-training", "s.json", "--json", code=(0, 4)).stdout)
                least, count = self.best_of_all(scenario)
                self.assertEqual(plan["combinations"], count)
                if least is None:
                    self.assertIsNone(plan["best"])
                    continue
                fits += 1
                best = plan["rows"][plan["best"]]
                larger += best["wrapping"] not in (None, "block") or (best["blocks"] or 1) > 1
                hybrids += best["shard_ranks"] not in (None, scenario["cluster"].get("gpus_per_node", 1))
                self.assertIsNot(best["memory_fits"], False)
                self.assertLessEqual(abs(best["iteration_time_s"] - least), 1e-9 * least)
                self.assertEqual(len(plan["rows"]) + plan["too_large"] + plan["too_slow"], count)
        self.assertGreater(fits, PROBLEMS // 2)
        self.assertLess(fits, PROBLEMS)
        self.assertGreater(hybrids, 0)  # a group that is not a node
        self.assertGreater(larger, 0)  # units that are not blocks

    def test_no_units_are_faster_than_those_of_an_exact_plan(self):
        draw = random.Random(7)
        for number in range(20):
            scenario = problem(draw)
            if "layers" not in scenario["workload"]:
                continue
            del scenario["cluster"]["gpu_memory_bytes"]
            self.write(scenario)
            plan = json.loads(self.stepsim("plan-training", "s.json", "--json").stdout)
            layers = range(1, len(scenario["workload"]["layers"]))
            scenario["communication"] = {}
            for strategy in ("full_shard", "shard_grad_op"):
                lines = ""
                for count in range(len(layers) + 1):
                    for cuts in itertools.combinations(layers, count):
                        scenario["training"]["sharding"] = {"strategy": strategy, "wrapping": {"policy": "list", "cuts": cuts}}
                        lines += json.dumps(scenario) + "\n"
                times = [json.loads(line)["summary"]["iteration_time_s"]
                         for line in self.stepsim("run", "--lines", "-", "--quiet", input=lines).stdout.splitlines()]
                planned = min(row["iteration_time_s"] for row in plan["rows"] if row["strategy"] == strategy)
                with self.subTest(number=number, strategy=strategy):
                    self.assertLessEqual(abs(planned - min(times)), 1e-9 * planned)

    def test_every_row_is_a_run(self):
        words = ["init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", "2", "-o", "s.json"]
        self.stepsim(*words)
        plan = json.loads(self.stepsim("plan-training", "s.json", "--set", "/workload/batch_size=2", "--nodes", "2,4",
                                       "--json").stdout)
        self.assertGreater(plan["too_large"], 0)
        self.assertEqual(plan["rows"][plan["best"]]["nodes"], 4)  # all but the fastest of 2 nodes are too slow
        for row in plan["rows"][:6]:
            words = [word for text in row["set"] for word in ("--set", text)]
            summary = json.loads(self.stepsim("run", "s.json", "--json", "--set", "/workload/batch_size=2", *words).stdout)["summary"]
            for key in ("iteration_time_s", "memory_bytes", "samples_per_s", "iteration_time_high_s"):
                self.assertEqual(summary[key], row[key], (row["set"], key))
        text = self.stepsim("plan-training", "s.json")
        self.assertIn("best", text.stdout)
        self.assertRegex(text.stderr, r"\d+ of \d+ combinations were run: \d+ need more memory")
        best = text.stderr.split("next: stepsim ")[1].split("\n")[0].split()
        head, first = (re.split(r"  +", line) for line in text.stdout.split("\n")[:2])
        self.assertIn(first[head.index("iteration [ms]")], self.stepsim(*best).stdout)

    def settings(self, target, rows, ranks, gpus):
        """What the file of a framework says, and the row that it is of: the first that fits and that the framework has."""
        done = self.stepsim("plan-training", "s.json", "--emit", target, "-o", f"{target}.txt", code=(0, 2))
        lacks = ["shard_grad_op"] if target == "deepspeed" else ["zero1", "zero2"]
        best = next((row for row in rows if row["strategy"] not in lacks and row["memory_fits"] is not False), None)
        self.assertEqual(done.returncode, 2 if best is None else 0, done.stderr)
        if best is None:
            self.assertIn(f"it has no {rows[0]['strategy']}", done.stderr)
            return None, None
        slower = re.search(rf"{target} has no (\S+): these are the settings of (\S+), (.*) % slower than the best", done.stderr)
        self.assertEqual(slower is None, best is rows[0], done.stderr)
        if slower:
            self.assertEqual(slower.groups()[:2], (rows[0]["strategy"], best["strategy"]))
            self.assertAlmostEqual(float(slower[3]), 100 * (best["ratio"] - 1), delta=1e-3 * float(slower[3]) + 1e-9)
        text = (self.folder / f"{target}.txt").read_text()
        units = best["wrapping"] or "block", best["blocks"] or 1
        says = {"torchtitan": units == ("block", 1), "deepspeed": units == ("block", 1), "fsdp": True,
                "accelerate": units in (("block", 1), ("all", 1))}[target]
        self.assertEqual(" has one for each block" in text + done.stderr, not says)
        if target != "deepspeed":
            self.assertTrue(text.startswith("# stepsim plan-training: a step takes "), text[:60])
        document = {"torchtitan": torchtitan, "deepspeed": json.loads, "accelerate": yaml, "fsdp": python}[target](text)
        if target != "fsdp":
            keys = {key: value for key, value in document.items() if key != "activation_checkpoint"}
            self.assertEqual(framework_keys.problems(target, keys), [])
        return document, best

    def test_settings_of_frameworks_say_what_the_best_row_says(self):
        draw = random.Random(3)
        seen = {target: set() for target in ("torchtitan", "deepspeed", "accelerate", "fsdp")}
        for number in range(40):
            scenario = problem(draw)
            if "model" not in scenario["workload"]:
                continue
            self.write(scenario)
            plan = json.loads(self.stepsim("plan-training", "s.json", "--json", code=(0, 4)).stdout)
            if plan["best"] is None:
                continue
            self.assertEqual(plan["best"], 0)
            gpus = scenario["cluster"].get("gpus_per_node", 1)
            ranks = gpus * scenario["cluster"]["nodes"]
            for target, found in seen.items():
                with self.subTest(number=number, target=target):
                    said, best = self.settings(target, plan["rows"], ranks, gpus)
                    if said is not None:
                        strategy, batch, parts = best["strategy"], best["batch_size"], best["micro_batches"]
                        found.add(strategy)
                        getattr(self, f"check_{target}")(said, strategy, batch, parts, ranks, gpus, best)
        self.assertGreaterEqual(len(seen["fsdp"]), 3, seen)

    def check_torchtitan(self, said, strategy, batch, parts, ranks, gpus, best):
        shards = 1 if strategy == "none" else best["shard_ranks"] or ranks
        training, parallelism = said["training"], said["parallelism"]
        self.assertEqual(training["num_tokens_per_microbatch_per_dp_rank"], batch * training["max_context_length"])
        self.assertEqual(training["num_tokens_per_train_step"], batch * parts * ranks * training["max_context_length"])
        self.assertEqual(parallelism["data_parallel_shard_degree"], shards)
        self.assertEqual(parallelism["data_parallel_replicate_degree"], ranks // shards)
        self.assertEqual(parallelism.get("fsdp_reshard_after_forward") == "never", strategy == "shard_grad_op")
        self.assertEqual(said["activation_checkpoint"],
                         {"none": None, "full": "FullAC", "selective_op": "SelectiveAC"}[best["recompute"]])

    def check_deepspeed(self, said, strategy, batch, parts, ranks, gpus, best):
        self.assertEqual([said[key] for key in ("train_micro_batch_size_per_gpu", "gradient_accumulation_steps",
                                                "train_batch_size")], [batch, parts, batch * parts * ranks])
        zero = said["zero_optimization"]
        self.assertEqual(zero["stage"], {"none": 0, "zero1": 1, "zero2": 2}.get(strategy, 3))
        self.assertEqual(zero.get("mics_shard_size"), best["shard_ranks"])

    def check_accelerate(self, said, strategy, batch, parts, ranks, gpus, best):
        self.assertEqual((said["num_processes"], said["num_machines"]), (ranks, ranks // gpus))
        self.assertEqual(said["distributed_type"], "MULTI_GPU" if strategy == "none" else "FSDP")
        if strategy != "none":
            self.assertIs(said["fsdp_config"]["fsdp_reshard_after_forward"], strategy != "shard_grad_op")
            wrap = "NO_WRAP" if best["wrapping"] == "all" else "TRANSFORMER_BASED_WRAP"
            self.assertEqual(said["fsdp_config"]["fsdp_auto_wrap_policy"], wrap)
            self.assertIs(said["fsdp_config"]["fsdp_activation_checkpointing"], best["recompute"] == "full")
            shards = best["shard_ranks"] or ranks
            self.assertEqual([said["parallelism_config"][f"parallelism_config_dp_{name}_size"]
                              for name in ("shard", "replicate")], [shards, ranks // shards])

    def check_fsdp(self, said, strategy, batch, parts, ranks, gpus, best):
        if strategy == "none":
            self.assertIn("DistributedDataParallel(", said)
        else:
            self.assertIn(f"({ranks // best['shard_ranks']}, {best['shard_ranks']})" if best["shard_ranks"] else f"({ranks},)", said)
            self.assertIn(f'"reshard_after_forward": {strategy != "shard_grad_op"}', said)
            blocks = "for block in model.layers" if best["blocks"] == 1 else f"range(0, len(blocks), {best['blocks']})"
            for kind, words in {"block": blocks, "optimal": "for unit in units:"}.items():
                self.assertEqual(words in said, best["wrapping"] == kind, said)

    def test_what_needs_much_less_memory_is_named(self):
        file = pathlib.Path(__file__).resolve().parents[2] / "examples" / "llama8b.scenario.json"
        plan = json.loads(self.stepsim("plan-training", file, "--json").stdout)
        best = plan["rows"][plan["best"]]
        alike = [row for row in plan["rows"] if row["ratio"] < 1.001]
        least = min(alike, key=lambda row: row["memory_bytes"])
        self.assertLess(least["memory_bytes"], 0.8 * best["memory_bytes"])
        note = self.stepsim("plan-training", file).stderr
        self.assertRegex(note, f"not told apart from the best, with {least['memory_bytes'] / 1e9:.4g} GB of memory instead of "
                               f"{best['memory_bytes'] / 1e9:.4g} GB: .*wrapping {least['wrapping']}")

    def test_nothing_fits(self):
        scenario = problem(random.Random(1))
        scenario["cluster"]["gpu_memory_bytes"] = 1000
        self.write(scenario)
        plan = json.loads(self.stepsim("plan-training", "s.json", "--json", code=4).stdout)
        self.assertIsNone(plan["best"])
        self.assertEqual([row["memory_fits"] for row in plan["rows"]], [False])
        scenario["training"]["algorithm"] = "pipe_sgd"
        (self.folder / "p.json").write_text(json.dumps(scenario))
        self.stepsim("plan-training", "p.json", code=3)


if __name__ == "__main__":
    PROBLEMS = int(sys.argv.pop(1)) if len(sys.argv) > 1 else PROBLEMS
    unittest.main()
