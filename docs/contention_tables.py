"""Tables of the study of contention, from its results.

A cell is the median over seeds with its 95 % interval: the interval between two of the sorted values,
which holds the median of the distribution with at least 95 % whatever the distribution is (of 20
values the 6th and the 15th, 95.9 %). No interval where every seed gives the same.
"""
import math

from contention_scenarios import TAU_S


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def interval(values):
    """(low, high) around the median; with fewer than 6 values the whole range, which says less."""
    values, n = sorted(values), len(values)
    below, skipped = 0.0, 0
    while (below := below + math.comb(n, skipped) / 2**n) <= 0.025:
        skipped += 1
    skipped = max(skipped - 1, 0)
    return values[skipped], values[n - 1 - skipped]


def cell(values, scale=1, digits=4):
    middle, (low, high) = median(values), interval(values)
    if all(value == int(value) for value in (middle, low, high)) and scale == 1:
        digits = 0
    shown = [f"{scale * value:#.{digits}g}".rstrip(".") if digits else f"{value:.0f}"
             for value in (middle, low, high)]
    return shown[0] if shown[1] == shown[2] else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def drain_s(packets):
    """What the last link needs for so many full packets."""
    return packets * TAU_S


def need(bound, packets):
    return math.ceil((1 - bound) * packets - 1e-9)


PACKETS = 45  # of 64 KiB


def times(metric, arms=None, scale=1e3, x=str):
    """A column per arm, a row per x."""
    def make(results, scenario):
        chosen = arms or results.arms(scenario)
        yield ["", *chosen]
        for value in results.xs(scenario, chosen[0]):
            yield [x(value), *(cell(results.values(scenario, arm, value, metric), scale)
                               for arm in chosen)]
    return make


def q1(results, scenario):
    yield ["N", "drain [ms]", "reno: slowest [ms]", "fastest [ms]", "dctcp: slowest [ms]", "fastest [ms]"]
    for n in results.xs(scenario, "reno"):
        yield [n, f"{1e3 * drain_s(n * PACKETS):.3f}",
               *(cell(results.values(scenario, arm, n, metric), 1e3)
                 for arm in ("reno", "dctcp") for metric in ("max_s", "min_s"))]


def q2(results, scenario):
    yield ["RTO_min [ms]", *(f"{arm}: slowest [ms]" for arm in results.arms(scenario)), "reno: fastest [ms]"]
    for rto in results.xs(scenario, "reno"):
        yield [f"{1e3 * rto:g}", *(cell(results.values(scenario, arm, rto, "max_s"), 1e3)
                                   for arm in results.arms(scenario)),
               cell(results.values(scenario, "reno", rto, "min_s"), 1e3)]


def over_drain(bound):
    def make(results, scenario):
        arms = results.arms(scenario)
        yield ["N", "drain [ms]", *(text for arm in arms for text in (arm, "worst"))]
        for n in results.xs(scenario, arms[0]):
            ideal = drain_s(n * need(bound, PACKETS))
            row = [n, f"{1e3 * ideal:.3f}"]
            for arm in arms:
                values = results.values(scenario, arm, n, "max_s")
                row += [cell(values, 1 / ideal), f"{max(values) / ideal:.3f}"]
            yield row
    return make


def q4(results, scenario):
    yield ["bytes", "drain [ms]", *(f"{arm} [ms]" for arm in results.arms(scenario))]
    for size in results.xs(scenario, "reno"):
        yield [size, f"{1e3 * drain_s(64 * math.ceil(size / 1460)):.3f}",
               *(cell(results.values(scenario, arm, size, "max_s"), 1e3)
                 for arm in results.arms(scenario))]


def expected_s(bound, loss, packets=2000, links=2):
    """The formula of Q6 with the expected index of the packet that completes the message; d = 1 us."""
    return (need(bound, packets) / (1 - loss) + links - 1) * TAU_S + links * 1e-6


def q6(results, scenario):
    arms = results.arms(scenario)
    yield ["p", *(text for arm in arms for text in (f"{arm} [ms]", "formula", "rounds"))]
    for bound in results.xs(scenario, arms[0]):
        row = [f"{bound:g}"]
        for arm in arms:
            loss = float(arm.split()[2].rstrip(","))
            row += [cell(results.values(scenario, arm, bound, "fct_s"), 1e3),
                    f"{1e3 * expected_s(bound, loss):.3f}",
                    f"{max(results.values(scenario, arm, bound, 'probe_rounds')):.0f}"]
        yield row


def q7(results, scenario):
    arms = results.arms(scenario)
    yield ["front starts [us]", *(text for arm in arms for text in (f"{arm}: front [us]", "last [us]"))]
    for start in results.xs(scenario, arms[0]):
        yield [f"{1e6 * start:g}", *(cell(results.values(scenario, arm, start, metric), 1e6)
                                     for arm in arms for metric in ("front_s", "last_s"))]


def q8(results, scenario):
    arms = ["selective drop", "tail drop"]
    yield ["N", "protected load", *(f"{arm}: {word} lost [%]" for arm in arms
                                    for word in ("protected", "droppable")), "accepted, no jitter"]
    for n in results.xs(scenario, arms[0]):
        yield [n, f"{n / 8:g}", *(cell(results.values(scenario, arm, n, f"{word}_loss"), 100)
                                  for arm in arms for word in ("protected", "droppable")),
               cell(results.values(scenario, "selective drop, no jitter", n, "accepted"))]


def q9(results, scenario):
    yield ["flows", *(text for arm in results.arms(scenario) for text in (f"{arm} [ms]", "queue"))]
    for x in results.xs(scenario, "ecmp"):
        yield [x, *(cell(results.values(scenario, arm, x, metric), scale)
                    for arm in results.arms(scenario)
                    for metric, scale in (("max_s", 1e3), ("max_queue", 1)))]


def q10(results, scenario):
    yield ["", "paths", "slowest [ms]", "sent again", "duplicates", "drops", "marks"]
    for arm in results.arms(scenario):
        for x in results.xs(scenario, arm):
            yield [arm, x, cell(results.values(scenario, arm, x, "max_s"), 1e3),
                   *(cell(results.values(scenario, arm, x, metric))
                     for metric in ("retransmissions", "duplicates", "drops", "marks"))]


def q12(results, scenario):
    yield ["", "loss of the link", "slowest [ms]", "over lossless", "worst", "seeds over 10 ms"]
    for arm in results.arms(scenario):
        base = results.values(scenario, arm, 0, "max_s")
        for loss in results.xs(scenario, arm):
            values = results.values(scenario, arm, loss, "max_s")
            ratios = [value / least for value, least in zip(values, base)]
            late = sum(value > 0.010 for value in values)
            yield [arm, f"{100 * loss:g} %", cell(values, 1e3), cell(ratios), f"{max(ratios):.3f}", late]


def gains(results, scenario, arm, base, x, metric="max_s"):
    """Per seed, time of the base over time of the arm."""
    return [b / a for a, b in zip(results.values(scenario, arm, x, metric),
                                  results.values(scenario, base, x, metric))]


def q13(results, scenario):
    for network in ("100 Gb/s", "1 MiB in all"):
        arms = [f"{arm}, {network}" for arm in ("reno", "dctcp", "dlcp")]
        yield [network, *(f"{arm.split(',')[0]} [ms]" for arm in arms), "reno/dlcp", "dctcp/dlcp"]
        for n in results.xs(scenario, arms[0]):
            yield [f"N = {n}", *(cell(results.values(scenario, arm, n, "max_s"), 1e3) for arm in arms),
                   *(cell(gains(results, scenario, arms[2], base, n), digits=3) for base in arms[:2])]


def q14(results, scenario):
    arms = results.arms(scenario)
    yield ["load", *(f"{arm} [ms]" for arm in arms), *(f"{arm}, middle [ms]" for arm in arms)]
    for load in results.xs(scenario, arms[0]):
        yield [f"{load:g}", *(cell(results.values(scenario, arm, load, metric), 1e3)
                              for metric in ("slowest_s", "middle_s") for arm in arms)]


def q11(results, scenario):
    yield ["", "exchange", "iteration [ms]", "exposed [ms]", "gradient lost [%]", "reno / this"]
    for x in results.xs(scenario, "reno"):
        for arm in results.arms(scenario):
            yield [arm, x, cell(results.values(scenario, arm, x, "iteration_s"), 1e3),
                   cell(results.values(scenario, arm, x, "exposed_s"), 1e3),
                   cell(results.values(scenario, arm, x, "lost"), 100, 3),
                   cell(gains(results, scenario, arm, "reno", x, "iteration_s"), digits=3)]


def by_arm(first, shown):
    """Mean iteration per arm, and the slowest one, a row per x."""
    def make(results, scenario):
        arms = results.arms(scenario)
        yield [first, *(f"{arm} [ms]" for arm in arms), *(f"{arm}, slowest" for arm in arms)]
        for x in results.xs(scenario, arms[0]):
            yield [shown(x), *(cell(results.values(scenario, arm, x, metric), 1e3)
                               for metric in ("iteration_s", "slowest_s") for arm in arms)]
    return make


def q14_training(results, scenario):
    yield ["", "load", "iteration [ms]", "slowest [ms]"]
    for arm in results.arms(scenario):
        for load in results.xs(scenario, arm):
            yield [arm.replace("_", " "), f"{load:g}",
                   *(cell(results.values(scenario, arm, load, metric), 1e3)
                     for metric in ("iteration_s", "slowest_s"))]


TABLES = {"Q11": q11, "Q12t": by_arm("loss", lambda q: f"{100 * q:g} %"), "Q13t": by_arm("workers", str),
          "Q14t": q14_training,
          "Q1": q1, "Q2": q2, "Q3": over_drain(0.1), "Q4": q4, "Q5": over_drain(0), "Q6": q6, "Q7": q7,
          "Q8": q8, "Q9": q9, "Q10": q10, "Q12": q12, "Q13": q13, "Q14": q14}


def table(results, scenario):
    rows = [[str(text) for text in row] for row in TABLES[scenario](results, scenario)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join([row[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(row[1:], widths[1:]))])
