#!/usr/bin/python3
"""The measurements of the gTop-k authors (traces/icdcs19.measured.json) beside two predictions by
`stepsim compare`: the closed form with the paper's latency and bandwidth, and the profile
topologies/icdcs19.calibration.json, which was fitted to this very table.

usage: docs/gtopk_table.py [--stepsim build/stepsim] [--part speed|ratio|quality]

Both take the measured compute phase; the closed form also takes the measured compress phase. One
layer, sent after backward as one message, as in the authors' code.
"""
import argparse
import json
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
MEASURED = ROOT / "traces/icdcs19.measured.json"
RANKS = [4, 8, 16, 32]
METHODS = {"none": "dense", "topk": "Top-k", "gtopk_tree": "gTop-k"}
NAMES = {"vgg16_cifar": "VGG-16", "resnet20": "ResNet-20", "alexnet_caffe": "AlexNet",
         "resnet50": "ResNet-50", "lstm_ptb": "LSTM-PTB"}
PAPER = {"latency_s": 4.36e-4, "bandwidth_Bps": 111111111.1111111}
FITTED = {"calibration": "icdcs19"}


def scenario(model, network, costs):
    compute = model["phases"]["compute_s"]
    layer = {"name": model["name"], "forward_s": compute / 3, "backward_s": 2 * compute / 3,
             "gradient_bytes": 4 * model["parameters"]}
    compression = {"method": "gtopk_tree", "density": 0.001, **costs}
    return {"schema_version": 1, "kind": "scenario", "name": model["name"],
            "workload": {"layers": [layer], "batch_size": model["batch_size"]},
            "cluster": {"nodes": 4, "network": network}, "training": {"update_s": 0},
            "communication": {"schedule": "single", "collective": "ring",
                              "compression": compression}}


def predicted(stepsim, model, network, costs):
    """{(method, ranks): seconds per update}."""
    done = subprocess.run(
        [stepsim, "compare", "-", "--json", "--quiet",
         "--over", "/communication/compression/method=" + ",".join(METHODS),
         "--over", "/cluster/nodes=" + ",".join(map(str, RANKS))],
        input=json.dumps(scenario(model, network, costs)), text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    # `method` alone is the evaluator, so the axis has its whole pointer as name.
    return {(row["/communication/compression/method"], row["nodes"]): row["iteration_time_s"]
            for row in json.loads(done.stdout)["rows"]}


def rows(stepsim):
    """One dictionary per model with phases, method and number of ranks; samples per second and GPU."""
    table = []
    for model in json.loads(MEASURED.read_text())["models"]:
        if "phases" not in model:
            continue
        compress = {"costs": {"select_s": model["phases"]["compress_s"]}}
        closed = predicted(stepsim, model, PAPER, compress)
        fitted = predicted(stepsim, model, FITTED, {})
        for method, speeds in model["samples_per_s_per_gpu"].items():
            for ranks in RANKS:
                table.append({"model": model["name"], "method": method, "ranks": ranks,
                              "measured": speeds[str(ranks)],
                              "closed form": model["batch_size"] / closed[method, ranks],
                              "calibrated": model["batch_size"] / fitted[method, ranks]})
    return table


def error(row, key):
    return row[key] / row["measured"] - 1


def speed_table(table):
    yield (f"{'':9} {'':6} {'':5} {'measured':>11} {'closed form':>20} {'calibrated profile':>21}")
    yield (f"{'':9} {'':6} {'':5} {'(published)':>11} {'(computed)':>20} "
           f"{'(fitted to this table)':>22}")
    yield (f"{'model':9} {'method':6} {'ranks':>5} {'samples/s':>11} {'samples/s':>11} {'error':>8} "
           f"{'samples/s':>12} {'error':>8}")
    for row in table:
        yield (f"{NAMES[row['model']]:9} {METHODS[row['method']]:6} {row['ranks']:5} "
               f"{row['measured']:11.3f} {row['closed form']:11.3f} {error(row, 'closed form'):+8.1%} "
               f"{row['calibrated']:12.3f} {error(row, 'calibrated'):+8.1%}")


def ratio_table(table):
    """gTop-k over dense and over Top-k, beside what was measured."""
    found = {(row["model"], row["method"], row["ranks"]): row for row in table}
    kinds = ["measured", "closed form", "calibrated"]
    yield f"{'':15} {'gTop-k over dense':^37}   {'gTop-k over Top-k':^37}"
    yield f"{'':15} " + 2 * "".join(f"{kind:>12} " for kind in kinds)
    yield (f"{'model':9} {'ranks':>5} "
           + 2 * "".join(f"{mark:>12} " for mark in ["(published)", "(computed)", "(fitted)"]))
    for model in dict.fromkeys(row["model"] for row in table):
        for ranks in RANKS:
            cells = [found[model, "gtopk_tree", ranks][kind] / found[model, base, ranks][kind]
                     for base in ("none", "topk") for kind in kinds]
            yield f"{NAMES[model]:9} {ranks:5} " + "".join(f"{cell:12.3f} " for cell in cells)


def quality_table(table):
    """The largest error of each method, the networks of the fit apart from ResNet-20."""
    yield f"{'largest error of throughput':44}" + "".join(f"{m:>10}" for m in METHODS.values())
    for kind, words in {"closed form": "closed form (computed)",
                        "calibrated": "calibrated profile (fitted)"}.items():
        for who, small in {"large networks": False, "ResNet-20": True}.items():
            chosen = [row for row in table if (row["model"] == "resnet20") == small]
            worst = [max((error(row, kind) for row in chosen if row["method"] == method), key=abs)
                     for method in METHODS]
            yield f"{words}, {who}".ljust(44) + "".join(f"{w:+10.1%}" for w in worst)


PARTS = {"speed": speed_table, "ratio": ratio_table, "quality": quality_table}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stepsim", default=shutil.which("stepsim") or ROOT / "build/stepsim")
    parser.add_argument("--part", choices=PARTS, default="speed")
    options = parser.parse_args()
    for line in PARTS[options.part](rows(options.stepsim)):
        print(line.rstrip())


if __name__ == "__main__":
    main()
