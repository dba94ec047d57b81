#!/usr/bin/python3
"""The scripts of examples/pytorch: gTop-k by a hook is that of `stepsim semantics`, and DiLoCo is that of one process.

usage: examples_test.py STEPSIM      (exit 77 where torch with gloo is missing)
"""
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "pytorch"
sys.path[:0] = [str(FOLDER), str(pathlib.Path(__file__).resolve().parents[1])]
from ports import free_ports  # noqa: E402

STEPSIM = ""

try:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    REASON = "" if dist.is_gloo_available() else "no gloo in torch"
except (ImportError, AttributeError) as problem:
    REASON = f"no torch with gloo: {problem}"


def on_rank(function, rank, ranks, store, results, arguments):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    results.put((rank, function(*arguments)))
    dist.barrier()


def on_ranks(ranks, function, *arguments):
    """[rank]: what `function` returns in a process of its own."""
    fork = multiprocessing.get_context("fork")
    results = fork.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        processes = [fork.Process(target=on_rank, args=(function, rank, ranks, f"{folder}/store", results, arguments))
                     for rank in range(ranks)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(60)
            if process.exitcode != 0:
                for each in processes:
                    each.kill()
                raise RuntimeError(f"a rank ended with {process.exitcode}")
    return [answer for _, answer in sorted(results.get() for _ in range(ranks))]


def hooked(sizes, density, gradients):
    """[step][parameter] (gradient after the hook, residual), from stock DistributedDataParallel with a bucket per parameter.
    `gradients`: [step][parameter][rank] lists."""
    gtopk = importlib.import_module("gtopk_hook")
    dist._DEFAULT_FIRST_BUCKET_BYTES = 1
    model = torch.nn.Module()
    for k, size in enumerate(sizes):
        model.register_parameter(f"p{k}", torch.nn.Parameter(torch.zeros(size)))
    model.forward = lambda of_step: sum((parameter * of).sum() for parameter, of in zip(model.parameters(), of_step))
    ddp = DistributedDataParallel(model, bucket_cap_mb=1e-6)
    state = gtopk.GTopK(density)
    ddp.register_comm_hook(state, gtopk.gtopk_hook)
    found = []
    for of_step in gradients:
        ddp.zero_grad()
        ddp([torch.tensor(of[dist.get_rank()]) for of in of_step]).backward()
        found.append([(each.grad.tolist(), state.residual[each].tolist()) for each in model.parameters()])
    return found


def dense(vector, size):
    if isinstance(vector, list):
        return vector
    entries = dict(zip(vector["index"], vector["value"]))
    return [entries.get(index, 0) for index in range(size)]


def told(ranks, density, gradients, residuals):
    """What `stepsim semantics` says of one bucket: [step] (result, [rank] residuals, number of lost entries).
    `gradients`: [step][rank] lists; `residuals`: [rank] before the first step."""
    size = len(gradients[0][0])
    asked = {"schema_version": 1, "kind": "sparse_semantics", "name": "bucket", "method": "gtopk_tree", "ranks": ranks,
             "dims": size, "k": max(1, int(density * size)), "residual_mask": "final", "gradients": gradients,
             "initial_residual": residuals}
    done = subprocess.run([STEPSIM, "semantics", "-", "--json"], input=json.dumps(asked), capture_output=True, text=True,
                          check=True)
    return [(dense(step["final"], size), [dense(each, size) for each in step["residual_by_mask"]["final"]],
             len(step["lost"])) for step in json.loads(done.stdout)["iterations"]]


class Hook(unittest.TestCase):
    def check(self, ranks, density, gradients):
        """Returns the number of lost entries. DistributedDataParallel has one bucket in the first step and one per
        parameter, whose cap is a byte, in the others. Multiples of 1/4 below 2^20 have exact sums in float32, so that all
        but the division by `ranks` is exact."""
        sizes = [len(of[0]) for of in gradients[0]]
        found = on_ranks(ranks, hooked, sizes, density, gradients)
        joined = [sum((of[rank] for of in gradients[0]), []) for rank in range(ranks)]
        (result, residuals, lost), = told(ranks, density, [joined], [[0] * sum(sizes)] * ranks)
        for place, size in enumerate(sizes):
            part = slice(sum(sizes[:place]), sum(sizes[:place + 1]))
            before = [each[part] for each in residuals]
            steps = [(result[part], before, 0)]
            if gradients[1:]:
                steps += told(ranks, density, [step[place] for step in gradients[1:]], before)
            for number, (final, after, _) in enumerate(steps):
                for rank in range(ranks):
                    where = f"{ranks} ranks, rank {rank}, step {number}, {size} elements"
                    mean = (torch.tensor(final, dtype=torch.float32) / ranks).tolist()
                    self.assertEqual(found[rank][number][place], (mean, after[rank]), where)
            lost += sum(each for *_, each in steps)
        return lost

    def test_the_hook_is_gtopk_bit_for_bit(self):
        draw = random.Random(5)
        for ranks in (1, 2, 3, 4):
            gradients = [[[[draw.choice([0, 0, draw.randint(-9, 9), draw.randint(-4000, 4000)]) / 4 for _ in range(size)]
                           for _ in range(ranks)] for size in (40, 7)] for _ in range(5)]
            self.check(ranks, 0.2, gradients)

    def test_a_sum_of_zero_is_no_entry_and_goes_back(self):
        self.check(2, 0.5, [[[[3.0, 0.0], [-3.0, 0.0]]], [[[1.0, 0.5], [0.0, 2.0]]]])

    def test_an_entry_that_is_cut_while_its_index_comes_back_is_lost(self):
        example = json.loads((FOLDER.parent / "semantics-b.json").read_text("utf-8"))
        vectors = [[float(each) for each in dense(vector, 7)] for vector in example["gradients"][0]]
        self.assertEqual(self.check(4, 0.3, [[vectors]]), 1)


def model_and_data(rank, steps):
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1)).double()
    torch.manual_seed(10 + rank)
    return model, torch.randn(steps, 4, 3, dtype=torch.float64)


def inner_step(model, optimizer, x):
    optimizer.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()


def flat(model):
    return torch.cat([each.detach().flatten() for each in model.parameters()])


def with_diloco(steps, period):
    """[step] parameters of this rank."""
    model, data = model_and_data(dist.get_rank(), steps)
    inner = torch.optim.AdamW(model.parameters(), lr=0.01)
    outer = importlib.import_module("diloco").DiLoCo(model.parameters(), period, lr=0.6, momentum=0.8)
    found = []
    for x in data:
        inner_step(model, inner, x)
        outer.step()
        found.append(flat(model).tolist())
    return found


def in_one_process(ranks, steps, period):
    """[rank][step] parameters by the equations of DiLoCo: m = 0.8 m + d, theta -= 0.6 (d + 0.8 m), d the mean change."""
    models, data = zip(*[model_and_data(rank, steps) for rank in range(ranks)])
    inner = [torch.optim.AdamW(model.parameters(), lr=0.01) for model in models]
    theta, momentum, found = flat(models[0]), 0, [[] for _ in models]
    for step in range(steps):
        for rank, model in enumerate(models):
            inner_step(model, inner[rank], data[rank][step])
        if (step + 1) % period == 0:
            change = theta - sum(map(flat, models)) / ranks
            momentum = 0.8 * momentum + change
            theta = theta - 0.6 * (change + 0.8 * momentum)
            for model in models:
                torch.nn.utils.vector_to_parameters(theta.clone(), model.parameters())
        for rank, model in enumerate(models):
            found[rank].append(flat(model).tolist())
    return found


class DiLoCo(unittest.TestCase):
    def test_parameters_are_those_of_one_process_after_every_step(self):
        for ranks in (2, 3):
            found = torch.tensor(on_ranks(ranks, with_diloco, 13, 4), dtype=torch.float64)
            expected = torch.tensor(in_one_process(ranks, 13, 4), dtype=torch.float64)
            # Sums of the ranks in another order.
            self.assertLess(float((found - expected).abs().max()), 1e-12)
            for step in range(13):
                self.assertEqual(bool((found[0, step] == found[1, step]).all()), step % 4 == 3)

    def test_the_script_trains(self):
        port = str(free_ports(1))
        started = [subprocess.Popen([sys.executable, FOLDER / "diloco.py"], stdout=subprocess.PIPE, text=True,
                                    env=dict(os.environ, RANK=rank, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1",
                                             MASTER_PORT=port, OMP_NUM_THREADS="1")) for rank in "01"]
        for rank, process in enumerate(started):
            self.assertRegex(process.communicate(timeout=60)[0], rf"^rank {rank}: loss \d")


if __name__ == "__main__":
    STEPSIM, = sys.argv[1:]
    if REASON:
        print(f"skipped: {REASON}")
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
