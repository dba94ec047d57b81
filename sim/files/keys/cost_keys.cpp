#include "files/keys/cost_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kCostExamples{R"({
  "schema_version": 1, "kind": "cost", "op": "allreduce", "ranks": 8,
  "table": [[4096, 0.00021], [1048576, 0.0011]]})"};

} // namespace

FileKind cost_file() { return {kCostFile.name, &kCostFile, kCostExamples}; }

} // namespace stepsim::io::keys
