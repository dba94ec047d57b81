#include "cli/shell/key_flags.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace stepsim::cli {

namespace {

// Flag and key; several flags may stand for one key.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kKeysOfFlags{{
    {"--nodes", "/cluster/nodes"},
    {"--ranks", "/cluster/nodes"},
    {"--workers", "/cluster/nodes"},
    {"--cluster", "/cluster/preset"},
    {"--preset", "/cluster/preset"},
    {"--gpus-per-node", "/cluster/gpus_per_node"},
    {"--nics-per-node", "/cluster/nics_per_node"},
    {"--network", "/cluster/network"},
    {"--intra-network", "/cluster/intra_network"},
    {"--sharding", "/training/sharding/strategy"},
    {"--bandwidth", "/cluster/network/bandwidth_Bps"},
    {"--latency", "/cluster/network/latency_s"},
    {"--topology", "/cluster/topology"},
    {"--trace", "/workload/trace"},
    {"--model", "/workload/model"},
    {"--gpu", "/workload/gpu"},
    {"--batch-size", "/workload/batch_size"},
    {"--sequence-length", "/workload/sequence_length"},
    {"--dtype", "/workload/dtype"},
    {"--iterations", "/training/iterations"},
    {"--samples", "/job/samples"},
    {"--tokens", "/job/tokens"},
    {"--tokens-per-sample", "/job/tokens_per_sample"},
    {"--price-per-gpu-hour", "/job/price_per_gpu_hour"},
    {"--mtbf", "/job/node_mtbf_s"},
    {"--checkpoint-s", "/job/checkpoint_s"},
    {"--restart-s", "/job/restart_s"},
    {"--schedule", "/communication/schedule"},
    {"--collective", "/communication/collective"},
    {"--bucket-bytes", "/communication/bucket_bytes"},
    {"--compression", "/communication/compression/method"},
    {"--density", "/communication/compression/density"},
}};

} // namespace

std::string_view pointer_of_flag(std::string_view flag) {
  const auto* found =
      std::ranges::find(kKeysOfFlags, flag, [](const auto& row) { return row.first; });
  return found == kKeysOfFlags.end() ? std::string_view() : found->second;
}

} // namespace stepsim::cli
