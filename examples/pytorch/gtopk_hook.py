"""gTop-k with error feedback (arXiv:1901.04359) as a communication hook of DistributedDataParallel:

    ddp.register_comm_hook(GTopK(density=0.001), gtopk_hook)

Each rank selects the k = density n entries of largest magnitude of a bucket of n float32 gradients plus its residual.
Lists are merged along a tree to rank 0, which keeps the k largest of every sum and broadcasts the last list; divided by
the ranks it is the gradient. An entry stays in the residual if it was not selected or if the last list lacks its index.
"""
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist


def top_k(index, value, k):
    """Two rows, indices in order and the bits of their values. Of entries of equal magnitude the first ones are taken."""
    size = value.abs()
    least = size.topk(k).values[-1]
    keep = size > least
    keep[(size == least).nonzero().flatten()[:k - int(keep.sum())]] = True
    return torch.stack([index[keep].int(), value[keep].view(torch.int32)])


def gtopk(mine):
    rank, ranks, step, other = dist.get_rank(), dist.get_world_size(), 1, torch.empty_like(mine)
    while step < ranks and rank % step == 0:
        if rank % (2 * step):
            dist.send(mine, rank - step)
        elif rank + step < ranks:
            dist.recv(other, rank + step)
            index, place = torch.cat([mine[0], other[0]]).unique(return_inverse=True)
            values = torch.cat([mine[1], other[1]]).view(torch.float32)
            mine = top_k(index, torch.zeros(len(index)).index_add_(0, place, values), mine.size(1))
        step *= 2
    dist.broadcast(mine, 0)
    return mine


class GTopK:
    def __init__(self, density):
        self.density, self.residual, self.thread = density, {}, ThreadPoolExecutor(1)

    def exchange(self, bucket, future):
        buffer, gradients = bucket.buffer(), list(zip(bucket.parameters(), bucket.gradients()))
        for parameter, gradient in gradients:
            gradient += self.residual.get(parameter, 0)
        mine = top_k(torch.arange(len(buffer)), buffer, max(1, int(self.density * len(buffer))))
        selected, message = mine[0].long(), gtopk(mine)
        index, value = message[0].long(), message[1].view(torch.float32)
        buffer[selected[torch.isin(selected, index[value != 0])]] = 0
        self.residual.update((parameter, gradient.clone()) for parameter, gradient in gradients)
        buffer.zero_()[index] = value / dist.get_world_size()
        future.set_result(buffer)


def gtopk_hook(state, bucket):
    future = torch.futures.Future()  # buckets are exchanged one after another, while the backward pass goes on
    work = state.thread.submit(state.exchange, bucket, future)
    work.add_done_callback(lambda done: done.exception() and future.set_exception(done.exception()))
    return future
