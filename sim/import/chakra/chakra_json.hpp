#pragma once
// Reads execution traces as JSON, in the two common forms: one object with the list
// `workload_graph` (Id, Name, NodeType, data_deps, runtime, comm_type, comm_size), or the output of
// chakra_jsonizer, with one object after the other for the messages of the protocol buffers (id,
// name, type, dataDeps, durationMicros, attr).
#include <string_view>

#include "import/chakra/chakra_nodes.hpp"
#include "json/file.hpp"

namespace stepsim::io {

// Whether text after an opening bracket is JSON, and not a message of 123 or 91 bytes, the codes of
// the brackets.
[[nodiscard]] bool looks_like_json(std::string_view behind_bracket);

// `first` is the chunk that source.next() has already returned. Throws InputError, with the pointer
// of the node if the problem lies in one.
[[nodiscard]] ChakraFile read_chakra_json(ByteSource& source, std::string_view first);

} // namespace stepsim::io
