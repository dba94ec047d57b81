#!/usr/bin/env python3
"""Memory of a worker, whether a GPU holds it, and what every command says of that.

    memory_test.py STEPSIM

The parts are computed here from the parameters of the workload, apart from the program.
"""
import json
import unittest

from folder import Folder

COUNTS = [3_000_000, 1_000_000, 6_000_000]  # parameters of the layers, in forward order
ALL = sum(COUNTS)
RANKS = 4
CONTEXT = 1e9


def scenario(training=None, communication=None, **cluster):
    layers = [{"name": f"l{i}", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 4 * count, "dtype": "float32"}
              for i, count in enumerate(COUNTS)]
    return {"kind": "scenario", "name": "three layers", "workload": {"layers": layers},
            "cluster": {"nodes": RANKS, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}, **cluster},
            "training": training or {}, "communication": communication or {}}


class Memory(Folder):
    def summary(self, tree):
        return json.loads(self.stepsim("run", self.write(tree), "--json").stdout)["summary"]

    def parts(self, tree, further=0):
        """`further`: bytes that are there where gradients stay between steps."""
        summary = self.summary(tree)
        parts = {name: value or 0 for name, value in summary["memory_parts"].items()}
        self.assertAlmostEqual(sum(parts.values()), summary["memory_bytes"], delta=1)
        come_and_go = parts["buckets_bytes"] + parts["units_bytes"] + parts["activations_bytes"]
        come_and_go += parts["update_bytes"]
        self.assertAlmostEqual(parts["allocator_bytes"], 0.05 * come_and_go, delta=1)
        least, most = (summary[f"memory_{end}_bytes"] - summary["memory_bytes"] for end in ("low", "high"))
        self.assertAlmostEqual(least, -0.05 * come_and_go - 0.5e9, delta=1)
        self.assertAlmostEqual(most, 0.15 * come_and_go + 1.2 * further + 1e9, delta=1)
        self.assertEqual(parts["context_bytes"], CONTEXT)
        return parts

    def near(self, parts, **expected):
        for name, value in expected.items():
            self.assertAlmostEqual(parts[name + "_bytes"], value, delta=1e-9 * max(value, 1), msg=name)

    def test_training_in_32_bits(self):
        for optimizer, each in (("adam", 8), ("adam_fused", 8), ("adam_8bit", 2 + 8 / 256), ("momentum", 4), ("sgd", 0)):
            self.near(self.parts(scenario({"optimizer": optimizer})), parameters=4 * ALL, master=0,
                      gradients=4 * ALL, optimizer=each * ALL, buckets=4 * ALL, copies=0, units=0,
                      update=4 * ALL if optimizer == "adam" else 0)

    def test_gradients_come_while_activations_go(self):
        for optimizer, activations, gradients, update in (
                ("sgd", 1e6, 4 * ALL, 0), ("sgd", 1e9, 4 * COUNTS[2], 0), ("adam", 1e9, 4 * COUNTS[2], 0),
                ("sgd", 17e6, 4 * COUNTS[2], 0), ("adam", 17e6, 4 * ALL, 4 * ALL)):
            at_backward = gradients < 4 * ALL
            held = activations + gradients if at_backward else gradients + update
            parts = self.parts(scenario({"activation_bytes": activations, "optimizer": optimizer}),
                               max(0, activations + 4 * ALL - held))
            self.near(parts, gradients=gradients, activations=activations if at_backward else 0, update=update)
        kept = self.parts(scenario({"activation_bytes": 1e9, "micro_batches": 2}))
        self.near(kept, gradients=4 * ALL, activations=1e9)
        viewed = scenario({"activation_bytes": 1e9}, {"schedule": "ddp", "gradient_as_bucket_view": True})
        self.near(self.parts(viewed), gradients=4 * ALL, activations=1e9, buckets=0)

    def test_kept_gradients_and_a_measured_context(self):
        kept = self.parts(scenario({"activation_bytes": 1e9, "gradient_lifetime": "always"}))
        self.near(kept, gradients=4 * ALL, activations=1e9)
        freed = self.parts(scenario({"activation_bytes": 0, "gradient_lifetime": "layer"}, {"schedule": "wfbp"}))
        self.near(freed, gradients=4 * max(COUNTS), activations=0, update=4 * max(COUNTS))
        self.stepsim("run", self.write(scenario({"gradient_lifetime": "always", "micro_batches": 2})), code=3)
        summary = self.summary(scenario({"context_bytes": 1.4e9, "optimizer": "sgd"}))
        self.assertEqual(summary["memory_parts"]["context_bytes"], 1.4e9)
        self.assertEqual(summary["memory_low_bytes"], 1.4e9 + 12 * ALL)  # parameters, gradients, buckets

    def test_reserved_memory_is_what_nvidia_smi_shows(self):
        def reserved(training=None, **cluster):
            summary = self.summary(scenario({"activation_bytes": 1e9, **(training or {})}, **cluster))
            come_and_go = summary["memory_parts"]["allocator_bytes"] / 0.05
            return summary["memory_bytes"], come_and_go, summary["memory_reserved_bytes"]

        needed, come_and_go, shown = reserved()
        self.assertAlmostEqual(come_and_go, 1e9 + 4 * ALL, delta=20)  # activations and buckets
        self.assertAlmostEqual(shown, needed + 0.2 * come_and_go, delta=1)
        capacity = round(needed + 0.1 * come_and_go)
        self.assertEqual(reserved(gpu_memory_bytes=capacity)[2], capacity)
        self.assertEqual(reserved(gpu_memory_bytes=10**9)[2], needed)  # does not fit
        for preset, kept in (("fsdp1", 1), ("fsdp2", 0.05), ("torchtitan", 0.05)):
            needed, come_and_go, shown = reserved({"sharding": {"strategy": "full_shard", "preset": preset}})
            self.assertAlmostEqual(shown, needed + (kept - 0.05) * come_and_go, delta=1)

    def test_tensorflow_leaves_a_part_of_the_gpu_to_the_driver(self):
        tree = {"kind": "scenario", "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e10}},
                "workload": {"model": "bert_base", "gpu": "v100", "batch_size": 8, "kernels": "tensorflow"},
                "training": {"gradient_lifetime": "always"}}
        tiny = 2**20  # the reserve of a capacity that is next to nothing
        free = self.summary({**tree, "cluster": {**tree["cluster"], "gpu_memory_bytes": tiny}})
        for capacity, share, least, most in ((32e9, 0.05, 500 * 2**20, 1800 * 2**20), (80e9, 0.05, 500 * 2**20, 4e9),
                                             (8e9, 0.05, 4e8, 1800 * 2**20)):
            held = self.summary({**tree, "cluster": {**tree["cluster"], "gpu_memory_bytes": capacity}})
            for name, more in (("", share * (capacity - tiny)), ("low_", least - share * tiny), ("high_", most - 1800 * 2**20)):
                self.assertAlmostEqual(held[f"memory_{name}bytes"], free[f"memory_{name}bytes"] + more, delta=1)
            self.assertAlmostEqual(held["memory_parts"]["context_bytes"], CONTEXT + share * capacity, delta=1)
        for other in ({"workload": {**tree["workload"], "kernels": "composed"}},
                      {"training": {"context_bytes": CONTEXT, **tree["training"]}}):
            held = self.summary({**tree, **other, "cluster": {**tree["cluster"], "gpu_memory_bytes": 32e9}})
            self.assertEqual(held["memory_parts"]["context_bytes"], CONTEXT)

    def test_the_range_holds_kernels_that_are_not_known(self):
        tree = {"kind": "scenario", "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e10}},
                "workload": {"model": "gpt2", "gpu": "a100-80", "batch_size": 8}, "training": {"gradient_lifetime": "always"}}

        def of(**more):
            summary = self.summary({**tree, "workload": {**tree["workload"], **more}})
            return {end: summary[f"memory{end}_bytes"] - summary["memory_parts"]["context_bytes"]
                    for end in ("_low", "", "_high")}
        unknown, chunked = of(), of(loss="chunked")
        composed = of(loss="eager", kernels="composed")
        self.assertEqual(unknown, {**of(loss="eager"), "_low": unknown["_low"], "_high": unknown["_high"]})
        self.assertLess(chunked[""], of(loss="compiled")[""])
        self.assertAlmostEqual(unknown["_low"], of(loss="chunked", kernels="fused")["_low"], delta=1)
        self.assertAlmostEqual(unknown["_high"], composed["_high"], delta=1e-6 * composed["_high"])
        self.assertLess(of(loss="eager", kernels="fused")["_high"], composed[""] * 1.2)

    def test_messages_of_several_gradients_are_copies(self):
        for communication, expected in (({"schedule": "ddp"}, 4 * ALL), ({"schedule": "wfbp"}, 0),
                                        ({"schedule": "horovod", "fusion_bytes": 5_000_000}, 5e6),
                                        ({"schedule": "horovod"}, 4 * ALL), ({"schedule": "single"}, 4 * ALL)):
            self.near(self.parts(scenario({}, communication)), buckets=expected)
            self.near(self.parts({**scenario({}, communication, nodes=1)}), buckets=0)

    def test_copies_of_algorithms_and_compressors(self):
        bytes_of = {
            "pipe_sgd": ({"algorithm": "pipe_sgd", "pipeline_width": 3}, {}, 2 * 4 * ALL),
            "od_sgd": ({"algorithm": "od_sgd"}, {}, 4 * ALL + 4 * ALL),
            "diloco": ({"algorithm": "diloco", "local_steps": 4}, {}, 2 * 4 * ALL + 4 * ALL),
            "local_sgd": ({"algorithm": "local_sgd", "local_steps": 4}, {}, 4 * ALL),
            "topk": ({}, {"compression": {"method": "topk", "density": 0.01}}, 4 * ALL),
            "dgc": ({}, {"compression": {"method": "dgc", "density": 0.01}}, 8 * ALL),
            "fp16": ({}, {"compression": {"method": "fp16"}}, 0)}
        for name, (training, communication, expected) in bytes_of.items():
            with self.subTest(name):
                self.near(self.parts(scenario(training, communication)), copies=expected)

    def test_servers_have_the_state_of_the_optimizer(self):
        for training in ({"mode": "sync"}, {"mode": "async"}):
            for placement, share in (("dedicated", 0), ("colocated", 1 / 2)):
                parts = self.parts(scenario({"algorithm": "parameter_server", "servers": 2, "placement": placement,
                                             **training}))
                self.near(parts, parameters=4 * ALL, optimizer=share * 8 * ALL, copies=share * 4 * ALL)

    def test_sharding_divides_state(self):
        share = ALL / RANKS
        self.near(self.parts(scenario({"sharding": "zero1"})), parameters=2 * ALL, master=4 * share,
                  gradients=4 * ALL, optimizer=8 * share)
        self.near(self.parts(scenario({"sharding": "zero2"}, {"schedule": "wfbp"})), parameters=2 * ALL,
                  master=4 * share, gradients=4 * (share + COUNTS[2]), optimizer=8 * share)
        tree = scenario({"sharding": {"strategy": "full_shard", "wrapping": {"policy": "layer"}}})
        self.near(self.parts(tree), parameters=4 * share, gradients=4 * share, optimizer=8 * share)

    def test_units_that_are_held_at_the_same_time(self):
        tree = scenario({"sharding": {"strategy": "full_shard", "wrapping": {"policy": "layer"},
                                      "backward_prefetch": "none", "reshard_after_forward": True}})
        parts = self.parts(tree)
        # Nothing is gathered ahead of backward: of the largest unit its parameters and gradients, and at most
        # parameters and gradients of the one before or behind it.
        self.assertGreaterEqual(parts["units_bytes"], (2 + 4) * max(COUNTS))
        self.assertLessEqual(parts["units_bytes"], (2 + 4) * ALL)

    def test_an_optimizer_changes_memory_alone(self):
        one, two = (self.summary(scenario({"optimizer": word})) for word in ("adam", "sgd"))
        self.assertEqual(one["iteration_time_s"], two["iteration_time_s"])
        self.assertLess(two["memory_bytes"], one["memory_bytes"])

    def test_16_bits_with_and_without_a_master_copy(self):
        for training, stored, optimizer in (({}, 4, 8), ({"sharding": {"strategy": "none", "stored_bytes": 2,
                                                                       "optimizer_bytes": 4}}, 0, 4)):
            tree = scenario(training)
            for layer, count in zip(tree["workload"]["layers"], COUNTS):
                layer.update(gradient_bytes=2 * count, dtype="bfloat16")
            self.near(self.parts(tree), parameters=2 * ALL, master=stored * ALL, gradients=2 * ALL,
                      optimizer=optimizer * ALL, update=(stored or 2) * ALL)

    # What the commands say.

    def small(self, capacity, **more):
        return scenario({"activation_bytes": 0, **more}, {"schedule": "ddp"}, gpu_memory_bytes=capacity)

    def needed(self):
        return self.summary(scenario({"activation_bytes": 0}, {"schedule": "ddp"}))["memory_bytes"]

    def test_the_verdict(self):
        needed = round(self.needed())
        high = round(self.summary(self.small(needed))["memory_high_bytes"])
        for capacity, fits in ((high + 1, True), (high - 1, None), (needed + 1, None), (needed - 1, False)):
            self.assertIs(self.summary(self.small(capacity))["memory_fits"], fits)
        unknown = scenario({}, {"schedule": "ddp"}, gpu_memory_bytes=high + 1)
        self.assertIsNone(self.summary(unknown)["memory_fits"])
        self.assertIsNone(self.summary(scenario())["memory_capacity_bytes"])

    def test_every_command_says_first_what_does_not_fit(self):
        self.write(self.small(1_050_000_000))
        line = "memory 1.24 of 1.05 GB: does not fit"
        for words in (["run", "s.json"], ["explain", "s.json"]):
            self.assertEqual(self.stepsim(*words).stdout.split("\n")[0], line)
        self.stepsim("report", "s.json", "-o", "s.html")
        self.assertIn(f'class="answer">{line}. A step takes', (self.folder / "s.html").read_text())
        self.stepsim("run", "s.json", "--must-fit", code=4)
        self.stepsim("run", "s.json", "--set", "/cluster/gpu_memory_bytes=2e9", "--must-fit")

    def test_what_does_not_fit_is_never_the_best(self):
        self.write(self.small(1_170_000_000))
        words = ["compare", "s.json", "--over", "/training/optimizer=adam,sgd"]
        found = json.loads(self.stepsim(*words, "--json").stdout)
        best = found["rows"][found["best"]]
        self.assertEqual((best["optimizer"], best["memory_fits"]), ("sgd", None))
        self.assertEqual([row["memory_fits"] for row in found["rows"]], [None, False])
        self.assertRegex(self.stepsim(*words).stdout, r"best; memory 1.1\d of 1.17 GB: may not fit, up to 2.\d+ GB")
        self.assertIn("memory 1.24 of 1.17 GB: does not fit", self.stepsim(*words, "--must-fit").stdout)
        none = json.loads(self.stepsim("compare", "s.json", "--over", "/training/optimizer=adam,momentum", "--set",
                                       "/cluster/gpu_memory_bytes=1e9", "--must-fit", "--json", code=4).stdout)
        self.assertIsNone(none["best"])
        table = self.stepsim("sweep", "s.json", "--over", "/cluster/nodes=2,4", "--over",
                             "/training/optimizer=adam,sgd").stdout
        self.assertIn("! = does not fit", table)
        sweep = ["sweep", "s.json", "--over", "/training/optimizer=adam,sgd", "--must-fit"]
        self.stepsim(*sweep)
        for words in ([], ["-o", "p.jsonl"]):
            self.stepsim(*sweep, "--set", "/cluster/gpu_memory_bytes=1e9", *words, code=4)

    def test_no_change_is_proposed_that_does_not_fit(self):
        tree = scenario({"sharding": "full_shard", "activation_bytes": 0, "optimizer": "adam_fused"})
        for conditions in ("ideal", "typical"):
            tree["conditions"] = conditions
            if conditions == "typical":
                tree["cluster"]["network"]["transport"] = "rdma"
            changes = {}
            for capacity in (1_120_000_000, 2_000_000_000):
                tree["cluster"]["gpu_memory_bytes"] = capacity
                found = json.loads(self.stepsim("explain", self.write(tree), "--json").stdout)
                changes[capacity] = {each["change"]: each["set"] for each in found["what_if"]}
                for name, each in changes[capacity].items():
                    words = [word for text in each for word in ("--set", text)]
                    run = json.loads(self.stepsim("run", "s.json", "--json", *words).stdout)
                    self.assertIsNot(run["summary"]["memory_fits"], False, name)
            self.assertIn("sharding none", set(changes[2_000_000_000]) - set(changes[1_120_000_000]))

    def test_solve_looks_for_what_fits(self):
        tree = scenario({"sharding": "zero1", "activation_bytes": 0, "optimizer": "adam_fused"}, {"schedule": "wfbp"})
        least = 1 + (2 + 4) * ALL / 1e9
        capacity = 1e9 * (least + (4 + 8) * ALL / 1e9 / 6)  # six shards
        self.write({**tree, "cluster": {**tree["cluster"], "gpu_memory_bytes": round(capacity) + 1}})
        found = json.loads(self.stepsim("solve", "s.json", "--for", "/cluster/nodes", "--between", "2,16", "--target",
                                        "memory", "--json").stdout)
        crossing = found["crossings"][0]
        self.assertEqual((crossing["value"], crossing["metric_value"] <= capacity + 1), (6, True))
        self.stepsim("solve", self.write(tree), "--for", "/cluster/nodes", "--between", "2,16", "--target", "memory",
                     code=2)

    def test_a_model_gets_the_least_sharding_that_fits(self):
        words = ["init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", 2]
        self.assertRegex(self.stepsim(*words, "-o", "s.json").stdout.split("\n")[0],
                         r"^memory \d+ of 85\.5 GB: does not fit without sharding; sharding zero2: "
                         r"memory [\d.]+ of 85\.5 GB: fits$")
        self.stepsim("run", "s.json", "--must-fit")
        self.assertNotIn("memory", self.stepsim("init", "--model", "bert_large", "--gpu", "h100", "--cluster", "dgx_h100",
                                                "-o", "b.json").stdout)
        self.stepsim(*words, "--sharding", "none", "-o", "n.json")
        self.stepsim("run", "n.json", "--must-fit", code=4)

    def test_another_strategy_by_one_set(self):
        words = ["init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", 2, "--sharding"]
        self.stepsim(*words, "none", "-o", "none.json")
        self.stepsim(*words, "full_shard", "-o", "full.json")
        for name, strategy, lost in (("none.json", "full_shard", "/communication/schedule"),
                                     ("full.json", "none", "/training/sharding/preset")):
            done = self.stepsim("run", name, "--set", f"/training/sharding/strategy={strategy}", "--json")
            self.assertIn(f"left out: {lost}, because", done.stderr)
            other = "full.json" if strategy == "full_shard" else "none.json"
            whole = json.loads(self.stepsim("run", other, "--json").stdout)
            self.assertEqual(json.loads(done.stdout)["summary"], whole["summary"])
        # What the user says at the same time stays an error, and so does a key that never had a meaning.
        self.stepsim("run", "none.json", "--set", "/training/sharding/strategy=full_shard", "--set",
                     "/communication/schedule=wfbp", code=2)
        tree = json.loads((self.folder / "full.json").read_text())
        tree["communication"]["schedule"] = "ddp"
        self.stepsim("run", self.write(tree), "--set", "/cluster/nodes=4", code=3)


if __name__ == "__main__":
    unittest.main()
