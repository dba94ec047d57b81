"""Tables of the ablation of DLCP, from its results.

Gain of an arm: against the fastest of arms 1 to 3, the one with the least median. `+x %` of the papers
is ratio - 1, "time saved" is 1 - 1 / ratio; both are shown, because published gains do not always say
which they are. A cell is the median over seeds with the interval of contention_tables.py.
"""
import dlcp_ablation as ablation
from contention_tables import cell, median

PAPER_RATIO = 1.843 # up to; from reading notes of the paper, of its testbed


def gain(base_s, new_s):
    return {"ratio": base_s / new_s, "saved": 1 - new_s / base_s}


def seconds(results, point, arm, metric="iteration_s"):
    return results.values(point[0], arm, point[1], metric)


def conditions(results, scenario):
    return list(dict.fromkeys(x for (q, _, x) in results.points if q == scenario))


def has(results, point, arm):
    return (point[0], arm, point[1]) in results.points


def best_tcp(results, point, late=False):
    """Name of the fastest of arms 1 to 3, or of those with the timeout of Linux; none: not run."""
    found = [arm for arm in (ablation.LATE if late else ablation.TCP) if has(results, point, arm)]
    return min(found, key=lambda arm: median(seconds(results, point, arm)), default=None)


def ratios(results, point, arm, base=None):
    """Per seed, over the fastest TCP or another arm."""
    base = base or best_tcp(results, point)
    return [gain(b, t)["ratio"] for b, t in zip(seconds(results, point, base),
                                                seconds(results, point, arm))]


def saved(ratio):
    return 100 * (1 - 1 / ratio)


def summary(late):
    """Best of arms 1 to 3 against arm 7, and against arm 7 in the same slices."""
    def make(results, scenario):
        yield ["", "best of 1-3", "[ms]", "arm 7 [ms]", "ratio", "saved [%]", "arm 9 [ms]", "ratio",
               "saved [%]"]
        for x in conditions(results, scenario):
            point = scenario, x
            base = best_tcp(results, point, late)
            if base is None:
                continue
            row = [x, base.split(",")[0] + "," + base.split(",")[1], cell(seconds(results, point, base), 1e3)]
            for arm in (ablation.FULL, ablation.SLICED):
                found = ratios(results, point, arm, base)
                row += [cell(seconds(results, point, arm), 1e3), cell(found, digits=3),
                        f"{saved(median(found)):.1f}"]
            yield row
    return make


def arms(scenario):
    """Median iteration times, a column per condition."""
    def make(results, _):
        shown = conditions(results, scenario)
        yield ["[ms]", *shown]
        for name in ablation.EVERY:
            row = [name]
            for x in shown:
                row.append(f"{1e3 * median(seconds(results, (scenario, x), name)):.4g}"
                           if has(results, (scenario, x), name) else
                           "as 7" if name[0] == "6" and has(results, (scenario, x), ablation.FULL) else "-")
            if any(text != "-" for text in row[1:]):
                yield row
    return make


def detail(scenario, x):
    def make(results, _):
        point = scenario, x
        yield [x, "iteration [ms]", "exposed [ms]", "p99 [ms]", "lost [%]", "timeouts", "sent again",
               "drops", "best of 1-3 / this"]
        for name in ablation.EVERY:
            if not has(results, point, name):
                continue
            value = lambda metric, scale=1, digits=4: cell(seconds(results, point, name, metric), scale, digits)
            yield [name, value("iteration_s", 1e3), value("exposed_s", 1e3), value("p99_s", 1e3),
                   value("loss", 100, 3), value("timeouts"), value("retransmissions"), value("drops"),
                   cell(ratios(results, point, name), digits=3)]
    return make


def flows(results, scenario):
    yield ["", *(text for x in conditions(results, scenario) for text in (f"{x} [ms]",))]
    for name in results.arms(scenario):
        yield [name, *(cell(seconds(results, (scenario, x), name), 1e3)
                       for x in conditions(results, scenario))]


def at_network(results, x, arm):
    """dlcp knows no timeout: where only that changes its runs are those of the first row."""
    return "networks", conditions(results, "networks")[0] if x.startswith("RTO") and arm in ablation.SHOWN[3:] else x


def networks(results, scenario):
    shown = ablation.SHOWN
    yield ["ResNet-50, 10G, S = 10", *(f"{name} [ms]" for name in shown), "best of 1-3 / 7", "/ 9"]
    for x in conditions(results, scenario):
        time = {name: seconds(results, at_network(results, x, name), name) for name in shown}
        tcp = min(median(time[name]) for name in shown if name in ablation.TCP)
        yield [x, *(cell(time[name], 1e3) for name in shown),
               *(f"{tcp / median(time[name]):.2f}" for name in (ablation.FULL, ablation.SLICED))]


def e5(results, scenario):
    names = results.arms(scenario)
    yield ["", *(f"{name} [ms]" for name in names), *(f"{name[0]}: over lossless" for name in names)]
    for x in conditions(results, scenario):
        lossless = f"{x.split(',')[0]}, 0 %"
        times = {name: seconds(results, (scenario, x), name) for name in names if has(results, (scenario, x), name)}
        row = [x, *(cell(times[name], 1e3) if name in times else "-" for name in names)]
        for name in names:
            if name not in times:
                row.append("-")
                continue
            base = seconds(results, (scenario, lossless), name)
            row.append(cell([t / b for t, b in zip(times[name], base)], digits=4))
        yield row


def e6(results, scenario):
    arms_shown = results.arms(scenario)
    yield ["p", *(text for arm in arms_shown
                  for text in (f"{arm}: iteration [ms]", "lost [%]", "sent again", "to accuracy [h]"))]
    for x in conditions(results, scenario):
        row = [x]
        for arm in arms_shown:
            metrics = results.points[scenario, arm, x]
            row += [cell(seconds(results, (scenario, x), arm), 1e3),
                    cell(seconds(results, (scenario, x), arm, "loss"), 100, 3),
                    cell(seconds(results, (scenario, x), arm, "retransmissions")),
                    cell(seconds(results, (scenario, x), arm, "accuracy_s"), 1 / 3600, 4)
                    if "accuracy_s" in metrics else "never"]
        yield row


TABLES = {"E1": summary(False), "E1-late": lambda results, _: summary(True)(results, "E1"),
          "E2": summary(False), "arms": arms("E1"), "ring": arms("E2"),
          "servers": detail("E1", "resnet50, 10G, S = 10"), "one": detail("E1", "resnet50, 10G, S = 1"),
          "vgg16": detail("E1", "vgg16, 10G, S = 10"), "in-ring": detail("E2", "resnet50, 10G, ring"),
          "flows": flows, "networks": networks, "E5": e5, "E6": e6}


def table(results, name):
    rows = [[str(text) for text in row] for row in TABLES[name](results, name)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join([row[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(row[1:], widths[1:]))])
