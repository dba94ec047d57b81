#!/usr/bin/python3
"""README's table of predictions beside measured speeds: one typical case of each kind of network, and the
errors of all cases of the kind, from the predictions of predict.py.
"""
import statistics
import sys

sys.dont_write_bytecode = True

import error_table
import predict

# Kind of network in rows.csv, what README calls it, the row that is shown, and its words.
KINDS = [("none", "on one machine with several GPUs", "dlperf-ngcpytorch-013",
          "BERT-Base on 8 V100, [PyTorch](https://github.com/Oneflow-Inc/DLPerf)", "samples/s"),
         ("tcp", "over TCP", "horovod-779-002",
          "ResNet-50 on 16 V100, 25 Gb/s, [Horovod](https://github.com/horovod/horovod/issues/779)", "images/s"),
         ("rdma", "over RDMA", "dlperf-ngcpytorch-012",
          "BERT-Base on 32 V100, 100 Gb/s, [PyTorch](https://github.com/Oneflow-Inc/DLPerf)", "samples/s"),
         ("ipoib", "over IP on InfiniBand", "ddl-benchmarks-231",
          "BERT-Base on 16 GPUs, 100 Gb/s, [Horovod](https://github.com/HKBU-HPML/ddl-benchmarks)", "samples/s")]


def errors(rows):
    sizes = [error_table.size(row) for row in rows]
    return f"median {100 * statistics.median(sizes):.1f} %, 90th percentile {100 * error_table.quantile(sizes, 0.9):.1f} %"


def main():
    rows, _ = predict.predictions()
    print("| real training, nominal rates, nothing fitted | a typical case | measured | predicted "
          "| error of step times, all cases |")
    print("|" + "---|" * 5)
    for fabric, name, shown, words, unit in KINDS:
        kind = [row for row in rows if row["fabric"] == fabric]
        row, = [each for each in kind if each["row"] == shown]
        print(f"| {len(kind)} {name} | {words} | {row['measured']:.0f} {unit} | {row['predicted']:.0f} {unit} "
              f"| {errors(kind)} |")
    print(f"| [all {len(rows)}](docs/accuracy.md#against-speeds-that-others-measured) | | | | {errors(rows)} |")


if __name__ == "__main__":
    main()
