#include "scenario/files/keys/model_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kModelExamples{R"({
  "schema_version": 1, "kind": "model", "name": "tiny", "family": "test", "source": "example",
  "input": {"channels": 3, "height": 1, "width": 1},
  "totals": {"elements": 12, "tensors": 1, "layers": 1, "macs": 12},
  "layers": [{"name": "fc", "kind": "linear", "macs": 12, "scales_with": "sample",
              "tensors": [{"name": "weight", "shape": [3, 4]}]}]})"};

} // namespace

FileKind model_file() { return {"model", &kModel, kModelExamples}; }

} // namespace stepsim::io::keys
