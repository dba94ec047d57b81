#!/bin/sh
# Makes the shipped traces from the public files they come from, byte for byte.
# usage: traces/import_samples.sh DATA [OUT] [STEPSIM]
#   DATA     folder with kineto/ and b-caffe/ (traces/README.md says where each file is published)
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
