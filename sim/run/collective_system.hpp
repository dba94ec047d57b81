#pragma once
// Reads the keys of a collective that describe its cluster: the shape, the node type, whose values
// replace missing keys, and the input of the algorithm `library` (CLU 10).
#include <cstdint>

#include "document/reader.hpp"
#include "run/collective_file.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

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
// Sets the cost of the network inside a node (two_level->intra of the links) from the key
// intra_network, and from the node type for values that the key lacks. `file` must have two_level
// links and a node type.
void fill_intra(io::Fields& fields, const ParseContext& context, CollectiveFile& file);

// Adds `key` of `object` to the overrides of `file` if the key is given and its value differs from
// the node type (`differs`).
void note_override(CollectiveFile& file, io::Fields& object, std::string_view key, bool differs);

// Completes the question of the algorithm `library`. Throws InputError if the model of the library
// has no answer (CLU 13).
void ask_library(const io::Json& tree, CollectiveFile& file);

} // namespace stepsim::study
