#!/usr/bin/python3
"""One rank of the bed: stock DistributedDataParallel over gloo, layers wait instead of computing.

    rank.py JOBS.json OUT       JOBS.json: a list of lists of jobs, whose steps take turns; OUT.RANK.jsonl: a line per job

Layers have an absolute clock: a wait that ends late makes the next one shorter, as the queue of a GPU does, so that
a busy machine hardly lengthens the computing. All ranks read the same clock of the machine.
"""
import contextlib
import ctypes
import datetime
import json
import os
import pathlib
import struct
import sys
import time
import types

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms import Join
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, post_localSGD_hook, powerSGD_hook
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "pytorch"))

import gtopk_hook as gtopk_script  # noqa: E402
from diloco import DiLoCo  # noqa: E402
from gtopk_hook import GTopK, gtopk_hook  # noqa: E402

now = time.monotonic
DDP_OPTIONS = ("bucket_cap_mb", "find_unused_parameters", "static_graph", "gradient_as_bucket_view")


def ask_for_punctuality():
    """The thread that computes stands for a GPU, which no other work of the machine holds up: it runs as soon as its wait
    ends, and its sleeps end when they should, not 50 us later. Threads of PyTorch keep the ordinary priority, with turns of
    0.1 ms instead of 3 ms (Linux 6.12 and later on x86-64; elsewhere nothing happens)."""
    attributes = struct.pack("IIQiIQQQ", 48, 0, 0, os.getpriority(os.PRIO_PROCESS, 0), 0, 100_000, 0, 0)
    ctypes.CDLL(None).syscall(314, 0, attributes, 0)  # sched_setattr
    ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK, in ns
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def idle_and_all():
    """Time in which the processors of the machine were idle or ran programs of low priority, and all time, in ticks."""
    ticks = list(map(int, pathlib.Path("/proc/stat").read_text("ascii").split()[1:9]))
    return ticks[1] + ticks[3] + ticks[4], sum(ticks)


class Clock:
    def __init__(self):
        self.at, self.factor = now(), 1.0

    def spend(self, seconds):
        self.at += seconds * self.factor
        left = self.at - now()
        if left > 2e-4:
            time.sleep(left)


clock = Clock()
own_groups = {}  # by their threads; kept to the end: the thread of a group that drops it last would wait for itself


class Wait(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, forward_s, backward_s, *weights):
        ctx.backward_s, ctx.shapes = backward_s, [weight.shape for weight in weights]
        clock.spend(forward_s)
        return x + 0

    @staticmethod
    def backward(ctx, gradient):
        made = [torch.zeros(shape) for shape in ctx.shapes]  # beside the wait: a GPU computes them in it
        clock.spend(ctx.backward_s)
        return (gradient, None, None, *made)


class Layer(nn.Module):
    def __init__(self, layer):
        super().__init__()
        # Registered as PyTorch does (weight, bias), used in the order of the table.
        self.names = [f"p{k}" for k in range(len(layer["tensors"]))]
        for k in reversed(range(len(self.names))):
            self.register_parameter(self.names[k], nn.Parameter(torch.zeros(layer["tensors"][k])))
        self.forward_s, self.backward_s = layer["forward_s"], layer["backward_s"]

    def forward(self, x):
        return Wait.apply(x, self.forward_s, self.backward_s, *[getattr(self, name) for name in self.names])


def group_of(job):
    """The group of a job, which runs two collectives at once unless the job says how many."""
    threads = job.get("threads")
    if threads is None:
        return dist.distributed_c10d._get_default_group()
    if threads not in own_groups:
        options = dist.ProcessGroupGloo._Options()
        options._devices = [dist.ProcessGroupGloo.create_device(interface=os.environ["GLOO_SOCKET_IFNAME"])]
        options._threads = threads
        store = dist.PrefixStore(f"own{threads}", dist.distributed_c10d._get_default_store())
        own_groups[threads] = dist.ProcessGroupGloo(store, dist.get_rank(), dist.get_world_size(), options)
    return own_groups[threads]


def asked(job, group, tensors):
    """The works of one all_reduce per tensor, or of one broadcast, from rank 0 or from all ranks in turn."""
    if job.get("op") != "broadcast":
        return [group.allreduce([tensor]) for tensor in tensors]
    works = []
    for k, tensor in enumerate(tensors):
        options = dist.BroadcastOptions()
        options.rootRank = k % dist.get_world_size() if job["in_turn"] else 0
        options.rootTensor = 0
        works.append(group.broadcast([tensor], options))
    return works


class NothingSent:
    """Takes the place of torch.distributed in the gTop-k hook. Lists that a rank receives are those of the gradients of this
    bed, which are 0."""
    get_rank, get_world_size = dist.get_rank, dist.get_world_size
    send = broadcast = staticmethod(lambda *_: None)

    @staticmethod
    def recv(to, _):
        to[0], to[1] = torch.arange(to.size(1)), 0


def compute_gtopk(hook, tensor):
    """What the gTop-k hook computes for a bucket with these gradients."""
    bucket = types.SimpleNamespace(buffer=lambda: tensor, parameters=lambda: [tensor], gradients=lambda: [tensor])
    gtopk_script.dist = NothingSent
    hook.thread.submit(hook.exchange, bucket, torch.futures.Future()).result()
    gtopk_script.dist = dist


def collectives(job):
    """all_reduce, or what `op` names, without training: `at_once` of them are asked for together (`gtopk`: what its hook
    computes, where nothing is sent). One [bytes, start, end] per repetition, where start is when this rank asks and end when
    the last of them has its result. The first round has one more of each size before them."""
    group = group_of(job)
    hook = GTopK(job["density"]) if job.get("op") == "gtopk" else None
    found = []
    for size, repeat in job["sizes"]:
        tensors = [torch.zeros(max(1, size // 4)) for _ in range(job["at_once"])]
        for k in range(min(1, job["round"]), repeat + 1):
            dist.barrier()
            time.sleep(0.002)
            ends = []
            start = now()
            if hook:
                compute_gtopk(hook, tensors[0])
                ends.append(now())
            works = asked(job, group, tensors) if not hook else []
            noted = [work.get_future().then(lambda _: ends.append(now())) for work in works]
            for future in noted:
                future.wait()
            if k:
                found.append([4 * tensors[0].numel(), start, max(ends)])
    return {"spans": found}


class Log:
    """Its hook does what DDP does without one, and writes down [bytes, launch, end] of every bucket."""

    def __init__(self, group):
        self.group, self.rows, self.start = group, [], 0.0

    def hook(self, _, bucket):
        row = [4 * bucket.buffer().numel(), now() - self.start, None]
        self.rows.append(row)
        tensor = bucket.buffer().div_(dist.get_world_size())

        def ended(future):
            row[2] = now() - self.start
            return future.value()[0]

        return self.group.allreduce([tensor]).get_future().then(ended)


def registered_hook(job, ddp, log):
    """Registers the hook of the job, and returns the averager and the state of post-local SGD."""
    hook = job.get("hook")
    if hook == "log":
        ddp.register_comm_hook(None, log.hook)
    elif hook == "fp16":
        ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif hook == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=job["rank"], start_powerSGD_iter=2,
                                            min_compression_rate=2, orthogonalization_epsilon=1e-8)
        ddp.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    elif hook == "gtopk":
        ddp.register_comm_hook(GTopK(job["density"]), gtopk_hook)
    elif hook == "post_local_sgd":
        alone = [dist.new_group([rank]) for rank in range(dist.get_world_size())][dist.get_rank()]
        together = job.get("global_steps", 0)
        state = post_localSGD_hook.PostLocalSGDState(None, alone, start_localSGD_iter=max(1, together))
        ddp.register_comm_hook(state, post_localSGD_hook.post_localSGD_hook)
        return PeriodicModelAverager(period=job["period"], warmup_steps=together), state
    return None, None


def factor_of_step(job, random):
    """How much longer computing takes in this step on this rank."""
    rank, factor = job.get("straggler", (-1, 1.0))
    cv = job.get("jitter_cv", 0)
    if cv:
        square = torch.log(torch.tensor(1.0 + cv * cv))
        drawn = float(torch.exp(torch.randn(1, generator=random) * square.sqrt() - square / 2))
    return (factor if rank == dist.get_rank() else 1.0) * (drawn if cv else 1.0)


def exchanges_alone(group, sizes, optimizer):
    """[start, end] of the exchanges of a step, all asked for together: those of buckets of these bytes, or the broadcasts
    behind the update of an optimizer that broadcasts."""
    tensors = [torch.zeros(size // 4) for size in sizes]
    found = []
    for _ in range(4):
        dist.barrier()
        time.sleep(0.002)
        start = now()
        if optimizer:
            optimizer.step()
        else:
            for work in asked({}, group, tensors):
                work.wait()
        found.append([start, now()])
    return found[1:]


def train(job):
    """A generator that yields before every step and returns what it has measured."""
    model = nn.Sequential(*[Layer(layer) for layer in job["layers"]])
    dist._DEFAULT_FIRST_BUCKET_BYTES = job["first_bucket_bytes"]  # PyTorch reads it when DDP is made
    assign, limits = dist._compute_bucket_assignment_by_size, job.get("bucket_list")
    options = {key: job[key] for key in DDP_OPTIONS if key in job}
    if limits:  # PyTorch 1.13 takes no list: its own assignment is replaced, and it stays
        dist._compute_bucket_assignment_by_size = lambda tensors, *_: listed(tensors, limits)
    group = group_of(job)
    outer = DiLoCo(model.parameters(), job["period"]) if job.get("diloco") else None
    ddp = model if outer else DistributedDataParallel(model, process_group=group, broadcast_buffers=False, **options)
    dist._compute_bucket_assignment_by_size = assign
    if limits:
        ddp.reducer = NeverRebuilt(ddp.reducer)
    log = Log(group)
    averager, local = registered_hook(job, ddp, log)
    optimizer = None
    if "zero" in job:
        optimizer = ZeroRedundancyOptimizer(ddp.parameters(), torch.optim.SGD, process_group=group, lr=0.01,
                                            parameters_as_bucket_view=job["zero"] == "view")
    random = torch.Generator().manual_seed(1000 * (1 + job["round"]) + dist.get_rank())
    micro, each, inputs = job.get("micro_batches", 1), job.get("exchange_each"), job.get("inputs")
    steps = inputs[dist.get_rank()] if inputs else job.get("period", 1)
    spans, logged, updates = [], [], []
    x = torch.zeros(1, requires_grad=True)

    def step():
        clock.at, clock.factor = now(), factor_of_step(job, random)
        for tensor in [x, *model.parameters()]:
            tensor.grad = None
        for k in range(micro):
            if k < micro - 1 and not each:
                with ddp.no_sync():
                    ddp(x).sum().backward()
            else:
                ddp(x).sum().backward()
            if each:  # the next micro-batch begins when the exchange of this one has ended
                clock.at = max(clock.at, now())
        if optimizer:
            begin = now()
            optimizer.step()
            updates.append([begin, now()])
        if averager:
            averager.average_parameters(ddp.parameters())
        if outer:
            outer.step()

    dist.barrier()
    for span in range(job["warmup"] + job["steps"]):
        yield
        if inputs:  # an epoch begins and ends on all ranks together
            dist.barrier()
            if local:
                local.iter = averager.step = 0
        if span == job["warmup"]:
            idle_before, all_before = idle_and_all()
        log.rows, log.start = [], now()
        with Join([ddp]) if inputs and not local else contextlib.nullcontext():
            for _ in range(steps):
                step()
        if inputs:
            dist.barrier()
        spans.append(now() - log.start)
        logged.append([list(row) for row in log.rows])
    idle, everything = idle_and_all()
    data = {} if outer else ddp._get_ddp_logging_data()
    sizes = data.get("rebuilt_bucket_sizes") if data.get("has_rebuilt_buckets") else data.get("bucket_sizes")
    sizes = [int(size) for size in (sizes or "").split(",") if size.strip()]
    return {"spans": spans[job["warmup"]:],
            "buckets": sizes,
            "exchanges_alone": exchanges_alone(group, sizes, optimizer) if job.get("exchanges_alone") else [],
            "logged": logged[job["warmup"]:] if job.get("hook") == "log" else [],
            "updates": updates[job["warmup"] * steps:],
            "busy": 1 - (idle - idle_before) / max(1, everything - all_before)}


def in_turn(jobs):
    """What the jobs have measured: of each the first step, then of each the second one, and so on. A machine that is slower
    for a while makes the steps of all of them longer."""
    running, found = [train(job) for job in jobs], {}
    while len(found) < len(jobs):
        for k in sorted(set(range(len(jobs))) - found.keys()):
            try:
                next(running[k])
            except StopIteration as ended:
                found[k] = ended.value
    return [found[k] for k in range(len(jobs))]


class NeverRebuilt:
    """A reducer that keeps its buckets behind the first step. `find_unused_parameters` would keep them, too, but sends a map
    of the parameters behind every step."""

    def __init__(self, reducer):
        self.reducer = reducer

    def __getattr__(self, name):
        return getattr(self.reducer, name)

    def _rebuild_buckets(self):
        return False


def listed(tensors, limits):
    """DDP's form of buckets whose n-th holds gradients until their bytes reach limits[n], last gradient first."""
    buckets, filled = [[]], 0
    for index in reversed(range(len(tensors))):
        buckets[-1].append(index)
        filled += 4 * tensors[index].numel()
        if filled >= limits[min(len(buckets), len(limits)) - 1] and index:
            buckets.append([])
            filled = 0
    return list(reversed(buckets)), [0] * len(buckets)


def main():
    jobs, out = sys.argv[1:]
    ask_for_punctuality()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    with open(f"{out}.{dist.get_rank()}.jsonl", "w", buffering=1, encoding="utf-8") as file:
        for together in json.loads(open(jobs, encoding="utf-8").read()):
            dist.barrier()
            answers = [collectives(job) for job in together] if "sizes" in together[0] else in_turn(together)
            file.writelines(json.dumps(answer) + "\n" for answer in answers)
    dist.barrier()


if __name__ == "__main__":
    main()
