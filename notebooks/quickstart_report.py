#!/usr/bin/python3
"""The end of ./quickstart: what the sweep answers, in one table, three sentences and a plot.

usage: quickstart_report.py [RESULTS.jsonl [PLOT.png]] [--all] [--stepsim build/stepsim]

--all prints every schedule instead, and the 2-node row beside what the trace itself measured on 2
GPUs.

RESULTS is what `stepsim sweep ... -o RESULTS.jsonl` wrote, of any scenario: what the sweep does not
vary is taken from the scenario in its first line.
"""
import argparse
import pathlib
import shutil
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
sys.dont_write_bytecode = True
import matplotlib.pyplot as plt

import stepsim_plots as plots


def completed(header, points, file):
    """The points with nodes, schedule and network, from the scenario where the sweep has one value."""
    scenario = header["scenario"]
    network = scenario["cluster"].get("network", {})
    network = network if isinstance(network, dict) else {"calibration": network}
    same = {"nodes": scenario["cluster"]["nodes"],
            "schedule": scenario.get("communication", {}).get("schedule", "default")}
    if not any("bandwidth_Bps" in p or "name" in p for p in points):
        bandwidth = network.get("bandwidth_Bps", network.get("calibration", "the scenario's network"))
        same["name"] = plots.rate(bandwidth) if isinstance(bandwidth, (int, float)) else str(bandwidth)
    points = [same | p for p in points]
    keys = [(plots.network(p), p["nodes"], p["schedule"]) for p in points]
    if len(set(keys)) < len(keys):
        sys.exit(f"{file}: the table shows nodes, networks and schedules, and this sweep varies "
                 f"{', '.join(axis['field'] for axis in header['axes'])}; see stepsim sweep without -o")
    return points


def milliseconds(seconds):
    """Five characters up to 100 s: 39.5, 1244."""
    return f"{1e3 * seconds:.1f}" if seconds < 0.99995 else f"{1e3 * seconds:.0f}"


def print_table(points):
    schedules = plots.values(points, "schedule")
    cell = "{:>6} {:>5} {:>3}"
    print("per schedule: iteration time [ms], of it exposed communication [ms], scaling efficiency [%]")
    print("* = fastest schedule of its row")
    for network in plots.networks(points):
        print(f"\n{network}\nnodes" + "".join(f" {s:^16}" for s in schedules).rstrip())
        for nodes in plots.values(points, "nodes"):
            row = {p["schedule"]: p for p in points
                   if plots.network(p) == network and p["nodes"] == nodes}
            best = min((p["iteration_time_s"] for p in row.values()), default=0)
            line = f"{nodes:>5}"
            for schedule in schedules:
                p = row.get(schedule)
                if p is None: # this point failed
                    line += " " + cell.format("-", "-", "-")
                    continue
                fastest = p["iteration_time_s"] <= best * (1 + 1e-9) and nodes > 1
                line += " " + cell.format(milliseconds(p["iteration_time_s"]) + " *"[fastest],
                                           milliseconds(p["exposed_communication_s"]),
                                           f"{100 * p['scaling_efficiency']:.0f}")
            print(line)
    print()


def usual_schedule(points):
    """The schedule that frameworks use, where the sweep has it."""
    schedules = plots.values(points, "schedule")
    return "ddp" if "ddp" in schedules else schedules[0]


def print_answer(points):
    """How far training scales on each network with the usual schedule, and what would help."""
    schedule = usual_schedule(points)
    rows = {(plots.network(p), p["nodes"]): p for p in points if p["schedule"] == schedule}
    networks = plots.networks(points)
    sizes = sorted({nodes for _, nodes in rows if nodes > 1})
    if not sizes:
        print_table(points)
        return
    width = max(len("network"), *map(len, networks))
    print("How long one training step takes [ms], and the scaling efficiency: which share of the speed-up of "
          f"as many nodes is reached.\nGradients are exchanged by {plots.named(schedule)}.\n")
    print(f"{'network':<{width}}" + "".join(f"{f'{n} nodes':>15}" for n in sizes))
    for network in networks:
        cells = [rows.get((network, n)) for n in sizes]
        print(f"{network:<{width}}" + "".join(
            f"{'-':>15}" if p is None else
            f"{milliseconds(p['iteration_time_s']):>9} {100 * p['scaling_efficiency']:>3.0f} %" for p in cells))
    most = sizes[-1]
    at_most = {network: rows[network, most] for network in networks if (network, most) in rows}
    if at_most:
        best, worst = (of(at_most, key=lambda n: at_most[n]["scaling_efficiency"]) for of in (max, min))
        print(f"\nOn {most} nodes training is {most * at_most[best]['scaling_efficiency']:.3g} times as fast as on one "
              f"with {best}, and {most * at_most[worst]['scaling_efficiency']:.3g} times with {worst}.")
        others = [p for p in points if p["nodes"] == most and plots.network(p) == worst]
        fastest = min(others, key=lambda p: p["iteration_time_s"])
        gain = at_most[worst]["iteration_time_s"] / fastest["iteration_time_s"] - 1
        if fastest["schedule"] != schedule and gain >= 0.005:
            print(f"There the best other schedule, {plots.named(fastest['schedule'])}, gains {100 * gain:.1f} %: "
                  "the network limits the step, not the way of sending.")
    print("Real steps are longer than predicted in nine cases of ten: docs/accuracy.md says by how much.")
    print("\nnext: stepsim run examples/quickstart.scenario.json\n"
          "      stepsim import kineto TRACE.json.gz -o mine.trace.json      your own model\n"
          "      stepsim init --trace mine.trace.json --nodes 8 -o mine.scenario.json\n"
          "      notebooks/quickstart_report.py --all      every schedule, and the trace's own exchanges")


def plot(points, what, file):
    """How far the schedule that frameworks use scales on each network, at most five of them; on one
    network, how far each schedule does."""
    found = plots.networks(points)
    schedules = plots.values(points, "schedule")
    title = f"What-if sweep of {what}"
    if len(found) > 1:
        schedule = usual_schedule(points)
        shown = {found[round(i * (len(found) - 1) / 4)] for i in range(5)}
        points = [p for p in points if p["schedule"] == schedule and plots.network(p) in shown]
        title += f"\nexchanged by {plots.named(schedule)}"
    else:
        points = [p for p in points if p["schedule"] in schedules[:5]]
    figure = plt.figure(figsize=(8.5, 4.6), dpi=110)
    axis = figure.add_subplot()
    plots.plot_efficiency(axis, points)
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(file)


def compare_with_trace(stepsim, results, header, points, trace):
    """Buckets and exposed communication: simulated on 2 nodes against measured on 2 GPUs."""
    measured = trace.get("buckets")
    rows = {plots.network(p): p for p in points if p["nodes"] == 2 and p["schedule"] == "ddp"
            and trace.get("ranks") == 2}
    if not rows or not measured:
        return
    runs = {name: plots.run_with_timeline(stepsim, results, plots.settings_of(header, p))[0]
            for name, p in rows.items()}

    def mean_error(name):
        return statistics.mean(abs((s["end_s"] - s["start_s"]) / m["min_s"] - 1)
                               for s, m in zip(runs[name]["buckets"], measured))

    network = min(runs, key=mean_error)
    result = runs[network]
    same = [b["bytes"] for b in result["buckets"]] == [m["bytes"] for m in measured]
    print(f"2 nodes, schedule ddp, {network}, beside what the trace measured on "
          f"{trace['ranks']} x {trace['device']}\n")
    print(f"buckets: {len(result['buckets'])} simulated, {len(measured)} measured, "
          f"{'the same bytes in each' if same else 'NOT the same bytes'}\n")
    print(f"{'bucket':>6} {'MB':>7} {'simulated':>10} {'least':>8} {'':>6} {'median':>8}   [ms]")
    for s, m in zip(result["buckets"], measured):
        seconds = s["end_s"] - s["start_s"]
        print(f"{s['index']:>6} {s['bytes'] / 1e6:7.2f} {1e3 * seconds:10.3f} {1e3 * m['min_s']:8.3f} "
              f"{100 * (seconds / m['min_s'] - 1):+5.0f}% {1e3 * m['median_s']:8.3f} "
              f"{100 * (seconds / m['median_s'] - 1):+5.0f}%")
    total = sum(s["end_s"] - s["start_s"] for s in result["buckets"])
    least = sum(m["min_s"] for m in measured)
    print(f"{'all':>6} {sum(m['bytes'] for m in measured) / 1e6:7.2f} {1e3 * total:10.3f} "
          f"{1e3 * least:8.3f} {100 * (total / least - 1):+5.0f}%\n")
    exposed = result["summary"]["exposed_communication_s"]
    steps = [s for s in trace["steps"] if s["used"]]
    print(f"exposed communication: simulated {1e3 * exposed:.3f} ms; measured " + ", ".join(
        f"{1e3 * s['exposed_communication_s']:.3f} ms in {s['name']}" for s in steps))
    busy = statistics.median(s["gpu_busy_s"] / s["wall_s"] for s in steps)
    print(f"""
Why they differ: (1) The measured GPUs were busy only {100 * busy:.0f} % of each step (the profiler and the
launching host held them up), so most all-reduces met an idle GPU and count as exposed; the simulation
packs the same kernels back to back, and only the end of the last bucket sticks out of backward. (2) An
all-reduce kernel also waits for the other GPU, hence the spread between steps; ranks are identical
here, so compare with the least time. (3) The trace does not say which link joined its two GPUs:
"{network}" is only the network of the sweep that comes closest, not a fit.""")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="?", default="results/quickstart.jsonl")
    parser.add_argument("plot", nargs="?")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or "build/stepsim")
    options = parser.parse_args()
    picture = options.plot or str(pathlib.Path(options.results).with_suffix(".png"))
    try:
        header, points = plots.read_sweep(options.results)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        sys.exit(f"{options.results}: no results of stepsim sweep in JSON Lines ({error})")
    if not points:
        sys.exit(f"{options.results}: no finished point")
    points = completed(header, points, options.results)
    trace = plots.trace_of(options.results)
    what = header["scenario"].get("name", options.results)
    if trace:
        what = plots.provenance(trace)
        print(f"\n{what}; {sum(l['gradient_bytes'] or 0 for l in trace['layers']) / 1e6:.1f} "
              f"MB of gradients; computation alone {1e3 * plots.compute_of(points):.1f} ms\n")
    print_table(points) if options.all else print_answer(points)
    if trace and options.all:
        compare_with_trace(options.stepsim, options.results, header, points, trace)
    plot(points, what, picture)
    print(f"\nplot: {picture}\nevery point with all its numbers: {options.results}")


if __name__ == "__main__":
    main()
