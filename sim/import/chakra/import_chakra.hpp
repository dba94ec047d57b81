#pragma once
// Imports Chakra execution traces (INP 2.4) as traces of layers. The compute between two
// collectives becomes one layer, whose backward time ends when the collective starts. An all-reduce
// or reduce-scatter of the backward pass becomes the bucket of the layer before it, with the bytes
// of the trace. The compute after the last bucket is the update of the weights. Of several
// iterations, those with the most common list of collectives count, with median times.

#include "import/chakra/chakra_nodes.hpp"
#include "scenario/files/import_source.hpp"
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

// Cuts a Chakra trace at its collectives (INP 2.4): the compute between two collectives is a
// segment, and the segments of one training step are an iteration.

struct ChakraSegment {
  double forward_us{}, backward_us{}; // sums of the durations of compute nodes
  bool in_backward = false;           // whether the segment ends in the backward pass
  // Collective that ends the segment; null for the last segment.
  const ChakraNode* collective = nullptr;
  bool of_activations = false; // it waits for gradients of activations alone
};

struct ChakraIteration {
  std::vector<ChakraSegment> segments; // at least one; the last has no collective
};

// Statistics of the trace, for messages.
struct ChakraCounts {
  std::array<std::int64_t, 5> nodes{}; // [ChakraKind]
  double all_us{};                     // sum of the durations of all nodes
  std::int64_t host{};                 // number of compute nodes of the host that are left out
  double host_us{};                    // sum of their durations
  bool timed = false;                  // whether any compute node has a duration
  bool ordered_by_start = false;       // starts_give_order()
  [[nodiscard]] std::int64_t of(ChakraKind kind) const {
    return nodes[static_cast<std::size_t>(kind)];
  }
};

struct ChakraSegments {
  std::vector<ChakraIteration> iterations; // at least one
  ChakraCounts counts;
};

// Compute nodes of the host only launch those of the device, so they are used only if the device
// has no compute node with a duration. The first rule that applies decides where an iteration
// begins:
//   - at "ProfilerStep#N", if there are such nodes; a step without a collective is joined with the
//     next;
//   - after every repetition of the collectives, if the collectives of one repetition have
//     different names, none of them the name of a kernel; a single collective repeats only if
//     forward nodes come before each call;
//   - otherwise the whole trace is one iteration.
// The backward pass of an iteration begins with the first node whose name marks it as a part of the
// backward pass. Pointers in the result are into `file`.
[[nodiscard]] ChakraSegments cut_at_collectives(const ChakraFile& file);

} // namespace stepsim::io
