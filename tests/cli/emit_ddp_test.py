#!/usr/bin/env python3
"""`stepsim tune --emit ddp`: bucket sizes for PyTorch against runs with every size, and the snippet that applies them.

    emit_ddp_test.py STEPSIM
"""
import json
import sys
import types
import unittest
import unittest.mock

from folder import Folder

MIB = 1 << 20
SIZES = [40, 3, 8, 1, 30, 6, 20, 2, 9, 5, 12]  # of the gradients in MiB, in forward order


def filled(sizes, caps):
    """Buckets by PyTorch's rule: a bucket closes once it has its cap; the last cap holds for all that follow."""
    buckets, size = [], 0
    for each in sizes:
        size += each
        if size >= caps[min(len(buckets), len(caps) - 1)]:
            buckets.append(size)
            size = 0
    return buckets + ([size] if size > 0 else [])


class EmitDdp(Folder):
    def setUp(self):
        super().setUp()
        self.write_sizes()

    def write_sizes(self, sizes=SIZES):
        layers = [{"name": f"l{i}", "forward_s": 0.004, "backward_s": 0.01, "gradient_bytes": size * MIB}
                  for i, size in enumerate(sizes)]
        self.write({"kind": "scenario", "workload": {"layers": layers},
                    "cluster": {"nodes": 8, "network": {"latency_s": 2e-4, "bandwidth_Bps": 2e9}}})

    def emitted(self, *words):
        self.stepsim("tune", "s.json", "--emit", "ddp", "-o", "b.json", *words)
        return self.tree("b.json")

    def step(self, **keys):
        words = [word for key, value in keys.items() for word in ("--set", f"/communication/{key}={value}")]
        return json.loads(self.stepsim("run", "s.json", "--json", *words).stdout)["summary"]["iteration_time_s"]

    def test_the_single_size_is_the_nearest_to_the_default_within_one_per_cent_of_the_best(self):
        emitted = self.emitted()
        steps = {mib: self.step(schedule="ddp", bucket_bytes=mib * MIB) for mib in range(1, sum(SIZES) + 2)}
        self.assertLessEqual(emitted["bucket_cap_step_s"], 1.01 * min(steps.values()))
        self.assertIsInstance(emitted["bucket_cap_mb"], (int, float))
        self.assertEqual(emitted["bucket_cap_mb"], int(emitted["bucket_cap_mb"]))
        self.assertAlmostEqual(steps[emitted["bucket_cap_mb"]], emitted["bucket_cap_step_s"], delta=1e-12)
        self.assertEqual(emitted["first_bucket_mb"], emitted["bucket_cap_mb"])
        self.assertAlmostEqual(emitted["default_step_s"], steps[25], delta=1e-12)
        self.assertLess(emitted["bucket_cap_step_s"], emitted["default_step_s"])

    def test_the_list_is_the_best_merge_and_pytorch_fills_it(self):
        emitted = self.emitted()
        caps = emitted["bucket_cap_mb_list"]
        self.assertEqual(filled(SIZES[::-1], caps), caps)
        best = self.step(schedule="optimal")
        self.assertLessEqual(best, emitted["predicted_step_s"])
        self.assertLessEqual(emitted["predicted_step_s"], 1.01 / 0.99 * best)
        self.assertLessEqual(emitted["predicted_step_s"], emitted["bucket_cap_step_s"])
        self.assertAlmostEqual(emitted["gain"], 1 - emitted["predicted_step_s"] / emitted["default_step_s"], delta=1e-12)

    def test_the_snippet_leaves_what_gains_less_than_the_published_error(self):
        self.write_sizes([40, 30, 20])
        for words, advice in ((), None), (("--set", "/cluster/network/bandwidth_Bps=1e12"), "leave"):
            emitted = self.emitted(*words)
            leaves = emitted["gain"] < emitted["published_error"]
            self.assertEqual(emitted["advice"], "leave" if leaves else "change")
            self.assertEqual("PyTorch's defaults stay" in emitted["python"], leaves)
            self.assertEqual(emitted["python"].endswith("\nmodel = DistributedDataParallel(model)\n"), leaves)
            self.assertIn(advice, (None, emitted["advice"]))

    def test_the_snippet_applies_the_list_or_the_single_size(self):
        self.write_sizes([1] * 24)  # which PyTorch's default sends as 1 MiB and, behind the last layer, all others
        emitted = self.emitted("--set", "/cluster/network/bandwidth_Bps=2e8")
        for has_list in (True, False):
            def wrapped(model, **settings):
                if "bucket_cap_mb_list" in settings and not has_list:
                    raise TypeError("unexpected keyword argument")
                return settings
            module = types.ModuleType("torch.nn.parallel")
            module.DistributedDataParallel = wrapped
            names = {"torch": types.ModuleType("torch"), "torch.nn": types.ModuleType("torch.nn"),
                     "torch.nn.parallel": module}
            scope = {"model": None}
            with unittest.mock.patch.dict(sys.modules, names):
                exec(emitted["python"], scope)
            self.assertEqual(scope["model"], {"bucket_cap_mb_list": emitted["bucket_cap_mb_list"]} if has_list
                             else {"bucket_cap_mb": emitted["bucket_cap_mb"]})

    def test_the_gain_is_over_the_buckets_of_a_trace(self):
        self.write({"kind": "scenario", "workload": {"trace": "resnet50.ddp.2xa100"},
                    "cluster": {"nodes": 8, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}}})
        emitted = self.emitted()
        self.assertAlmostEqual(emitted["trace_step_s"], self.step(), delta=1e-12)
        self.assertAlmostEqual(emitted["gain"], 1 - emitted["predicted_step_s"] / emitted["trace_step_s"], delta=1e-12)

    def test_the_digest_names_the_scenario_with_its_flags(self):
        faster = self.emitted("--set", "/cluster/network/bandwidth_Bps=4e9")
        self.assertEqual(len(faster["scenario_sha256"]), 64)
        self.assertNotEqual(self.emitted()["scenario_sha256"], faster["scenario_sha256"])
        self.assertEqual(self.emitted(), self.emitted())

    def test_a_default_that_is_best_stays(self):
        self.write_sizes([1])
        emitted = self.emitted()
        self.assertEqual((emitted["bucket_cap_mb"], emitted["first_bucket_mb"], emitted["gain"]), (25, 1, 0))
        self.assertNotIn("bucket_cap_mb=", emitted["python"])

    def test_several_element_types_have_no_list(self):
        scenario = self.tree()
        for i, layer in enumerate(scenario["workload"]["layers"]):
            layer["dtype"] = "float16" if i % 2 else "float32"
        self.write(scenario)
        done = self.stepsim("tune", "s.json", "--emit", "ddp", "-o", "b.json")
        emitted = self.tree("b.json")
        self.assertIsNone(emitted["bucket_cap_mb_list"])
        self.assertEqual(emitted["predicted_step_s"], emitted["bucket_cap_step_s"])
        self.assertIn("no list of sizes", done.stdout)

    def test_what_does_not_fit_is_refused(self):
        def refused(words, sentence):
            self.assertIn(sentence, self.stepsim("tune", "s.json", *words, code=2).stderr)
        refused(["--emit", "ddp", "--format", "csv"], "writes json only")
        refused(["--emit", "ddp", "--knob", "bucket_bytes"], "--emit excludes --knob")
        refused(["--emit", "ddp", "--min-gain", "1%"], "need --emit nccl-tuner")


if __name__ == "__main__":
    unittest.main()
