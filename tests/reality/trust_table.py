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


def errors(sizes):
    return f"{100 * statistics.median(sizes):.1f} / {100 * error_table.quantile(sizes, 0.9):.1f}"


def cells(rows):
    """Errors with nominal rates and under typical conditions, and the share of rows inside the interval."""
    typical = [row for row in rows if "err_typical" in row]
    inside = sum(row["typical_low"] <= row["measured"] <= row["typical_high"] for row in typical)
    return (f"{errors([error_table.size(row) for row in rows])} | {errors([abs(row['err_typical']) for row in typical])} "
            f"| {100 * inside / len(typical):.0f} %")


def main():
    rows, _ = predict.predictions()
    print("| real training | a case | measured | predicted, typical conditions | error, nominal rates "
          "| error, typical conditions | inside the interval |")
    print("|" + "---|" * 7)
    for fabric, name, shown, words, unit in KINDS:
        kind = [row for row in rows if row["fabric"] == fabric]
        row, = [each for each in kind if each["row"] == shown]
        print(f"| {len(kind)} {name} | {words} | {row['measured']:.0f} {unit} "
              f"| {row['typical']:.0f} ({row['typical_low']:.0f} to {row['typical_high']:.0f}) | {cells(kind)} |")
    print(f"| [all {len(rows)}](docs/accuracy.md#against-speeds-that-others-measured) | | | | {cells(rows)} |")


if __name__ == "__main__":
    main()
