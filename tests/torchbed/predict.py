"""From measured collectives to costs, and from costs to predicted steps: the rule of docs/pytorch.md."""
import json
import math
import statistics
import subprocess

import conditions
import model

def lower_quartile(values):
    """Other work of the machine makes a measured time longer, never shorter."""
    return statistics.quantiles(values, n=4, method="inclusive")[0] if len(values) > 1 else values[0]


def times(at_once, ranks):
    """[[bytes, seconds of one]] by size, of `at_once` collectives that were asked for together: lower quartiles. A
    repetition lasts from when the last rank asks until the last one has its results."""
    by_size = {}
    for spans in zip(*ranks):
        seconds = max(span[2] for span in spans) - max(span[1] for span in spans)
        by_size.setdefault(spans[0][0], []).append(seconds / at_once)
    return [[size, lower_quartile(by_size[size])] for size in sorted(by_size)]


def cost_table(calibration, queued, threads=2, alone="alone", queue="queue"):
    """Points [bytes, seconds] that a scenario takes. Times of one all_reduce after another, or, where exchanges queue
    up, of six asked for together, for all sizes that have both. A time is at most that of the next larger size."""
    points = dict(map(tuple, calibration[alone]))
    if queued:
        points.update(map(tuple, calibration[queue if threads == 2 else "queue, one thread"]))
    table = [[size, points[size]] for size in sorted(points)]
    for k in reversed(range(len(table) - 1)):
        table[k][1] = min(table[k][1], table[k + 1][1])
    return table


def ring(table, ranks):
    """Latency and bandwidth of a ring all-reduce, 2 (P - 1) rounds of 1 / P of the bytes: least squares of
    relative errors from 4 KiB on."""
    used = [(size, seconds) for size, seconds in table if size >= 4096]
    weights = [1 / seconds ** 2 for _, seconds in used]
    total = sum(weights)
    x = sum(w * size for w, (size, _) in zip(weights, used)) / total
    y = sum(w * seconds for w, (_, seconds) in zip(weights, used)) / total
    slope = (sum(w * (size - x) * (seconds - y) for w, (size, seconds) in zip(weights, used)) /
             sum(w * (size - x) ** 2 for w, (size, _) in zip(weights, used)))
    rounds = 2 * (ranks - 1)
    return {"latency_s": max(0.0, y - slope * x) / rounds, "bandwidth_Bps": rounds / ranks / slope}


def network(job, ranks, calibration, queued, together):
    hook = job.get("hook")
    table = cost_table(calibration, queued and hook != "gtopk", job.get("threads", 2))
    if hook in ("powersgd", "gtopk"):
        return ring(table, ranks)
    found = {"cost": {"table": table}}
    if "zero" in job:
        found["broadcast_cost"] = {"table": cost_table(calibration, together, alone=conditions.BROADCAST_ALONE,
                                                       queue=conditions.BROADCASTS[job["zero"]])}
    return found


def shares_links(job):
    """Whether gloo's two threads have two buckets of DDP under way: the gTop-k hook exchanges one at a time."""
    return job.get("threads", 2) == 2 and "zero" not in job and job.get("hook") in (None, "log", "fp16")


def scenario(shape, condition, calibration, queued, together=True, at_once=True):
    """`queued`: exchanges of buckets wait for each other; `together`: so do broadcasts behind the update; `at_once`: two
    exchanges share the links where there are two threads, in proportion to their times alone."""
    job = conditions.job(shape, condition)
    ranks = shape["ranks"]
    communication = {"schedule": "ddp", "bucket_bytes": job["bucket_bytes"], "next_forward": "barrier",
                     "first_bucket_bytes": job["first_bucket_bytes"]}
    training, variability = {}, {}
    if job.get("find_unused_parameters"):
        communication["ddp_mode"] = "unused_parameters"
    if job.get("hook") == "fp16":
        communication["compression"] = "fp16"
    if job.get("hook") == "powersgd":
        communication["compression"] = {"method": "powersgd", "rank": job["rank"]}
    if job.get("hook") == "gtopk":
        communication["compression"] = {"method": "gtopk_tree", "density": job["density"]}
    if job.get("bucket_list"):
        communication = {"schedule": "caps", "caps_mib": [limit / conditions.MIB for limit in job["bucket_list"]],
                         "next_forward": "barrier"}
    if at_once and shares_links(job):
        communication.update(concurrency=2, channel_shares="by_size")
    if job.get("micro_batches"):
        training = {"micro_batches": job["micro_batches"]}
    if "zero" in job:
        training = {"sharding": {"strategy": "zero1", "gather_by": conditions.GATHER_BY[job["zero"]],
                                 "parameter_bytes": 4, "reduce_bytes": 4}}
        del communication["next_forward"]
    if job.get("hook") == "post_local_sgd":
        training, communication = {"algorithm": "local_sgd", "local_steps": job["period"]}, {}
    if job.get("diloco"):
        training, communication = {"algorithm": "diloco", "local_steps": job["period"]}, {}
    if job.get("straggler"):
        worker, factor = job["straggler"]
        variability["stragglers"] = [{"worker": worker, "factor": factor}]
    if job.get("jitter_cv"):
        variability["compute_cv"] = job["jitter_cv"]
        training["iterations"] = 800
    found = {"schema_version": 1, "kind": "scenario", "name": condition["name"],
             "workload": {"layers": model.scenario_layers(job["layers"])},
             "cluster": {"nodes": ranks, "network": network(job, ranks, calibration, queued, together)},
             "training": training, "communication": communication, "variability": variability}
    return {key: value for key, value in found.items() if value != {}}


def answers(stepsim, scenarios):
    done = subprocess.run([stepsim, "run", "--lines", "-", "--quiet"], input="\n".join(map(json.dumps, scenarios)),
                          capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for asked, answer in zip(scenarios, found, strict=True):
        if answer.get("kind") != "result":
            raise ValueError(f"{asked['name']}: {answer.get('error', answer)}")
    return found


def queues_up(answer):
    """Whether half of the exchanges or more wait for an earlier one."""
    buckets = answer.get("buckets", [])
    waiting = [bucket for bucket in buckets if bucket["start_s"] > bucket["ready_s"] + 1e-9]
    return 0 < len(buckets) <= 2 * len(waiting)


def parts(condition):
    """[(condition of a step or of a round, how many of them)]: what a measured span consists of. A step that exchanges
    every micro-batch is a step for each. An epoch with Join has the
    steps of the ranks that still have inputs, and a rank without inputs keeps nobody waiting; an epoch of post-local SGD has
    its global steps, then rounds."""
    settings = dict(condition["settings"])
    if settings.pop("exchange_each", False):  # a backward pass of DDP ends when its buckets have been reduced
        return [(dict(condition, settings=settings), settings.pop("micro_batches"))]
    inputs = settings.pop("inputs", None)
    if not inputs:
        return [(condition, 1)]
    if settings.get("hook") == "post_local_sgd":
        together = settings.pop("global_steps")
        plain = {key: value for key, value in settings.items() if key not in ("hook", "period")}
        found = [(plain, together), (settings, (max(inputs) - together) // settings["period"])]
    else:
        equal = {key: value for key, value in settings.items() if key != "straggler"}
        late = inputs[settings["straggler"][0]] if "straggler" in settings else 0
        found = [(settings, late), (equal, max(inputs) - late)]
    return [(dict(condition, settings=each), count) for each, count in found if count]


def final_broadcast(row, calibration):
    """One message, the parameters of a rank that ended last, which Join broadcasts."""
    layers = conditions.job(row["shape"], row["condition"])["layers"]
    size = 4 * sum(math.prod(tensor) for layer in layers for tensor in layer["tensors"])
    table = cost_table(calibration, False, alone=conditions.BROADCAST_ALONE)
    return {"schema_version": 1, "kind": "scenario", "name": row["condition"]["name"],
            "workload": {"layers": [{"name": "parameters", "gradient_bytes": size, "forward_s": 0, "backward_s": 0}]},
            "cluster": {"nodes": row["shape"]["ranks"], "network": {"cost": {"table": table}}}}


def predicted(stepsim, rows, calibrations):
    """One {"seconds", "alone_s", "buckets": [[bytes, ready_s, end_s]]} per row, of its span; `buckets` are those of its
    first step."""
    split = [(place, dict(row, condition=part), count) for place, row in enumerate(rows)
             for part, count in parts(row["condition"])]
    found = [None] * len(rows)
    for (place, _, count), step in zip(split, predicted_steps(stepsim, [row for _, row, _ in split], calibrations)):
        total = found[place] = found[place] or dict(step, seconds=0, alone_s=0)
        for key in ("seconds", "alone_s"):
            total[key] += count * step[key]
    joined = [place for place, row in enumerate(rows) if row["condition"]["kind"] == "Join"]
    ends = answers(stepsim, [final_broadcast(rows[place], calibrations[rows[place]["piece"]]) for place in joined])
    for place, end in zip(joined, ends):
        for key in ("seconds", "alone_s"):
            found[place][key] += end["summary"]["iteration_time_s"]
    return found


def predicted_steps(stepsim, rows, calibrations):
    """The same of rows without epochs; a row is {"piece", "shape",
    "condition"}. A first prediction, alone_s, has times of one all_reduce after another, sent one at a time, and says
    whether exchanges queue up."""
    def asked(row, queued, again=True):
        return scenario(row["shape"], row["condition"], calibrations[row["piece"]], queued, again, again)

    def seconds(row, answer):
        return answer["summary"]["iteration_time_s"] * row["condition"]["settings"].get("period", 1)

    first = answers(stepsim, [asked(row, False, again=False) for row in rows])
    queued = [row["condition"]["settings"].get("threads") == 1 or queues_up(answer) for row, answer in zip(rows, first)]
    found = answers(stepsim, [asked(row, many) for row, many in zip(rows, queued)])

    def exchanges(row, answer):
        """Seconds in which exchanges of buckets are under way, or of what comes behind the last of them: the broadcasts of an
        optimizer."""
        buckets = answer.get("buckets", [])
        if "zero" in row["condition"]["settings"]:
            return answer["summary"]["iteration_time_s"] - max(bucket["end_s"] for bucket in buckets)
        covered, until = 0, 0
        for bucket in sorted(buckets, key=lambda each: each["start_s"]):
            covered += max(0, bucket["end_s"] - max(until, bucket["start_s"]))
            until = max(until, bucket["end_s"])
        return covered

    return [{"seconds": seconds(row, answer), "alone_s": seconds(row, alone), "exchanges_s": exchanges(row, answer),
             "buckets": [[round(bucket["bytes"]), bucket["ready_s"], bucket["end_s"]]
                         for bucket in answer.get("buckets", []) if "bytes" in bucket]}
            for row, answer, alone in zip(rows, found, first)]
