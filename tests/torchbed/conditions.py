"""What is measured: pieces, each a bed with some conditions, which is measured within five minutes.

All calibrations and conditions of a piece are measured in ROUNDS, so that half a minute in which the machine has other
work changes no figure by much. Numbers of steps are those of a round.

A piece has the shape of its bed (ranks, rate_mbps, slow, uplink_mbps), and what models are scaled to in it
(compute_s, gradient_bytes). A condition has name, kind, model, cap_mib and `settings`, those of rank.py that differ
from PyTorch's defaults. Caps shrink by the same factor as the model.
"""
import itertools
import json
import pathlib

import model

MIB = 1 << 20
RESNET, BERT, GPT2, GOOGLENET = "trace:resnet50.ddp.2xa100", "bert_base", "trace:gpt2.h100", "trace:googlenet.k80"
STEPS, WARMUP, ROUNDS = 3, 1, 2
ONE_BUCKET = 100000  # MiB


def short(name):
    return name.rpartition(":")[2].split(".")[0]


def one(name, cap, kind="plain", label="", **settings):
    caps = "one bucket" if cap == ONE_BUCKET else f"cap={cap}"
    return {"name": " ".join(filter(None, (short(name), caps, label))), "kind": kind, "model": name,
            "cap_mib": cap, "settings": settings}


def grid(models, caps, kind="plain", label="", **settings):
    return [one(name, cap, kind, label, **settings) for name in models for cap in caps]


def piece(ranks, rate_mbps, conditions, compute_s=0.3, gradient_bytes=1.8e6, slow=None, uplink_mbps=None):
    return {"ranks": ranks, "rate_mbps": rate_mbps, "slow": slow, "uplink_mbps": uplink_mbps,
            "compute_s": compute_s, "gradient_bytes": int(gradient_bytes), "conditions": conditions}


def options():
    return [one(name, cap, "option", option, **{option: True})
            for name, cap in ((RESNET, 25), (RESNET, 5), (BERT, 5))
            for option in ("static_graph", "find_unused_parameters", "gradient_as_bucket_view")]


def accumulated(name):
    return [one(name, 25, "accumulation", "no_sync 2", micro_batches=2),
            one(name, 25, "accumulation", "no_sync 4", micro_batches=4, steps=2),
            one(name, 25, "accumulation", "each 2", micro_batches=2, exchange_each=True),
            one(name, 5, "accumulation", "each 2", micro_batches=2, exchange_each=True)]


def late(name):
    return [*[one(name, 25, "straggler", f"rank 1 x {factor}", straggler=[1, factor]) for factor in (1.2, 1.5, 2)],
            *[one(name, 25, "jitter", f"cv {cv}", jitter_cv=cv, steps=18) for cv in (0.1, 0.2)]]


def averaged(name, periods):
    return [one(name, 25, "local SGD", f"period {period}", hook="post_local_sgd", period=period,
                steps=2) for period in periods]


def sharded(names, cap=25):
    """ZeroRedundancyOptimizer, which broadcasts single tensors or one view per rank."""
    return [one(name, cap, "ZeRO", f"ZeRO {form}", zero=form) for name in names for form in ("tensors", "view")]


def powersgd(name, ranks):
    """One bucket: with two, PowerSGD's callbacks and gloo's two threads wait for each other for ever. Its first two steps
    are others."""
    return [one(name, ONE_BUCKET, "PowerSGD", f"rank {rank}", hook="powersgd", rank=rank, warmup=2) for rank in ranks]


def epoch(name, cap, kind, label, inputs, **settings):
    """`inputs`: how many steps each rank has in one epoch, which is what is measured."""
    return one(name, cap, kind, label, inputs=inputs, steps=1, **settings)


def post_local(name, ranks, together, period, rounds):
    return epoch(name, 25, "post-local SGD", f"{together} global, {rounds} rounds of {period}",
                 [together + period * rounds] * ranks, hook="post_local_sgd", global_steps=together, period=period)


def ours(name, pairs, periods):
    """The scripts of examples/pytorch: the hook with (cap, density), DiLoCo with periods."""
    return [*[one(name, cap, "gTop-k", f"gTop-k {density}", hook="gtopk", density=density) for cap, density in pairs],
            *[one(name, 25, "DiLoCo", f"DiLoCo {period}", diloco=True, period=period, steps=2) for period in periods]]


# What `stepsim tune --emit ddp` proposes for the calibration of a piece: {piece: {model: its answer}}.
ADVICE = pathlib.Path(__file__).resolve().parent / "advice.json"
GAIN_MODELS = (RESNET, "alexnet", BERT, GPT2, GOOGLENET)


def advised(source):
    """DDP's default, the advised cap, and the advised list of caps, per model. Changes are small, so that twice as many
    steps are measured. No answers: none are advised yet."""
    answers = json.loads(ADVICE.read_text("utf-8")).get(source, {}) if ADVICE.exists() else {}
    found = []
    for name, answer in answers.items():
        cap = max(1, int(answer["bucket_cap_mb"] * MIB))
        limits = [max(1, round(limit * MIB)) for limit in answer["bucket_cap_mb_list"]]
        found += [one(name, 25, "gain", "default", steps=2 * STEPS),
                  one(name, "tuned", "gain", bucket_cap_mb=cap / MIB, bucket_bytes=cap, steps=2 * STEPS),
                  one(name, "list", "gain", bucket_list=limits, steps=2 * STEPS)]
    return found


PIECES = {
    "2x100 a": piece(2, 100, grid((RESNET, "alexnet", BERT), (1, 5, 25, 1000)), 0.4, 3.2e6),
    "4x50 a": piece(4, 50, grid((RESNET, "alexnet", BERT), (1, 5, 25, 1000))),
    "8x25 a": piece(8, 25, grid((RESNET, "alexnet", BERT), (1, 5, 25, 1000)), 0.4, 1.2e6),
    "4x50 slow": piece(4, 50, grid((RESNET, BERT, "alexnet", "vgg16"), (5, 25), "slow link"), slow=[2, 25],
                       compute_s=0.4, gradient_bytes=1.6e6),
    "4x50 uplink": piece(4, 50, grid((RESNET, BERT, "alexnet", GPT2), (5, 25), "slow uplink"), uplink_mbps=25,
                         gradient_bytes=1.2e6),
    "4x50 options": piece(4, 50, options() + averaged(RESNET, (2, 4)) + powersgd(RESNET, (1, 4))),
    "4x50 hooks": piece(4, 50, grid((RESNET, BERT, "alexnet"), (5, 25), "fp16 hook", "fp16", hook="fp16") +
                        grid((RESNET, BERT, "alexnet"), (25,)) + accumulated(RESNET)),
    "4x50 single": piece(4, 50, grid((RESNET, BERT), (1, 5, 25), "one at a time", "threads=1", threads=1) +
                         grid((RESNET,), (1, 5, 25), "logged", "log", hook="log") +
                         grid((RESNET,), (1, 5, 25), "logged", "log threads=1", hook="log", threads=1)),
    "2x200 b": piece(2, 200, grid((GPT2, "vgg16", GOOGLENET), (1, 5, 25, 1000)), gradient_bytes=4.8e6),
    "4x100 b": piece(4, 100, grid((RESNET, "vit_b_16", BERT), (2, 10, 25, 100)), gradient_bytes=3e6),
    "8x25 b": piece(8, 25, grid((RESNET, GPT2, GOOGLENET), (5, 25, 100)), 0.6, 1.5e6),
    "4x50 b": piece(4, 50, grid((GPT2, "vit_b_16", "densenet161"), (5, 25, 1000))),
    "2x100 slow": piece(2, 100, grid((RESNET, GPT2, "vgg16"), (5, 25), "slow link"), slow=[1, 50]),
    "8x25 slow": piece(8, 25, grid((RESNET, BERT, "alexnet"), (5, 25), "slow link"), 0.6, 1.2e6, slow=[5, 12]),
    "8x25 uplink": piece(8, 25, grid((RESNET, BERT, "vgg16"), (5, 25), "slow uplink"), 0.6, 1.2e6, uplink_mbps=25),
    "2x100 hooks": piece(2, 100, grid((BERT, GPT2), (5, 25), "fp16 hook", "fp16", hook="fp16") +
                         powersgd(BERT, (1, 4)) + accumulated(BERT) + averaged(BERT, (4, 8)), gradient_bytes=2.4e6),
    # Exchanges take next to no time here: what is left of PowerSGD is its arithmetic.
    "2x1000 hooks": piece(2, 1000, grid((RESNET,), (25,)) + powersgd(RESNET, (1, 4))),
    "4x50 late": piece(4, 50, late(RESNET)),
    "8x25 late": piece(8, 25, late(BERT)[:4] + averaged(RESNET, (4,)), gradient_bytes=1.2e6),
    "2x100 single": piece(2, 100, grid((GPT2, BERT), (1, 5), "one at a time", "threads=1", threads=1) +
                          grid((BERT,), (1, 5), "logged", "log", hook="log"), gradient_bytes=2.4e6),
}


ADVISED = {"2x100 a": "2x100 gain", "4x50 a": "4x50 gain"}


def add_advised():
    for source, name in ADVISED.items():
        PIECES[name] = dict(PIECES[source], conditions=advised(source))


add_advised()
RULE_WRITTEN_BEFORE = "2x200 b"  # docs/pytorch.md had the rule when this piece was measured


def again(source, names, minutes=45):
    """The same conditions in another bed, later: how far two measurements are from each other."""
    found = dict(PIECES[source], again=source, wait_s=60 * minutes)
    return dict(found, conditions=[each for each in found["conditions"] if each["name"] in names])


AGAIN = {
    "2x100 a again": again("2x100 a", ("resnet50 cap=1", "resnet50 cap=25", "alexnet cap=25", "bert_base cap=5")),
    "4x50 a again": again("4x50 a", ("resnet50 cap=1", "resnet50 cap=25", "alexnet cap=5", "bert_base cap=25")),
    "8x25 a again": again("8x25 a", ("resnet50 cap=1", "resnet50 cap=25", "alexnet cap=5", "bert_base cap=25")),
    "4x100 b again": again("4x100 b", ("resnet50 cap=2", "vit_b_16 cap=2", "bert_base cap=2"), 30),
}
# Optimizers that broadcast; in tables of their own.
SHARDED = {
    "2x100 zero": piece(2, 100, sharded((RESNET, "alexnet", BERT)), 0.4, 3.2e6),
    "4x50 zero": piece(4, 50, sharded((RESNET, "alexnet", BERT))),
    "4x100 zero": piece(4, 100, sharded(("vgg16", GPT2)), gradient_bytes=3e6),
}
# Measured after their rules, in a table of their own: Join, post-local SGD by epochs, and scripts of ours.
VIEWS = {"static_graph": True, "gradient_as_bucket_view": True}
FRAMEWORK = {
    "4x50 join": piece(4, 50, [
        epoch(RESNET, 25, "Join", "6 6 6 6", [6, 6, 6, 6]), epoch(RESNET, 25, "Join", "6 3 6 6", [6, 3, 6, 6]),
        epoch(RESNET, 25, "Join", "1 2 4 6", [1, 2, 4, 6]),
        epoch(RESNET, 25, "Join", "6 3 6 6, rank 1 x 2", [6, 3, 6, 6], straggler=[1, 2]),
        epoch(BERT, 5, "Join", "6 3 6 6", [6, 3, 6, 6]), post_local(RESNET, 4, 3, 2, 2)]),
    "2x100 join": piece(2, 100, [
        epoch(RESNET, 25, "Join", "6 3", [6, 3]),
        epoch(RESNET, 25, "Join", "3 6, rank 0 x 2", [3, 6], straggler=[0, 2]),
        epoch(GPT2, 5, "Join", "6 3, views", [6, 3], **VIEWS), post_local(BERT, 2, 2, 4, 1),
        *[one(name, cap, "option", "views", **VIEWS) for name in (GPT2, "alexnet") for cap in (5, 25)]],
        gradient_bytes=2.4e6),
    "4x50 scripts": piece(4, 50, ours(RESNET, ((25, 0.01), (5, 0.05), (ONE_BUCKET, 0.05)), (2, 4)) +
                          ours(BERT, ((25, 0.05),), ())),
    "2x100 scripts": piece(2, 100, ours(RESNET, ((25, 0.05),), ()) + ours(BERT, ((25, 0.01), (5, 0.05)), (4,)),
                           gradient_bytes=2.4e6),
    # Exchanges take next to no time here: what is left of gTop-k and of PowerSGD is their arithmetic.
    "4x1000 scripts": piece(4, 1000, ours(RESNET, ((ONE_BUCKET, 0.05),), ())),
    "4x1000 hooks": piece(4, 1000, powersgd(RESNET, (1, 4))),
}
QUICK = {"quick": piece(2, 100, grid((RESNET, "alexnet", BERT), (5, 25)), gradient_bytes=2.4e6),
         "quick, 4 ranks": piece(4, 50, grid((RESNET, BERT), (5, 25)))}
LIVE = {"live": piece(2, 100, [one(RESNET, 25, "gain", steps=2),
                               one(RESNET, "list", "gain", bucket_list=[100000, 200000, 500000], steps=2),
                               epoch(RESNET, 25, "Join", "3 1", [3, 1])], compute_s=0.2, gradient_bytes=8e5)}


def exchanges_alone(condition):
    """Whether the exchanges of a step are measured once more after it, all asked for together with no layers beside them:
    where there are 35 buckets and more, or an optimizer that broadcasts."""
    many = condition["model"] in (BERT, GPT2) and condition["cap_mib"] in (1, 2, 5) and condition["kind"] != "fp16 hook"
    return condition["kind"] == "ZeRO" or many and condition["kind"] not in ("Join", "option", "gTop-k")


def in_turn(shape):
    """Conditions of a piece whose steps take turns: a model with DDP's default and with what is advised; others alone."""
    keys = [condition["model"] if condition["kind"] == "gain" else condition["name"] for condition in shape["conditions"]]
    return [[condition for _, condition in group]
            for _, group in itertools.groupby(zip(keys, shape["conditions"]), key=lambda pair: pair[0])]


def job(shape, condition):
    """What rank.py takes for a condition."""
    layers, factor = model.scaled(condition["model"], shape["compute_s"], shape["gradient_bytes"])
    cap_mib = condition["cap_mib"] if isinstance(condition["cap_mib"], (int, float)) else 25
    cap = max(1, int(cap_mib * factor * MIB))
    return {"layers": layers, "bucket_cap_mb": cap / MIB, "bucket_bytes": cap, "steps": STEPS, "warmup": WARMUP,
            "first_bucket_bytes": cap if cap_mib == ONE_BUCKET else max(1, int(min(1, cap_mib) * factor * MIB)),
            **({"exchanges_alone": True} if exchanges_alone(condition) else {}), **condition["settings"]}


# Calibrations of broadcasts: neighbours in the queue have one root, or the ranks in turn as roots.
BROADCASTS = {"tensors": "broadcast, queue of one root", "view": "broadcast, queue of all roots"}
BROADCAST_ALONE = "broadcast alone"
GTOPK_UNSENT = "gTop-k, nothing sent"
GATHER_BY = {"tensors": "broadcast_tensors", "view": "broadcast_view"}
SMALL = [4, 1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144]
LARGE = [524288, 1048576, 2097152, 4194304]


def calibrations(shape):
    """The measurements of all_reduce alone: one after another, and several asked for together, of which gloo has two
    under way at a time; with one thread of gloo, too, where a condition has one."""
    most = int(shape["gradient_bytes"] * 1.02) // 4 * 4
    large = [size for size in LARGE if size < 0.75 * most] + [most]
    queue = [{"at_once": 6, "sizes": [(size, 2) for size in SMALL]},
             {"at_once": 2, "sizes": [(size, 2) for size in large]}]
    found = {"alone": [{"at_once": 1, "sizes": [(size, 3) for size in SMALL] + [(size, 2) for size in large]}],
             "queue": queue}
    for condition in shape["conditions"]:
        if condition["kind"] == "gTop-k" and condition["cap_mib"] == ONE_BUCKET:
            found[GTOPK_UNSENT] = [{"at_once": 1, "op": "gtopk", "density": condition["settings"]["density"],
                                    "sizes": [(most, 3)]}]
    if any(condition["settings"].get("threads") == 1 for condition in shape["conditions"]):
        found["queue, one thread"] = [dict(part, threads=1) for part in queue]
    if any(condition["kind"] == "Join" for condition in shape["conditions"]):
        found[BROADCAST_ALONE] = [dict(part, op="broadcast", in_turn=False) for part in found["alone"]]
    if any("zero" in condition["settings"] for condition in shape["conditions"]):
        for key, in_turn in ((BROADCASTS["tensors"], False), (BROADCASTS["view"], True)):
            found[key] = [dict(part, op="broadcast", in_turn=in_turn) for part in queue]
        found[BROADCAST_ALONE] = [dict(part, op="broadcast", in_turn=False) for part in found["alone"]]
    return found
