#include "scenario/files/keys/measured_keys.hpp"

namespace stepsim::io::keys {

namespace {

constexpr std::array<std::string_view, 1> kMeasuredExamples{R"({
  "schema_version": 1, "kind": "measured_training", "name": "my-cluster",
  "source": "our own runs, 2026-01-31",
  "models": [{"name": "vgg16_cifar", "parameters": 14728266, "batch_size": 128,
              "phases": {"ranks": 32, "method": "gtopk_tree", "compute_s": 0.139536,
                         "compress_s": 0.091353, "communication_s": 0.811753},
              "samples_per_s_per_gpu": {"none": {"1": 1317.333, "4": 104.2},
                                        "gtopk_tree": {"4": 131.06}}}]})"};

} // namespace

FileKind measured_file() { return {kMeasured.name, &kMeasured, kMeasuredExamples}; }

} // namespace stepsim::io::keys
