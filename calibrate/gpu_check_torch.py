#!/usr/bin/env python3
"""Profiles training steps of one model on a GPU, as a Kineto trace for `stepsim import kineto`.

    gpu_check_torch.py resnet50|vgg16|transformer FILE.json.gz

Batch 32, single precision, SGD with momentum; five steps are recorded after five others, with the
shapes of all operators. Models come from torchvision where it is there, else they are built here with
the same layers. Weights and data are random: only times and sizes matter. Exit 77 without a GPU.
"""
import sys

BATCH = 32
BEFORE = 5  # steps that are not recorded
RECORDED = 5


def convolution(nn, inputs, outputs, kernel, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs))


def own_resnet50(torch, nn):
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
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def own_vgg16(_torch, nn):
    layers = []
    inputs = 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width == 0:
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU()]
            inputs = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512 * 7 * 7, 4096), nn.ReLU(), nn.Dropout(),
                         nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 1000))


def own_transformer(torch, nn, words=30522, width=768, heads=12, layers=12, length=128):
    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(words, width)
            self.places = nn.Parameter(0.02 * torch.randn(length, width))
            layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True)
            self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.head = nn.Linear(width, words)

        def forward(self, x):
            return self.head(self.layers(self.words(x) + self.places)).flatten(0, 1)

    return Transformer(), lambda device: (torch.randint(words, (BATCH, length), device=device),
                                          torch.randint(words, (BATCH * length,), device=device))


def build(name, torch, nn):
    if name == "transformer":
        return own_transformer(torch, nn)
    try:
        import torchvision
        model = getattr(torchvision.models, name)(weights=None)
        print(f"{name} of torchvision {torchvision.__version__}")
    except Exception as error:  # absent, or of another PyTorch
        print(f"own {name}: {error}")
        model = {"resnet50": own_resnet50, "vgg16": own_vgg16}[name](torch, nn)
    return model, lambda device: (torch.randn(BATCH, 3, 224, 224, device=device),
                                  torch.randint(1000, (BATCH,), device=device))


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("resnet50", "vgg16", "transformer"):
        sys.exit(__doc__)
    name, path = sys.argv[1:]
    import torch
    from torch import nn
    from torch.profiler import ProfilerActivity, profile, schedule
    if not torch.cuda.is_available():
        print("PyTorch sees no GPU")
        sys.exit(77)
    torch.manual_seed(1)
    device = torch.device("cuda")
    model, data = build(name, torch, nn)
    model = model.to(device).train()
    parameters = sum(p.numel() for p in model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()

    def step():
        x, target = data(device)
        optimizer.zero_grad(set_to_none=True)
        loss_of(model(x), target).backward()
        optimizer.step()
        torch.cuda.synchronize()

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=BEFORE - 1, warmup=1, active=RECORDED, repeat=1),
                 on_trace_ready=lambda done: done.export_chrome_trace(path)) as profiler:
        for _ in range(BEFORE + RECORDED):
            step()
            profiler.step()
    print(f"{name}: {parameters} parameters, batch {BATCH}, torch {torch.__version__}, "
          f"{torch.cuda.get_device_name()}")


main()
