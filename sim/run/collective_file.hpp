#pragma once
// One collective operation as a file (kind collective), as flags or as a point of a sweep: read,
// checked and ready for the evaluators. The keys are in collective_keys.hpp.

#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/record.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

struct CollectiveFile {
  // Operation, algorithm, ranks, bytes and links. For a compressed exchange and the algorithm
  // `library` the algorithm here is ring: fp16 and codecs run on the ring, other methods have
  // algorithms of their own, and `library` has no schedule.
  collectives::Collective collective;
  std::optional<collectives::Compression> compression; // empty if nothing is compressed
  collectives::GradientPart gradient; // what is compressed; unused without `compression`
  std::int64_t element_bytes{};       // of `gradient`: those of element_type, else value_bytes
  // Machines and network, read from the same keys as /cluster of a scenario. The last node may have
  // fewer ranks than the others.
  Cluster cluster;
  std::optional<nccl::Shape> shape;              // value of the key `shape`; empty if not given
  LibrarySettings library{};                     // value of the key `library`
  std::optional<nccl::LibraryQuestion> question; // set for the algorithm `library` only
  collectives::AskedMethod method{};
  // Rate as given in the file, else by the node type; empty if neither gives it. It is kept because
  // 1 / (1 / rate) may differ in the last digit.
  std::optional<double> bandwidth_Bps;
  bool has_delay = false; // the network has a delay_s; records show it only then
  // File of the list of links, and JSON pointer of the list in it; both empty without such a list.
  std::string links_file, links_pointer;
  std::vector<std::string> warnings; // warnings about the library's calibration
};

// Whether the file has "kind": "collective".
[[nodiscard]] bool is_collective(const io::Json& tree);

// Throws InputError with all problems (COL 15, SPA 14). Each problem has a pointer into `tree` or
// into a file that `tree` names. With Leftovers::refuse, keys that the algorithm does not use are
// problems, too: by refuse_meaningless() below and refuse_unused_keys().
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

// Reads the links of a collective, which are one of: one cost for all pairs of ranks, a list of
// links, two levels (inside a node and between nodes), a topology.

// Reads network, links, topology, intra_network, nvlink_domain_nodes and the keys of switches
// (nvls_Bps, nvls_startup_s, switch_latency_s) into `file`, whose ranks, options and numbers of
// GPUs must be set already. Problems are added to the context. Throws InputError if a file that a
// key names is invalid.
void parse_collective_network(io::Fields& fields, const ParseContext& context,
                              CollectiveFile& file);

// Refuses keys of a collective that its algorithm does not read. refuse_meaningless()
// (collective_file.hpp) does the same for the keys of compressions.

// Adds a problem if nics_per_node > 1 is given for an algorithm that sends through one interface of
// each node (a flat ring or lp on several nodes), and if intra_algorithm is given for collnet but
// is not nvls.
void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems);

// Reads the keys of a collective that describe its cluster: the shape, the node type, whose values
// replace missing keys, and the input of the algorithm `library` (CLU 10).

// Parses "10x8" as 10 nodes of 8 GPUs; empty for any text of another form and for 0 of either.
[[nodiscard]] std::optional<nccl::Shape> parse_shape(std::string_view text);

// Reads preset, library, shape, ranks and the numbers of GPUs and interfaces of a node into `file`,
// whose algorithm must be set already. Keys that contradict each other are a problem.
void parse_system(io::Fields& fields, const ParseContext& context, CollectiveFile& file);

// Completes the question of the algorithm `library`. Throws InputError if the model of the library
// has no answer (CLU 13).
void ask_library(const io::Json& tree, CollectiveFile& file);

// Seconds by bytes, for the search of crossovers; `library` has those of its model. Nothing is
// compressed.
[[nodiscard]] collectives::CostByBytes cost_by_bytes(const CollectiveFile& file);

// The pointers of the keys that replace a value of the node type.
[[nodiscard]] io::Array overrides_of(const CollectiveFile& file);

} // namespace stepsim::study
