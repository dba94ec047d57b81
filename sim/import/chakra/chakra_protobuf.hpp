#pragma once
// Execution traces as protocol buffers: messages one after the other, each behind its length as a
// varint. The first is the metadata of the file, all others are nodes; a file whose first message
// is a node follows the schema of early 2023, which numbers types and attributes otherwise.
#include <string_view>

#include "import/chakra/chakra_nodes.hpp"
#include "json/file.hpp"

namespace stepsim::io {

// `first` is what source.next() gave already. Throws InputError `x.et: message 17 at byte 4321:
// ...`.
[[nodiscard]] ChakraFile read_chakra_protobuf(ByteSource& source, std::string_view first);

// Whether the beginning of a file is that of such a trace: metadata, then a node with a name.
[[nodiscard]] bool looks_like_chakra(std::string_view head);

} // namespace stepsim::io
