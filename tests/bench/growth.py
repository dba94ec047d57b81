#!/usr/bin/python3
"""How time and memory of whole commands grow with ranks, hosts, layers and points, and what a point of a
sweep takes by schedule, collective and training algorithm, as three Markdown tables.

usage: growth.py BUILD_DIR [--only growth|points|steps] [--into PAGE.md]
(into the page between the comments "growth" and "end of growth", and those of the other tables)
Processor seconds (user and system) and peak memory of each command; an exponent is that by which time grew
in the last step: 1 is linear. "Beside it" is another command at the largest size. BUILD_DIR is any release
build of this tree.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
LEAST_S = 0.02  # below it a time is mostly the start of the program
ROUNDS = 5  # of the points of sweeps


def measured(folder, *command):
    """(processor seconds, peak megabytes), the best of three runs; one where it takes long."""
    found = []
    while not found or (len(found) < 3 and found[0][0] < 2):
        file = folder / "measured"
        done = subprocess.run([folder / "peak", file, BUILD / "stepsim", *map(str, command)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr}")
        _, megabytes, seconds = map(float, file.read_text().split())
        found.append((seconds, megabytes))
    return min(found)


def into_page(section, lines):
    """Writes the table between its comments of the page that --into names, where there is one."""
    if "--into" in sys.argv:
        page = pathlib.Path(sys.argv[sys.argv.index("--into") + 1])
        text = page.read_text()
        start, end = (text.index(f"<!-- {word}{section} -->") for word in ("", "end of "))
        page.write_text(text[:start] + f"<!-- {section} -->\n" + "\n".join(lines) + "\n" + text[end:])


def scenario(layers=160, nodes=16, **sections):
    return {"kind": "scenario",
            "workload": {"layers": [{"name": f"layer{i}", "forward_s": 1e-4, "backward_s": 2e-4,
                                     "gradient_bytes": 4000 * (i % 997 + 1)} for i in range(layers)]},
            "cluster": {"nodes": nodes, "network": {"latency_s": 5e-6, "bandwidth_Bps": 1.25e9}}, **sections}


def write(folder, tree):
    path = folder / "case.json"
    path.write_text(json.dumps(tree))
    return path.name


def collective(algorithm, *more, size="100MB"):
    def command(_, ranks):
        return ("collective", "--op", "allreduce", "--algorithm", algorithm, "--ranks", ranks, "--bytes", size,
                "--latency", "5us", "--bandwidth", "1.25GB/s", *more)
    return command


def leaf_spine(hosts):
    return {"preset": "leaf_spine", "leaves": hosts // 16, "hosts_per_leaf": 16, "spines": 4,
            "bandwidth_Bps": 1.25e9, "latency_s": 1e-6}


def on_a_fabric(folder, hosts):
    """Five buckets, two iterations, ring, on leaves of 16 hosts."""
    tree = scenario(5, hosts, training={"iterations": 2})
    tree["communication"] = {"schedule": "wfbp"}
    tree["cluster"]["network"] = {"model": "flow"}
    tree["cluster"]["topology"] = leaf_spine(hosts)
    for layer in tree["workload"]["layers"]:
        layer["gradient_bytes"] = 20_000_000
    return "run", write(folder, tree), "--json"


def collective_on_a_fabric(folder, hosts):
    tree = {"kind": "collective", "op": "allreduce", "algorithm": "ring", "ranks": hosts, "bytes": 20_000_000,
            "topology": leaf_spine(hosts)}
    return "collective", write(folder, tree)


def two_levels(folder, nodes):
    tree = scenario(24, nodes)
    tree["cluster"].update(gpus_per_node=8, intra_network="nvlink-h100")
    return "run", write(folder, tree), "--json", "--method", "max_plus"


def layers(schedule):
    def command(folder, count):
        return "run", write(folder, scenario(count, communication={"schedule": schedule}, limits={"simulated_s": 1e6})), "-o", "out.json", "--force"
    return command


def points(ending, jobs=1, nodes=range(2, 102), **sections):
    sections.setdefault("communication", {"schedule": "wfbp"})

    def command(folder, count):
        tree = {"kind": "sweep", "scenario": scenario(**sections), "axes": [
            {"field": "/cluster/nodes", "values": list(nodes)},
            {"field": "/cluster/network/bandwidth_Bps", "from": 1e8, "to": 5e10, "steps": count // len(nodes), "scale": "log"}]}
        return "sweep", write(folder, tree), "-o", f"out.{ending}", "--force", "--quiet", "--jobs", jobs
    return command


NODES_OF_8 = ("--gpus-per-node", 8, "--intra-latency", "2us", "--intra-bandwidth", "100GB/s")
RANKS = (1024, 32_768, 262_144)
RING = ("the ring", 1, collective("ring", "--method", "closed_form"))
ROWS = [ # path, what it grows with, sizes, command; words, how often and command of what stands beside it
    ("ring, closed form", "ranks", RANKS, RING[2], None),
    ("double binary tree, closed form", "ranks", RANKS, collective("double_binary_tree", "--method", "closed_form"), RING),
    ("auto, closed form", "ranks", RANKS, collective("auto", "--method", "closed_form"), RING),
    ("lp, closed form", "ranks", RANKS, collective("lp", "--method", "closed_form"), RING),
    ("topk", "ranks", RANKS, collective("topk", "--density", "0.001"), RING),
    ("gtopk_tree", "ranks", RANKS, collective("gtopk_tree", "--density", "0.001"), RING),
    ("ring of equal parts, max_plus", "ranks", (256, 4096, 65_536), collective("ring", "--method", "max_plus", size=2**26), None),
    ("ring of equal parts, events", "ranks", (256, 4096, 65_536), collective("ring", "--method", "events", size=2**26), None),
    ("hierarchical, events", "ranks", (512, 2048, 16_384),
     collective("hierarchical", *NODES_OF_8, "--method", "events"), None),
    ("training step of two levels, max_plus", "nodes of 8 GPUs", (4, 16, 64), two_levels, None),
    ("training on a leaf-spine, flows", "hosts", (256, 1024, 4096), on_a_fabric, ("its ten collectives", 10, collective_on_a_fabric)),
    ("run, wfbp", "layers", (1000, 10_000, 100_000), layers("wfbp"), None),
    ("run, mg_wfbp", "layers", (1000, 10_000, 100_000), layers("mg_wfbp"), None),
    ("sweep into JSON Lines", "points", (10**5, 10**6), points("jsonl"), None),
]

# What a point of a sweep takes; the first is what the others are compared with.
# By closed form, for ranks of which all algorithms have one.
SMALL = {"nodes": range(2, 50, 2), "method": "closed_form"}
POINTS = [("wfbp, ring", {})]
POINTS += [(f"{word}, ring", {"communication": {"schedule": word}}) for word in (
    "single", "mg_wfbp", "optimal", "ddp", "horovod", "eager", "priority", "asc_wfbp", "mg_wfbp_small_tensors", "dear")]
POINTS += [(f"wfbp, {word}", {**SMALL, "communication": {"schedule": "wfbp", "collective": word}}) for word in (
    "recursive_doubling", "double_binary_tree", "mst", "be", "lp", "swing", "auto")]
POINTS += [("wfbp, ring, jitter of 10 %", {"variability": {"compute_cv": 0.1}})]

# What else may be trained, in buckets of ddp: the first is what the others are compared with.
NODES_KEYS = ("/cluster/gpus_per_node=8", '/cluster/intra_network={"latency_s": 2e-6, "bandwidth_Bps": 1e11}')
TYPICAL = ("/conditions=typical", "/cluster/network/transport=tcp")
STEPS = [("sync_sgd", ()),
         ("pipe_sgd", ("/training/algorithm=pipe_sgd",)),
         ("od_sgd", ("/training/algorithm=od_sgd",)),
         ("2 micro-batches", ("/training/micro_batches=2",)),
         ("4 micro-batches", ("/training/micro_batches=4",)),
         ("zero1", ('/training/sharding={"strategy": "zero1"}',)),
         ("full_shard", ('/training/sharding={"strategy": "full_shard"}',)),
         ("local_sgd", ('/training={"algorithm": "local_sgd", "local_steps": 4}',)),
         ("fp16", ('/communication/compression={"method": "fp16"}',)),
         ("overlap slows computing by 10 %", ('/training/overlap={"compute": 1.1}',)),
         ("two_level on nodes of 8", (*NODES_KEYS, "/communication/collective=two_level")),
         ("hierarchical on nodes of 8", (*NODES_KEYS, "/communication/collective=hierarchical")),
         ("jitter of 10 % on 64 workers", ("/cluster/nodes=64", '/variability={"compute_cv": 0.1}')),
         ("sync_sgd, typical conditions", TYPICAL),
         ("pipe_sgd, typical conditions", (*TYPICAL, "/training/algorithm=pipe_sgd")),
         ("zero1, typical conditions", (*TYPICAL, '/training/sharding={"strategy": "zero1"}'))]


def of_quickstart(nodes, sets):
    bandwidths = ",".join(str(5e8 * (2 + step)) for step in range(18))
    fixed = any(one.startswith("/cluster/nodes=") for one in sets)
    axis = f"/cluster/network/latency_s=1e-6:{nodes}e-6:+1e-6" if fixed else f"/cluster/nodes=4:{nodes + 3}:+1"
    return ("sweep", HERE.parents[1] / "examples/quickstart.scenario.json", "--over", axis, "--over",
            f"/cluster/network/bandwidth_Bps={bandwidths}", "-o", "out.csv", "--force", "--quiet", "--jobs", 1,
            *(word for one in sets for word in ("--set", one)))


def sweep_points(folder, sections):
    """Microseconds of processor time by which a point more makes a sweep longer."""
    few, many = 2400, 24_000
    command = points("csv", **sections)
    return 1e6 * (measured(folder, *command(folder, many))[0] - measured(folder, *command(folder, few))[0]) / (many - few)


def step_points(folder, sets):
    few, many = 10, 310
    return 1e6 / (18 * (many - few)) * (measured(folder, *of_quickstart(many, sets))[0] -
                                        measured(folder, *of_quickstart(few, sets))[0])


def show_growth(show, folder):
    show("path", "grows with", "small", "larger", "largest", "exponent", "beside it")
    show(*["---"] * 7)
    for path, axis, sizes, command, beside in ROWS:
        cells, times = [], []
        for size in sizes:
            seconds, megabytes = measured(folder, *command(folder, size))
            times.append(seconds)
            cells.append(f"{size:,}: {seconds:.2g} s, {megabytes:.0f} MB")
        exponent = "" if times[-1] < LEAST_S else f"{math.log(times[-1] / max(times[-2], 1e-3)) / math.log(sizes[-1] / sizes[-2]):.2f}"
        other = ""
        if beside is not None:
            words, times_of_it, reference = beside
            other = times_of_it * measured(folder, *reference(folder, sizes[-1]))[0]
            other = f"{times[-1] / other:.2g}x {words} ({other:.2g} s)"
        show(path, axis, *cells, *[""] * (3 - len(cells)), exponent, other)


def show_points(show, folder, title, rows, point):
    show(title, "processor time", "beside the first")
    show(*["---"] * 3)
    best = {}
    for _ in range(ROUNDS):  # in alternation, since a shared machine is slower at times
        for path, what in rows:
            best[path] = min(best.get(path, math.inf), point(folder, what))
    for path, each in best.items():
        show(path, f"{each:.3g} us", f"{each / best[rows[0][0]]:.3g}x")


SECTIONS = {
    "growth": show_growth,
    "points": lambda show, folder: show_points(show, folder, "point of a sweep of 160 layers", POINTS, sweep_points),
    "steps": lambda show, folder: show_points(show, folder, "training in a sweep of the quickstart scenario", STEPS, step_points),
}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["g++", "-O2", "-static", HERE / "peak.cpp", "-o", folder / "peak"], check=True)
        for section, make in SECTIONS.items():
            if "--only" in sys.argv and sys.argv[sys.argv.index("--only") + 1] != section:
                continue
            lines = []

            def show(*cells):
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
            make(show, folder)
            into_page(section, lines)


if __name__ == "__main__":
    main()
