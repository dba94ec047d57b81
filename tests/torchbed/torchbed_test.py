#!/usr/bin/python3
"""The measurements of docs/pytorch.md are predicted again, and beds work.

usage: torchbed_test.py committed|bed|live STEPSIM      (exit 77 where root, namespaces or torch are missing)
"""
import contextlib
import copy
import io
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import bed  # noqa: E402
import campaign  # noqa: E402
import conditions  # noqa: E402
import predict  # noqa: E402
import tables  # noqa: E402

STEPSIM = ""
TOLERANCE = 1e-9


def differences(rows, stepsim, calibrations):
    """Names of the rows whose predictions differ from those that the rows have."""
    def close(a, b):
        return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))

    found = []
    for old, new in zip(rows, campaign.predicted(copy.deepcopy(rows), calibrations, stepsim), strict=True):
        same = (close(old["predicted_s"], new["predicted_s"]) and close(old["alone_s"], new["alone_s"]) and
                close(old["predicted_exchanges_s"] or 0, new["predicted_exchanges_s"] or 0) and
                old["predicted_bucket_bytes"] == new["predicted_bucket_bytes"] and
                len(old["predicted_logged"]) == len(new["predicted_logged"]) and
                all(close(a, b) for one, other in zip(old["predicted_logged"], new["predicted_logged"])
                    for a, b in zip(one, other)))
        if not same:
            found.append(f"{old['piece']}: {old['condition']['name']}: {old['predicted_s']}, now {new['predicted_s']}")
    return found


class Committed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows, cls.calibrations = campaign.read()

    def test_every_prediction_comes_out_again(self):
        self.assertEqual(differences(self.rows, STEPSIM, self.calibrations), [])

    def test_a_bed_is_a_calibration_with_both_start_ups(self):
        with tempfile.TemporaryDirectory() as folder:
            file, fitted = pathlib.Path(folder, "gloo.csv"), pathlib.Path(folder, "gloo.calibration.json")
            file.write_text(campaign.samples("4x50 a", pathlib.Path(folder)), encoding="utf-8")
            subprocess.run([pathlib.Path(STEPSIM).with_name("stepsim-calibrate"), "fit", file, "-o", fitted],
                           capture_output=True, check=False)  # small messages may spoil the grade
            curves = json.loads(fitted.read_text("utf-8"))["collectives"]
        self.assertEqual([curve.get("start_up", "alone") for curve in curves], ["alone", "queue"])
        for curve in curves:
            size, seconds = self.calibrations["4x50 a"][curve.get("start_up", "alone")][-1]
            self.assertEqual((curve["op"], curve["ranks"], curve["points"][-1][0]), ("allreduce", 4, size))
            self.assertAlmostEqual(curve["points"][-1][1], seconds, delta=1e-9)

    def test_plans_gain_what_was_predicted(self):
        changes = [(told, seen) for *_, told, seen in tables.plan_changes()]
        self.assertEqual(len(changes), 20)
        self.assertEqual([each for each in changes if abs(each[0] - each[1]) > 0.02], [])
        errors = [abs(tables.error(row)) for row in tables.first_rows()]
        advised = [(told, seen) for told, seen in changes if told < -tables.percentile(errors, 0.9)]
        self.assertGreaterEqual(len(advised), 2)
        for told, seen in advised:
            self.assertLessEqual(abs(told - seen), 0.01)

    def test_one_figure_that_is_off_is_found(self):
        row = self.rows[0]
        for key, value in (("predicted_s", row["predicted_s"] * (1 + 1e-8)),
                           ("predicted_bucket_bytes", [size + 4 for size in row["predicted_bucket_bytes"]])):
            self.assertEqual(len(differences([dict(row, **{key: value})], STEPSIM, self.calibrations)), 1)
        other = {piece: {key: [[size, 1.01 * seconds] for size, seconds in table] for key, table in tables.items()}
                 for piece, tables in self.calibrations.items()}
        self.assertEqual(len(differences([row], STEPSIM, other)), 1)

    def test_the_rows_are_those_of_the_conditions(self):
        listed = {(name, each["name"]): ({key: piece[key] for key in campaign.SHAPE}, each)
                  for name, piece in campaign.campaign_pieces().items() for each in piece["conditions"]}
        rows = {(row["piece"], row["condition"]["name"]): (row["shape"], row["condition"]) for row in self.rows}
        self.assertEqual(len(rows), len(self.rows))
        self.assertEqual(rows, listed)
        self.assertGreaterEqual(tables.different(self.rows), 150)

    def test_buckets_of_pytorch_and_of_stepsim_are_equal(self):
        compared = [row for row in self.rows if campaign.has_buckets(row)]
        self.assertGreaterEqual(len(compared), 140)
        for row in compared:
            self.assertEqual(row["bucket_bytes"], row["predicted_bucket_bytes"], row["condition"]["name"])

    def test_every_bucket_is_launched_and_ends_when_it_was_seen_to(self):
        logged = [row for row in self.rows if row["logged"]]
        self.assertGreaterEqual(len(logged), 8)
        for row in logged:
            for told, seen in zip(row["predicted_logged"], row["logged"], strict=True):
                where = row["piece"], row["condition"]["name"]
                self.assertLess(abs(told[1] - seen[1]), 1e-3, where)
                self.assertLess(abs(told[2] / seen[2] - 1), 0.05, where)


class Rule(unittest.TestCase):
    def test_rounds_of_a_job_are_one_measurement(self):
        def answered(*spans):  # by two ranks
            return [{"spans": list(spans), "busy": rank} for rank in range(2)]

        rounds = [answered(1, 2), answered(10), answered(3), answered(20)]
        self.assertEqual(campaign.pooled(rounds, 2), [answered(1, 2, 3), answered(10, 20)])

    def test_a_model_and_its_plans_take_turns(self):
        shape = {"conditions": [conditions.one(name, cap, kind) for name, cap, kind in (
            ("alexnet", 25, "gain"), ("alexnet", "tuned", "gain"), ("vgg16", 25, "gain"), ("vgg16", "list", "gain"),
            ("alexnet", 25, "plain"), ("alexnet", 5, "plain"))]}
        together = conditions.in_turn(shape)
        self.assertEqual([len(group) for group in together], [2, 2, 1, 1])
        self.assertEqual(sum(together, []), shape["conditions"])

    def test_exchanges_last_from_the_last_that_asks_to_the_last_that_ends(self):
        ranks = [{"exchanges_alone": [[1.0, 3.0], [5.0, 6.0]]}, {"exchanges_alone": [[1.5, 2.5], [4.0, 8.0]]}]
        self.assertEqual(campaign.exchanges(ranks), [1.5, 3.0])
        self.assertEqual(campaign.exchanges(ranks, "updates"), [])

    def test_a_repetition_lasts_from_the_last_that_asks_to_the_last_that_ends(self):
        ranks = [[[4, 1.0, 3.0], [8, 10.0, 14.0], [4, 5.0, 6.0]], [[4, 1.5, 2.5], [8, 9.0, 13.0], [4, 4.0, 8.0]]]
        self.assertEqual(predict.times(1, ranks), [[4, 1.5 + (3.0 - 1.5) / 4], [8, 4.0]])
        self.assertEqual(predict.times(2, ranks)[1], [8, 2.0])

    def test_a_ring_has_its_latency_and_bandwidth_back(self):
        latency, bandwidth, ranks = 3e-4, 5e6, 4
        table = [[size, 2 * (ranks - 1) * (latency + size / ranks / bandwidth)] for size in (4096, 65536, 1 << 20)]
        found = predict.ring([[4, 1.0], *table], ranks)
        self.assertAlmostEqual(found["latency_s"], latency, delta=1e-9)
        self.assertAlmostEqual(found["bandwidth_Bps"] / bandwidth, 1, delta=1e-9)

    def test_times_of_a_table_do_not_fall_and_queued_ones_replace_others(self):
        calibration = {"alone": [[4, 3.0], [8, 2.0], [16, 5.0]], "queue": [[8, 1.5]], "queue, one thread": [[8, 1.0]]}
        self.assertEqual(predict.cost_table(calibration, False), [[4, 2.0], [8, 2.0], [16, 5.0]])
        self.assertEqual(predict.cost_table(calibration, True), [[4, 1.5], [8, 1.5], [16, 5.0]])
        self.assertEqual(predict.cost_table(calibration, True, 1), [[4, 1.0], [8, 1.0], [16, 5.0]])

    def test_two_buckets_are_under_way_where_gloo_has_two_threads(self):
        shape, line = conditions.PIECES["4x50 single"], [[4, 1e-3], [1 << 20, 1.0]]
        calibration = {"alone": line, "queue": line, "queue, one thread": line}
        self.assertEqual({each["settings"].get("threads", 2) for each in shape["conditions"]}, {1, 2})
        for condition in shape["conditions"]:
            for at_once in (False, True):
                asked = predict.scenario(shape, condition, calibration, False, at_once=at_once)["communication"]
                two = at_once and condition["settings"].get("threads", 2) == 2
                self.assertEqual(asked.get("concurrency"), 2 if two else None)

    def test_an_epoch_has_the_steps_of_the_ranks_that_have_inputs(self):
        def counts(kind, **settings):
            return [(part["settings"], count) for part, count in predict.parts({"kind": kind, "settings": settings})]

        self.assertEqual(counts("Join", inputs=[2, 7, 5]), [({}, 7)])
        self.assertEqual(counts("Join", inputs=[6, 2], straggler=[1, 3]), [({"straggler": [1, 3]}, 2), ({}, 4)])
        self.assertEqual(counts("Join", inputs=[6, 8], straggler=[1, 3]), [({"straggler": [1, 3]}, 8)])
        self.assertEqual(counts("post-local SGD", inputs=[9, 9], hook="post_local_sgd", global_steps=3, period=2),
                         [({}, 3), ({"hook": "post_local_sgd", "period": 2}, 3)])
        self.assertEqual(counts("plain", steps=5), [({"steps": 5}, 1)])

    def test_an_epoch_with_join_ends_behind_a_broadcast_of_the_parameters(self):
        shape = conditions.FRAMEWORK["4x50 join"]
        joined = next(each for each in shape["conditions"] if "straggler" in each["settings"])
        settings = {key: value for key, value in joined["settings"].items() if key != "inputs"}
        slow, equal = dict(joined, kind="plain", settings=settings), dict(joined, kind="plain", settings={})
        calibration = {"alone": [[4, 1e-3], [1 << 20, 0.5]], "queue": [[4, 1e-3], [1 << 20, 0.4]],
                       conditions.BROADCAST_ALONE: [[4, 1e-3], [1 << 21, 0.7]]}
        epoch, late, even = predict.predicted(STEPSIM, [{"piece": "p", "shape": shape, "condition": each}
                                                        for each in (joined, slow, equal)], {"p": calibration})
        size = sum(bucket[0] for bucket in even["buckets"])
        told = 3 * late["seconds"] + 3 * even["seconds"] + 1e-3 + (0.7 - 1e-3) * (size - 4) / ((1 << 21) - 4)
        self.assertAlmostEqual(epoch["seconds"], told, delta=1e-9 * told)
        self.assertGreater(late["seconds"], even["seconds"] + 0.1)

    def test_scripts_of_ours_take_the_messages_that_they_send(self):
        ranks, latency, bandwidth, shape = 4, 1e-3, 4e6, conditions.FRAMEWORK["4x50 scripts"]
        table = [[size, 2 * (ranks - 1) * (latency + size / ranks / bandwidth)] for size in (4096, 1 << 23)]
        calibration = {"alone": table, "queue": [[size, 0.9 * seconds] for size, seconds in table]}

        def seconds(name):
            condition = next(each for each in shape["conditions"] if each["name"] == name)
            return predict.predicted(STEPSIM, [{"piece": "p", "shape": shape, "condition": condition}],
                                     {"p": calibration})[0]["seconds"]

        layers = conditions.job(shape, shape["conditions"][0])["layers"]
        elements = sum(math.prod(tensor) for layer in layers for tensor in layer["tensors"])
        k, rounds = int(0.05 * elements), 2 * 2  # two up the tree, two down
        self.assertAlmostEqual(seconds("resnet50 one bucket gTop-k 0.05"),
                               shape["compute_s"] + rounds * (latency + 8 * k / bandwidth), delta=1e-8)
        self.assertAlmostEqual(seconds("resnet50 cap=25 DiLoCo 4"), 4 * shape["compute_s"] +
                               2 * (ranks - 1) * (latency + 4 * elements / ranks / bandwidth), delta=1e-8)

    def test_a_step_ends_behind_the_sum_of_its_broadcasts(self):
        shape = dict(conditions.SHARDED["4x50 zero"])
        line = [[4, 1e-3], [1 << 20, 1.0]]
        calibration = {key: line for key in ("alone", "queue", conditions.BROADCAST_ALONE, *conditions.BROADCASTS.values())}
        for condition in shape["conditions"][:2]:
            plain = dict(condition, settings={})
            step, sharded = predict.predicted(STEPSIM, [{"piece": "p", "shape": shape, "condition": each}
                                                        for each in (plain, condition)], {"p": calibration})
            slope = (1.0 - 1e-3) / ((1 << 20) - 4)
            count = tables.broadcasts(shape, condition)
            elements = sum(math.prod(tensor) for layer in conditions.job(shape, condition)["layers"]
                           for tensor in layer["tensors"])
            told = count * 1e-3 + slope * (4 * elements - 4 * count)
            self.assertAlmostEqual(sharded["seconds"] - step["seconds"], told, delta=1e-9 * told)


def namespaces():
    return sorted(subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split("\n"))


class Beds(unittest.TestCase):
    def setUp(self):
        self.before = namespaces()

    def gone(self):
        self.assertEqual(namespaces(), self.before)

    def test_every_rank_has_its_namespace_and_links_are_shaped(self):
        with bed.Bed({"ranks": 3, "rate_mbps": 100, "slow": [1, 40], "uplink_mbps": 60}) as made:
            made.run(["sh", "-c", "ip -o addr show dev eth0 | grep -q 10.231.77.$((RANK + 1))/"], 60)
            for namespace, device, rate in (("n0", "eth0", 100), ("n1", "eth0", 40), ("hub", "v1", 40), ("hub", "up0", 60)):
                shown = subprocess.run(["tc", "-n", made.name + namespace, "qdisc", "show", "dev", device],
                                       capture_output=True, text=True, check=True).stdout
                self.assertRegex(shown, rf"tbf .* rate {rate}Mbit .* lat 2s")
            with self.assertRaises(RuntimeError):
                made.run(["false"], 60)
        self.gone()

    def test_a_signal_ends_the_ranks_and_removes_the_bed(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for wait_s in (0.05, 1.5):  # while it is built, and while ranks run
                program = ("import sys; sys.path.insert(0, sys.argv[1]); import bed\n"
                           "with bed.Bed({'ranks': 8, 'rate_mbps': 100}) as made: made.run(['sleep', '61'], 60)")
                running = subprocess.Popen([sys.executable, "-c", program, HERE], stderr=subprocess.DEVNULL)
                deadline = time.monotonic() + 20
                while namespaces() == self.before and time.monotonic() < deadline:
                    time.sleep(0.01)
                time.sleep(wait_s)
                running.send_signal(number)
                self.assertNotEqual(running.wait(timeout=60), 0)
                self.gone()

    def test_a_bed_that_cannot_be_finished_is_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder, "tc")
            fake.write_text('#!/bin/sh\n[ "$2" != "${2%n1}" ] && exit 1\nPATH=/usr/sbin:/usr/bin:/sbin:/bin exec tc "$@"\n',
                            encoding="utf-8")
            fake.chmod(0o755)
            path = os.environ["PATH"]
            os.environ["PATH"] = f"{folder}:{path}"
            try:
                with self.assertRaisesRegex(bed.MissingTool, "tbf not available"):
                    with bed.Bed({"ranks": 3, "rate_mbps": 100}):
                        self.fail("the bed came up")
            finally:
                os.environ["PATH"] = path
        self.gone()


PARTITION = """
import json, sys, torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
for sizes, ranks in json.load(sys.stdin):
    made = ZeroRedundancyOptimizer([torch.nn.Parameter(torch.zeros(size)) for size in sizes], torch.optim.SGD, lr=0.1)
    made.world_size = ranks
    made._partition_parameters_cache.clear()
    print(json.dumps([[each.numel() for group in groups for each in group["params"]]
                      for groups in made._partition_parameters()]))
"""


def broadcast_bytes(sizes, ranks, gather_by):
    """Of a step of stepsim, in their order: a broadcast takes a second per byte."""
    free = {"startup_s": 0, "per_byte_s": 0}
    asked = {"workload": {"layers": [{"name": str(k), "gradient_bytes": 4 * size, "forward_s": 1, "backward_s": 1}
                                     for k, size in enumerate(sizes)]},
             "cluster": {"nodes": ranks, "network": {"cost": free, "broadcast_cost": {"startup_s": 0, "per_byte_s": 1}}},
             "training": {"sharding": {"strategy": "zero1", "gather_by": gather_by, "parameter_bytes": 4}}}
    done = subprocess.run([STEPSIM, "program", "-"], input=json.dumps(asked), capture_output=True, text=True, check=True)
    return [round(each.get("startup_s", 0) + each.get("data_s", 0) + each.get("seconds", 0))
            for each in json.loads(done.stdout)["operations"] if each.get("kind") == "broadcast"]


class Live(unittest.TestCase):
    def test_steps_of_jobs_take_turns(self):
        import rank  # needs torch
        order = []

        def train(job):
            for _ in range(job["steps"]):
                yield
                order.append(job["name"])
            return job["name"].upper()

        with unittest.mock.patch.object(rank, "train", train):
            found = rank.in_turn([{"name": "a", "steps": 1}, {"name": "b", "steps": 3}, {"name": "c", "steps": 2}])
        self.assertEqual((found, "".join(order)), (["A", "B", "C"], "abcbcb"))

    def test_tensors_have_the_owners_that_pytorch_gives_them(self):
        draw = random.Random(3)
        asked = [([draw.choice([1, 2, 5, 64, draw.randint(1, 900)]) for _ in range(draw.randint(1, 40))], ranks)
                 for ranks in range(2, 9) for _ in range(5)]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([campaign.PYTHON, "-c", PARTITION, f"{folder}/store"], input=json.dumps(asked),
                                  capture_output=True, text=True, check=True)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        for owned, (sizes, ranks) in zip(found, asked, strict=True):
            self.assertEqual(broadcast_bytes(sizes, ranks, "broadcast_tensors"), [4 * size for each in owned for size in each])
            self.assertEqual(broadcast_bytes(sizes, ranks, "broadcast_view"), [4 * sum(each) for each in owned if each])

    def test_gloo_has_no_sums_of_bf16(self):
        program = ("import sys, torch, torch.distributed as d\n"
                   "d.init_process_group('gloo', init_method='file://' + sys.argv[1], rank=0, world_size=1)\n"
                   "d.all_reduce(torch.ones(2, dtype=torch.bfloat16))")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([campaign.PYTHON, "-c", program, f"{folder}/store"], capture_output=True, text=True,
                                  check=False)
        self.assertIn("Invalid scalar type", done.stderr)

    def test_a_step_and_an_epoch_with_join_are_measured_and_predicted(self):
        before = namespaces()
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            with contextlib.redirect_stdout(io.StringIO()):
                campaign.measure("live", out)
            rows = campaign.predicted(*campaign.rows_of(["live"], out), STEPSIM)
        self.assertEqual(namespaces(), before)
        for row in rows:
            self.assertEqual(row["bucket_bytes"], row["predicted_bucket_bytes"])
            self.assertGreater(len(row["bucket_bytes"]), 2)
            # A machine that does other things too makes the measured step longer.
            self.assertLess(row["predicted_s"], 1.15 * row["measured_s"])
            self.assertGreater(row["predicted_s"], 0.7 * row["measured_s"])


def missing(part):
    """What this machine lacks for a part of the test; "" if nothing."""
    if part == "committed":
        return ""
    if os.geteuid():
        return "no root"
    try:
        with bed.Bed({"ranks": 1, "rate_mbps": 100}):
            pass
    except (OSError, subprocess.CalledProcessError, bed.MissingTool) as problem:
        return f"no network namespaces: {problem}"
    if part == "live" and subprocess.run([campaign.PYTHON, "-c", "import torch.distributed as d; assert d.is_gloo_available()"],
                                         capture_output=True, check=False).returncode:
        return "no torch with gloo"
    return ""


if __name__ == "__main__":
    part, STEPSIM = sys.argv[1:]
    reason = missing(part)
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    cases = {"committed": (Committed, Rule), "bed": (Beds,), "live": (Live,)}[part]
    suite = unittest.TestSuite(map(unittest.defaultTestLoader.loadTestsFromTestCase, cases))
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
