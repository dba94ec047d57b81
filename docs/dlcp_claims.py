"""What the ablation of DLCP claims of its results; `holds` is what docs/dlcp.csv says.

The same claims are asked of fresh runs of some points: a claim looks at what results have.
"""
import dlcp_ablation as ablation
from contention_claims import Claim
from contention_tables import cell, median
from dlcp_tables import best_tcp, conditions, gain, has, ratios, seconds

FULL, SLICED, ONE_QUEUE = ablation.FULL, ablation.SLICED, ablation.ONE_QUEUE
DLCP = [name for name, settings in ablation.EVERY.items()
        if settings[ablation.TRANSPORT]["kind"] == "dlcp"]
SHARDED, RING = "resnet50, 10G, S = 10", "resnet50, 10G, ring"


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
    ring = median(ratios(results, ("E2", RING), FULL))
    servers = median(ratios(results, ("E1", SHARDED), FULL, "1 fifo, reno"))
    return 1 < ring < 1.11 < servers, f"ring {ring:.3f}, ten servers {servers:.3g}"


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


def whole(arm):
    """dlcp sends whole tensors as arm 1 does: the transport alone."""
    return over(arm, "1 fifo, reno", ("E1", SHARDED), 1.5)


CLAIMS = [
    Claim("V42", "ratio and time saved, as defined", definition),
    Claim("E1", "dlcp: no timeouts, any arm, any network", no_timeouts),
    Claim("E1", "dlcp: at most 10 % lost, nothing with p = 0", within_bound),
    Claim("E1", "one switch: arm 6 is arm 7", one_path),
    Claim("E1", "ten servers, whole tensors: over arm 1, bounded loss alone", whole("4 dlcp, bounded loss")),
    Claim("E1", "the same with queues by layer", over(
        "5 + queue by layer", "4 dlcp, bounded loss", ("E1", SHARDED), 1.1)),
    Claim("E1", "the same with selective drop", over(FULL, "5 + queue by layer", ("E1", SHARDED), 1.05)),
    Claim("E2", "ring: some gain, under 11 %, less than with servers", ring_smaller),
    Claim("E2", "ring: exposed time falls by half of what is lost", ring_saves_half),
]


def lines(results):
    rows = [(claim, *claim.check(results)) for claim in CLAIMS]
    wide = max(len(claim.says) for claim in CLAIMS)
    for claim, met, seen in rows:
        yield f"{claim.scenario:4} {claim.says:{wide}}  {'yes' if met else 'NO ':3}  {seen}"
