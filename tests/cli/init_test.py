#!/usr/bin/env python3
"""`stepsim init`: what it writes passes check, holds every decisive key and runs; and the walk of a
newcomer in an empty folder, from a model and from a recorded trace.

    init_test.py STEPSIM
"""
import json
import re
import shutil
import subprocess
import sys
import unittest

import folder
from folder import ROOT, STEPSIM

sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
import samples  # noqa: E402


class Folder(folder.Folder):
    def decisive(self, name="s.json"):
        """What `run` still assumes for the scenario."""
        shown = self.stepsim("run", name).stdout
        return re.findall(r"(?m)^assumed: (.*)$", shown)


class Init(Folder):
    def test_without_arguments_it_writes_the_shipped_trace_on_eight_nodes(self):
        done = self.stepsim("init", "-o", "s.json")
        tree = self.tree()
        self.assertEqual(tree["cluster"]["nodes"], 8)
        self.assertEqual(tree["cluster"]["network"]["calibration"], "25g-tcp")
        self.assertEqual(tree["workload"]["trace"], "resnet50.ddp.2xa100")
        # Also after the file has been moved.
        self.assertEqual(tree["$schema"], (ROOT / "schemas" / "scenario.schema.json").as_uri())
        self.assertTrue((ROOT / "schemas" / "scenario.schema.json").is_file())
        self.assertEqual(tree["communication"], {"collective": "ring", "schedule": "trace"})
        self.assertEqual(tree["training"], {"algorithm": "sync_sgd"})
        self.assertTrue(self.stepsim("check", "s.json").stdout.endswith("s.json: ok, scenario\n"))
        self.assertEqual(tree["conditions"], {"kind": "typical"})
        self.assertIn("assumed: trace resnet50.ddp.2xa100, nodes 8, network 25g-tcp, conditions typical, "
                      "schedule trace (5 measured buckets)", done.stdout)

    def test_the_schema_of_a_neighbour_folder_is_an_address(self):
        """A clone and the folder of the scenario may share a parent; inside the clone a way is enough."""
        clone = self.folder / "clone"
        for part in ("models", "topologies", "traces"):
            clone.mkdir(exist_ok=True)
            (clone / part).symlink_to(ROOT / part)
        shutil.copytree(ROOT / "schemas", clone / "schemas")
        (clone / "build").mkdir()
        (clone / "results").mkdir()
        program = shutil.copy(STEPSIM, clone / "build")
        schema = (clone / "schemas" / "scenario.schema.json").as_uri()
        for place, expected in (("n.json", "clone/schemas/scenario.schema.json"),
                                ("clone/results/s.json", "../schemas/scenario.schema.json"),
                                ("other/s.json", schema)):
            (self.folder / place).parent.mkdir(exist_ok=True)
            subprocess.run([program, "init", "-o", place], cwd=self.folder, capture_output=True, check=True)
            self.assertEqual(self.tree(place)["$schema"], expected)

    def test_nothing_decisive_is_left_open(self):
        clusters = (["--nodes", 4], ["--nodes", 4, "--network", "100g-roce"],
                    ["--nodes", 1, "--gpus-per-node", 4, "--intra-network", "nvlink-a100"],
                    ["--nodes", 2, "--gpus-per-node", 4, "--intra-network", "nvlink-a100",
                     "--network", "100g-ib"],
                    ["--nodes", 2, "--cluster", "dgx_a100"],
                    ["--nodes", 2, "--cluster", "dgx_h100", "--gpus-per-node", 4])
        for number, cluster in enumerate(clusters):
            with self.subTest(cluster=cluster):
                name = f"{number}.json"
                self.stepsim("init", *cluster, "-o", name)
                self.stepsim("check", name)
                # What the node type gives stays with it, and without a network between nodes its
                # key has no place.
                for line in self.decisive(name):
                    self.assertRegex(line, "of node type|^reduction_Bps 0$")
                    self.assertNotIn("schedule", line)

    def test_conditions_are_typical_where_they_are_defined(self):
        own = json.loads((ROOT / "topologies" / "10g-tcp.calibration.json").read_text())
        del own["network"]["transport"]
        (self.folder / "own.calibration.json").write_text(json.dumps(own))
        done = self.stepsim("init", "--network", "own.calibration.json", "-o", "s.json")
        self.assertEqual(self.tree()["conditions"], {"kind": "ideal"})
        self.assertIn("conditions ideal (/cluster/network/transport: required with typical conditions: "
                      "rdma, tcp or tcp_cloud)", done.stdout)
        self.stepsim("run", "s.json")

    def test_the_interfaces_of_a_node_type_are_its_own(self):
        done = self.stepsim("init", "--cluster", "dgx_h100", "--nodes", 8, "--network", "25g-tcp", "-o", "s.json")
        self.assertIn("nics_per_node 8", done.stdout)
        self.assertNotIn("nics_per_node", self.tree()["cluster"])
        self.stepsim("compare", "s.json", "--over", "/cluster/nics_per_node=1,8")
        self.stepsim("compare", "s.json", "--conditions", "ideal", "--over", "/cluster/network/model=alpha_beta,flow",
                     "--set", "/communication/collective=hierarchical")

    def test_the_next_commands_can_be_typed(self):
        for cluster in (["--nodes", 4], ["--nodes", 1, "--gpus-per-node", 2, "--intra-network", "pcie4"]):
            done = self.stepsim("init", *cluster, "-o", "s.json", "--force")
            commands = re.findall(r"stepsim ((?:run|compare) .*)", done.stdout)
            self.assertEqual(len(commands), 2, done.stdout)
            for command in commands:
                self.stepsim(*command.split())

    def test_file_names_are_relative_to_the_scenario(self):
        trace = json.loads((ROOT / "traces" / "resnet50.ddp.2xa100.json").read_text())
        (self.folder / "traces").mkdir()
        (self.folder / "out").mkdir()
        (self.folder / "traces" / "mine.json").write_text(json.dumps(trace))
        self.stepsim("init", "--trace", "traces/mine.json", "-o", "out/s.json")
        self.assertEqual(self.tree("out/s.json")["workload"]["trace"], "../traces/mine.json")
        self.stepsim("run", "out/s.json")
        self.stepsim("run", "s.json", cwd=self.folder / "out")
        shown = json.loads(self.stepsim("init", "--trace", "traces/mine.json").stdout)
        self.assertEqual(shown["workload"]["trace"], "traces/mine.json")

    def recorded(self, **keys):
        """The shipped trace with further keys, as a file."""
        trace = json.loads((ROOT / "traces" / "resnet50.ddp.2xa100.json").read_text())
        trace.update(keys)
        (self.folder / "t.json").write_text(json.dumps(trace))
        return trace

    def without_training(self):
        """The written scenario as somebody would have it who does not know of the recording."""
        tree = self.tree()
        del tree["training"]
        (self.folder / "bare.json").write_text(json.dumps(tree))
        return self.stepsim("run", "bare.json", "--conditions", "ideal", "--json")

    def test_micro_batches_are_those_of_the_trace(self):
        self.recorded(accumulation=4)
        done = self.stepsim("init", "--trace", "t.json", "-o", "s.json")
        self.assertIn("\nfrom the trace: micro_batches 4\n", done.stdout)
        self.assertEqual(self.tree()["training"]["micro_batches"], 4)
        summary = json.loads(self.stepsim("run", "s.json", "--conditions", "ideal", "--json").stdout)["summary"]
        # Three more micro-batches of forward and backward than with one, and one exchange.
        done = self.without_training()
        bare = json.loads(done.stdout)
        compute = sum(layer["forward_s"] + layer["backward_s"]
                      for layer in json.loads((self.folder / "t.json").read_text())["layers"])
        self.assertAlmostEqual(summary["iteration_time_s"],
                               bare["summary"]["iteration_time_s"] + 3 * compute, delta=1e-9)
        said = [line for line in bare["warnings"] if "was recorded with" in line]
        self.assertEqual(len(said), 1, bare["warnings"])
        self.assertIn('4 micro-batches per update, the scenario has no key for that; '
                      '"micro_batches": 4 under /training', said[0])
        # Whoever gives the key knows better.
        shown = self.stepsim("run", "bare.json", "--json", "--set", "/training/micro_batches=1")
        self.assertNotIn("was recorded with", shown.stdout)

    def test_sharding_and_its_units_are_those_of_the_trace(self):
        layers = len(self.recorded()["layers"])
        unit = {"elements": 10, "gather_dtype": "bfloat16", "reduce_dtype": "float32",
                "gathers_forward": 1, "gathers_backward": 1}
        units = [{**unit, "layers": [0, 9]}, {**unit, "layers": [10, 49]},
                 {**unit, "layers": [50, layers - 1], "gathers_backward": 0}]
        # A root unit around the others, as FSDP has it: two of its parts are left.
        root = [{**unit, "layers": [0, layers - 1]}, {**unit, "layers": [5, 9]},
                {**unit, "layers": [10, 49]}]
        sharding = {"group_size": 2, "world_size": 2, "reshard_after_forward": True}
        cases = (
            (units, sharding, [], "full_shard in 3 units, gathered as bfloat16, reduced as float32",
             {"strategy": "full_shard", "wrapping": {"policy": "list", "cuts": [10, 50]},
              "keep_last": True, "parameter_bytes": 2, "reduce_bytes": 4}),
            (root, {**sharding, "reshard_after_forward": False}, [],
             "shard_grad_op in 4 units (3 of the trace, cut where they enclose others)",
             {"strategy": "shard_grad_op", "wrapping": {"policy": "list", "cuts": [5, 10, 50]}}),
            (units[:1], {**sharding, "world_size": 4}, ["--nodes", 3],
             "full_shard in 1 unit, over all ranks (in the trace over 2 of 4, which the nodes here",
             {"strategy": "full_shard", "wrapping": {"policy": "all"}}),
            *((units, {**sharding, "world_size": 4}, cluster,
               "hybrid_shard in 3 units, each copy over 2 ranks",
               {"strategy": "hybrid_shard", "shard_ranks": 2})
              for cluster in ([], ["--gpus-per-node", 4, "--intra-network", "nvlink-a100"],
                              ["--nodes", 1, "--gpus-per-node", 8, "--intra-network", "nvlink-a100"])),
            ([], sharding, [], "full_shard, whose units the trace does not tell",
             {"strategy": "full_shard", "wrapping": {"policy": "block"}}))
        for units, sharding, cluster, words, keys in cases:
            with self.subTest(words=words):
                self.recorded(units=units, sharding=sharding)
                done = self.stepsim("init", "--trace", "t.json", *cluster, "-o", "s.json", "--force")
                self.assertIn(f"\nfrom the trace: sharding {words}", done.stdout)
                shown = json.loads(self.stepsim("run", "s.json", "--json").stdout)
                for key, value in keys.items():
                    self.assertEqual(shown["scenario"]["training"]["sharding"][key], value, key)
                self.assertEqual(self.tree()["training"]["sharding"]["strategy"], keys["strategy"])
                self.assertFalse([line for line in shown["warnings"] if "recorded with" in line])
                said = [line for line in json.loads(self.without_training().stdout)["warnings"]
                        if "was recorded with" in line]
                self.assertEqual(len(said), 1)
                value = keys["strategy"] if keys["strategy"] != "hybrid_shard" else {
                    key: keys[key] for key in ("shard_ranks", "strategy")}
                self.assertIn(f'parameters sharded over 2 ranks, the scenario has no key for that; '
                              f'"sharding": {json.dumps(value)} under /training',
                              said[0].replace('":', '": ').replace(',"', ', "').replace(":  ", ": "))

    def test_the_update_is_that_of_all_parameters_and_micro_steps_reduce_as_recorded(self):
        unit = {"elements": 10, "gathers_forward": 1, "gathers_backward": 1}
        update = self.recorded()
        update = update["update_s"] + update["framework_s"]
        for each in (False, True):
            sharding = {"group_size": 4, "world_size": 4, "reshard_after_forward": True}
            self.recorded(units=[{**unit, "layers": [0, 5]}], sharding=sharding, accumulation=2, reduces_each=each)
            for nodes in (4, 8):
                done = self.stepsim("init", "--trace", "t.json", "--nodes", nodes, "-o", "s.json", "--force")
                word = "each" if each else "last"
                self.assertIn(f"accumulation_exchange {word}", done.stdout)
                self.assertEqual(self.tree()["training"]["accumulation_exchange"], word)
                summary = json.loads(self.stepsim("run", "s.json", "--conditions", "ideal", "--json").stdout)["summary"]
                self.assertAlmostEqual(summary["update_s"], update * 4 / nodes, delta=1e-12)

    def test_an_estimate_without_measurements_has_to_be_accepted(self):
        model = ["--model", "resnet50", "--gpu", "a100-80", "-o", "s.json"]
        self.assertIn("accept_estimate", self.stepsim("init", *model, code=2).stderr)
        self.stepsim("init", *model, "--accept-estimate")
        self.assertIn("estimated", self.stepsim("run", "s.json").stdout)
        self.stepsim("init", "--accept-estimate", "-o", "t.json", code=2)

    def test_a_scenario_is_replaced_with_force_alone(self):
        self.stepsim("init", "-o", "s.json")
        done = self.stepsim("init", "--nodes", 4, "-o", "s.json", code=2)
        self.assertEqual(done.stderr, "error: s.json: exists; --force replaces it\n")
        self.assertEqual(self.tree()["cluster"]["nodes"], 8)
        self.stepsim("init", "--nodes", 4, "-o", "s.json", "--force")
        self.assertEqual(self.tree()["cluster"]["nodes"], 4)

    def test_a_training_that_does_not_fit_is_told_the_plan(self):
        words = ["--model", "llama3_70b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", 128]
        self.assertIn("next: stepsim plan-training s.json\n", self.stepsim("init", *words, "-o", "s.json").stdout)
        words[1] = "llama3_8b"
        self.assertIn("next: stepsim run t.json\n", self.stepsim("init", *words, "-o", "t.json").stdout)

    def test_run_says_where_a_faster_network_changes_nothing(self):
        self.stepsim("init", "--model", "llama3_70b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", 16, "-o", "s.json")

        def run(rate):
            text = self.stepsim("run", "s.json", "--set", f"/cluster/network/bandwidth_Bps={rate}Gbps").stdout
            return "large messages bound by links inside the nodes" in text, re.search(r"iteration time +(\S+)", text)[1]
        rows = {rate: run(rate) for rate in (200, 400, 800)}
        self.assertEqual([said for said, _ in rows.values()], [False, True, True])
        self.assertEqual(rows[400][1], rows[800][1])
        self.assertNotEqual(rows[200][1], rows[400][1])

    def test_problems_name_the_flag(self):
        (self.folder / "raw.json").write_bytes(samples.kineto())
        for words, text in (
                (["--nodes", 0], "--nodes: must be an integer in [1, "),
                (["--gpus-per-node", 4], "--intra-network: missing: 4 GPUs per node need"),
                (["--network", "25gb"], '--network: unknown network profile "25gb"'),
                (["--cluster", "dgx"], '--cluster: unknown node type "dgx"'),
                (["--trace", "no.json"], "no.json: cannot read: no such file"),
                (["--gpu", "h100"], "--gpu needs --model"),
                (["--model", "resnet50"], "--model needs --gpu NAME"),
                (["--model", "resnet50", "--trace", "t.json"], "--trace and --model: give one")):
            done = self.stepsim("init", *words, "-o", "s.json", code=3 if "no.json" in words else 2)
            self.assertIn(f"error: {text}", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse((self.folder / "s.json").exists())
        done = self.stepsim("init", "--trace", "raw.json", "-o", "s.json", code=3)
        self.assertEqual(done.stderr, "error: raw.json: this is a Kineto trace: "
                                      "stepsim import kineto FILE -o T.json\n")

    def test_measured_variability_goes_into_the_scenario(self):
        block = {"compute_cv": 0.1, "distribution": "empirical", "factors": [0.9, 1.1],
                 "stragglers": [{"worker": 2, "factor": 1.5}]}
        (self.folder / "v.json").write_text(json.dumps(block))
        self.stepsim("init", "--variability", "v.json", "--nodes", 4, "-o", "s.json")
        self.assertEqual(self.tree()["variability"]["stragglers"], block["stragglers"])
        self.assertIn("as they varied in the trace", self.tree()["name"])
        self.stepsim("run", "s.json")
        (self.folder / "w.json").write_text(json.dumps({"compute_cv": -1}))
        done = self.stepsim("init", "--variability", "w.json", "-o", "t.json", code=3)
        self.assertEqual(done.stderr, "error: w.json: /compute_cv: must be in [0, 1000], got -1\n")

    def test_conditions(self):
        for word in ("ideal", "typical"):
            self.stepsim("init", "--conditions", word, "-o", f"{word}.json")
            self.assertEqual(self.tree(f"{word}.json")["conditions"], {"kind": word})
        self.assertIn("--conditions: unknown kind \"usual\"; one of ideal, typical", self.stepsim("init", "--conditions", "usual", code=2).stderr)


class Shipped(Folder):
    """Paths of the documentation lead to shipped files, in any folder."""

    def test_examples_run_in_an_empty_folder(self):
        for words in (["run", "examples/two-layers.scenario.json"],
                      ["run", "s.json", "--set", "/workload/trace=traces/resnet50.1gpu.json"]):
            self.stepsim("init", "-o", "s.json", "--force")
            done = self.stepsim(*words)
            name = words[-1].split("=")[-1]
            self.assertIn(f"note: {name} is not here, ", done.stderr)
            self.assertNotIn("note:", self.stepsim(*words, "--quiet").stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["s.json"])

    def test_a_file_of_the_user_comes_first_and_outputs_stay_here(self):
        self.stepsim("examples", ".")
        self.assertNotIn("note:", self.stepsim("run", "examples/two-layers.scenario.json").stderr)
        name = "examples/two-layers.scenario.json"
        (self.folder / name).unlink()
        done = self.stepsim("run", "examples/quickstart.scenario.json", "--json", "--force", "-o", name)
        self.assertNotIn("note:", done.stderr)
        self.assertEqual(self.tree(name)["kind"], "result")
        done = self.stepsim("examples", ".", code=2)
        self.assertEqual(done.stderr, f"error: ./{name}: exists with another content; --force replaces it\n")
        self.stepsim("examples", ".", "--force")
        self.assertEqual((self.folder / name).read_text(), (ROOT / name).read_text())

    def test_copied_examples_need_nothing_that_was_not_copied(self):
        self.stepsim("examples", ".")
        copies = [*self.folder.glob("examples/*.scenario.json"), *self.folder.glob("examples/*.sweep.json")]
        self.assertGreater(len(copies), 15)
        self.stepsim("check", *[str(path.relative_to(self.folder)) for path in sorted(copies)])

    def test_shipped_traces_have_names(self):
        self.stepsim("init", "-o", "s.json")
        self.assertEqual(self.tree()["workload"]["trace"], "resnet50.ddp.2xa100")
        for name in ("traces/resnet50.1gpu.json", ROOT / "traces/resnet50.1gpu.json", "resnet50.1gpu"):
            self.stepsim("init", "--trace", name, "-o", "s.json", "--force")
            self.assertEqual(self.tree()["workload"]["trace"], "resnet50.1gpu")
        self.stepsim("run", "s.json")
        self.assertEqual(self.stepsim("init", "--trace", "resnet50.1gp", "-o", "t.json", code=2).stderr,
                         'error: --trace: unknown trace "resnet50.1gp"; did you mean "resnet50.1gpu"?\n')


class Walk(Folder):
    """Five commands of a newcomer, each of which says what it assumed."""

    def walk(self, *start):
        said = self.stepsim("init", *start, "-o", "s.json").stdout
        self.assertRegex(said, "(?m)^assumed: ")
        shown = [said]
        for words in (["run", "s.json"], ["compare", "s.json", "--over", "/cluster/nodes=8,16"],
                      ["explain", "s.json"],
                      ["sweep", "s.json", "--over", "/cluster/nodes=8,16,32", "-o", "w.jsonl"]):
            done = self.stepsim(*words)
            shown.append(done.stdout + done.stderr)
        return shown

    def test_from_a_recorded_trace(self):
        (self.folder / "raw.pt.trace.json").write_bytes(samples.kineto())
        self.stepsim("import", "kineto", "raw.pt.trace.json", "-o", "t.json")
        self.walk("--trace", "t.json", "--nodes", 16)

    def test_from_a_model(self):
        if subprocess.run([STEPSIM, "keys", "/workload/gpu"], capture_output=True).returncode:
            self.skipTest("scenarios have no key /workload/gpu: layer times are not estimated")
        shown = self.walk("--model", "llama3_8b", "--gpu", "h100", "--cluster", "dgx_h100", "--nodes", 16)
        self.assertIn("batch_size 1", shown[0])
        self.assertIn("estimated", shown[1])


if __name__ == "__main__":
    unittest.main()
