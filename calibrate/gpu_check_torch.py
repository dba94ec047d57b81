#!/usr/bin/env python3
"""Profiles training steps of one model, as a Kineto trace for `stepsim import kineto`.

    gpu_check_torch.py [--tiny] MODEL FILE.json.gz

    resnet50    64 images of 224 x 224 pixels, single precision, SGD with momentum
    bert_base   32 sequences of 128 words, masked-word head, bf16 by autocast, AdamW
    gpt2        8 sequences of 1,024 words, bf16 by autocast, AdamW
    llama_1b    the 16 blocks of Llama 3.2 1B on 2 sequences of 2,048 words, weights and gradients in bf16, AdamW
    llama_8b    one block of Llama 3.1 8B on 2 sequences of 4,096 words, the same

Five steps are recorded after five others, with the shapes of all operators. The models are built here, with the tensors
of those they are named after; weights and data are random, since only times and sizes matter. A GPU without bf16 computes in
fp16. --tiny makes every model so small that a processor computes it in seconds, and runs without a GPU.
Exit 77 where there is no PyTorch, or no GPU without --tiny.
"""
import sys

BEFORE = 5  # steps that are not recorded
RECORDED = 5


def convolution(nn, inputs, outputs, kernel, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs))


def resnet50(torch, nn, batch=64, pixels=224, stages=((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))):
    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            self.a = convolution(nn, inputs, width, 1)
            self.b = convolution(nn, width, width, 3, stride)
            self.c = convolution(nn, width, 4 * width, 1)
            same = stride == 1 and inputs == 4 * width
            self.shortcut = nn.Identity() if same else convolution(nn, inputs, 4 * width, 1, stride)

        def forward(self, x):
            y = torch.relu(self.a(x))
            y = torch.relu(self.b(y))
            return torch.relu(self.c(y) + self.shortcut(x))

    layers = [convolution(nn, 3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, blocks, stride in stages:
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
    return model, (lambda: torch.randn(batch, 3, pixels, pixels)), (lambda: torch.randint(1000, (batch,)))


def attention(torch, query, key, value, causal):
    """Values weighted by softmax of query times key; PyTorch 1 has no fused form of it."""
    fused = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
    if fused:
        return fused(query, key, value, is_causal=causal)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if causal:
        scores = scores + torch.full_like(scores[0, 0], -1e4).triu(1)
    return scores.softmax(-1) @ value


def words_model(torch, nn, causal, words, width, heads, layers, length, batch):
    """GPT-2 (causal: layer norm before, one projection for query, key and value, tied head) or BERT with its head for
    masked words (layer norm after, three projections)."""
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.ModuleList([nn.Linear(width, 3 * width)] if causal else [nn.Linear(width, width) for _ in range(3)])
            self.out, self.up, self.down = nn.Linear(width, width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

        def attend(self, x):
            parts = torch.cat([of(x) for of in self.qkv], -1).chunk(3, -1) if not causal else self.qkv[0](x).chunk(3, -1)
            query, key, value = (part.unflatten(-1, (heads, width // heads)).transpose(1, 2) for part in parts)
            return self.out(attention(torch, query, key, value, causal).transpose(1, 2).flatten(2))

        def expand(self, x):
            return self.down(nn.functional.gelu(self.up(x)))

        def forward(self, x):
            if causal:
                x = x + self.attend(self.norms[0](x))
                return x + self.expand(self.norms[1](x))
            x = self.norms[0](x + self.attend(x))
            return self.norms[1](x + self.expand(x))

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(max(length, 512), width)
            self.kinds = None if causal else nn.Embedding(2, width)
            self.norm = nn.LayerNorm(width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.head = None if causal else nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
            self.bias = None if causal else nn.Parameter(torch.zeros(words))

        def forward(self, x):
            y = self.words(x) + self.places.weight[:length]
            if causal:
                y = self.norm(self.blocks(y))
            else:
                y = self.head(self.blocks(self.norm(y + self.kinds(torch.zeros_like(x)))))
            return nn.functional.linear(y, self.words.weight, self.bias).flatten(0, 1)

    return (Words(), lambda: torch.randint(words, (batch, length)), lambda: torch.randint(words, (batch * length,)))


def llama_blocks(torch, nn, width, inner, heads, pairs, layers, length, batch):
    """Blocks of Llama without embedding and head: grouped queries, rotary positions, RMS norms, gated MLP."""
    size = width // heads

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            y = x.float()
            return self.weight * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            line = lambda inputs, outputs: nn.Linear(inputs, outputs, bias=False)
            self.query, self.key, self.value = line(width, width), line(width, pairs * size), line(width, pairs * size)
            self.out, self.gate, self.up, self.down = line(width, width), line(width, inner), line(width, inner), line(inner, width)
            self.before, self.between = Norm(), Norm()
            angle = torch.outer(torch.arange(length), 5e5 ** (-torch.arange(0, size, 2) / size)).repeat(1, 2)
            self.register_buffer("cos", angle.cos())
            self.register_buffer("sin", angle.sin())

        def turned(self, x):
            left, right = x.chunk(2, -1)
            return x * self.cos + torch.cat([-right, left], -1) * self.sin

        def attend(self, x):
            query, key, value = (of(x).unflatten(-1, (-1, size)).transpose(1, 2) for of in (self.query, self.key, self.value))
            key, value = (part.repeat_interleave(heads // pairs, 1) for part in (self.turned(key), value))
            return self.out(attention(torch, self.turned(query), key, value, True).transpose(1, 2).flatten(2))

        def forward(self, x):
            x = x + self.attend(self.before(x))
            y = self.between(x)
            return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

    return nn.Sequential(*(Block() for _ in range(layers))), lambda: torch.randn(batch, length, width), None


# By model: the function that builds it, the arguments of the full model and of the tiny one, and the precision.
MODELS = {
    "resnet50": (resnet50, {}, dict(batch=2, pixels=32, stages=((16, 1, 1), (32, 1, 2))), "single"),
    "bert_base": (words_model, dict(causal=False, words=30522, width=768, heads=12, layers=12, length=128, batch=32),
                  dict(causal=False, words=100, width=32, heads=2, layers=2, length=16, batch=2), "autocast"),
    "gpt2": (words_model, dict(causal=True, words=50257, width=768, heads=12, layers=12, length=1024, batch=8),
             dict(causal=True, words=100, width=32, heads=2, layers=2, length=16, batch=2), "autocast"),
    "llama_1b": (llama_blocks, dict(width=2048, inner=8192, heads=32, pairs=8, layers=16, length=2048, batch=2),
                 dict(width=32, inner=64, heads=4, pairs=2, layers=2, length=16, batch=2), "half"),
    "llama_8b": (llama_blocks, dict(width=4096, inner=14336, heads=32, pairs=8, layers=1, length=4096, batch=2),
                 dict(width=32, inner=64, heads=4, pairs=2, layers=1, length=16, batch=2), "half"),
}


def main():
    arguments = sys.argv[1:]
    tiny = "--tiny" in arguments
    arguments = [each for each in arguments if each != "--tiny"]
    if len(arguments) != 2 or arguments[0] not in MODELS:
        sys.exit(__doc__)
    name, path = arguments
    try:
        import torch
        from torch import nn
        from torch.profiler import ProfilerActivity, profile, schedule
    except ImportError as error:
        print(f"no PyTorch: {error}")
        sys.exit(77)
    if not (tiny or torch.cuda.is_available()):
        print("PyTorch sees no GPU")
        sys.exit(77)
    torch.manual_seed(1)
    function, full, small, precision = MODELS[name]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    gpu = device.type == "cuda"
    half = torch.float16 if gpu and not torch.cuda.is_bf16_supported() else torch.bfloat16
    model, data, target_of = function(torch, nn, **(small if tiny else full))
    model = model.to(device).train()
    if precision == "half":
        model = model.to(half)
    parameters = sum(each.numel() for each in model.parameters())
    optimizer = (torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9) if precision == "single" else
                 torch.optim.AdamW(model.parameters(), lr=1e-5))

    def step():
        x = data().to(device)
        if precision == "half":
            x = x.to(half)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, half, enabled=gpu and precision == "autocast"):
            y = model(x)
            loss = nn.functional.cross_entropy(y, target_of().to(device)) if target_of else y.float().pow(2).mean()
        loss.backward()
        optimizer.step()
        if gpu:
            torch.cuda.synchronize()

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if gpu else [])
    with profile(activities=activities, record_shapes=True,
                 schedule=schedule(wait=BEFORE - 1, warmup=1, active=RECORDED, repeat=1),
                 on_trace_ready=lambda done: done.export_chrome_trace(path)) as profiler:
        for _ in range(BEFORE + RECORDED):
            step()
            profiler.step()
    where = torch.cuda.get_device_name() if gpu else "a processor"
    print(f"{name}{', tiny' if tiny else ''}: {parameters} parameters, {precision} precision, torch {torch.__version__}, {where}")


if __name__ == "__main__":
    main()
