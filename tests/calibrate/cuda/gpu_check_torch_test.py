#!/usr/bin/env python3
"""calibrate/gpu_check_torch.py on a processor: models have the tensors of those they are named after,
and a profile of every tiny one holds five steps with the gradient of every tensor.

    gpu_check_torch_test.py SOURCE_DIR
"""
import gzip
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1]).resolve()
SCRIPT = ROOT / "calibrate" / "gpu_check_torch.py"


def table_elements(name, wanted):
    """Elements of those layers of a model table whose name is wanted, and their number of tensors."""
    tensors = [tensor["shape"] for layer in json.loads((ROOT / "models" / f"{name}.json").read_text())["layers"]
               if wanted(layer["name"]) for tensor in layer["tensors"]]
    total = 0
    for shape in tensors:
        count = 1
        for side in shape:
            count *= side
        total += count
    return total, len(tensors)


def test_tensors(torch, script):
    """Elements and tensors of the full models equal those of the shipped tables."""
    block = "model.layers.0."
    expected = {
        "resnet50": table_elements("resnet50", lambda _: True),
        "bert_base": table_elements("bert_base_pretrain",
                                    lambda name: not name.startswith(("pooler", "cls.seq_relationship"))),
        "gpt2": table_elements("gpt2", lambda _: True),
        "llama_8b": table_elements("llama3_8b", lambda name: name.startswith(block)),
    }
    for name, (elements, tensors) in expected.items():
        function, full, _, _ = script.MODELS[name]
        of = list(function(torch, torch.nn, **full)[0].parameters())
        got = sum(each.numel() for each in of), len(of)
        assert got == (elements, tensors), f"{name}: {got}, expected {(elements, tensors)}"


def test_profile(name, folder):
    path = folder / f"{name}.trace.json.gz"
    done = subprocess.run([sys.executable, SCRIPT, "--tiny", name, path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    trace = json.loads(gzip.open(path).read())
    shapes = isinstance(trace, dict)  # Debian's PyTorch is built without Kineto: events alone, no shapes
    events = trace["traceEvents"] if shapes else trace
    steps = {event["name"] for event in events if event.get("name", "").startswith("ProfilerStep")}
    assert len(steps) == 5, steps
    gradients = [event for event in events if event.get("name") == "torch::autograd::AccumulateGrad"]
    assert gradients and len(gradients) % 5 == 0, len(gradients)
    assert not shapes or all("Input Dims" in event["args"] for event in gradients), gradients[0]
    return len(gradients) // 5


def main():
    try:
        import torch
    except ImportError:
        print("skipped: no PyTorch (Debian's package python3-torch)")
        return 77
    spec = importlib.util.spec_from_file_location("gpu_check_torch", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    test_tensors(torch, script)
    with tempfile.TemporaryDirectory() as folder:
        for name, (function, _, small, _) in script.MODELS.items():
            tensors = len(list(function(torch, torch.nn, **small)[0].parameters()))
            assert test_profile(name, pathlib.Path(folder)) == tensors, name
    wrong = subprocess.run([sys.executable, SCRIPT, "vgg16", "x.json.gz"], capture_output=True, text=True, timeout=600)
    assert wrong.returncode == 1 and "gpu_check_torch.py [--tiny] MODEL" in wrong.stderr, wrong.stderr
    return 0


sys.exit(main())
