"""What the study of contention claims, as numbers over every seed that was simulated.

A claim reads results and gives whether it holds and what was seen. `holds` is what the committed
results say: an expectation that is not met stands here with False, and the page says how far off it
is. The tests ask the same of fresh runs, so a transport that changes shows up here first.
"""
import dataclasses
import math
import typing

from contention_tables import PACKETS, cell, drain_s, expected_s, gains, median, need
from contention_scenarios import TAU_S

RTO_MIN_S = 0.010


@dataclasses.dataclass(frozen=True)
class Claim:
    scenario: str
    says: str
    check: typing.Callable  # of results: (bool, text)
    holds: bool = True


def largest(results, scenario, arm, metric, of=lambda value, x: value, xs=lambda x: True):
    """(value, x) of the largest over points and seeds."""
    return max((of(value, x), x) for x in results.xs(scenario, arm) if xs(x)
               for value in results.values(scenario, arm, x, metric))


def smallest(results, scenario, arm, metric, of=lambda value, x: value, xs=lambda x: True):
    value, x = largest(results, scenario, arm, metric, lambda v, at: -of(v, at), xs)
    return -value, x


def at_most(limit, scenario, arms, metric, unit=1, word="", **which):
    """Largest value of the arms against a limit."""
    def check(results):
        seen = max((*largest(results, scenario, arm, metric, **which), arm) for arm in arms)
        return seen[0] <= limit, f"largest {unit * seen[0]:.4g}{word} ({seen[2]}, {seen[1]})"
    return check


def at_least(limit, scenario, arms, metric, unit=1, word="", **which):
    def check(results):
        seen = min((*smallest(results, scenario, arm, metric, **which), arm) for arm in arms)
        return seen[0] >= limit, f"smallest {unit * seen[0]:.4g}{word} ({seen[2]}, {seen[1]})"
    return check


def drains(bound):
    return lambda value, n: value / drain_s(n * need(bound, PACKETS))


def power_of_two(n):
    return n & (n - 1) == 0 and n > 1


def all_zero(scenario, arms, *metrics):
    def check(results):
        found = sum(sum(results.values(scenario, arm, x, metric)) for arm in arms
                    for x in results.xs(scenario, arm) for metric in metrics)
        return found == 0, f"{found:.0f} in all"
    return check


def incast_gain(results):
    n = max(x for x in results.xs("Q3", "dlcp") if x <= 32)
    values = [tcp / bounded for tcp, bounded in zip(results.values("Q1", "reno", n, "max_s"),
                                                    results.values("Q3", "dlcp", n, "max_s"))]
    return min(values) > 5, f"reno / dlcp at N = {n}: {cell(values)}"


def same_fastest(results):
    arms = ["reno", "dctcp", "dlcp"]
    same = all(len({tuple(results.values("Q2", arm, rto, "min_s"))
                    for rto in results.xs("Q2", arm)}) == 1 for arm in arms)
    return same, "identical on every seed" if same else "they differ"


def tracks(results):
    """The slowest flow is a whole number of timeouts and at most 3.5 ms of sending."""
    rest = [value % rto for arm in ("reno", "dctcp") for rto in results.xs("Q2", arm) if rto > 0.0035
            for value in results.values("Q2", arm, rto, "max_s")]
    fewest = min(value // rto for arm in ("reno", "dctcp") for rto in results.xs("Q2", arm)
                 for value in results.values("Q2", arm, rto, "max_s"))
    return max(rest) <= 0.0035 and fewest >= 1, (
        f"at least {fewest:.0f} timeout, rest at most {1e3 * max(rest):.2f} ms")


def smaller_flows(results):
    small, large = (median(results.values("Q4", "reno", size, "max_s")) for size in (4096, 65536))
    least = min(min(results.values("Q4", arm, 4096, "max_s")) for arm in ("reno", "dctcp"))
    return least >= RTO_MIN_S, (f"drain 15 x shorter, slowest {large / small:.2f} x shorter, "
                                f"never under {1e3 * least:.2f} ms")


def bound_formula(lossless):
    def check(results):
        off = [abs(median(results.values("Q6", arm, p, "fct_s")) / expected_s(p, loss) - 1)
               for arm in results.arms("Q6") if "rate" not in arm
               for loss in [float(arm.split()[2])] for p in results.xs("Q6", arm)
               if (loss == 0 if lossless else 0 < loss < p)]
        return max(off) <= (5e-5 if lossless else 0.01), f"off by at most {100 * max(off):.2f} %"
    return check


def rounds_until_bound(results):
    """No rounds where p is twice q or more; one at least wherever p < q."""
    pairs = [(p, float(arm.split()[2].rstrip(",")), results.values("Q6", arm, p, "probe_rounds"))
             for arm in results.arms("Q6") for p in results.xs("Q6", arm)]
    calm = max((max(rounds) for p, q, rounds in pairs if p >= 2 * q), default=0)
    busy = min((min(rounds) for p, q, rounds in pairs if p <= q / 2 and q > 0), default=0)
    return calm == 0 and busy >= 1, f"p >= 2 q: {calm:.0f} rounds; p <= q / 2: at least {busy:.0f}"


def front_first(results):
    drain = drain_s(100 + 1) + 2e-6 # both front messages over two links
    late = [value - drain for x in results.xs("Q7", "raw, front first")
            for value in results.values("Q7", "raw, front first", x, "front_s")]
    return min(late) > -1e-9 and max(late) < TAU_S + 1e-9, (
        f"at most {1e6 * max(late):.2f} us after its own drain of {1e6 * drain:.1f} us")


def last_unchanged(kind):
    def check(results):
        longer = [max(results.values("Q7", f"{kind}, one queue", x, "last_s"))
                  - max(results.values("Q7", f"{kind}, front first", x, "last_s"))
                  for x in results.xs("Q7", f"{kind}, one queue")]
        return max(map(abs, longer)) <= TAU_S, f"differs by at most {1e6 * max(map(abs, longer)):.2f} us"
    return check


def saturated(results):
    accepted = [value for n in results.xs("Q8", "selective drop, no jitter") if n <= 8
                for value in results.values("Q8", "selective drop, no jitter", n, "accepted")]
    return set(accepted) == {20 + 200 - 1}, f"accepted {sorted(set(accepted))}, formula 219"


def collisions(results):
    busiest = results.values("Q9", "ecmp", "four uplinks", "uplink_max")
    free, share = sum(load < 1.5 for load in busiest), 24 / 4**4 # 4! / 4^4
    sigma = math.sqrt(len(busiest) * share * (1 - share))
    mean = sum(busiest) / len(busiest)
    off = abs(mean - 2.125) / (0.6 / math.sqrt(len(busiest))) # standard deviation of the busiest: 0.6
    return abs(free - share * len(busiest)) <= 3 * sigma and off <= 3, (
        f"{free} of {len(busiest)} seeds without collision ({len(busiest) * share:.1f} expected), "
        f"busiest uplink {mean:.3f} flows (2.125)")


def slowest_of_uplink(results):
    times = results.values("Q9", "ecmp", "four uplinks", "max_s")
    flows = results.values("Q9", "ecmp", "four uplinks", "uplink_max")
    off = max(abs(time - ((round(c) * 1000 + 3) * TAU_S + 4e-6)) for time, c in zip(times, flows))
    return off < 1e-7, f"differs by at most {1e9 * off:.0f} ns"


def even(results):
    at = ("Q9", "spray_random", "four uplinks")
    low, high = min(results.values(*at, "uplink_min")), max(results.values(*at, "uplink_max"))
    slow, queue = max(results.values(*at, "max_s")), max(results.values(*at, "max_queue"))
    return low >= 0.88 and high <= 1.12 and slow <= 1.4e-3 and queue < 200, (
        f"loads {low:.3f} to {high:.3f}, queues up to {queue:.0f} packets, {1e3 * slow:.3f} ms")


def spraying_pays(results):
    worst = {x: max(spray / hashed for spray, hashed in zip(
        results.values("Q9", "spray_random", x, "max_s"), results.values("Q9", "ecmp", x, "max_s")))
        for x in results.xs("Q9", "ecmp") if x.startswith("permutation")}
    x = max(worst, key=worst.get)
    return worst[x] < 1, f"at worst {worst[x]:.2f} of the time by ECMP ({x})"


def spurious(results):
    again = results.values("Q10", "reno", "spray_random", "retransmissions")
    lost = sum(results.values("Q10", "reno", "spray_random", "drops"))
    ratio = gains(results, "Q10", "reno, no fast retransmit", "reno", "spray_random")
    return min(again) > 0 and lost == 0 and median(ratio) >= 1.4, (
        f"{cell(again)} packets sent again, none lost; time x {cell(ratio)}")


def few_duplicates(results):
    seen = max(max(results.values("Q10", arm, x, "duplicates")) for arm in results.arms("Q10")
               if "p = 0" in arm for x in results.xs("Q10", arm))
    return seen < 0.03 * 4000, f"at most {seen:.0f} of 4000 packets"


def rate_and_order(results):
    ratio = gains(results, "Q10", "dlcp, no rate control", "dlcp", "spray_random")
    return max(ratio) <= 1.1, f"time x {cell(ratio)} of that without rate control, nothing lost or marked"


def lossy(arms, losses, limit, tail=False):
    def check(results):
        ratios = [value / results.values("Q12", arm, 0, "max_s")[0] for arm in arms
                  for x in results.xs("Q12", arm) if x in losses
                  for value in ([median(results.values("Q12", arm, x, "max_s"))] if tail else
                                results.values("Q12", arm, x, "max_s"))]
        return max(ratios) <= limit, f"at most {100 * (max(ratios) - 1):.2g} % over lossless"
    return check


def tail_packet(results):
    times = [value for arm in results.arms("Q12") if arm.startswith("reno")
             for value in results.values("Q12", arm, 0.01, "max_s")]
    late = [value for value in times if value >= RTO_MIN_S]
    return 0 < len(late) < len(times), f"{len(late)} of {len(times)} runs over 10 ms, the others under"


def gain_grows(network, base, threshold):
    """The gain is larger at the largest N than at every N before the buffer overflows."""
    def check(results):
        arm = f"dlcp, {network}"
        found = {x: median(gains(results, "Q13", arm, f"{base}, {network}", x))
                 for x in results.xs("Q13", arm)}
        last = max(found)
        return found[last] > max(value for x, value in found.items() if x < threshold), (
            ", ".join(f"{x}: {value:.3g}" for x, value in found.items()))
    return check


def cuts(results):
    at = max(results.xs("Q13", "dlcp, 100 Gb/s"))
    cut = {metric: 1 - 1 / median(gains(results, "Q13", "dlcp, 100 Gb/s", "dctcp, 100 Gb/s", at, metric))
           for metric in ("max_s", "mean_s")}
    return 0.9 <= cut["max_s"] <= 0.95 and cut["mean_s"] > 0.5, (
        f"N = {at}: slowest {100 * cut['max_s']:.1f} % less, mean {100 * cut['mean_s']:.1f} % less")


def load_order(results):
    loads = results.xs("Q14", "dlcp")
    grown = {arm: median(results.values("Q14", arm, loads[-1], "slowest_s"))
             / median(results.values("Q14", arm, 0, "slowest_s")) for arm in results.arms("Q14")}
    return max(grown["dlcp"] * 10, 0) < min(grown["reno"], grown["dctcp"]), (
        ", ".join(f"{arm} x {value:.3g}" for arm, value in grown.items()) + f" at load {loads[-1]:g}")


def ring_gain(results):
    """Early stop shortens the reduce-scatter half only, by what is lost."""
    ends = [median(results.values("Q11", arm, "ring", "exposed_s")) for arm in ("dlcp, p = 0", "dlcp")]
    part = 1 - ends[1] / ends[0]
    lost = median(results.values("Q11", "dlcp", "ring", "lost"))
    return 0.25 * lost <= part <= 0.6 * lost, (
        f"exposed communication {100 * part:.1f} % less, {100 * lost:.1f} % of the gradient left out")


def server_gain(results):
    found = {x: median(gains(results, "Q11", "dlcp", "reno", x, "iteration_s"))
             for x in results.xs("Q11", "reno")}
    return found["ring"] < 1.05 and found["parameter_server"] > 1.5, (
        ", ".join(f"{x.replace('_', ' ')} {value:.3g}" for x, value in found.items()))


def ring_with_losses(results):
    base = results.values("Q12t", "dlcp", 0, "iteration_s")[0]
    worst = max(value / base for x in results.xs("Q12t", "dlcp") if x <= 1e-3
                for value in results.values("Q12t", "dlcp", x, "iteration_s"))
    return worst <= 1.02, f"at most {100 * (worst - 1):.2g} % over lossless"


def ring_with_many_losses(results):
    times = {arm: [value / results.values("Q12t", arm, 0, "iteration_s")[0]
                   for value in results.values("Q12t", arm, 0.01, "iteration_s")] for arm in ("reno", "dlcp")}
    return max(times["dlcp"]) <= 1.05 and min(times["reno"]) >= 3, (
        ", ".join(f"{arm} x {cell(values)}" for arm, values in times.items()))


def training_gain_grows(results):
    found = {n: median(gains(results, "Q13t", "dlcp", "reno", n, "iteration_s"))
             for n in results.xs("Q13t", "dlcp")}
    values = list(found.values())
    return values[-1] > 1.5 * values[0] and values[-1] == max(values), (
        ", ".join(f"{n}: {value:.3g}" for n, value in found.items()))


def flatter(arm, file):
    """Against the faster of reno and dctcp, at every load with background."""
    def check(results):
        ratios = {load: min(median(results.values("Q14t", f"{tcp}, {file}", load, "iteration_s"))
                            for tcp in ("reno", "dctcp"))
                  / median(results.values("Q14t", f"{arm}, {file}", load, "iteration_s"))
                  for load in results.xs("Q14t", f"{arm}, {file}") if load > 0}
        return min(ratios.values()) > 1, "faster TCP over dlcp " + ", ".join(
            f"{load:g}: {ratio:.2f}" for load, ratio in ratios.items())
    return check


TCP = ["reno", "dctcp"]
LIMITED = ["dlcp", "dlcp, rate floor 1/16", "dlcp, no rate control"]
CLAIMS = [
    Claim("Q1", "up to two senders: within 6 % of the drain", at_most(
        1.06, "Q1", TCP, "max_s", of=drains(0), xs=lambda n: n <= 2)),
    Claim("Q1", "from 8 senders on: slowest flow over RTO_min, every seed", at_least(
        RTO_MIN_S, "Q1", TCP, "max_s", 1e3, " ms", xs=lambda n: n >= 8)),
    Claim("Q1", "from 8 senders on: fastest flow within the drain", at_most(
        1, "Q1", TCP, "min_s", of=drains(0), xs=lambda n: n >= 8)),
    Claim("Q1", "dlcp: slowest flow under RTO_min / 2, every N and seed", at_most(
        RTO_MIN_S / 2, "Q3", ["dlcp"], "max_s", 1e3, " ms")),
    Claim("Q1", "reno at least 5 x dlcp at 32 senders, every seed", incast_gain),
    Claim("Q2", "slowest flow: whole timeouts and at most 3.5 ms", tracks),
    Claim("Q2", "fastest flow: the same with every RTO_min", same_fastest),
    Claim("Q3", "N = 2, 4 .. 64: at most 1.25 x the time of what must arrive, every seed", at_most(
        1.25, "Q3", ["dlcp"], "max_s", of=drains(0.1), xs=power_of_two)),
    Claim("Q3", "every N: at most 1.25 x the time of what must arrive, every seed", at_most(
        1.25, "Q3", ["dlcp"], "max_s", of=drains(0.1)), holds=False),
    Claim("Q3", "the same with a rate floor of 1/16, or no rate control: 1.15", at_most(
        1.15, "Q3", LIMITED[1:], "max_s", of=drains(0.1))),
    Claim("Q3", "no timeouts, no duplicates", all_zero("Q3", LIMITED, "timeouts", "duplicates")),
    Claim("Q4", "flows 16 x smaller: slowest still over RTO_min", smaller_flows),
    Claim("Q5", "every N: at most 1.15 x the time of all packets, every seed", at_most(
        1.15, "Q5", ["dlcp"], "max_s", of=drains(0)), holds=False),
    Claim("Q5", "the same with a rate floor of 1/16, or no rate control: 1.08", at_most(
        1.08, "Q5", LIMITED[1:], "max_s", of=drains(0))),
    Claim("Q5", "no timeouts, no duplicates", all_zero("Q5", LIMITED, "timeouts", "duplicates")),
    Claim("Q6", "no packet is lost: completion by the formula", bound_formula(True)),
    Claim("Q6", "loss below the bound: median within 1 % of the formula", bound_formula(False)),
    Claim("Q6", "rounds only where p is not well above q", rounds_until_bound),
    Claim("Q7", "front first: done at its own drain, at most a packet later", front_first),
    Claim("Q7", "raw: last completion as with one queue, to a packet", last_unchanged("raw")),
    Claim("Q7", "dlcp: last completion as with one queue, to a packet", last_unchanged("dlcp"),
          holds=False),
    Claim("Q8", "protected load <= line rate: no protected packet lost", at_most(
        0, "Q8", ["selective drop"], "protected_loss", xs=lambda n: n <= 8)),
    Claim("Q8", "tail drop: a fifth of the protected lost at the same loads", at_least(
        0.2, "Q8", ["tail drop"], "protected_loss", 100, " %", xs=lambda n: n <= 8)),
    Claim("Q8", "accepted at saturation by F12, without jitter", saturated),
    Claim("Q9", "ECMP collides as often as chance says (3 sigma)", collisions),
    Claim("Q9", "slowest flow by ECMP: the formula of Q9", slowest_of_uplink),
    Claim("Q9", "random spraying: uplinks within 12 %, queues under 200", even),
    Claim("Q9", "round robin: a queue of one packet", at_most(
        1, "Q9", ["spray_round_robin"], "max_queue", xs=lambda x: x == "four uplinks")),
    Claim("Q9", "permutation: spraying is faster, every transport and seed", spraying_pays),
    Claim("Q10", "reno: sends again what was not lost, time x 1.4 at least", spurious),
    Claim("Q10", "dlcp, p = 0.1: nothing sent again", all_zero(
        "Q10", ["dlcp", "dlcp, no rate control"], "retransmissions", "duplicates")),
    Claim("Q10", "dlcp, p = 0: duplicates under 3 %", few_duplicates),
    Claim("Q10", "dlcp: rate control costs at most 10 % under random spraying", rate_and_order,
          holds=False),
    Claim("Q11", "ring: dlcp's gain is about half of what it leaves out", ring_gain),
    Claim("Q11", "gain over reno: small in a ring, large with servers", server_gain),
    Claim("Q12", "dlcp, losses to 0.1 %: within 2 % of lossless, every seed", lossy(
        ["dlcp, 1000 packets", "dlcp, 4000 packets"], (1e-4, 1e-3), 1.02)),
    Claim("Q12", "dlcp, 1 % lost, 4000 packets: within 2 %, every seed", lossy(
        ["dlcp, 4000 packets"], (1e-2,), 1.02)),
    Claim("Q12", "dlcp, 1 % lost, 1000 packets: within 2 %, every seed", lossy(
        ["dlcp, 1000 packets"], (1e-2,), 1.02), holds=False),
    Claim("Q12", "the same without rate control", lossy(
        [f"dlcp, no rate control, {n} packets" for n in (1000, 4000)], (1e-2,), 1.02)),
    Claim("Q12", "reno, losses to 0.1 %: median within 1 %", lossy(
        ["reno, 1000 packets", "reno, 4000 packets"], (1e-4, 1e-3), 1.01, tail=True)),
    Claim("Q12", "reno, 1 % lost: some seeds wait for an RTO", tail_packet),
    Claim("Q12", "training in a ring, dlcp: within 2 % to 0.1 %, every seed", ring_with_losses),
    Claim("Q12", "the same at 1 %: dlcp within 5 %, reno x 3 at least", ring_with_many_losses),
    Claim("Q13", "100 Gb/s: gain over dctcp at N = 143 above that before overflow", gain_grows(
        "100 Gb/s", "dctcp", 64)),
    Claim("Q13", "100 Gb/s, N = 143: slowest cut by 90-95 %, mean by half", cuts),
    Claim("Q13", "1 MiB in all: gain over dctcp at N = 64 above all before", gain_grows(
        "1 MiB in all", "dctcp", 64)),
    Claim("Q13", "training with servers: gain over reno grows with workers", training_gain_grows),
    Claim("Q14", "load 0.8: TCP's slowest push grows 10 x as much as dlcp's", load_order),
    Claim("Q14", "dlcp: slowest push under RTO_min / 5 at every load and seed", at_most(
        RTO_MIN_S / 5, "Q14", ["dlcp"], "slowest_s", 1e3, " ms")),
    Claim("Q14", "dlcp: no message loses more than its bound", at_most(
        0.1, "Q14", ["dlcp"], "lost", 100, " %")),
    Claim("Q14", "training with servers: dlcp's iterations are shorter", flatter("dlcp", "parameter_server")),
    Claim("Q14", "training in a ring: dlcp's iterations are shorter", flatter("dlcp", "ring"), holds=False),
    Claim("Q14", "the same with all layers in one queue", flatter("dlcp, one queue", "ring"), holds=False),
]


def lines(results):
    rows = [(claim, *claim.check(results)) for claim in CLAIMS]
    wide = max(len(claim.says) for claim in CLAIMS)
    for claim, met, seen in rows:
        yield f"{claim.scenario:4} {claim.says:{wide}}  {'yes' if met else 'NO ':3}  {seen}"
