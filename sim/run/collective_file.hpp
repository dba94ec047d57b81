#pragma once
// One collective operation as a file (kind collective), as flags or as a point of a sweep: read,
// checked and ready for the evaluators. The keys are in collective_keys.hpp.

#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/method.hpp"
#include "collectives/record.hpp"
#include "scenario/scenario_library.hpp"

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
  std::int64_t element_bytes{};       // of `gradient`: those of element_type, else value_bytes
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

// Reads network, links, topology, the keys of nodes (gpus_per_node, nics_per_node,
// nvlink_domain_nodes, intra_network) and of switches (nvls_Bps, nvls_startup_s, switch_latency_s)
// into `file`, whose ranks and options must be set already. Problems are added to the context.
// Throws InputError if a file that a key names is invalid.
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

// Reads preset, library, shape, ranks_per_node and ranks into `file`, whose algorithm must be set
// already. A shape or ranks_per_node that contradicts ranks or gpus_per_node is a problem.
void parse_system(io::Fields& fields, const ParseContext& context, CollectiveFile& file);

// GPUs of a node, by the first of these that is given: ranks_per_node (the largest), gpus_per_node,
// the shape, the machines of a topology (`machine_gpus`, 0 = none), the node type; else 1. This and
// nics_per_node() note a given number that differs from the node type (note_override).
[[nodiscard]] std::uint32_t gpus_per_node(io::Fields& fields, std::uint32_t machine_gpus,
                                          CollectiveFile& file);
// Network interfaces of a node of `gpus` GPUs: nics_per_node if given, else as many as the node
// type has but at most one per GPU, else 1. The node type is ignored with a topology, which
// describes the interfaces itself.
[[nodiscard]] std::uint32_t nics_per_node(io::Fields& fields, std::uint32_t gpus,
                                          CollectiveFile& file);
// Adds `key` of `object` to the overrides of `file` if the key is given and its value differs from
// the node type (`differs`).
void note_override(CollectiveFile& file, io::Fields& object, std::string_view key, bool differs);

// Completes the question of the algorithm `library`. Throws InputError if the model of the library
// has no answer (CLU 13).
void ask_library(const io::Json& tree, CollectiveFile& file);

// Seconds by bytes, for the search of crossovers; `library` has those of its model. Nothing is
// compressed.
[[nodiscard]] collectives::CostByBytes cost_by_bytes(const CollectiveFile& file);

} // namespace stepsim::study
