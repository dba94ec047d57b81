#pragma once
// Chakra execution traces (INP 2.4) as traces of layers. What is computed between two
// collectives becomes one layer, whose backward time ends where the collective starts; an
// all-reduce of the backward pass, or a reduce-scatter, is the bucket of the layer before it, with
// exactly the bytes that the trace says. What is computed behind the last bucket is the update of
// the weights.
#include <optional>
#include <string>

#include "files/import_options.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

struct ChakraOptions {
  ImportOptions common;
  std::optional<std::string> dtype; // of gradients whose nodes do not say; default float32
};

struct ChakraImport {
  train::Trace trace;
  std::string found;  // "3664 nodes: 3643 compute, ...": what a user can check
  std::string remedy; // why no gradient has a size, and what helps; empty where they have
};

// Throws InputError for a file that is no trace of Chakra and for one without compute nodes.
[[nodiscard]] ChakraImport import_chakra(const std::string& file, const ChakraOptions& options);

} // namespace stepsim::io
