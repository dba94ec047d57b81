#!/usr/bin/env python3
"""The page of calibrate/gpu_check: what was measured next to what libraries take.

    gpu_check_page.py page FOLDER TORCH.jsonl     prints the tables
    gpu_check_page.py torch TORCH.jsonl           times torch.topk, and two streams at once
"""
import collections
import json
import pathlib
import statistics
import sys

# Kernel, density of its selection (None: it has none), what the toolkit (CUB, copies) or PyTorch does for the same.
PAIRS = [("reduce_add", None, "copy_on_device"), ("radix_select", 1e-3, "radix_sort"), ("radix_select", 1e-2, "radix_sort"),
         ("radix_select", 1e-3, "torch_topk_0.001"), ("radix_select", 1e-2, "torch_topk_0.01"),
         ("threshold_reuse", 1e-2, "cub_select_if"), ("gaussian_k", 1e-2, "cub_select_if"),
         ("truncate16_encode", None, "copy_on_device"), ("qsgd8_encode", None, "copy_on_device"),
         ("pack_signs", None, "copy_on_device")]
# What a kernel is held to at the largest size measured: the time of the other that it may take, and where both move
# bytes, (bytes per element of the kernel, of the other, share of the other's bytes/s that it must reach).
TARGETS = [("radix_select", 1e-3, "radix_sort", 0.5), ("threshold_reuse", 1e-2, "cub_select_if", 1.5),
           ("reduce_add", None, "copy_on_device", (12, 8, 0.8)), ("truncate16_encode", None, "copy_on_device", (6, 8, 0.6)),
           ("qsgd8_encode", None, "copy_on_device", (5, 8, 0.6))]
SMALL = 4096  # bytes: at this size a graph has to be faster than plain launches
SIZES = [1 << power for power in range(16, 29, 4)]
WORKS = {"copy_to_host": "copy to the host", "copy_to_device": "copy from the host",
         "copy_on_device": "copy on the device", "reduction": "addition of two vectors"}


def lines(path):
    """Records of a file; a last line that was cut off is left out."""
    path = pathlib.Path(path)
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            pass


def kernel_times(records):
    """Medians by kernel, elements and entries."""
    own = collections.defaultdict(list)
    for each in records:
        if each.get("record") == "kernel" and each["distribution"] in ("any", "gaussian"):
            own[each["kernel"], each["n"], each["k"]] += each["time_s"]
    return {key: statistics.median(seconds) for key, seconds in own.items() if seconds}


def library_times(own, torch):
    """Times by kernel and elements of what others are compared with, whatever it selects."""
    return {**{(kernel, n): time for (kernel, n, _), time in own.items()},
            **{(each["kernel"], each["n"]): each["time_s"] for each in torch if "kernel" in each}}


def ratio(own, library, kernel, density, other, n):
    """Time of the kernel over that of the library; None where one of them was not measured."""
    times = [time for (name, size, k), time in own.items()
             if name == kernel and size == n and (density is None or abs(k - density * n) <= 1)]
    return times[0] / library[other, n] if times and library.get((other, n)) else None


def target_table(records, libraries):
    own = kernel_times(records)
    library = library_times(own, libraries)
    rows = []
    for kernel, density, other, target in TARGETS:
        sizes = [n for n in sorted({n for name, n, _ in own if name == kernel}, reverse=True)
                 if ratio(own, library, kernel, density, other, n) is not None]
        if not sizes:
            continue
        took = ratio(own, library, kernel, density, other, sizes[0])
        what = f"{kernel}{f' {density:g}' if density else ''} at 2^{sizes[0].bit_length() - 1}"
        if isinstance(target, tuple):
            mine, theirs, share = target
            got = mine / theirs / took
            rows.append([what, f"{100 * got:.0f} % of the bytes/s of {other}", f"at least {100 * share:.0f} %",
                         "met" if got >= share else "missed"])
        else:
            rows.append([what, f"{took:.2f} x the time of {other}", f"at most {target:g} x", "met" if took <= target else "missed"])
    launches = collections.defaultdict(dict)
    for each in records:
        if each.get("record") == "collective" and each["time_s"] and 0.9 < each["bytes"] / SMALL < 1.1:
            launches[each["op"], each["algorithm"], each["variant"]].setdefault(each["launch"], []).extend(each["time_s"])
    both = [of for of in launches.values() if {"plain", "graph"} <= set(of)]
    if both:
        faster = sum(statistics.median(of["graph"]) < statistics.median(of["plain"]) for of in both)
        rows.append([f"graphs at {SMALL} B", f"faster than plain launches in {faster} of {len(both)} cases", "all",
                     "met" if faster == len(both) else "missed"])
    return rows and [["what", "measured", "target", ""], *rows]


def kernel_table(records, libraries):
    own = kernel_times(records)
    library = library_times(own, libraries)
    rows = []
    for kernel, density, other in PAIRS:
        times = [ratio(own, library, kernel, density, other, n) for n in SIZES]
        cells = ["-" if time is None else f"{time:.2f}" for time in times]
        if set(cells) != {"-"}:
            rows.append([kernel + (f" {density:g}" if density else ""), other, *cells])
    return rows and [["kernel", "other", *(f"2^{n.bit_length() - 1}" for n in SIZES)], *rows]


def collective_table(records, nccl):
    def medians(of):
        times = collections.defaultdict(list)
        for each in of:
            if each.get("record") == "collective" and each["time_s"] and each["bytes"] > 0 and each.get("dtype", "float") == "float":
                times[each["op"], each["algorithm"], each["variant"], each["launch"], each["ranks"], each["bytes"]] += each["time_s"]
        return {key: statistics.median(value) for key, value in times.items()}

    theirs = {(op, ranks, size): time for (op, _, _, _, ranks, size), time in medians(nccl).items()}
    best = {}
    for (op, algorithm, variant, launch, ranks, size), time in medians(records).items():
        near = [key for key in theirs if key[:2] == (op, ranks) and 0.9 < key[2] / size < 1.1]
        if near and time < best.get((op, near[0][2]), (float("inf"),))[0]:
            best[op, near[0][2]] = (time, f"{algorithm} {variant} {launch}", theirs[near[0]])
    rows = [[op, str(size), how, f"{1e6 * time:.4g}", f"{1e6 * other:.4g}", f"{time / other:.2f}"]
            for (op, size), (time, how, other) in sorted(best.items())]
    return rows and [["operation", "bytes", "fastest own", "us", "NCCL us", "ratio"], *rows]


def interference_table(libraries):
    rows = [[WORKS.get(each["interference"], each["interference"]), f"{each['model_slowdown']:.2f}", f"{each['other_slowdown']:.2f}"]
            for each in libraries if "interference" in each]
    return rows and [["next to a product of matrices", "slowdown of the product", "slowdown of the other"], *rows]


def show(title, table):
    if not table:
        return
    print(f"\n{title}\n")
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def seconds(torch, stream, calls, call):
    """Time of so many calls on a stream, s."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(stream):
        begin.record()
        for _ in range(calls):
            call()
        end.record()
    end.synchronize()
    return 1e-3 * begin.elapsed_time(end)


def topk_times(torch):
    stream = torch.cuda.current_stream()
    for power in range(16, 29, 2):
        values = torch.randn(1 << power, device="cuda")
        for density in (1e-3, 1e-2):
            count = max(1, int(density * len(values)))
            times = [seconds(torch, stream, 1, lambda: torch.topk(values.abs(), count, sorted=False)) for _ in range(16)]
            yield {"kernel": f"torch_topk_{density:g}", "n": len(values), "time_s": statistics.median(times[5:])}


def interference(torch):
    """Work of one stream alone, then next to another that is kept busy three times as long."""
    streams = [torch.cuda.Stream() for _ in range(2)]
    a, b, product = (torch.randn(4096, 4096, device="cuda") for _ in range(3))
    x, y = (torch.randn(1 << 26, device="cuda") for _ in range(2))
    host = torch.empty(1 << 26, pin_memory=True)
    calls = {"copy_to_host": lambda: host.copy_(x, non_blocking=True), "copy_to_device": lambda: x.copy_(host, non_blocking=True),
             "copy_on_device": lambda: y.copy_(x), "reduction": lambda: x.add_(y)}
    torch.cuda.synchronize()
    for kind, call in calls.items():
        works = [(streams[0], lambda: torch.matmul(a, b, out=product)), (streams[1], call)]
        counts = [max(4, int(0.02 / (min(seconds(torch, *work[:1], 4, work[1]) for _ in range(2)) / 4))) for work in works]
        alone = [seconds(torch, stream, count, work) for (stream, work), count in zip(works, counts)]
        beside = []
        for mine in (0, 1):
            with torch.cuda.stream(works[1 - mine][0]):
                for _ in range(3 * counts[1 - mine]):
                    works[1 - mine][1]()
            beside.append(seconds(torch, works[mine][0], counts[mine], works[mine][1]))
            torch.cuda.synchronize()
        yield {"interference": kind, "model_slowdown": beside[0] / alone[0], "other_slowdown": beside[1] / alone[1]}


def add_torch(path):
    import torch
    if not torch.cuda.is_available():
        print("PyTorch sees no GPU")
        sys.exit(77)
    with open(path, "a") as file:
        for record in (*topk_times(torch), *interference(torch)):
            file.write(json.dumps(record) + "\n")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "torch":
        add_torch(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "page":
        folder = pathlib.Path(sys.argv[2])
        records, libraries = list(lines(folder / "gpu.jsonl")), list(lines(sys.argv[3]))
        show("Targets", target_table(records, libraries))
        show("Kernels: time relative to the other (below 1: shorter), by number of elements", kernel_table(records, libraries))
        show("Collectives next to NCCL", collective_table(records, list(lines(folder / "nccl.jsonl"))))
        show("Two streams at once: time relative to each alone", interference_table(libraries))
    else:
        sys.exit(__doc__)


main()
