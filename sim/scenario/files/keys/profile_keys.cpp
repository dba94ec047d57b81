#include "scenario/files/keys/profile_keys.hpp"

#include "collectives/compress/compression.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 3> kProfileExamples{
    R"({"schema_version": 1, "kind": "network_calibration", "name": "example", "label": "default",
        "network": {"latency_s": 5e-5, "bandwidth_Bps": 1250000000}})",
    R"({"schema_version": 1, "kind": "network_calibration", "name": "h100x8", "label": "calibrated",
        "links": [{"class": "nvlink", "latency_s": {"value": 4.5e-6, "low": 3.9e-6, "high": 5e-6},
                   "per_byte_s": 2.1e-12}],
        "collectives": [{"op": "allreduce", "algorithm": "nccl", "ranks": 8,
                         "segments": [{"from_bytes": 1024, "to_bytes": 1048576, "startup_s": 5e-5,
                                       "per_byte_s": 3.8e-12}]}],
        "grade": "ok"})",
    R"({"schema_version": 1, "kind": "network_calibration", "name": "lab", "label": "calibrated",
        "note": "fitted to our own runs",
        "valid": {"ranks": [4, 32], "density": [0.001, 0.001], "gpus_per_node": 1},
        "network": {"latency_s": 0.000436, "bandwidth_Bps": 1.1e8},
        "dense_inflation": {"ranks": [4, 8], "factor": [1.295, 1.299]},
        "compression_costs": {"any": {"select_s_per_element": 6.1e-9},
                              "topk": {"staging_s_per_element": 5.51e-8,
                                       "scatter_s_per_entry": 1.63e-6}}})"};

} // namespace

std::vector<std::string_view> names_with_costs() {
  std::vector<std::string_view> names{"any"};
  for (const collectives::CompressionRow& row : collectives::compression_table()) {
    if (collectives::has_key(row, "costs")) {
      names.push_back(row.name);
    }
  }
  return names;
}

FileKind profile_file() { return {kProfile.name, &kProfile, kProfileExamples}; }

} // namespace stepsim::io::keys
