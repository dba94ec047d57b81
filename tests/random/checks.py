"""What must hold of every answer of `stepsim run`, whatever the scenario.

Each check yields (name, what was seen). Equations come from the
interface (Results) and from the specs of the training algorithms; CLOSE is the slack of rounding.
"""
import json
import math

import schema

RESULT = schema.load("result")
CLOSE = 1e-9
# Numbers that every run has; the others are null where they do not exist.
ALWAYS = ["iteration_time_s", "forward_s", "backward_s", "update_s", "codec_compute_s", "compute_s",
          "communication_s", "exposed_communication_s", "speedup", "scaling_efficiency", "makespan_s",
          "straggler_wait_s", "wire_bytes"]


def refuse_constant(word):
    raise ValueError(f"{word} in JSON")


def parsed(text):
    """JSON without NaN, infinities, numbers beyond double and double keys."""
    def pairs(members):
        keys = [key for key, _ in members]
        if len(keys) != len(set(keys)):
            raise ValueError("double key")
        return dict(members)

    def number(word):
        value = float(word)
        if not math.isfinite(value):
            raise ValueError(f"{word} is beyond double")
        return value
    return json.loads(text, parse_constant=refuse_constant, parse_float=number, object_pairs_hook=pairs)


def at_most(a, b, scale=0.0):
    """a <= b up to rounding relative to the larger of both and `scale`."""
    return a <= b + CLOSE * max(abs(a), abs(b), scale)


def close(a, b, scale=0.0):
    return at_most(a, b, scale) and at_most(b, a, scale)


def numbers(value, pointer=""):
    """Every number of a document with its pointer."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from numbers(member, f"{pointer}/{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from numbers(member, f"{pointer}/{index}")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield pointer, value


def of_result(result):
    """Every broken promise of one result."""
    for pointer in schema.problems(RESULT, result):
        yield "schema", f"{pointer} breaks schemas/result.schema.json"
    summary = result["summary"]
    missing = [key for key in ALWAYS if not isinstance(summary.get(key), (int, float))]
    if missing:
        yield "null", f"no number: {', '.join(missing)}"
        return
    for pointer, value in numbers({k: v for k, v in result.items() if k not in ("scenario", "meta")}):
        if value < 0 and not pointer.endswith(("/gap_to_optimal", "/at_high", "/at_low")):
            yield "negative", f"{pointer} = {value!r}"
    yield from of_summary(summary, result)
    yield from of_job(summary, result)
    yield from of_buckets(summary, result)
    yield from of_iterations(summary, result)


def of_summary(s, result):
    period = s["iteration_time_s"]
    scenario = result["scenario"]
    cluster = scenario["cluster"]
    workers = sum(cluster.get("ranks_per_node") or [cluster["nodes"] * cluster.get("gpus_per_node", 1)])
    if s["lower_bound_s"] is not None and not at_most(s["lower_bound_s"], period):
        yield "lower bound", f"iteration_time_s {period!r} < lower_bound_s {s['lower_bound_s']!r}"
    compute = s["forward_s"] + s["backward_s"] + s["update_s"] + s["codec_compute_s"]
    if not close(compute, s["compute_s"]):
        yield "compute", f"forward + backward + update + codec = {compute!r}, compute_s {s['compute_s']!r}"
    training = scenario["training"]
    parts = s["compute_s"] + (s["compress_s"] or 0) + s["exposed_communication_s"] + (s["input_wait_s"] or 0)
    step = s["period_s"] / s["steps"]
    if not close(parts, step):
        yield "shares", f"compute + compress + exposed + reading = {parts!r}, period_s / steps {step!r}"
    if training["algorithm"] != "pipe_sgd" and not close(step, period):
        yield "period", f"period_s / steps {step!r}, iteration_time_s {period!r}"
    if not at_most(s["straggler_wait_s"], period):
        yield "straggler wait", f"{s['straggler_wait_s']!r} > iteration_time_s {period!r}"
    if not at_most(s["scaling_efficiency"], 1):
        yield "efficiency", f"scaling_efficiency {s['scaling_efficiency']!r} > 1"
    if not result["jobs"] and not close(s["speedup"], s["scaling_efficiency"] * workers):
        yield "speed-up", f"{s['speedup']!r} is not {workers} x efficiency {s['scaling_efficiency']!r}"
    overlap = s["overlap_fraction"]
    if overlap is not None and not (0 <= overlap <= 1):
        yield "overlap", f"overlap_fraction {overlap!r}"
    if s["communication_s"] > 0 and overlap is None:
        yield "overlap", "overlap_fraction null beside a communication time"
    low, high = s["iteration_time_low_s"], s["iteration_time_high_s"]
    if (low is None) != (high is None):
        yield "interval", f"only one end: {low!r}, {high!r}"
    if low is not None and not (at_most(low, period) and at_most(period, high)):
        yield "interval", f"{period!r} outside [{low!r}, {high!r}]"
    compressed = "compression" in scenario["communication"]
    served = ("parameter_server" in (training["algorithm"], scenario["communication"].get("collective"))
              or training["algorithm"] == "easgd")
    if workers == 1 and not served and not compressed:
        for key, value in (("communication_s", 0), ("exposed_communication_s", 0)):
            if s[key] != value:
                yield "one worker", f"{key} {s[key]!r}"
    merge = s.get("merge") or {}
    optimal = merge.get("optimal_iteration_time_s")
    if merge.get("gap_to_optimal") is not None and not at_most(optimal, period):
        yield "optimal merge", f"optimal {optimal!r} > iteration_time_s {period!r}"
    if s["makespan_drained_s"] is not None and not at_most(s["makespan_s"], s["makespan_drained_s"]):
        yield "makespan", f"{s['makespan_s']!r} > drained {s['makespan_drained_s']!r}"


def of_job(s, result):
    """Days and money are those of the steps, longer by what failures take."""
    job, cluster = result["scenario"].get("job", {}), result["scenario"]["cluster"]
    goodput = s["goodput"] if "node_mtbf_s" in job else 1
    if not isinstance(goodput, (int, float)) or not 0 <= goodput <= 1:
        yield "goodput", f"{goodput!r}"
        return
    if ("samples" in job or "tokens" in job) != (s["time_to_finish_s"] is not None) and s["samples_per_s"]:
        yield "to finish", f"{s['time_to_finish_s']!r} for {job}"
    if s["time_to_finish_s"] is None:
        return
    samples = job.get("samples") or job["tokens"] / job["tokens_per_sample"]
    step = s["samples_per_s"] * s["iteration_time_s"]
    if not samples <= s["steps_to_finish"] * step * (1 + CLOSE) < samples * (1 + CLOSE) ** 2 + step * (1 + CLOSE) ** 2:
        yield "steps", f"{s['steps_to_finish']!r} steps of {step!r} for {samples!r}"
    if not close(s["time_to_finish_s"] * goodput, s["steps_to_finish"] * s["iteration_time_s"]):
        yield "to finish", f"{s['time_to_finish_s']!r} with goodput {goodput!r}"
    gpus = sum(cluster.get("ranks_per_node") or [cluster["nodes"] * cluster.get("gpus_per_node", 1)])
    if ("price_per_gpu_hour" in job) != (s["cost_usd"] is not None) or s["cost_usd"] and not close(
            s["cost_usd"], s["time_to_finish_s"] / 3600 * gpus * job["price_per_gpu_hour"]):
        yield "cost", f"{s['cost_usd']!r}"


def of_buckets(s, result):
    """Messages start when their gradients are ready and end before the forward that needs them. Where every
    message is simulated workers drift apart: a bucket starts when the first sends, is ready when the last
    one is, and ends at the last, which may be in the first one's next iteration."""
    period = s["iteration_time_s"]
    pipelined = result["scenario"]["training"]["algorithm"] in ("pipe_sgd", "od_sgd")
    varied = result["workers"] or s["iteration_time_low_s"] is not None  # then buckets are of equal workers
    simulated = result["scenario"]["cluster"]["network"]["model"] in ("flow", "packet")
    if result["scenario"]["training"]["algorithm"] in ("local_sgd", "diloco", "easgd"):
        period, pipelined = s["period_s"], True  # of a round, whose last messages may end in the next
    forward_waits = max((layer["forward_start_s"] for layer in result["layers"]), default=0)
    last_end = period + (0 if result["scenario"]["communication"].get("next_forward") == "barrier"
                         else max(s["forward_s"], forward_waits))
    for index, b in enumerate(result["buckets"]):
        where = f"bucket {index}: "
        if b["index"] != index:
            yield "buckets", where + f"index {b['index']}"
        ordered = at_most(b["start_s"], b["end_s"]) and at_most(b["ready_s"], b["end_s"])
        if not ordered or not (simulated or at_most(b["ready_s"], b["start_s"])):
            yield "buckets", where + f"ready {b['ready_s']!r}, start {b['start_s']!r}, end {b['end_s']!r}"
        if not (pipelined or simulated or varied) and not at_most(b["end_s"], last_end):
            yield "buckets", where + f"ends at {b['end_s']!r}, after the iteration of {period!r}"
        if not (varied or simulated) and not at_most(b["exposed_s"], period):  # of the last iteration
            yield "buckets", where + f"exposed {b['exposed_s']!r} of {period!r}"
        first, last = b["layers"]
        if not 1 <= first <= last:
            yield "buckets", where + f"layers {b['layers']}"


def of_iterations(s, result):
    end = 0
    for i, it in enumerate(result["iterations"]):
        where = f"iteration {i}: "
        if it["index"] != i:
            yield "iterations", where + f"index {it['index']}"
        if not at_most(end, it["start_s"]):
            yield "iterations", where + f"starts at {it['start_s']!r}, before {end!r}"
        end = it["start_s"]
        if not at_most(it["start_s"], it["compute_end_s"]):
            yield "iterations", where + f"computes from {it['start_s']!r} to {it['compute_end_s']!r}"
        if it["exchange_end_s"] is not None and not at_most(it["exchange_start_s"], it["exchange_end_s"]):
            yield "iterations", where + f"exchanges {it['exchange_start_s']!r} to {it['exchange_end_s']!r}"
        if not at_most(it["exposed_communication_s"], it["iteration_time_s"]):
            yield "iterations", where + (f"exposed {it['exposed_communication_s']!r} of "
                                         f"{it['iteration_time_s']!r}")


def flat(summary):
    """A summary as a record of a sweep has it: nested keys joined by `_`, without lists."""
    out = {}
    for key, value in summary.items():
        if isinstance(value, dict):
            out.update({f"{key}_{k}": v for k, v in value.items()})
        elif not isinstance(value, list):
            out[key] = value
    return out


def differences(summary, record):
    """Keys of a flat summary that another record has with another value, or lacks: numbers but for sums
    in another order. The best merge is of one run."""
    found = []
    scale = abs(summary.get("iteration_time_s") or 0)
    for key, value in flat(summary).items():
        if key in ("merge_optimal_iteration_time_s", "merge_gap_to_optimal"):
            continue
        if key not in record:
            if value is not None:
                found.append(f"{key} is missing (run: {value!r})")
        elif record[key] != value or type(record[key]) is not type(value):
            numbers = all(type(number) in (int, float) for number in (value, record[key]))
            if not (numbers and abs(record[key] - value) <= 1e-11 * max(abs(value), scale)):
                found.append(f"{key} {record[key]!r} (run: {value!r})")
    return found
