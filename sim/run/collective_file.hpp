#pragma once
// One collective operation as a file (kind collective), as flags or as a point of a sweep: read,
// checked and ready for the evaluators. The keys are in collective_keys.hpp.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/compress/compression.hpp"
#include "collectives/record.hpp"
#include "document/checked.hpp"
#include "scenario/files.hpp"
#include "scenario/library_settings.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// The node type that fills the cluster of any algorithm, and the input of the algorithm `library`.
struct CollectiveSystem {
  // The node type of the preset, else of the library's calibration; empty without both.
  std::optional<NodeSource> node;
  LibrarySettings settings{};                    // value of the key `library`
  std::optional<nccl::Shape> shape;              // value of the key `shape`; empty if not given
  std::vector<std::int64_t> ranks_per_node{};    // value of the key `ranks_per_node`, or empty
  std::vector<std::string> overrides{};          // pointers of keys that replace a value of `node`
  std::optional<nccl::LibraryQuestion> question; // set for the algorithm `library` only
};

struct CollectiveFile {
  // Operation, algorithm, ranks, bytes and links. For a compressed exchange and the algorithm
  // `library` the algorithm here is ring: fp16 and codecs run on the ring, other methods have
  // algorithms of their own, and `library` has no schedule.
  collectives::Collective collective;
  std::optional<collectives::Compression> compression; // empty if nothing is compressed
  collectives::GradientPart gradient; // what is compressed; unused without `compression`
  CollectiveSystem system;
  collectives::AskedMethod method{};
  // Rates as given in the file, else by the node type. They are kept because 1 / (1 / rate) may
  // differ in the last digit. bandwidth_Bps is empty if neither gives it.
  std::optional<double> bandwidth_Bps;
  double reduction_Bps{}; // 0 = reductions take no time
  bool has_delay = false; // the network has a delay_s; records show it only then
  // File of the list of links, and JSON pointer of the list in it; both empty without such a list.
  std::string links_file, links_pointer;
  std::vector<std::string> warnings; // warnings about the library's calibration
};

// Whether the file has "kind": "collective".
[[nodiscard]] bool is_collective(const io::Json& tree);

// Throws InputError with all problems (COL 15, SPA 14). Each problem has a pointer into `tree` or
// into a file that `tree` names. With Leftovers::refuse, keys that the algorithm does not use are
// problems, too: by refuse_meaningless() below and refuse_unused_keys() (collective_rules.hpp).
[[nodiscard]] CollectiveFile parse_collective(const io::Json& tree, Files& files,
                                              Leftovers leftovers = Leftovers::refuse);

// The compression method that the word `algorithm` names; empty for dense algorithms and for
// unknown words.
[[nodiscard]] std::optional<collectives::CompressionMethod>
exchange_method(const io::Json& algorithm);

// Adds a problem for every key of `compression` that none of `methods` reads. An empty `methods`
// means a dense exchange, which reads none.
void refuse_meaningless(const io::Json& compression,
                        std::span<const collectives::CompressionMethod> methods,
                        io::Problems& problems);

} // namespace stepsim::study
