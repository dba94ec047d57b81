#include "scenario/files/keys/trace_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kTraceExamples{R"({
  "schema_version": 1, "kind": "trace", "name": "tiny", "provenance": "assumed",
  "layers": [
    {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 37632,
     "tensors": [{"elements": 9408, "dtype": "float32", "bytes": 37632}]}],
  "update_s": 0.0001})"};

} // namespace

FileKind trace_file() { return {"trace", &kTrace, kTraceExamples}; }

} // namespace stepsim::io::keys
