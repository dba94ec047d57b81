#!/usr/bin/python3
"""The tables of the section "Memory" of docs/accuracy.md: public figures of GPU memory beside what `stepsim run` says.

usage: docs/memory_table.py BINARY [--check]

Reads docs/memory_figures.csv and rewrites what stands between the markers of the section; --check changes nothing and
exits 1 where the section is out of date. The tables below say what the words of the csv are in a scenario. They
follow from what the frameworks do; none of them was chosen by a figure.
"""
import collections
import csv
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import page_section

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/accuracy.md"
SAME_MODEL = 0.1  # how far the parameters of a table may be from those of the row, as a ratio: heads have other classes

MODELS = {"BERT-base": "bert_base", "BERT-large": "bert_large", "BERT-large MLM": "bert_large_pretrain",
          "DiT-XL/2": "dit_xl_2", "GPT-2 124M": "gpt2", "GPT-2 345M": "gpt2_medium", "GPT-2 1.5B": "gpt2_xl",
          "GPT-2 XL": "gpt2_xl", "Llama 2 7B": "llama2_7b", "Llama 2 70B": "llama2_70b", "Llama 3 8B": "llama3_8b",
          "Llama 3.1 8B": "llama3_8b", "Llama 3.2 3B": "llama3_2_3b", "Mistral 7B": "mistral_7b",
          "Qwen 2.5 7B": "qwen2_5_7b", "Qwen 3 8B": "qwen3_8b", "ResNet-50": "resnet50", "ResNet-101": "resnet101",
          "ViT-H/14": "vit_h_14", "ViT-L/16": "vit_l_16"}
# Decoders that are not shipped, as `stepsim import hf-config` reads them. Their shapes are those of the authors.
DECODER = {"tie_word_embeddings": False, "hidden_act": "silu", "torch_dtype": "bfloat16"}
QWEN = {**DECODER, "model_type": "qwen2", "vocab_size": 151936, "max_position_embeddings": 8192}
LLAMA = {**DECODER, "model_type": "llama", "max_position_embeddings": 2048}
CONFIGS = {
    "InternLM 7B": {**LLAMA, "attention_bias": True, "hidden_size": 4096, "num_hidden_layers": 32,
                    "num_attention_heads": 32, "num_key_value_heads": 32, "intermediate_size": 11008,
                    "vocab_size": 103168},
    "Qwen 1.8B": {**QWEN, "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16,
                  "num_key_value_heads": 16, "intermediate_size": 5504},
    "Qwen 7B": {**QWEN, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
                "num_key_value_heads": 32, "intermediate_size": 11008},
    "TinyLlama 1.1B": {**LLAMA, "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32,
                       "num_key_value_heads": 4, "intermediate_size": 5632, "vocab_size": 32000},
}
NO_LENGTH = ("DiT", "ResNet", "Stable Diffusion", "ViT", "linear layers")  # tokens of the image, or none

# Keys of the workload, bytes of a parameter that is computed with, and of one that is stored. Autocast and
# mixed-precision FSDP store 4 bytes and compute with a copy of 2; float8 gathers 2 and casts at the product.
Precision = collections.namedtuple("Precision", "workload computed stored")
PRECISIONS = {
    "fp32": Precision({"device": {"flops_Ps": 1e14}, "value_bytes": 4}, 4, 4),
    "fp16_mixed": Precision({"gpu": "h100", "dtype": "fp16"}, 2, 4),
    "bf16_mixed": Precision({"gpu": "h100", "dtype": "bf16"}, 2, 4),
    "fp8": Precision({"gpu": "h100", "dtype": "fp8"}, 2, 4),
    "bf16_pure": Precision({"gpu": "h100", "dtype": "bf16", "value_bytes": 2}, 2, 2),
}
# What is sharded, and which bytes a gradient has: DeepSpeed and ColossalAI keep it as it was computed, FSDP as the
# parameter is stored.
STRATEGIES = {"none": None, "ddp": None, "zero1": ("zero1", "computed"), "zero2": ("zero2", "computed"),
              "zero3/full_shard": ("full_shard", "stored")}
# LAMB has the two moments of Adam.
OPTIMIZERS = {"Adam": "adam", "AdamW": "adam", "AdamW fused": "adam_fused", "Adam fused": "adam_fused",
              "Adam composed": "adam_composed", "LAMB composed": "adam_composed", "SGD": "sgd",
              "SGD momentum": "momentum", "Adam 8-bit": "adam_8bit", "AdamW 8-bit": "adam_8bit",
              "Adafactor": "adafactor"}
MOMENTS = {"adam": 2, "adam_fused": 2, "momentum": 1}  # values of the state, of the type of the parameters
# Selective recomputation is torchtitan's, whose default is that of operations, or that of Megatron-LM's attention.
RECOMPUTES = {"none": "none", "selective": "selective_op", "selective (attention)": "selective", "full": "full"}
# SDPA of PyTorch stores no scores. Where the source does not say, the default of the program is taken.
ATTENTIONS = {"flash": "flash", "sdpa": "flash", "plain": "plain", "unknown": "flash", "": "flash"}
# What a source has to say, in this order.
SAID = {"model": "model", "micro_batch": "batch", "sequence": "number of tokens", "precision": "precision",
        "optimizer": "optimizer", "recompute": "recomputation"}
# Where the source does not say a setting, the value that needs the least memory. If even that does not fit, the
# run had to end out of memory.
LEAST = {"sequence": "1", "optimizer": "SGD", "recompute": "full"}
# What a figure counts beside tensors: the context of the process, what the allocator loses and keeps. One that does not
# say how it was read is taken as nvidia-smi's.
Kind = collections.namedtuple("Kind", "words context allocator")
KINDS = {"peak_allocated": Kind("allocated", False, False), "peak_reserved": Kind("reserved", False, True),
         "nvidia_smi": Kind("nvidia-smi", True, True), "": Kind("not said", True, True)}


# Figures of parts alone: the parts of the result that they add up.
STATES = ("parameters", "master", "gradients", "optimizer")
PARTS = {"model_states": STATES, "part:context": ("context",), "part:context_and_process_group": ("context",),
         "part:context_and_weights": ("context", "parameters"), "part:weights": ("parameters",),
         "part:weights_and_buckets": ("parameters", "buckets"),
         "part:weights_buckets_and_gradients": ("parameters", "buckets", "gradients")}
LINEARS = re.compile(r"(\d+) linear layers (\d+) x (\d+)")


class NotPredicted(Exception):
    """A row that is no scenario, with the reason."""


def known(table, word, what):
    if word not in table:
        raise NotPredicted(f"the program has no {what} {word}")
    return table[word]


def models_of(stepsim, folder):
    """{words: (/workload/model, layer table)} of the models shipped and of those imported into the folder."""
    paths = {words: (name, ROOT / f"models/{name}.json") for words, name in MODELS.items()}
    for words, config in CONFIGS.items():
        source, path = (folder / f"{words}{ending}" for ending in (".config.json", ".json"))
        source.write_text(json.dumps(config), encoding="utf-8")
        subprocess.run([stepsim, "import", "hf-config", str(source), "-o", str(path)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        paths[words] = str(path), path
    return {words: (name, json.loads(path.read_text(encoding="utf-8"))) for words, (name, path) in paths.items()}


def model_of(row, models):
    """What a scenario calls the model of the row, and its layer table."""
    name, table = models.get(row["model"], ("", None))
    if not name or abs(table["totals"]["elements"] / float(row["parameters"]) - 1) > SAME_MODEL:
        raise NotPredicted("the model is not shipped")
    return name, table


def workload_of(row, precision, models):
    name, table = model_of(row, models)
    workload = {"model": name, "batch_size": int(row["micro_batch"]), **precision.workload}
    if "channels" not in table["input"]:
        workload["attention"] = known(ATTENTIONS, row["attention"], "attention")
    elif "gpu" in workload:
        workload["accept_estimate"] = True  # of times, which nothing here depends on
    for key in ("loss", "kernels"):
        if row[key]:
            workload[key] = row[key]
    if row["sequence"]:
        if int(row["sequence"]) > table["input"]["max_sequence_length"]:
            raise NotPredicted("the shipped model has fewer positions")
        workload["sequence_length"] = int(row["sequence"])
    recompute = known(RECOMPUTES, row["recompute"], "recomputation")
    if recompute != "none":
        if "gpu" not in workload:
            raise NotPredicted("no keys: recomputation of values of 4 bytes")
        workload["recompute"] = recompute
    return workload


def training_of(row, precision):
    training = {"iterations": 2, "optimizer": known(OPTIMIZERS, row["optimizer"], "optimizer")}
    if row["gradient_lifetime"]:
        training["gradient_lifetime"] = row["gradient_lifetime"]
    if row["context_bytes"]:
        training["context_bytes"] = float(row["context_bytes"])
    if row["micro_batches"]:
        training["micro_batches"] = int(row["micro_batches"])
    sharding = known(STRATEGIES, row["strategy"], "strategy")
    if sharding:
        strategy, gradient = sharding
        training["sharding"] = {"strategy": strategy, "parameter_bytes": precision.computed,
                                "stored_bytes": precision.stored, "reduce_bytes": getattr(precision, gradient)}
        if row["preset"]:
            training["sharding"] |= {"preset": row["preset"], "wrapping": {"policy": "block"}}
    elif precision.stored < 4:
        training["sharding"] = {"strategy": "none", "stored_bytes": precision.stored}
    if precision.stored < 4 and training["optimizer"] in MOMENTS:
        training["sharding"]["optimizer_bytes"] = MOMENTS[training["optimizer"]] * precision.stored
    return training


def scenario_of(row, models):
    """What `stepsim run` reads; memory hardly depends on the network."""
    if row["kind"] not in KINDS:
        raise NotPredicted(f"the program has no part {row['kind']}")
    for column, words in SAID.items():
        if not row[column] and not (column == "sequence" and any(word in row["model"] for word in NO_LENGTH)):
            raise NotPredicted(f"the source does not say the {words}")
    precision = known(PRECISIONS, row["precision"], "precision")
    # Where the number of GPUs is not said nothing is sharded, so that any number has the same memory.
    cluster = {"nodes": int(row["gpus"] or 2), "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e11}}
    if row["gpu_memory_bytes"]:
        cluster["gpu_memory_bytes"] = int(row["gpu_memory_bytes"])
    elif row["out_of_memory"] == "yes":
        raise NotPredicted("the source does not say the capacity that was exceeded")
    return {"kind": "scenario", "workload": workload_of(row, precision, models), "cluster": cluster,
            "training": training_of(row, precision)}


def part_scenario(row, models):
    """Of a row with a part alone: layers that its page makes, the model that it names, or any one for the context."""
    precision = PRECISIONS[row["precision"] or "fp32"]
    workload = {"model": model_of(row, models)[0], "batch_size": 1, **precision.workload} if row["model"] in models else {}
    linears = LINEARS.match(row["model"])
    if not workload:
        count, high, wide = map(int, linears.groups() if linears else (1, 1, 1))
        elements = high * wide + (high if row["strategy"] == "ddp" else 0)  # the layers of the tutorial have a bias
        workload = {"layers": [{"name": f"layer{k}", "forward_s": 1e-3, "backward_s": 2e-3, "dtype": "float32",
                                "gradient_bytes": 4 * elements} for k in range(count)]}
    filled = {**row, "optimizer": row["optimizer"] or "Adam", "strategy": row["strategy"] or "none"}
    return {"kind": "scenario", "workload": workload, "training": training_of(filled, precision),
            "communication": {"schedule": "ddp"} if row["strategy"] == "ddp" else {},
            "cluster": {"nodes": int(row["gpus"] or 2), "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e11}}}


def part_cells(row, stepsim, models):
    asked = json.dumps(part_scenario(row, models))
    done = subprocess.run([stepsim, "run", "-", "--json", "--quiet"], input=asked, text=True, check=True, capture_output=True)
    held = json.loads(done.stdout)["summary"]["memory_parts"]
    told, seen = sum(held[f"{part}_bytes"] for part in PARTS[row["kind"]]), float(row["measured_bytes"])
    return [row["id"], source(row), ", ".join(PARTS[row["kind"]]), f"{seen / 1e9:.2f}", f"{told / 1e9:.2f}",
            f"{100 * (told / seen - 1):+.0f}"]


def without_context(scenario):
    return {**scenario, "training": {**scenario["training"], "context_bytes": 0}}


def least(row):
    """The row with the least that its source may mean, and the columns that were filled."""
    filled = [column for column in LEAST if not row[column]] if row["out_of_memory"] == "yes" else []
    return {**row, **{column: LEAST[column] for column in filled}}, filled


def predictions(stepsim, rows, models):
    """(rows with the `summary` of their result, {reason: rows without one})."""
    asked, reasons = [], collections.defaultdict(list)
    for row in rows:
        try:
            filled, row["least"] = least(row)
            asked.append((row, scenario_of(filled, models)))
        except NotPredicted as reason:
            reasons[str(reason)].append(row)
    # The second of each has no context, for figures that do not count it.
    lines = "".join(json.dumps(each) + "\n" for _, scenario in asked for each in (scenario, without_context(scenario)))
    done = subprocess.run([stepsim, "run", "--lines", "-", "--quiet"], input=lines, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    summaries = [json.loads(line)["summary"] for line in done.stdout.splitlines()]
    for (row, _), whole, tensors in zip(asked, summaries[::2], summaries[1::2], strict=True):
        row["summary"] = whole
        row["counted"] = whole if KINDS[row["kind"]].context else tensors
    for row, _ in asked:  # what fits with the least may fit, or not, with what was run
        if row["least"] and row["summary"]["memory_fits"] is not False:
            reasons[f"the source does not say the {SAID[row['least'][0]]}"].append(row)
    return [row for row, _ in asked if not row["least"] or row["summary"]["memory_fits"] is False], reasons


def compared(row):
    """(figure, model, low, high) in bytes, each with what the kind of the figure counts."""
    summary = row["counted"]
    tensors = summary["memory_bytes"] - summary["memory_parts"]["allocator_bytes"]
    model = summary["memory_reserved_bytes"] if KINDS[row["kind"]].allocator else tensors
    return (float(row["measured_bytes"]), model, summary["memory_low_bytes"], max(model, summary["memory_high_bytes"]))


def error(row):
    figure, model, _, _ = compared(row)
    return model / figure - 1


def inside(row):
    figure, _, low, high = compared(row)
    return low <= figure <= high


def gigabytes(value):
    return f"{value / 1e9:.1f}"


def table(headings, rows):
    return ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings),
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def source(row):
    return f"[{row['repo']}](https://github.com/{row['repo']})"


def figure_cells(row):
    figure, model, low, high = compared(row)
    return [row["id"], source(row), KINDS[row["kind"]].words, gigabytes(figure), gigabytes(model),
            f"{gigabytes(low)}..{gigabytes(high)}", f"{100 * error(row):+.0f}"]


def sizes_of(rows):
    return [abs(error(row)) for row in rows]


def spread_cells(sizes):
    """Number, median and 90th percentile."""
    tenth = sorted(sizes)[math.ceil(0.9 * len(sizes)) - 1]
    return [str(len(sizes)), f"{100 * statistics.median(sizes):.0f}", f"{100 * tenth:.0f}"]


def total_cells(words, rows):
    return [words, *spread_cells(sizes_of(rows)), str(sum(map(inside, rows)))]


def source_cells(rows):
    """Of the medians of all repositories, of which some have many rows."""
    sources = collections.defaultdict(list)
    for row in rows:
        sources[row["repo"]].append(row)
    medians = [statistics.median(sizes_of(each)) for each in sources.values()]
    return ["medians of the sources", *spread_cells(medians), ""]


def groups(rows):
    """(words, rows) of each kind of figure and of recomputation."""
    yield "all", rows
    for column, words in [("kind", lambda kind: KINDS[kind].words), ("recompute", "recomputation {}".format)]:
        for value in sorted({row[column] for row in rows}, reverse=True):
            yield words(value), [row for row in rows if row[column] == value]


VERDICTS = {True: "fits (wrong)", None: "may not fit", False: "does not fit (correct)"}


def verdict_cells(row):
    summary = row["summary"]
    low, high = (gigabytes(summary[f"memory_{end}_bytes"]) for end in ("low", "high"))
    words = VERDICTS[summary["memory_fits"]]
    return [row["id"], source(row), gigabytes(summary["memory_capacity_bytes"]), gigabytes(summary["memory_bytes"]),
            f"{low}..{high}", words + (f", with the least {' and '.join(row['least'])}" if row["least"] else "")]


def section(stepsim):
    with open(ROOT / "docs/memory_figures.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        models = models_of(stepsim, pathlib.Path(folder))
        parts = [part_cells(row, stepsim, models) for row in rows if row["kind"] in PARTS]
        rows, reasons = predictions(stepsim, [row for row in rows if row["kind"] not in PARTS], models)
    figures = [row for row in rows if row["out_of_memory"] == "no"]
    failed = [row for row in rows if row["out_of_memory"] == "yes"]
    ran = [row for row in figures if row["gpu_memory_bytes"]]
    lines = table(["row", "source", "kind", "figure [GB]", "model [GB]", "low..high", "error [%]"],
                  map(figure_cells, figures))
    lines += table(["figures", "rows", "median error [%]", "90th percentile [%]", "inside low..high"],
                   [*(total_cells(*group) for group in groups(figures)), source_cells(figures)])
    lines += table(["row", "source", "parts", "figure [GB]", "model [GB]", "error [%]"], parts)
    said = [collections.Counter(row["summary"]["memory_fits"] for row in part) for part in (failed, ran)]
    lines += [f"{len(failed)} runs ended out of memory. The program says of {said[0][False]} that they do not fit, of "
              f"{said[0][None]} that they may not, and of {said[0][True]} that they fit. {len(ran)} rows above ran on a GPU "
              f"of known capacity: it says of {said[1][True]} that they fit, of {said[1][None]} that they may not, and of "
              f"{said[1][False]} that they do not.", ""]
    lines += table(["row out of memory", "source", "capacity [GB]", "model [GB]", "low..high", "the program says"],
                   map(verdict_cells, failed))
    counts = sorted((-len(each), reason) for reason, each in reasons.items())
    return [*lines, f"Not predicted are {sum(map(len, reasons.values()))} rows:", "",
            *(f"- {-count}: {reason}" for count, reason in counts)]


if __name__ == "__main__":
    sys.exit(page_section.main(__doc__, PAGE, "memory", section))
