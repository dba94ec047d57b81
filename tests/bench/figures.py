#!/usr/bin/python3
"""Runs the benchmarks and yardsticks that tests/bench/run.sh built; prints a Markdown table.

usage: figures.py BUILD_DIR [--into PAGE.md]  (between its two comments "figures" and "end of
figures"). Programs that stand beside each other in a row run in alternation,
ROUNDS times; every figure is the best of the rounds, because noise only slows down. Goals are those of a quiet machine.
"""
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import growth

ROUNDS = 5
build = pathlib.Path(sys.argv[1]).resolve()
root = pathlib.Path(__file__).resolve().parents[2]
samples = root / "../shared/data/kineto"


def timed(command):
    """(stdout, seconds, peak megabytes) of a program."""
    with tempfile.NamedTemporaryFile("r") as measured:
        done = subprocess.run([build / "yardsticks/peak", measured.name, *map(str, command)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}")
        seconds, megabytes, _ = map(float, measured.read().split())
    return done.stdout, seconds, megabytes


def google(program, name):
    """A function that runs one benchmark and gives its record."""
    def run():
        text, _, _ = timed([build / program, f"--benchmark_filter=^{name}$",
                            "--benchmark_format=json", "--benchmark_min_time=0.3"])
        record = json.loads(text)["benchmarks"][0]
        # The library divides by processor time; the reference programs know only the wall clock.
        for rate in {"messages/s", "items_per_second"} & record.keys():
            record[rate] *= record["cpu_time"] / record["real_time"]
        return record
    return run


def yardstick(name, arguments, pattern, factor):
    """A function that runs a reference program and reads one rate from its output, or None."""
    program = build / "yardsticks" / name
    if not program.exists():
        return None
    return lambda: factor * float(re.search(pattern, timed([program, *arguments])[0]).group(1))


def alternate(*functions):
    """The results of each function, run in turn."""
    results = [[] for _ in functions]
    for _ in range(ROUNDS):
        for function, found in zip(functions, results):
            found.append(function() if function else None)
    return results


def best(found, key=None):
    if found[0] is None:
        return None
    return max(f[key] if key else f for f in found)


def ratio(rate, reference):
    return "not built" if reference is None else f"{rate / reference:.3g}x"


lines = []


def show(line):
    lines.append(line)
    print(line, flush=True)


def print_row(*cells):
    show("| " + " | ".join(cells) + " |")


def rings():
    simgrid = yardstick("sg_bench", ["ring", "star", "1024", "1e8", "0", "--cfg=network/model:CM02",
                                     "--cfg=network/crosstraffic:0", "--log=root.thresh:error"],
                        r"msg/s=([0-9.e+]+)", 1)
    plain = yardstick("eventring_bench", [], r"sym  P=1024 .*?([0-9.]+) M transfers/s", 1e6)
    rolling = yardstick("listsched_bench", [], r"P=1024 .*?implicit +([0-9.]+) M/s", 1e6)
    events, maxplus, jitter, sg, ring, array = alternate(
        google("coll_bench", "events_ring/equal/1024"), google("coll_bench", "max_plus_ring/equal/1024"),
        google("coll_bench", "max_plus_ring/jitter/1024"), simgrid, plain, rolling)
    rate, reference = best(events, "messages/s"), best(sg)
    print_row("event-driven ring, 1,024 ranks", "2.1 M messages", f"{rate / 1e6:.3g} M messages/s",
              f"{best(events, 'peak_MB'):.0f} MB",
              f"SimGrid CM02 {ratio(rate, reference)}, plain event loop {ratio(rate, best(ring))}",
              "15x SimGrid, 23 MB")
    rate = best(maxplus, "messages/s")
    print_row("max-plus ring, 1,024 ranks", "2.1 M messages", f"{rate / 1e6:.4g} M messages/s",
              f"{best(maxplus, 'peak_MB'):.0f} MB",
              f"SimGrid CM02 {ratio(rate, reference)}, two rolling arrays {ratio(rate, best(array))}",
              "1000x SimGrid, 500 M/s")
    print_row("the same with other entry times", "2.1 M messages",
              f"{best(jitter, 'messages/s') / 1e6:.4g} M messages/s", f"{best(jitter, 'peak_MB'):.0f} MB",
              f"{rate / best(jitter, 'messages/s'):.2f}x the time without", "1.2x the time")
    many = google("coll_bench", "events_ring/many_ranks/8192/iterations:1")()
    print_row("event-driven ring, 8,192 ranks", "134 M messages",
              f"{many['messages/s'] / 1e6:.3g} M messages/s", f"{many['peak_MB']:.0f} MB", "", "1 GB")


def planners():
    greedy = yardstick("whatif_bench", [], r"greedy-merge recurrence.*? ([0-9.]+) M points", 1e6)
    ours, scalar = alternate(google("plan_bench", "best_prefixes_each"), greedy)
    rate = best(ours, "items_per_second")
    print_row("best merge, optimal", "160 layers, 100,000 costs", f"{rate / 1e6:.3g} M points/s",
              "", f"scalar greedy {ratio(rate, best(scalar))}", "5 M points/s")


def write(folder, name, value):
    path = pathlib.Path(folder, name)
    path.write_text(json.dumps(value))
    return path


def scenario(layers, **cluster):
    return {"schema_version": 1, "kind": "scenario",
            "workload": {"layers": [{"name": f"layer{i}", "forward_s": 1e-4, "backward_s": 2e-4,
                                     "gradient_bytes": 4000 * (i + 1)} for i in range(layers)]},
            "cluster": {"nodes": 16, "network": {"latency_s": 5e-6, "bandwidth_Bps": 1.25e9}, **cluster},
            "communication": {"schedule": "wfbp"}}


def sweeps(folder):
    points = 200_000
    sweep = write(folder, "sweep.json", {
        "schema_version": 1, "kind": "sweep", "scenario": scenario(160),
        "axes": [{"field": "/cluster/nodes", "values": list(range(2, 202))},
                 {"field": "/cluster/network/bandwidth_Bps", "from": 1e8, "to": 5e10, "steps": points // 200,
                  "scale": "log"}]})
    out = pathlib.Path(folder, "out.jsonl")

    def run(jobs, file=out):
        def measured():
            file.unlink(missing_ok=True)  # the system frees the pages of a file before it is written anew
            return timed([build / "stepsim", "sweep", sweep, "-o", file, "--quiet", "--jobs", jobs])
        return measured

    def at_once(file):
        """Two runs of half the points each: what the machine has to give beyond one core."""
        def measured():
            for half in file.parent.glob(f"half*{file.suffix}"):
                half.unlink()
            first, second = (f"'{build}/stepsim' sweep '{sweep}' -o '{file.with_stem('half')}' --shard {i}/2 --quiet --jobs 1"
                             for i in range(2))
            return timed(["sh", "-c", f"{first} & {second} && wait $!"])
        return measured
    one, two, _ = found = alternate(run(1), run(2), at_once(out))
    times = [min(seconds for _, seconds, _ in each) for each in found]
    print_row("sweep, lines written, one core", f"{points:,} points of 160 layers",
              f"{points / times[0] / 1e3:.4g} k points/s", f"{one[0][2]:.0f} MB",
              f"{out.stat().st_size / 1e6 / times[0]:.0f} MB/s of text", "300 k points/s")
    print_row("the same on two cores", f"{points:,} points of 160 layers",
              f"{points / times[1] / 1e3:.4g} k points/s", f"{two[0][2]:.0f} MB",
              f"{times[0] / times[1]:.2f}x one core; two runs of half the points at once "
              f"{times[0] / times[2]:.2f}x", "1.8x one core")


def shared_sweeps(folder):
    """Sweeps that no formula takes as a whole, each beside wfbp on a ring in the same minute."""
    points = 4_000
    out = pathlib.Path(folder, "shared.jsonl")
    ways = {"ring, wfbp": {}}
    for schedule in ("horovod", "eager", "dear", "asc_wfbp", "priority"):
        ways[f"ring, {schedule}"] = {"/communication/schedule": schedule}
    for collective in ("lp", "double_binary_tree", "auto"):
        ways[f"{collective}, wfbp"] = {"/communication/collective": collective, "/method": "closed_form"}
    ways["ring, wfbp, jitter of 10 %"] = {"/variability/compute_cv": 0.1}
    runs = []
    for number, (name, changes) in enumerate(ways.items()):
        sweep = write(folder, f"shared-{number}.json", {
            "schema_version": 1, "kind": "sweep", "scenario": scenario(160),
            "axes": [*({"field": field, "values": [value]} for field, value in changes.items()),
                     {"field": "/cluster/nodes", "values": list(range(2, 10))},
                     {"field": "/cluster/network/bandwidth_Bps", "from": 1e8, "to": 5e10,
                      "steps": points // 8, "scale": "log"}]})
        runs.append(lambda sweep=sweep: timed([build / "stepsim", "sweep", sweep, "-o", out, "--force",
                                               "--quiet", "--jobs", 1]))
    times = [min(seconds for _, seconds, _ in found) for found in alternate(*runs)]
    for name, seconds in list(zip(ways, times))[1:]:
        print_row(f"sweep: {name}", f"{points:,} points of 160 layers",
                  f"{seconds / points * 1e6:.3g} us/point", "", f"{seconds / times[0]:.3g}x wfbp on a ring", "3x")


def steps(folder):
    base = scenario(1)
    base["workload"] = {"trace": str(root / "traces/resnet50.ddp.2xa100.json")}
    base["cluster"]["nodes"] = 256
    file = write(folder, "resnet.json", base)

    def run(method):
        return lambda: timed([build / "stepsim", "run", file, "--json", "--method", method, "--set",
                              "/training/iterations=1"])
    events, maxplus = alternate(run("events"), run("max_plus"))
    seconds = [json.loads(found[0][0])["summary"]["iteration_time_s"] for found in (events, maxplus)]
    messages = 161 * 2 * 255 * 256
    for method, found, goal in (("events", events, "1.45 s (1/10 of ASTRA-sim)"),
                                ("max_plus", maxplus, "14.5 ms (1/1000 of ASTRA-sim)")):
        time_s = min(s for _, s, _ in found)
        print_row(f"ResNet-50, 161 tensors, 256 workers, {method}", f"{messages / 1e6:.1f} M messages",
                  f"{1e3 * time_s:.4g} ms", f"{found[0][2]:.0f} MB",
                  f"results differ by {abs(seconds[0] / seconds[1] - 1):.1g}", goal)


def jitter(folder):
    """Workers that differ cost little beside the messages: max-plus, ten iterations."""
    base = scenario(1)
    base["workload"] = {"trace": str(root / "traces/resnet50.ddp.2xa100.json")}
    base["cluster"]["nodes"] = 256
    file = write(folder, "jitter.json", base)

    def run(cv):
        return lambda: timed([build / "stepsim", "run", file, "--json", "--method", "max_plus", "--set",
                              f"/variability/compute_cv={cv}"])
    equal, varied = alternate(run(0), run(0.1))
    times = [min(s for _, s, _ in found) for found in (equal, varied)]
    print_row("the same by max_plus, 10 iterations, jitter of 10 %", "256 workers x 10 iterations",
              f"{1e3 * times[1]:.4g} ms", f"{varied[0][2]:.0f} MB",
              f"{times[1] / times[0]:.2f}x without jitter", "1.2x")


def startup(folder):
    file = write(folder, "small.json", scenario(1))
    found = [timed([build / "stepsim", "run", file, "--json"]) for _ in range(20)]
    print_row("start-up, smallest scenario", "1 layer",
              f"{1e3 * min(s for _, s, _ in found):.2g} ms", f"{max(m for _, _, m in found):.1f} MB", "", "5 ms, 10 MB")


# Processor seconds of Python's own parser for a file.
LOAD = """import gzip, json, sys, time
begin = time.process_time()
with (gzip.open if sys.argv[1].endswith(".gz") else open)(sys.argv[1]) as file:
    json.load(file)
print(time.process_time() - begin)"""


def imports(folder):
    generated = pathlib.Path(folder, "generated.json")
    timed([build / "make_kineto_trace", generated, "54"])
    files = [generated, samples / "resnet_30iter_old.json.gz"]
    for file in files:
        if not file.exists():
            continue
        lines, loads = alternate(lambda: timed([build / "import_bench", file])[0].splitlines()[1].split(),
                                 lambda: float(timed([sys.executable, "-c", LOAD, file])[0]))
        row = max(lines, key=lambda line: float(line[5]))
        print_row(f"Kineto import, {file.name}", f"{row[1]} MB of text", f"{float(row[3]):.3g} s", f"{row[7]} MB",
                  f"{row[5]} MB/s of processor time, {ratio(float(row[5]), float(row[1]) / min(loads))} json.load of "
                  f"Python; {row[6]} MB/s reading alone", "300 MB/s, 100 MB")


def flows():
    for count, goal in ((1024, "5x SimGrid"), (4096, "10x SimGrid")):
        peak = []

        def ours():
            text, _, megabytes = timed([build / "flow_bench", count])
            peak.append(megabytes)
            return float(re.search(r" flows/s=([0-9.]+)", text).group(1))
        simgrid = yardstick("sg_bench", ["flows", "leaf", "1024", "0", str(count), "--cfg=network/model:CM02",
                                         "--cfg=network/crosstraffic:0", "--log=root.thresh:error"],
                            r"msg/s=([0-9.e+]+)", 1)
        plain = yardstick("maxmin_bench", [str(count)], r" flows/s=([0-9.]+)", 1)
        found, sg, solver = alternate(ours, simgrid, plain)
        rate = best(found)
        print_row(f"flow level, {count:,} flows", "leaf-spine of 1,024 hosts", f"{rate / 1e3:.4g} k flows/s",
                  f"{max(peak):.0f} MB", f"SimGrid CM02 {ratio(rate, best(sg))}, full solve at every "
                  f"end {ratio(rate, best(solver))}", goal)


def packets():
    """Packet by packet: the incast of ns3_incast.cpp, and a permutation as htsim has it."""
    senders, size = 16, 10_000_000
    ns3 = yardstick("ns3_incast", [senders, size], r" packets/s=([0-9.]+)", 1)
    ours, reference = alternate(google("packet_bench", f"incast/reno/{senders}"), ns3)
    sent = senders * -(-size // 1460)
    rate = max(sent / (record["real_time"] / 1e3) for record in ours)
    print_row("packet level, incast of 16, reno", f"{sent / 1e3:.3g} k data packets",
              f"{rate / 1e6:.3g} M data packets/s", f"{best(ours, 'peak_MB'):.0f} MB",
              f"ns-3 {ratio(rate, best(reference))}", "20x ns-3")
    names = ["dctcp_ecmp", "dlcp_ecmp", "reno_spray"]
    for name, found in zip(names, alternate(*[google("packet_bench", f"permutation_1024/{name}") for name in names])):
        rate = max(record["hops"] / (record["real_time"] / 1e3) for record in found)
        transport, paths = name.split("_")
        print_row(f"packet level, permutation of 1,024 hosts, {transport}, {paths}",
                  f"{found[0]['hops'] / 1e6:.3g} M hops of packets", f"{rate / 1e6:.3g} M hops/s",
                  f"{best(found, 'peak_MB'):.0f} MB", "htsim not run here; recorded on such a machine: 0.46 to 0.73 M hops/s",
                  "3x htsim, 77 MB")


def main():
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.processor())
    show(f"{os.cpu_count()} x {cpu}; load before the run {os.getloadavg()[0]:.1f}; "
         f"wall clock, best of {ROUNDS} rounds in alternation.\n")
    print_row("path", "work", "figure", "peak memory", "beside it in the same run", "goal")
    print_row(*["---"] * 6)
    with tempfile.TemporaryDirectory() as folder:
        rings()
        flows()
        packets()
        planners()
        steps(folder)
        jitter(folder)
        sweeps(folder)
        shared_sweeps(folder)
        startup(folder)
        imports(folder)
    growth.into_page("figures", lines)


if __name__ == "__main__":
    main()
