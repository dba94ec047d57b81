#pragma once
// Reads execution traces as JSON, in the two common forms: one object with the list
// `workload_graph` (Id, Name, NodeType, data_deps, runtime, comm_type, comm_size), or the output of
// chakra_jsonizer, with one object after the other for the messages of the protocol buffers (id,
// name, type, dataDeps, durationMicros, attr).
#include <string_view>

#include "document/file.hpp"
#include "import/chakra/chakra_nodes.hpp"

namespace stepsim::io {

// Whether a file that begins with { or [ is JSON, by the text after the bracket. Else the bracket
// is the length of the first message of a protocol buffer: { is byte 123, [ is byte 91.
[[nodiscard]] bool looks_like_json(std::string_view behind_bracket);

// `first` is the chunk that source.next() has already returned. Throws InputError, with the pointer
// of the node if the problem lies in one.
[[nodiscard]] ChakraFile read_chakra_json(ByteSource& source, std::string_view first);

} // namespace stepsim::io
