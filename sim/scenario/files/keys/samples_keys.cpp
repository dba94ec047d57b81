#include "scenario/files/keys/samples_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kSamplesExamples{R"({
  "schema_version": 1, "kind": "samples",
  "sets": [{"op": "allreduce", "ranks": 8,
            "points": [{"bytes": 1024, "time_s": 5e-5}, {"bytes": 2048, "time_s": 6e-5}]}]})"};

} // namespace

FileKind samples_file() { return {kSamples.name, &kSamples, kSamplesExamples}; }

} // namespace stepsim::io::keys
