#include "scenario/files/keys/node_keys.hpp"

namespace stepsim::io::keys {

namespace {

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

} // namespace

FileKind node_preset_file() { return {kNodePreset.name, &kNodePreset, kNodeExamples}; }

} // namespace stepsim::io::keys
