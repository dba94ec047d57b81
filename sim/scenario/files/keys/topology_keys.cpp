#include "scenario/files/keys/topology_keys.hpp"

#include "links/fabric/topology.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 2> kTopologyExamples{R"({
  "schema_version": 1, "kind": "topology",
  "hosts": [{"id": "h0"}, {"id": "h1"}],
  "switches": [{"id": "s"}],
  "links": [{"a": "h0", "b": "s", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9},
            {"a": "h1", "b": "s", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9}]})",
                                                            R"({
  "schema_version": 1, "kind": "topology", "preset": "star", "hosts": 16,
  "latency_s": 1e-6, "bandwidth_Bps": 1.25e9})"};

} // namespace

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const links::Preset& preset : links::presets()) {
    names.push_back(preset.name);
  }
  return names;
}

FileKind topology_file() { return {"topology", &kTopology, kTopologyExamples}; }

} // namespace stepsim::io::keys
