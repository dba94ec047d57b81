#!/usr/bin/python3
"""A second evaluator of the library model, written from the text of CLU 4, 6 and 7 alone: the same
times for thousands of random systems, sizes and parameters.

usage: library_oracle.py LIBRARY_POINTS
Runs the program, evaluates each of its lines and compares to 1e-9, relative.
"""
import json
import math
import subprocess
import sys

TOLERANCE = 1e-9

# Microseconds; rates in bytes per microsecond, of which 1 GB/s is 1000.
BASE = {"tree": (6.8, 14.0, 8.4), "ring": (6.6, 14.0, 8.4), "pat": (8.0, 8.0, 8.0)}
INSIDE = {"nvlink": {"tree": (0.6, 1.25, 4.0), "ring": (0.6, 1.9, 3.4)},
          "pcie": {"tree": (1.0, 1.9, 4.0), "ring": (1.0, 2.5, 5.7)}}
NETWORK = {"tree": (5.0, 8.5, 14.0), "ring": (2.7, 4.0, 14.0)}
GENERATIONS = ["volta", "ampere", "hopper", "blackwell"]
LL_CAP = [(39, 39, 20.4), (87.7, 22.5, 19), (141, 45, 35), (282, 90, 70)]
RING_LL128 = [20, 20, 36.7, 40]
TREE_LL128 = [(20, 20, 20), (20, 20, 20), (36.7, 36.7, 29), (55.6, 31.67, 20)]
TREE = [(26.5, 18.5, 10), (24, 23.6, 17.8), (38.7, 41.4, 36), (70, 42.8, 24)]
NVLS_TREE = [(26.5, 18.5, 10), (24, 23.6, 17.8), (None, 57.7, 45.5), (None, 96, 80)]
NVLS = [None, None, 0.85, 0.74]
CORRECTION = [
    [1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1],
    [.9] * 7 + [.8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9]]
PROTOCOLS = ["ll", "ll128", "simple"]
ORDER = [("ring", 0), ("ring", 1), ("ring", 2), ("tree", 0), ("tree", 1), ("tree", 2), ("nvls", 2),
         ("nvls_tree", 2), ("pat", 2)]


def rounded(z):
    return math.floor(z + 0.5)


class Case:
    def __init__(self, preset, op, nodes, gpus, size):
        D = preset["domain"]
        self.p = preset
        self.op, self.n = op, size
        if D > 1:
            D = min(D, nodes)
            assert nodes % D == 0
        self.R = min(preset["cards"], gpus) * D
        self.N, self.G = nodes // D, gpus * D
        self.P = self.N * self.G
        self.g = GENERATIONS.index(preset["generation"])
        self.i = 0 if self.N == 1 else 1 if self.N == 2 else 2
        self.lg = self.N.bit_length() - 1
        self.r = preset["ring"] / 1e6
        self.x = self.R * preset["card"] / 1e6
        self.hops = INSIDE[preset["link"]]

    def ll_cap(self):
        g = self.g if self.N == 1 else 1 if self.p["host"] == "amd" else 0
        return LL_CAP[g][self.i] * 1e3

    def steps(self):
        P = self.P
        return {"allreduce": 2 * (P - 1), "broadcast": P, "reduce": P}.get(self.op, P - 1)

    def ring_q(self):
        return self.R if self.N > 1 else max(1, rounded(self.r / 20e3))

    def correction(self, k):
        i = int(self.n).bit_length() - 7
        last = 22 if k == 2 else 23
        return CORRECTION[k][i] if 0 <= i <= last else 1.0


def pairs(preset, c):
    """What an unrestricted library of a version with PAT may run."""
    if c.op == "alltoall":
        yield "p2p", 2
        return
    for a, k in ORDER:
        if a == "tree" and c.op != "allreduce":
            continue
        if a in ("nvls", "nvls_tree"):
            if not preset["nvls"] or c.G < 3 or (c.N == 1) != (a == "nvls") or NVLS[c.g] is None:
                continue
            if c.op not in (("allreduce", "allgather", "reduce_scatter") if a == "nvls" else ("allreduce",)):
                continue
        if a == "pat" and (c.op not in ("allgather", "reduce_scatter") or c.G != 1 or c.N == 1):
            continue
        yield a, k


def ring_inter(c):
    return 0 if c.N == 1 else (2 if c.op == "allreduce" else 1) * (c.N - 1)


def post(c, k):
    return (2.0 if c.p["host"] == "amd" else 1.0) * (3 if k == 2 else 1)


def amplified(c, k, L):
    if c.op == "allreduce" and k == 2 and c.N > 1 and c.n / (c.ring_q() * c.P) >= 64:
        return L * (1.9 if c.g == 0 else 1.4)
    return L


def published(c, a, k):
    """(L, X) of section 6."""
    n, N, G, P = c.n, c.N, c.G, c.P
    if a == "ring":
        bus = c.r if N == 1 else min(c.x, c.r)
        if k == 0:
            bus = min(c.ll_cap(), bus / 2)
        elif k == 1:
            bus = min(0.92 * bus, c.ring_q() * RING_LL128[c.g] * 1e3)
        X = n * c.steps() / (P * bus)
        if c.op in ("broadcast", "reduce"):
            hops = c.hops["ring"][k] if N == 1 else P * NETWORK["tree" if k == 2 else "ring"][k]
            return BASE["ring"][k] + hops, X
        hin = c.hops["ring"][k]
        if N > 1:
            hin = max(hin, post(c, k))
        hx = NETWORK["tree" if G == 1 else "ring"][k]
        e = ring_inter(c)
        return amplified(c, k, BASE["ring"][k] + (c.steps() - e) * hin + e * hx), X
    if a == "tree":
        bus = tree_bus(c, k, c.x, c.r)
        L = BASE["tree"][k] + 2 * ((G - 1) * c.hops["tree"][k] + c.lg * NETWORK["tree"][k])
        return L, n / (bus * 0.5 * c.correction(k))
    if a == "nvls":
        r = c.r * NVLS[c.g]
        return 25.0, n * (1 + 1 / G) / r if c.op == "allreduce" else n * (G - 1) / G / r
    if a == "nvls_tree":
        r = c.r * NVLS[c.g]
        alg = 0.92 * min(r / (1 + 1 / G), c.x * (1 if N == 2 else 0.5))
        alg = min(alg, 16 * NVLS_TREE[c.g][c.i] * 1e3 * P / (2 * (P - 1)))
        return 25.0 + 2 * c.lg * 20.9, n / alg
    return 8 + c.lg * 14 / 3.5 + 2.8 * P, n / (0.75 * c.x)


def tree_bus(c, k, x, r):
    N = c.N
    bus = r if N == 1 else min(2 * x, r) if N == 2 else min(x, r)
    q = max(1, rounded(r / 20e3)) if N == 1 else max(1, rounded(bus / (20e3 if c.g < 2 else 24e3)))
    q = max(q, 2)
    bus = min(0.92 * bus, q * TREE[c.g][c.i] * 1e3)
    if k == 0:
        bus = min(bus / 3.8, c.ll_cap())
    elif k == 1:
        bus = min(bus * (7 / 9 if N == 1 else 0.9375), q * TREE_LL128[c.g][c.i] * 1e3)
    return bus


def latency_transfer(c, a, k, m):
    """(L, X) of section 7."""
    n, N, G, P = c.n, c.N, c.G, c.P
    r, x = c.r * m["bw_nvl"], c.x * m["bw_nic"]
    inside, net = m["in_" + PROTOCOLS[k]], m["net_" + PROTOCOLS[k]]
    eff = (m["eff_ll"], m["eff_ll128"], 1.0)[k]
    rail = 1 + max(0.0, m["rail"]) * ((c.R - 1) / 7) ** 2
    if a == "p2p":
        rem, loc = n * (P - G) / P, n * (G - 1) / P
        rx = x / G * m["p2p_x"] * (0.8 if N == 2 and G == 1 else 1)
        L = 8.4 * m["base"] + m["p2p_lat"] * (1.0 * (G - 1) + 4.0 * (P - G))
        return L, max(rem / rx if N > 1 else 0.0, loc / (r * m["p2p_n"]))
    if a == "ring":
        bus = r if N == 1 else min(x, r * m["bw_mix"])
        if k == 0:
            bus = min(c.ll_cap(), bus / 2)
        elif k == 1:
            bus = min(0.92 * bus, c.ring_q() * RING_LL128[c.g] * 1e3)
        X = n * c.steps() / (P * bus * eff)
        base = BASE["ring"][k] * m["base"]
        hop = c.hops["ring"][k] * inside
        hx = NETWORK["tree" if G == 1 else "ring"][k] * net
        if c.op in ("broadcast", "reduce"):
            return base + (hop if N == 1 else (N - 1) * hx + (P - N) * hop), X
        hin = hop if N == 1 else max(hop, post(c, k) * inside)
        e = ring_inter(c)
        return amplified(c, k, base + (c.steps() - e) * hin + e * hx * rail), X
    if a == "tree":
        bus = tree_bus(c, k, x, r) * eff * m["tree"]
        L = BASE["tree"][k] * m["base"] + 2 * ((G - 1) * c.hops["tree"][k] * inside
                                               + c.lg * NETWORK["tree"][k] * net * m["tree_lat"] * rail)
        return L, n / (bus * 0.5 * c.correction(k))
    if a == "nvls":
        rr = r * NVLS[c.g] * m["nvls"]
        return 25.0 * m["nvls_lat"], n * (1 + 1 / G) / rr if c.op == "allreduce" else n * (G - 1) / G / rr
    if a == "nvls_tree":
        rr = r * NVLS[c.g] * m["nvls"]
        alg = m["nvlst"] * min(rr / (1 + 1 / G), x * (1 if N == 2 else 0.5))
        return 25.0 * m["nvls_lat"] + 2 * c.lg * 20.9 * net * m["nvlst_lat"] * rail, n / alg
    return 8 * m["base"] + c.lg * 14 * net / 3.5 + 2.8 * P, n / (0.75 * x)


def log2_ceil(v):
    return (v - 1).bit_length()


def bound(c, a, k, m):
    """Section 4 with the model's own rates and the hops of the pair."""
    n, N, G, P = c.n, c.N, c.G, c.P
    bx = c.x * m["bw_nic"] if N > 1 else 0.0
    bi = c.r * m["bw_nvl"] if G > 1 else 0.0
    if a in ("nvls", "nvls_tree"):
        bi *= NVLS[c.g] * m["nvls"]
    cards = gpu = 0.0
    if a == "p2p":
        bx *= m["p2p_x"]
        bi *= m["p2p_n"]
        if N > 1:
            cards = G * n * (P - G) / P / bx
        if G > 1:
            gpu = (G - 1) / P * n / bi
    elif P > 1:
        both = bi + bx / G
        if c.op == "allreduce":
            w = a in ("nvls", "nvls_tree")
            cards = 0 if N == 1 else n / bx if w else 2 * (N - 1) / N * n / bx
            gpu = n / both if w else 2 * (P - 1) / P * n / both
        elif c.op in ("broadcast", "reduce"):
            cards = 0 if N == 1 else n / bx
            gpu = n / both
        else:
            cards = 0 if N == 1 else (N - 1) / N * n / bx
            gpu = (P - 1) / P * n / both
    return max(cards, gpu, least_latency(c, a, k, m))


def least_latency(c, a, k, m):
    net, inside = m["net_" + PROTOCOLS[k]], m["in_" + PROTOCOLS[k]]
    if a == "p2p":
        return m["p2p_lat"] * (4.0 if c.N > 1 else 1.0 if c.G > 1 else 0.0)
    if a == "nvls":
        return 25.0 * m["nvls_lat"]
    if c.N == 1:
        return log2_ceil(c.G) * c.hops[a][k] * inside
    hop = {"ring": NETWORK["tree" if c.G == 1 else "ring"][k], "tree": NETWORK["tree"][k] * m["tree_lat"],
           "nvls_tree": 20.9 * m["nvlst_lat"], "pat": 14 / 3.5}[a]
    return log2_ceil(c.N) * hop * net


def seconds_of(c, a, k, m):
    L, X = latency_transfer(c, a, k, m)
    T = L + X + max(0.0, m["kappa"]) * math.sqrt(L * X)
    return max(5.0 * m["floor"], T, bound(c, a, k, m))


def close(found, expected):
    return math.isclose(found * 1e6, expected, rel_tol=TOLERANCE)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    output = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    lines = times = 0
    for line in output.splitlines():
        point = json.loads(line)
        case = Case(point, point["op"], point["nodes"], point["gpus_per_node"], point["bytes"])
        m = point["multipliers"]
        found = [(a, PROTOCOLS.index(k)) for a, k, *_ in point["pairs"]]
        if found != list(pairs(point, case)):
            sys.exit(f"other pairs: {line}")
        for a, protocol, published_s, seconds, bound_s in point["pairs"]:
            k = PROTOCOLS.index(protocol)
            if not close(seconds, seconds_of(case, a, k, m)) or not close(bound_s, bound(case, a, k, m)):
                sys.exit(f"{a} {protocol}: cost {seconds_of(case, a, k, m)} us: {line}")
            if a != "p2p" and not close(published_s, sum(published(case, a, k))):
                sys.exit(f"{a} {protocol}: estimate {sum(published(case, a, k))} us: {line}")
            times += 1
        lines += 1
    if lines < 1000:
        sys.exit(f"{lines} points only")
    print(f"{times} times of {lines} points agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
