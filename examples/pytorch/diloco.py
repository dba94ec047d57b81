#!/usr/bin/env python3
"""DiLoCo (arXiv:2311.08105): ranks train alone for `period` steps, then the mean of their changes is the gradient of an
outer optimizer, SGD with Nesterov momentum:  torchrun --nproc_per_node 2 examples/pytorch/diloco.py
"""
import torch
import torch.distributed as dist


class DiLoCo:
    """Call step() after every step of the inner optimizer; every `period`-th call exchanges."""

    def __init__(self, parameters, period, lr=0.7, momentum=0.9):
        self.inner, self.period, self.steps = list(parameters), period, 0
        self.outer = [each.detach().clone() for each in self.inner]
        self.optimizer = torch.optim.SGD(self.outer, lr=lr, momentum=momentum, nesterov=True)

    @torch.no_grad()
    def step(self):
        self.steps += 1
        if self.steps % self.period == 0:
            change = torch.cat([(old - new).flatten() for old, new in zip(self.outer, self.inner)])
            dist.all_reduce(change)
            for old, part in zip(self.outer, change.split([each.numel() for each in self.outer])):
                old.grad = part.view_as(old) / dist.get_world_size()
            self.optimizer.step()
            for old, new in zip(self.outer, self.inner):
                new.copy_(old)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)  # every rank begins with the same parameters
    model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    inner, outer = torch.optim.AdamW(model.parameters(), lr=1e-3), DiLoCo(model.parameters(), period=20)
    torch.manual_seed(1 + dist.get_rank())  # and has data of its own
    for step in range(400):
        x = torch.randn(32, 8)
        loss = torch.nn.functional.mse_loss(model(x), x.square().sum(1, keepdim=True))
        inner.zero_grad()
        loss.backward()
        inner.step()
        outer.step()
    print(f"rank {dist.get_rank()}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
