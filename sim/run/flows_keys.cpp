// Examples are part of the schema and are checked against it: an incast at the packet level, and a
// permutation on a shipped topology.
#include "run/flows_keys.hpp"

namespace stepsim::study::keys {

namespace {

constexpr std::array<std::string_view, 2> kFlowsFileExamples{
    R"({"schema_version": 1, "kind": "flows", "topology": {"preset": "star", "hosts": 9, "bandwidth_Bps": 1.25e9, "latency_s": 1e-6}, "network": {"model": "packet", "packet": {"transport": "dlcp"}}, "flows": [{"generate": "incast", "senders": 8, "size_bytes": 65536}]})",
    R"({"schema_version": 1, "kind": "flows", "topology": "leaf_spine_144", "flows": [{"generate": "permutation", "size_bytes": 1000000}], "start_jitter_s": 5e-6, "seed": 7})"};

} // namespace

io::FileKind flows_file() { return {"flows", &kFlows, kFlowsFileExamples}; }

} // namespace stepsim::study::keys
