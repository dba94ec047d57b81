#!/usr/bin/env python3
"""`stepsim plan-training --only units`, wrapping optimal and `tune --emit fsdp` on Llama-3.1-8B, against the table of TRN 6 and runs.

    plan_units_test.py STEPSIM
"""
import json
import sys
import types
import unittest
import unittest.mock

from folder import Folder

BLOCK_FLOP, OUTPUT_FLOP = 503_316_480, 1_050_673_152  # of a token, forward
ALL_FLOP = 32 * BLOCK_FLOP + OUTPUT_FLOP
PARAMETERS = [525_336_576] + 32 * [218_112_000] + [525_340_672]
RANKS = 16


def llama(rate, startup, parameters=PARAMETERS, **sharding):
    """Times of TRN 6: a ring of 16 ranks moves 15/16 of the bytes in 15 steps."""
    flops = [0] + 32 * [BLOCK_FLOP] + [OUTPUT_FLOP]
    names = ["tok_embeddings"] + [f"layers.{i}" for i in range(32)] + ["output"]
    layers = [{"name": name, "forward_s": 2.8 / 3 * flop / ALL_FLOP, "backward_s": 5.6 / 3 * flop / ALL_FLOP,
               "gradient_bytes": 4 * count, "dtype": "float32"} for name, flop, count in zip(names, flops, parameters)]
    return {"kind": "scenario", "workload": {"layers": layers},
            "cluster": {"nodes": RANKS, "network": {"latency_s": startup / 15, "bandwidth_Bps": rate}},
            "training": {"sharding": {"strategy": "full_shard", "preset": "torchtitan", **sharding}}}


class PlanUnits(Folder):
    def plan(self, *words):
        return json.loads(self.stepsim("plan-training", "s.json", "--only", "units", "--json", *words).stdout)

    def run_with(self, wrapping, *further):
        words = [word for key, value in wrapping.items()
                 for word in ("--set", f"/training/sharding/wrapping/{key}={json.dumps(value)}")]
        return json.loads(self.stepsim("run", "s.json", "--json", *further, *words).stdout)["summary"]

    def near(self, value, expected, part=1e-6):
        self.assertLess(abs(value - expected), part * expected, (value, expected))

    def test_times_have_no_digit_that_comes_from_sums(self):
        layers = [{"name": f"l{i}", "forward_s": 0.1 * (1 + i), "backward_s": 0.2, "gradient_bytes": 4_000_000} for i in range(3)]
        for nodes in (2, 4, 8):
            tree = {"kind": "scenario", "allow_unusual": True, "workload": {"layers": layers},
                    "cluster": {"nodes": nodes, "network": {"latency_s": 0.1, "bandwidth_Bps": 1e6}},
                    "training": {"sharding": "full_shard"}, "communication": {"collective": "ring"}}
            self.write(tree, "sums.json")
            plan = json.loads(self.stepsim("plan-training", "sums.json", "--only", "units", "--json").stdout)
            step_s = json.loads(self.stepsim("run", "sums.json", "--json").stdout)["summary"]["iteration_time_s"]
            self.assertLess(abs(plan["default_step_s"] / step_s - 1), 1e-14)
            for value in (plan["predicted_step_s"], plan["default_step_s"], plan["lower_bound_s"]):
                self.assertEqual(value, float(f"{value:.15g}"))

    def test_the_table_of_links(self):
        rows = [(8 * 45e9, 1e-4, 1, 2.812016384, 2.811816384, 3), (25e9, 1e-4, 1, 3.025830410, 3.012462909, 33),
                (25e9, 1e-4, 2, 2.991815999, 2.978248498, 8), (12.5e9, 1e-3, 1, 4.978109328, 4.837016175, 8)]
        for rate, startup, communicators, per_block, best, units in rows:
            self.write(llama(rate, startup, communicators=communicators))
            plan = self.plan()
            self.near(plan["predicted_step_s"], best)
            self.near(plan["default_step_s"], per_block)
            self.assertEqual((plan["certified"], plan["gap"], len(plan["units"])), (True, 0, units))
            self.assertLessEqual(plan["lower_bound_s"], best * (1 + 1e-9))
            self.near(plan["gain"], 1 - plan["predicted_step_s"] / plan["default_step_s"], 1e-9)
            self.near(self.run_with({"policy": "list", "cuts": plan["cuts"]})["iteration_time_s"], plan["predicted_step_s"], 1e-14)
            summary = self.run_with({"policy": "optimal"})
            self.near(summary["iteration_time_s"], plan["predicted_step_s"], 1e-14)
            self.assertEqual((summary["units"], summary["certified"]), (units, True))

    def test_memory_limits_the_units(self):
        self.write(llama(12.5e9, 1e-3))
        psi = sum(PARAMETERS)
        fixed = (4 + 4 + 8) * psi / RANKS
        # 2 + 2 gathered units of 2 bytes and 1 + 1 gradients of 4: 16 bytes per parameter, 5 % of
        # which the allocator loses; 1 GB is the context.
        limit = int(fixed + 1e9 + 1.05 * 16 * 700_000_000)
        plan = self.plan("--set", f"/cluster/gpu_memory_bytes={limit}")
        self.assertLess(abs(plan["largest_unit_parameters"] - 700_000_000), 2)
        for first, last, _ in plan["units"]:
            self.assertTrue(first == last or sum(PARAMETERS[first - 1:last]) <= 700_000_000)
        best = plan["alternatives"][0]
        self.assertIsNone(best["fits"])  # activations are not known
        self.assertLessEqual(best["memory_bytes"], limit)
        self.assertGreater(plan["predicted_step_s"], self.plan()["predicted_step_s"])
        error = self.stepsim("plan-training", "s.json", "--only", "units", "--set", "/cluster/gpu_memory_bytes=1000", code=3).stderr
        self.assertIn("/cluster/gpu_memory_bytes: 1000 bytes do not hold the", error)
        text = self.stepsim("run", "s.json", "--set", "/cluster/gpu_memory_bytes=1000000000", "--set",
                            "/training/sharding/wrapping/policy=optimal").stdout
        self.assertTrue(text.splitlines()[0].endswith("of 1.00 GB: does not fit"), text[:80])

    def test_few_labels_give_a_gap(self):
        self.write(llama(12.5e9, 1e-3, label_limit=1000))
        plan = self.plan()
        self.assertFalse(plan["certified"])
        self.near(plan["gap"], plan["predicted_step_s"] / plan["lower_bound_s"] - 1, 1e-9)
        self.assertIn("other units may be shorter by", self.stepsim("plan-training", "s.json", "--only", "units").stdout)

    def test_other_programs_are_searched(self):
        for keys in ({"backward_prefetch": "post"}, {"backward_prefetch": "none"}):
            self.write(llama(12.5e9, 1e-3, **keys))
            plan = self.plan()
            self.assertFalse(plan["certified"])
            for row in plan["alternatives"]:
                self.assertLessEqual(plan["predicted_step_s"], row["step_s"] * (1 + 1e-12))
            self.assertLessEqual(plan["lower_bound_s"], plan["predicted_step_s"])

    def test_no_row_is_faster_where_exchanges_slow_computing_or_a_model_has_many_layers(self):
        self.write(llama(25e9, 1e-4))
        slowed = self.plan("--set", "/training/compute_slowdown=1.5")
        self.assertFalse(slowed["certified"])
        self.stepsim("init", "--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", "2", "--sharding",
                     "full_shard", "--force", "-o", "s.json")
        for words in ([], ["--set", "/conditions=ideal"], ["--set", "/training/sharding/preset=fsdp1"]):
            plan = self.plan(*words)
            for row in plan["alternatives"]:
                self.assertTrue(row["fits"] is False or plan["predicted_step_s"] <= row["step_s"] * (1 + 1e-12), (words, row))
            self.near(self.run_with({"policy": "list", "cuts": plan["cuts"]}, *words)["iteration_time_s"],
                      plan["predicted_step_s"], 1e-12)
            if words == ["--set", "/conditions=ideal"]:
                self.assertTrue(plan["certified"])  # of blocks: 34 parts and not 323 layers
                self.assertIn("no other units of whole blocks have", self.stepsim("plan-training", "s.json", "--only", "units",
                                                                                  *words).stdout)

    def test_the_snippet_shards_the_units(self):
        self.write(llama(25e9, 1e-4, communicators=2))
        self.stepsim("tune", "s.json", "--emit", "fsdp", "-o", "u.json")
        emitted = self.tree("u.json")
        plan = self.plan()
        for key in ("units", "predicted_step_s", "default_step_s", "gain"):
            self.assertEqual(emitted[key], plan[key])
        calls = []
        module = types.ModuleType("torch.distributed.fsdp")
        module.fully_shard = lambda modules, **settings: calls.append((modules, settings))
        names = {"torch": types.ModuleType("torch"), "torch.distributed": types.ModuleType("torch.distributed"),
                 "torch.distributed.fsdp": module}
        model = types.SimpleNamespace(get_submodule=lambda name: name)
        with unittest.mock.patch.dict(sys.modules, names):
            exec(emitted["python"], {"model": model})
        kept = [{"reshard_after_forward": index + 1 < len(plan["units"])} for index in range(len(plan["units"]))]
        self.assertEqual(calls[:-1], [(unit[2], keys) for unit, keys in zip(plan["units"], kept)])
        self.assertEqual(calls[-1], (model, {}))

    def test_what_does_not_fit_is_refused(self):
        self.write(llama(25e9, 1e-4))
        for words in (["plan-training", "s.json", "--only", "units"], ["tune", "s.json", "--emit", "fsdp"]):
            error = self.stepsim(*words, "--set", "/training/sharding=zero1", code=2).stderr
            self.assertIn("needs sharded parameters", error)
        for words in (["--emit", "deepspeed"], ["--nodes", "2"], ["--format", "csv"]):
            self.stepsim("plan-training", "s.json", "--only", "units", *words, code=2)
        self.assertIn("writes json only", self.stepsim("tune", "s.json", "--emit", "fsdp", "--format", "csv",
                                                       code=2).stderr)


if __name__ == "__main__":
    unittest.main()
