#pragma once
// One collective operation as a file (kind collective), as flags or as a point of a sweep: read,
// checked and ready for the evaluators. The keys are in collective_keys.hpp.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compressed_exchange.hpp"
#include "coll/compress/compression.hpp"
#include "coll/record.hpp"
#include "scenario/files.hpp"
#include "scenario/library_settings.hpp"
#include "scenario/scenario.hpp"
#include "json/problems.hpp"

namespace stepsim::study {

// The algorithm `library`, and what fills the cluster of any algorithm.
struct CollectiveSystem {
  // Of the preset, else of the calibration of the library; empty without either.
  std::optional<NodeSource> node;
  LibrarySettings settings{};                 // of the key `library`
  std::optional<library::Shape> shape;        // as written; empty if it is not
  std::vector<std::int64_t> ranks_per_node{}; // as written; empty if it is not
  std::vector<std::string> overrides{};       // pointers of values that replace others of the node
  std::optional<library::LibraryQuestion> question; // there for the algorithm `library` alone
};

struct CollectiveFile {
  // Of a compressed exchange and of `library`: the ring on the same ranks and links.
  coll::Collective collective;
  std::optional<coll::Compression> compression; // empty = nothing is compressed
  coll::GradientPart gradient;                  // with a compression
  CollectiveSystem system;
  coll::AskedMethod method{};
  // Rates as written, else of the node type: 1 / (1 / rate) may differ in the last digit.
  // bandwidth_Bps is empty without either.
  std::optional<double> bandwidth_Bps;
  double reduction_Bps{}; // 0 = free
  bool has_delay = false; // of the network; only then records show it
  // Where the list of links stands: its file, and the pointer of the object in it. Both "" without.
  std::string links_file, links_pointer;
  std::vector<std::string> warnings; // about its calibration
};

// True if the file says that it is a collective.
[[nodiscard]] bool is_collective(const io::Json& tree);

// Throws InputError with all problems (COL 15, SPA 14): pointers of `tree`, or of the files that it
// names. Messages about several keys name the others by their pointers. Keys of `compression` that
// the algorithm does not read, and several interfaces of a node for an algorithm that uses one, are
// problems where leftovers are refused.
[[nodiscard]] CollectiveFile parse_collective(const io::Json& tree, Files& files,
                                              Leftovers leftovers = Leftovers::refuse);

// The method of compression that a word of `algorithm` names; none for dense algorithms and for
// unknown words.
[[nodiscard]] std::optional<coll::CompressionMethod> exchange_method(const io::Json& algorithm);

// Reports the keys of a `compression` that none of the methods reads. Without methods the exchange
// is dense.
void refuse_meaningless(const io::Json& compression,
                        std::span<const coll::CompressionMethod> methods, io::Problems& problems);

} // namespace stepsim::study
