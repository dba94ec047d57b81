#include "scenario/files/keys/cost_keys.hpp"

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

} // namespace

FileKind cost_file() { return {kCostFile.name, &kCostFile, kCostExamples}; }

} // namespace stepsim::io::keys
