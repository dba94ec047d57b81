"""What the ablation of DLCP claims of its results; `holds` is what docs/dlcp.csv says.

The same claims are asked of fresh runs of some points: a claim looks at what results have.
"""
import dataclasses
import typing

import dlcp_ablation as ablation
from contention_tables import cell, median
from dlcp_tables import at_network, best_tcp, conditions, gain, has, ratios, seconds

FULL, SLICED, ONE_QUEUE = ablation.FULL, ablation.SLICED, ablation.ONE_QUEUE
DLCP = [name for name, settings in ablation.EVERY.items()
        if settings[ablation.TRANSPORT]["kind"] == "dlcp"]
SHARDED, RING = "resnet50, 10G, S = 10", "resnet50, 10G, ring"


@dataclasses.dataclass(frozen=True)
class Claim:
    scenario: str
    says: str
    check: typing.Callable  # of results: (bool, text)
    holds: bool = True
    fresh: bool = False  # needs no more than the points that the test runs again


def points(results, arm):
    return [(q, x) for (q, a, x) in results.points if a == arm and q in ("E1", "E2", "networks", "E5")]


def no_timeouts(results):
    found = [sum(seconds(results, point, arm, "timeouts")) for arm in DLCP for point in points(results, arm)]
    return sum(found) == 0, f"{sum(found):.0f} in {len(found)} points"


def within_bound(results):
    """In bytes the bound of packets can be passed by what a last, short packet lacks."""
    lost = [value for arm in DLCP for point in points(results, arm)
            for value in seconds(results, point, arm, "loss")]
    exact = [value for point in points(results, "8 the same, p = 0")
             for value in seconds(results, point, "8 the same, p = 0", "loss")]
    return max(lost) <= 0.1 + 1e-4 and max(exact, default=0) == 0, (
        f"at most {100 * max(lost):.2f} %, with p = 0 {100 * max(exact, default=0):g} %")


def over(arm, base, point, least, most=float("inf")):
    """Median of the ratios per seed between two bounds."""
    def check(results):
        found = ratios(results, point, arm, base)
        return least < median(found) < most, cell(found, digits=3)
    return check


def best(arm, least, shown, late=False):
    """The least ratio over conditions, against the fastest of arms 1 to 3."""
    def check(results):
        found = {x: median(ratios(results, ("E1", x), arm, best_tcp(results, ("E1", x), late)))
                 for x in conditions(results, "E1") if shown(x) and has(results, ("E1", x), arm)}
        x = min(found, key=found.get)
        y = max(found, key=found.get)
        return found[x] > least, f"{found[x]:.2f} ({x}) to {found[y]:.2f} ({y})"
    return check


def ring_smaller(results):
    ring = median(ratios(results, ("E2", RING), FULL, "1 fifo, reno"))
    servers = median(ratios(results, ("E1", SHARDED), FULL, "1 fifo, reno"))
    return 1 < ring < 1.11 < servers, f"ring {ring:.3f}, ten servers {servers:.3g}"


def ring_beats_slices(results):
    ring = median(ratios(results, ("E2", RING), FULL))
    return ring > 1, f"{ring:.3f}"


def ring_saves_half(results):
    """Exposed communication over that of p = 0, against half of what is left out."""
    ends = [median(seconds(results, ("E2", RING), arm, "exposed_s")) for arm in ("8 the same, p = 0", FULL)]
    lost = median(seconds(results, ("E2", RING), FULL, "loss"))
    part = 1 - ends[1] / ends[0]
    return 0.35 * lost <= part <= 0.65 * lost, f"{100 * part:.1f} % less, {100 * lost:.1f} % left out"


def one_path(results):
    same = all(results.points[q, "6 + selective drop", x] == results.points[q, FULL, x]
               for q, x in (("E1", SHARDED), ("E2", RING)) if has(results, (q, x), "6 + selective drop"))
    return same, "every number" if same else "they differ"


def definition(_):
    """V42: both ways to say it, of the same two times."""
    found = gain(184.3, 100)
    return (abs(found["ratio"] - 1.843) < 1e-4 and abs(found["saved"] - 0.4574) < 1e-4,
            f"184.3 to 100: ratio {found['ratio']:.3f}, {100 * found['saved']:.2f} % of the time saved")


def in_network(arm, network, least, most=float("inf")):
    """Median over the fastest of arms 1 to 3, for one row of the table of networks."""
    def check(results):
        time = {name: median(seconds(results, at_network(results, network, name), name))
                for name in ablation.SHOWN}
        found = min(time[name] for name in ablation.TCP) / time[arm]
        return least < found < most, f"{found:.2f}"
    return check


def lossy_link(results):
    """Iteration over that without losses, the worst seed at 1 %."""
    worst = {}
    for shape in ("S = 10", "ring"):
        base = seconds(results, ("E5", f"{shape}, 0 %"), FULL)
        worst[shape] = max(t / b for t, b in zip(seconds(results, ("E5", f"{shape}, 1 %"), FULL), base))
    return max(worst.values()) < 1.2, ", ".join(f"{shape} x {value:.3f}" for shape, value in worst.items())


SERVERS, ONE = ("E1", SHARDED), ("E1", "resnet50, 10G, S = 1")
CLAIMS = [
    Claim("V42", "ratio and time saved, as defined", definition, fresh=True),
    Claim("V39", "dlcp: no timeouts, any arm, any network", no_timeouts, fresh=True),
    Claim("V39", "dlcp: at most 10 % lost, nothing with p = 0", within_bound, fresh=True),
    Claim("E1", "one switch: arm 6 is arm 7", one_path, fresh=True),
    Claim("E1", "ten servers: bounded loss over FIFO TCP, ratio over 1.5", over(
        "4 dlcp, bounded loss", "1 fifo, reno", SERVERS, 1.5), fresh=True),
    Claim("E1", "queues by layer on top of it, over 1.2", over(
        "5 + queue by layer", "4 dlcp, bounded loss", SERVERS, 1.2), fresh=True),
    Claim("E1", "selective drop on top of it, over 1.05", over(
        FULL, "5 + queue by layer", SERVERS, 1.05), fresh=True),
    Claim("E1", "all of it over FIFO TCP, over 2", over(FULL, "1 fifo, reno", SERVERS, 2), fresh=True),
    Claim("E1", "of which the bound of 10 % is less than a tenth", over(
        FULL, "8 the same, p = 0", SERVERS, 0.9, 1.1)),
    Claim("E1", "slices under TCP over FIFO TCP, ten servers, over 2", over(
        "2 priority, reno", "1 fifo, reno", SERVERS, 2), fresh=True),
    Claim("V41", "arm 7 beats the best of arms 1 to 3, every condition", best(FULL, 1, lambda x: True),
          holds=False),
    Claim("V41", "the same with RTO_min 200 ms", best(FULL, 1, lambda x: x.endswith((" = 1", " = 10")) and
                                                      "10G" in x, late=True), holds=False),
    Claim("V41", "with buffers of 20 packets, ten servers: ratio over 2", in_network(
        FULL, "buffer 20 packets", 2)),
    Claim("V41", "with buffers of 1000 packets: between 0.9 and 1.1", in_network(
        FULL, "buffer 1000 packets", 0.9, 1.1)),
    Claim("E1", "dlcp in slices, one queue, one server: within 5 % of the best TCP", over(
        ONE_QUEUE, "3 priority, dctcp", ONE, 0.95, 1.05)),
    Claim("E1", "there one queue is faster than queues by layer, over 1.1", over(
        ONE_QUEUE, SLICED, ONE, 1.1)),
    Claim("E2", "ring: some gain over FIFO TCP, under 11 %, less than with servers", ring_smaller,
          fresh=True),
    Claim("E2", "ring: arm 7 beats the best of arms 1 to 3", ring_beats_slices, holds=False),
    Claim("E2", "ring: exposed time falls by half of what is lost", ring_saves_half, fresh=True),
    Claim("E5", "dlcp, 1 % lost on one link: at most 20 % slower, every seed", lossy_link),
]


def lines(results):
    rows = [(claim, *claim.check(results)) for claim in CLAIMS]
    wide = max(len(claim.says) for claim in CLAIMS)
    for claim, met, seen in rows:
        yield f"{claim.scenario:4} {claim.says:{wide}}  {'yes' if met else 'NO ':3}  {seen}"
