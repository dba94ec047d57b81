#pragma once
// The cluster of a collective in words: its shape, the node type that fills what the file leaves
// open, and the question that the algorithm `library` asks (CLU 10).
#include <cstdint>

#include "collective/collective_file.hpp"
#include "scenario/parse_context.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// "10x8" -> 10 nodes of 8 GPUs; empty for every other text.
[[nodiscard]] std::optional<library::Shape> parse_shape(std::string_view text);

// Reads preset, library, shape and ranks into `file`, whose algorithm is known. A shape that
// contradicts ranks or gpus_per_node is a problem.
void parse_system(io::Fields& fields, const ParseContext& context, CollectiveFile& file);

// GPUs of a node: as written, else of the shape, of a machine of the topology (`machine_gpus`, 0 =
// none), of the node type, 1.
[[nodiscard]] std::uint32_t gpus_per_node(io::Fields& fields, std::uint32_t machine_gpus,
                                          CollectiveFile& file);
// Network interfaces of a node of `gpus` GPUs: as written, else of the node type but at most one
// per GPU, 1. A topology has interfaces of its own: 1 unless written.
[[nodiscard]] std::uint32_t nics_per_node(io::Fields& fields, std::uint32_t gpus,
                                          CollectiveFile& file);
// Fills the network inside a node (two_level of the links, which exists) from the node type, which
// is there; values of intra_network win.
void fill_intra(io::Fields& fields, const ParseContext& context, CollectiveFile& file);

// Remembers that `key` of `object` replaces a value of the node type, if it is given and differs.
void note_override(CollectiveFile& file, io::Fields& object, std::string_view key, bool differs);

// Completes the question of the algorithm `library`. Throws InputError where the model has no
// answer (CLU 13).
void ask_library(const io::Json& tree, CollectiveFile& file);

} // namespace stepsim::study
