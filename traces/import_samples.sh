#!/bin/sh
# Makes the shipped traces from the public files they come from, byte for byte.
# usage: traces/import_samples.sh DATA [OUT] [STEPSIM]
#   DATA     folder with kineto/, traces/ and b-caffe/ (traces/README.md says where each file is published)
#   OUT      where the traces go; default: the folder of this script
#   STEPSIM  the program; default: build/stepsim beside that folder
set -eu
here=$(cd "$(dirname "$0")" && pwd)
data=${1:?usage: traces/import_samples.sh DATA [OUT] [STEPSIM]}
out=${2:-$here}
stepsim=${3:-$here/../build/stepsim}

holistic="facebookresearch/HolisticTraceAnalysis @ f4d0062c382f42bd8a74838bcdad1916c7d5d2da"

"$stepsim" import kineto "$data/kineto/resnet50_ddp_2xA100_nccl_meta.json.gz" \
  --model resnet50 --attribution "$holistic: tests/data/nccl_parser_config/nccl_data.json.gz" \
  --licence MIT --quiet -o "$out/resnet50.ddp.2xa100.json"

"$stepsim" import kineto "$data/kineto/resnet50_1gpu_5steps_ns.json.gz" \
  --model resnet50 --attribution \
  "$holistic: tests/data/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz" \
  --licence MIT --quiet -o "$out/resnet50.1gpu.json"

"$stepsim" import kineto "$data/kineto/alexnet_a100.json.gz" \
  --step-annotation measure.forward --backward-ratio 2 --model alexnet --attribution \
  "$holistic: tests/data/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz" \
  --licence MIT --quiet -o "$out/alexnet.a100.json"

"$stepsim" import caffe-log "$data/b-caffe/tmp8comm.log" \
  --model googlenet_caffe_aux --attribution "hclhkbu/B-Caffe @ fdb5595" \
  --licence "BSD 2-clause" --quiet -o "$out/googlenet.k80.json"

"$stepsim" import kineto "$data/traces/resnet50_v100_2021_operator_names.json.gz" \
  --attribution "pytorch/kineto @ 34d6ad534a947ebd4b2173e1d4dd0072cadb0d73: \
tb_plugin/samples/resnet50_num_workers_0/worker0.pt.trace.json.gz" \
  --licence "BSD 3-clause" --quiet -o "$out/resnet50.v100.json"

"$stepsim" import kineto "$data/traces/resnet18_ddp_mi300x_bf16_checkpoint.json.gz" \
  --attribution "AMD-AGI/TraceLens @ 171dd74721ca1ec45709e5805b68ae1f65e27811: \
tests/traces/mi300/resnet_act_checkpoint.json.gz" \
  --licence MIT --quiet -o "$out/resnet18.ddp.mi300x.json"

"$stepsim" import kineto "$data/traces/resnet18_1gpu_mi300_bf16.json.gz" \
  --attribution "AMD-AGI/TraceLens @ 13730e84e1ee04c1e272d23b60e792492f1a39c8: \
tests/traces/mi300/ddp_resnet18_no_pool/train_resnet18.json.gz" \
  --licence MIT --quiet -o "$out/resnet18.1gpu.mi300x.json"

"$stepsim" import kineto "$data/traces/dlrm_rank3of8_a100.json.gz" \
  --attribution "$holistic: tests/data/trace_diff/control/control.json.gz" \
  --licence MIT --quiet -o "$out/dlrm.8xa100.json"

"$stepsim" import kineto "$data/traces/dlrm_rank1of2_v100_compiled_graphs.json.gz" \
  --attribution "$holistic: tests/data/trace_diff/test/test.json.gz" \
  --licence MIT --quiet -o "$out/dlrm.2xv100.json"

"$stepsim" import kineto "$data/kineto/dlrm_rank0of16_inputdims.json.gz" \
  --attribution "$holistic: tests/data/negative_queue_length_values_check/rank0.json.gz" \
  --licence MIT --quiet -o "$out/dlrm.16xa100.json"

param="facebookresearch/param @ 1e115ffc62c6d048405d9b963191736c13811b1d: et_replay/tests/inputs"
ranks=$(mktemp -d)
trap 'rm -rf "$ranks"' EXIT
tar xzf "$data/traces/dlrm_8ranks_v100_kineto.tar.gz" -C "$ranks"
"$stepsim" import kineto "$ranks"/dlrm_kineto/*.json \
  --attribution "$param/dlrm_kineto.tar.gz" \
  --licence MIT --quiet -o "$out/dlrm.8xv100.json"

"$stepsim" import kineto "$data/traces/linear21_rtx2080ti.json.gz" \
  --pytorch-et "$data/traces/linear21_rtx2080ti_et.json.gz" \
  --attribution "$param/linear_kineto.json.gz, linear_et.json.gz" \
  --licence MIT --quiet -o "$out/linear21.rtx2080ti.json"

"$stepsim" import kineto "$data/kineto/resnet_30iter_old.json.gz" --model resnet18 \
  --attribution "$param/resnet_kineto.json.gz" \
  --licence MIT --quiet -o "$out/resnet18.rtx2080ti.json"
