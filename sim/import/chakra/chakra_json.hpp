#pragma once
// Execution traces as JSON, in the two forms that are in use: one object with the list
// `workload_graph` (Id, Name, NodeType, data_deps, runtime, comm_type, comm_size), and the output
// of chakra_jsonizer, where each message of the protocol buffers is an object of its own, one
// behind the other (id, name, type, dataDeps, durationMicros, attr).
#include <string_view>

#include "import/chakra/chakra_nodes.hpp"
#include "json/file.hpp"

namespace stepsim::io {

// Whether text that follows an opening bracket is JSON, and not a message of 123 or 91 bytes.
[[nodiscard]] bool looks_like_json(std::string_view behind_bracket);

// `first` is what source.next() gave already. Throws InputError, with the pointer of the node where
// there is one.
[[nodiscard]] ChakraFile read_chakra_json(ByteSource& source, std::string_view first);

} // namespace stepsim::io
