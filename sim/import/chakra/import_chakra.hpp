#pragma once
// Imports Chakra execution traces (INP 2.4) as traces of layers. The compute between two
// collectives becomes one layer, whose backward time ends when the collective starts. An all-reduce
// or reduce-scatter of the backward pass becomes the bucket of the layer before it, with the bytes
// of the trace. The compute after the last bucket is the update of the weights. Of several
// iterations, those with the most common list of collectives count, with median times.
#include <cstdint>
#include <optional>
#include <string>

#include "layers/trace.hpp"
#include "scenario/files/import_options.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

struct ChakraOptions {
  ImportOptions common;
  std::optional<std::string> dtype; // for gradients whose nodes give no dtype; default float32
};

struct ChakraImport {
  layers::Trace trace;
  std::string found;  // "3664 nodes: 3643 compute, ...", for the user to check
  std::string remedy; // why no gradient has a size, and the remedy; empty otherwise
};

// Throws InputError for a file that is not a Chakra trace or has no compute nodes.
[[nodiscard]] ChakraImport import_chakra(const std::string& file, const ChakraOptions& options);

// The durations of all collectives that have one, a size and an operation that samples know, as one
// set per operation and type. `ranks` replaces the number of ranks in the file and is required if
// the file has none. Throws InputError if there is no such collective or the number of ranks is
// unknown.
[[nodiscard]] Samples chakra_samples(const std::string& file, const ImportOptions& options,
                                     std::optional<std::int64_t> ranks);

} // namespace stepsim::io
