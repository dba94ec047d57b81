// The kinds of files, each with examples that its schema shows, and the words of keys that other
// tables of the program give.
#include "scenario/files/keys/samples_keys.hpp"

#include "links/fabric/topology.hpp"
#include "programs/training_program.hpp"
#include "scenario/files/keys/model_keys.hpp"
#include "scenario/files/keys/node_keys.hpp"
#include "scenario/files/keys/overlap_keys.hpp"
#include "scenario/files/keys/profile_keys.hpp"
#include "scenario/files/keys/topology_keys.hpp"
#include "scenario/files/keys/trace_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 2> kCostExamples{
    R"({
  "schema_version": 1, "kind": "cost", "op": "allreduce", "ranks": 8,
  "table": [[4096, 0.00021], [1048576, 0.0011]]})",
    R"({
  "schema_version": 1, "kind": "cost",
  "costs": [{"op": "allreduce", "ranks": 8, "grade": "measured", "startup_s": 2.3e-5,
             "per_byte_s": 4.3e-11, "bus_bandwidth_Bps": 4.04e10}]})"};

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

constexpr std::array<std::string_view, 1> kLinksExamples{R"({
  "schema_version": 1, "kind": "links",
  "links": [{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9},
            {"src": 1, "dst": 0, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9}]})"};

constexpr std::array<std::string_view, 1> kMeasuredExamples{R"({
  "schema_version": 1, "kind": "measured_training", "name": "my-cluster",
  "source": "our own runs, 2026-01-31",
  "models": [{"name": "vgg16_cifar", "parameters": 14728266, "batch_size": 128,
              "phases": {"ranks": 32, "method": "gtopk_tree", "compute_s": 0.139536,
                         "compress_s": 0.091353, "communication_s": 0.811753},
              "samples_per_s_per_gpu": {"none": {"1": 1317.333, "4": 104.2},
                                        "gtopk_tree": {"4": 131.06}}}]})"};

constexpr std::array<std::string_view, 1> kModelExamples{R"({
  "schema_version": 1, "kind": "model", "name": "tiny", "family": "test", "source": "example",
  "input": {"channels": 3, "height": 1, "width": 1},
  "totals": {"elements": 12, "tensors": 1, "layers": 1, "macs": 12},
  "layers": [{"name": "fc", "kind": "linear", "macs": 12, "scales_with": "sample",
              "tensors": [{"name": "weight", "shape": [3, 4]}]}]})"};

constexpr std::array<std::string_view, 2> kNodeExamples{
    R"({"schema_version": 1, "kind": "node_preset", "name": "ours", "gpu": "NVIDIA H100",
        "gpus_per_node": 8, "ring_Bps": 3.6e11, "nics_per_node": 4, "nic_Bps": 4.8e10,
        "generation": "hopper", "host": "amd", "in_switch_reduction": true})",
    R"({"schema_version": 1, "kind": "node_preset", "name": "box",
        "gpus_per_node": {"value": 4, "label": "sheet", "source": "its maker"},
        "link": "pcie", "ll128": false,
        "ring_Bps": {"value": 5.2e9, "label": "fitted", "source": "our log of nccl-tests"},
        "nics_per_node": 1, "nic_nominal_Bps": 1.25e10, "nic_Bps": 5.4e9,
        "generation": "volta"})"};

constexpr std::array<std::string_view, 1> kOverlapExamples{R"({
  "schema_version": 1, "kind": "overlap", "name": "my-cluster", "source": "our own steps",
  "compute": 1.78, "startup_s": 4.6e-4, "per_byte_s": 1.15e-9})"};

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

constexpr std::array<std::string_view, 1> kSamplesExamples{R"({
  "schema_version": 1, "kind": "samples",
  "sets": [{"op": "allreduce", "ranks": 8,
            "points": [{"bytes": 1024, "time_s": 5e-5}, {"bytes": 2048, "time_s": 6e-5}]}]})"};

constexpr std::array<std::string_view, 2> kTopologyExamples{R"({
  "schema_version": 1, "kind": "topology",
  "hosts": [{"id": "h0"}, {"id": "h1"}],
  "switches": [{"id": "s"}],
  "links": [{"a": "h0", "b": "s", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9},
            {"a": "h1", "b": "s", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9}]})",
                                                            R"({
  "schema_version": 1, "kind": "topology", "preset": "star", "hosts": 16,
  "latency_s": 1e-6, "bandwidth_Bps": 1.25e9})"};

constexpr std::array<std::string_view, 1> kTraceExamples{R"({
  "schema_version": 1, "kind": "trace", "name": "tiny", "provenance": "assumed",
  "layers": [
    {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 37632,
     "tensors": [{"elements": 9408, "dtype": "float32", "bytes": 37632}]}],
  "update_s": 0.0001})"};

} // namespace

FileKind cost_file() { return {kCostFile.name, &kCostFile, kCostExamples}; }

std::vector<std::string_view> parameter_words() {
  const auto words = nccl::kParameters.all();
  return {words.begin(), words.end()};
}

FileKind library_calibration_file() {
  return {kLibraryCalibration.name, &kLibraryCalibration, kLibraryExamples};
}

FileKind links_file() { return {"links", &kLinks, kLinksExamples}; }

FileKind measured_file() { return {kMeasured.name, &kMeasured, kMeasuredExamples}; }

FileKind model_file() { return {"model", &kModel, kModelExamples}; }

FileKind node_preset_file() { return {kNodePreset.name, &kNodePreset, kNodeExamples}; }

std::vector<std::string_view> computing_kinds() {
  std::vector<std::string_view> words{"*"};
  for (std::size_t k = 0; k < programs::kKindCount; ++k) {
    const auto kind = static_cast<programs::Kind>(k);
    const bool sends = kind == programs::Kind::allreduce || kind == programs::Kind::reduce ||
                       kind == programs::Kind::broadcast ||
                       kind == programs::Kind::reduce_scatter ||
                       kind == programs::Kind::allgather || kind == programs::Kind::push ||
                       kind == programs::Kind::pull;
    if (!sends) {
      words.push_back(programs::kKinds[kind]);
    }
  }
  return words;
}

FileKind overlap_file() { return {"overlap", &kOverlap, kOverlapExamples}; }

std::vector<std::string_view> names_with_costs() {
  std::vector<std::string_view> names =
      base::names_where(collectives::compression_table(),
                        [](const auto& row) { return collectives::has_key(row, "costs"); });
  names.insert(names.begin(), "any");
  return names;
}

FileKind profile_file() { return {kProfile.name, &kProfile, kProfileExamples}; }

FileKind samples_file() { return {kSamples.name, &kSamples, kSamplesExamples}; }

std::vector<std::string_view> preset_names() {
  return base::collected<std::string_view>(links::presets(), &links::Preset::name);
}

FileKind topology_file() { return {"topology", &kTopology, kTopologyExamples}; }

FileKind trace_file() { return {"trace", &kTrace, kTraceExamples}; }

} // namespace stepsim::io::keys
