"""The plots of the study of contention (docs/contention.md), one function per scenario, from its results.

Faint dots are seeds; a line joins medians, with the 95 % interval of the median as a bar.
"""
import pathlib
import sys

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import contention_study as study
import contention_tables as tables
from stepsim_plots import (COLOURS, DASH_DOT, DASHED, DOTTED, HANDLE_LENGTH, LONG_DASHES, SOLID, legend_entries)

# (colour, marker, dashes)
LOOKS = {"reno": (COLOURS["rank 1"], "o", SOLID), "dctcp": (COLOURS["rank 3"], "s", DASHED), "dlcp": (COLOURS["rank 0"], "^", DASH_DOT),
         "raw": (COLOURS["guide"], "D", DOTTED)}
VARIANTS = {"dlcp": LOOKS["dlcp"], "dlcp, rate floor 1/16": (COLOURS["more 1"], "v", LONG_DASHES),
            "dlcp, no rate control": (COLOURS["rank 2"], "P", SOLID)}
BALANCING = {"ecmp": (COLOURS["rank 1"], "o", SOLID), "spray_random": (COLOURS["rank 0"], "^", DASHED),
             "spray_round_robin": (COLOURS["rank 2"], "P", DOTTED)}
SERIES = [COLOURS["rank 4"], COLOURS["more 1"], COLOURS["rank 0"], COLOURS["rank 2"], COLOURS["more 0"]]

WORDS = {"reno": "TCP Reno", "dctcp": "DCTCP", "dlcp": "DLCP", "raw": "no transport",
         "ecmp": "a path per flow", "spray_random": "a random path per packet",
         "spray_round_robin": "the next path per packet"}


def words(arm):
    """The name of an arm for a reader: "dlcp, one queue" -> "DLCP, one queue"."""
    first, *rest = arm.split(", ")
    return ", ".join([WORDS.get(first, first), *rest]).replace("p = 0", "no loss allowed")


def line(axis, xs, each, look, label, joined=True, dots=True, second=False):
    """`each` is a list of values per seed for every x. The second line of one look has open markers."""
    color, marker, dashes = look
    middle = [tables.median(values) for values in each]
    ends = [tables.interval(values) for values in each]
    under = look is LOOKS["reno"] # wider, so that dctcp on top of it hides nothing
    bars = [[m - low for m, (low, _) in zip(middle, ends)], [high - m for m, (_, high) in zip(middle, ends)]]
    axis.errorbar(xs, middle, yerr=bars, color=color, marker=marker, markersize=8 if under else 5,
                  markerfacecolor="white" if second else color, linestyle=dashes if joined else "none",
                  linewidth=3 if under else 1.5, capsize=3, label=label, zorder=2.5 if under else 3)
    if dots:
        for x, values in zip(xs, each):
            axis.plot([x] * len(values), values, ".", color=color, alpha=0.45, markersize=4, zorder=2)


def of(results, scenario, arm, metric, scale=1.0, share=None):
    xs = results.xs(scenario, arm)
    return xs, [[scale * value / (share(x) if share else 1)
                 for value in results.values(scenario, arm, x, metric)] for x in xs]


def ticks(axis, xs, words=None, log=True):
    if log:
        axis.set_xscale("log")
    axis.xaxis.set_major_locator(FixedLocator(xs))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xticklabels(words or [f"{x:g}" for x in xs])


def finish(axis, x, y, title, logy=False, legend="best"):
    if logy:
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.set_title(title, fontsize=10)
    axis.grid(True, color=COLOURS["grid"], linewidth=0.6)
    axis.set_axisbelow(True)
    if legend:
        axis.legend(*legend_entries(axis), fontsize=8, loc=legend, frameon=False, handlelength=HANDLE_LENGTH)


SENDERS = [1, 2, 4, 8, 16, 32, 64]
RTO_MS = 10


def drain_ms(n, bound=0):
    return 1e3 * tables.drain_s(n * tables.need(bound, tables.PACKETS))


def mark(axis, y, text, color="black"):
    axis.axhline(y, color=color, linewidth=0.9, linestyle=":", label=text, zorder=1)


def q1(axis, results, bounded=False):
    for arm in ("reno", "dctcp"):
        line(axis, *of(results, "Q1", arm, "max_s", 1e3), LOOKS[arm], f"{words(arm)}, slowest flow")
        line(axis, *of(results, "Q1", arm, "min_s", 1e3), LOOKS[arm], f"{words(arm)}, fastest flow", dots=False,
             second=True)
    if bounded:
        line(axis, *of(results, "Q3", "dlcp", "max_s", 1e3), LOOKS["dlcp"], "DLCP, slowest flow")
    xs = results.xs("Q1", "reno")
    axis.plot(xs, [drain_ms(n) for n in xs], color="black", linewidth=1, linestyle="-",
              label="all bytes through the last link")
    mark(axis, RTO_MS, "least timeout of TCP")
    ticks(axis, SENDERS)
    axis.set_ylim(0.04, 2000)
    finish(axis, "senders of 64 KiB at once", "completion [ms]", "Incast at 10 Gb/s, 100 packets of buffer",
           logy=True, legend="upper left")


def q2(axis, results):
    for arm in ("reno", "dctcp", "dlcp"):
        xs, each = of(results, "Q2", arm, "max_s", 1e3)
        line(axis, [1e3 * x for x in xs], each, LOOKS[arm], f"{words(arm)}, slowest flow")
    xs, each = of(results, "Q2", "reno", "min_s", 1e3)
    line(axis, [1e3 * x for x in xs], each, LOOKS["reno"], "TCP Reno, fastest flow", dots=False, second=True)
    axis.plot([1, 200], [1, 200], color="black", linewidth=0.9, linestyle=":", label="one timeout")
    ticks(axis, [1, 10, 200])
    finish(axis, "least timeout of TCP (RTO_min) [ms]", "completion [ms]", "32 senders of 64 KiB", logy=True)


def over_drain(axis, results, scenario, bound, limit, least):
    for arm, look in VARIANTS.items():
        line(axis, *of(results, scenario, arm, "max_s", 1e3, lambda n: drain_ms(n, bound)), look, words(arm))
    mark(axis, limit, f"expected: at most {limit:g}")
    ticks(axis, SENDERS)
    finish(axis, "senders of 64 KiB at once", f"slowest flow / {least}", f"Incast, loss bound {bound:g}")


def q3(axis, results):
    over_drain(axis, results, "Q3", 0.1, 1.25, "time of the packets that must arrive")


def q5(axis, results):
    over_drain(axis, results, "Q5", 0, 1.15, "time of all packets")


def q4(axis, results):
    for arm in ("reno", "dctcp", "dlcp"):
        xs, each = of(results, "Q4", arm, "max_s", 1e3)
        line(axis, [x / 1024 for x in xs], each, LOOKS[arm], words(arm))
    axis.plot([x / 1024 for x in xs], [1e3 * tables.drain_s(64 * -(-x // 1460)) for x in xs], color="black",
              linewidth=1, linestyle="-", label="all bytes through the last link")
    mark(axis, RTO_MS, "least timeout of TCP")
    ticks(axis, [x / 1024 for x in xs])
    finish(axis, "bytes per sender [KiB]", "slowest flow [ms]", "64 senders at once", logy=True)


def q6(axis, results):
    arms = [arm for arm in results.arms("Q6") if "rate" not in arm]
    for arm, color, marker, dashes in zip(arms, SERIES, "osD^", (SOLID, DASHED, DASH_DOT, DOTTED)):
        xs, each = of(results, "Q6", arm, "fct_s", 1e3)
        loss = float(arm.split()[2])
        line(axis, xs, each, (color, marker, dashes), f"link loses {100 * loss:g} %", joined=False)
        axis.plot(xs, [1e3 * tables.expected_s(x, loss) for x in xs], color=color, linewidth=1, linestyle=dashes)
    axis.plot([], [], color="black", linewidth=1, label="lines: packets that must arrive / (1 - loss)")
    finish(axis, "loss bound", "completion [ms]", "One flow of 2000 packets, no rate control")


def q7(axis, results):
    looks = {"one queue": (COLOURS["rank 1"], "o", SOLID), "front first": (COLOURS["rank 0"], "^", DASHED)}
    for arm, look in looks.items():
        for metric, what in (("front_s", "front layer, since submission"), ("last_s", "last completion")):
            xs, each = of(results, "Q7", f"raw, {arm}", metric, 1e6)
            line(axis, [1e6 * x for x in xs], each, look, f"{arm}: {what}", dots=False,
                 second=metric == "last_s")
    mark(axis, 123.2, "front layer alone: 123.2 us")
    axis.set_ylim(0, 690)
    finish(axis, "front layer submitted after [us]", "time [us]",
           "Back layer 2 x 200, front layer 2 x 50 packets, one port, raw", legend=(0.02, 0.55))


def q8(axis, results):
    for arm, dashes in (("selective drop", SOLID), ("tail drop", DASHED)):
        for word, color, marker in (("protected", COLOURS["rank 0"], "^"), ("droppable", COLOURS["rank 1"], "s")):
            xs, each = of(results, "Q8", arm, f"{word}_loss", 100)
            line(axis, [x / 8 for x in xs], each, (color, marker, dashes), f"{arm}: {word}", dots=False,
                 second=arm == "tail drop")
    axis.axvline(1, color="black", linewidth=0.9, linestyle=":", label="protected load = line rate")
    finish(axis, "load of protected packets / line rate", "lost [%]",
           "Senders of 200 packets at line rate, one packet in eight protected", legend=(0.46, 0.3))


def q9_uplinks(axis, results):
    flows = [round(c) for c in results.values("Q9", "ecmp", "four uplinks", "uplink_max")]
    chance = {1: 24 / 256, 2: 180 / 256, 3: 48 / 256, 4: 4 / 256} # 4 flows on 4 uplinks
    axis.bar([c - 0.2 for c in chance], [100 * flows.count(c) / len(flows) for c in chance], 0.4,
             color=COLOURS["rank 1"], label=f"runs of {len(flows)} seeds")
    axis.bar([c + 0.2 for c in chance], [100 * p for p in chance.values()], 0.4, color=COLOURS["guide"], hatch="//",
             label="expected by chance")
    axis.set_xticks(list(chance), [f"{c}\n{(c * 1000 + 3) * 1.2e-3 + 4e-3:.2f} ms" for c in chance])
    finish(axis, "flows on the busiest uplink, slowest completion", "seeds [%]",
           "A path per flow: four flows of 1000 packets on four uplinks")


def q9_permutation(axis, results):
    kinds = ["raw", "dlcp", "reno"]
    for shift, (arm, look) in zip((-0.2, 0, 0.2), BALANCING.items()):
        each = [[1e3 * v for v in results.values("Q9", arm, f"permutation, {kind}", "max_s")] for kind in kinds]
        line(axis, [i + shift for i in range(len(kinds))], each, look, words(arm), joined=False)
    mark(axis, (500 + 3) * 1.2e-3 + 4e-3, "a flow alone: 0.61 ms")
    axis.set_xticks(range(len(kinds)), map(words, kinds))
    finish(axis, "transport", "slowest flow [ms]", "Permutation of 16 hosts, 500 packets each, four uplinks per leaf",
           logy=True, legend="upper left")


def q10(axis, results):
    arms = results.arms("Q10")
    for arm, look in list(BALANCING.items())[1:]:
        each = [[1e3 * v for v in results.values("Q10", name, arm, "max_s")] for name in arms]
        line(axis, range(len(arms)), each, look, words(arm), joined=False)
    for i, name in enumerate(arms):
        again = tables.median(results.values("Q10", name, "spray_random", "retransmissions"))
        top = max(results.values("Q10", name, "spray_random", "max_s"))
        axis.annotate(f"{again:.0f} sent\nagain", (i, 1e3 * top), textcoords="offset points", xytext=(0, 5),
                      ha="center", fontsize=7)
    axis.set_xticks(range(len(arms)), [words(name).replace(", ", ",\n") for name in arms], fontsize=8)
    axis.set_ylim(0.95, 2.6)
    axis.set_xlim(-0.5, len(arms) - 0.5)
    finish(axis, "transport", "slowest of four flows [ms]", "Packets overtake: four flows of 1000 packets, no loss, no mark",
           legend="upper right")


def q12(axis, results, packets=1000):
    losses = [0, 1e-4, 1e-3, 1e-2]
    arms = {"reno": LOOKS["reno"], "dlcp": LOOKS["dlcp"], "dlcp, no rate control": VARIANTS["dlcp, no rate control"]}
    for shift, (arm, look) in zip((-0.15, 0, 0.15), arms.items()):
        name = f"{arm}, {packets} packets"
        base = results.values("Q12", name, 0, "max_s")[0]
        each = [[100 * (v / base - 1) for v in results.values("Q12", name, loss, "max_s")] for loss in losses]
        line(axis, [i + shift for i in range(4)], each, look, words(arm), joined=False)
    mark(axis, 2, "2 %")
    axis.set_xticks(range(4), [f"{100 * loss:g} %" for loss in losses])
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set_ylim(-0.05, 2000)
    axis.yaxis.set_major_locator(FixedLocator([0, 0.1, 1, 10, 100, 1000]))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    finish(axis, "loss of one link", "slowest flow, over lossless [%]",
           f"Four hosts in a ring, {packets} packets each", legend="upper left")


def q13(axis, results, network="100 Gb/s"):
    arm = f"dlcp, {network}"
    xs = results.xs("Q13", arm)
    for base in ("reno", "dctcp"):
        each = [tables.gains(results, "Q13", arm, f"{base}, {network}", n) for n in xs]
        line(axis, xs, each, LOOKS[base], f"{words(base)} / DLCP")
    mark(axis, 1, "no gain")
    ticks(axis, [x for x in xs if x != 128]) # too near to 143
    titles = {"100 Gb/s": "45 packets per sender, 100 Gb/s, buffer of 1000 packets",
             "1 MiB in all": "1 MiB from all senders together, 10 Gb/s, buffer of 100 packets"}
    finish(axis, "senders", "slowest flow, TCP / DLCP", titles[network], logy=True)
    axis.set_yticks([1, 2, 5, 10, 20, 50])
    axis.yaxis.set_minor_locator(NullLocator())


def q14(axis, results):
    for arm in ("reno", "dctcp", "dlcp"):
        line(axis, *of(results, "Q14", arm, "slowest_s", 1e3), LOOKS[arm], f"{words(arm)}, slowest push")
    for arm in ("reno", "dlcp"): # the middle push of DCTCP is that of Reno
        line(axis, *of(results, "Q14", arm, "middle_s", 1e3), LOOKS[arm], f"{words(arm)}, middle push", dots=False,
             second=True)
    mark(axis, RTO_MS, "least timeout of TCP")
    finish(axis, "background load / line rate", "push of 8 workers [ms]", "Ten pushes of 8 x 16 KiB beside other flows",
           logy=True, legend=(0.01, 0.37))


def q11(axis, results):
    arms = results.arms("Q11")
    for shift, arm in zip((-0.24, -0.08, 0.08, 0.24), arms):
        look = LOOKS.get(arm, (COLOURS["more 1"], "v", LONG_DASHES))
        each = [[1e3 * v for v in results.values("Q11", arm, x, "exposed_s")]
                for x in ("ring", "parameter_server")]
        line(axis, [shift, 1 + shift], each, look, words(arm), joined=False)
    axis.set_xticks([0, 1], ["ring", "a server on every worker"])
    finish(axis, "exchange of 8 workers", "exposed communication [ms]", "Six layers, 1.26 MB, nothing else in the network",
           legend="upper left")


def q12_training(axis, results):
    losses = [0, 1e-4, 1e-3, 1e-2]
    for shift, arm in zip((-0.08, 0.08), ("reno", "dlcp")):
        each = [[1e3 * v for v in results.values("Q12t", arm, x, "iteration_s")] for x in losses]
        line(axis, [i + shift for i in range(4)], each, LOOKS[arm], words(arm), joined=False)
    axis.set_xticks(range(4), [f"{100 * loss:g} %" for loss in losses])
    finish(axis, "loss of one link", "iteration [ms]", "Training in a ring of 8", logy=True, legend="upper left")
    axis.set_yticks([2, 5, 10, 20, 50])
    axis.yaxis.set_minor_locator(NullLocator())


def q13_training(axis, results):
    for arm in ("reno", "dctcp", "dlcp"):
        line(axis, *of(results, "Q13t", arm, "iteration_s", 1e3), LOOKS[arm], words(arm))
    ticks(axis, results.xs("Q13t", "dlcp"))
    finish(axis, "workers, a server on each", "iteration [ms]", "Training: six layers, 1.26 MB")


def q14_training(axis, results, file="parameter_server"):
    looks = {**LOOKS, "dlcp, one queue": VARIANTS["dlcp, no rate control"]}
    for arm in ("reno", "dctcp", "dlcp", "dlcp, one queue"):
        line(axis, *of(results, "Q14t", f"{arm}, {file}", "iteration_s", 1e3), looks[arm], words(arm))
    exchange = {"parameter_server": "a server on every worker", "ring": "ring"}
    finish(axis, "background load / line rate", "iteration [ms]", f"Training of 8 workers, {exchange[file]}", legend="upper left")
