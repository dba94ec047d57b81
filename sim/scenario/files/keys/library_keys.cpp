#include "scenario/files/keys/library_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kLibraryExamples{
    R"({"schema_version": 1, "kind": "library_calibration", "name": "our-cluster",
        "version": "2.29", "choice": "published",
        "node": {"name": "dgx_h100", "gpus_per_node": 8, "ring_Bps": 3.708e11, "nics_per_node": 8,
                 "nic_Bps": 4.8e10, "generation": "hopper", "in_switch_reduction": true},
        "parameters": {"bw_nic": {"value": 1.03, "low": 1.01, "high": 1.05},
                       "kappa": {"value": 0.06}, "in_ll": {"value": 1, "from_prior": true}},
        "points": [{"op": "allreduce", "nodes": 10, "gpus_per_node": 8, "bytes": 1073741824,
                    "measured_s": 0.0061, "count": 3}],
        "sources": ["NVIDIA H100"], "warnings": []})"};

} // namespace

std::vector<std::string_view> parameter_words() {
  const auto words = nccl::kParameters.all();
  return {words.begin(), words.end()};
}

FileKind library_calibration_file() {
  return {kLibraryCalibration.name, &kLibraryCalibration, kLibraryExamples};
}

} // namespace stepsim::io::keys
