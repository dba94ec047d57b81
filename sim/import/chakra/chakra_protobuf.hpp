#pragma once
// Reads execution traces as protocol buffers: each message follows its length, a varint. The first
// message is the metadata of the file, all others are nodes. A file whose first message is a node
// follows the schema of early 2023, in which types and attributes have other numbers.
#include <string_view>

#include "document/file.hpp"
#include "import/chakra/chakra_nodes.hpp"

namespace stepsim::io {

// `first` is the chunk that source.next() has already returned. Throws InputError
// `x.et: message 17 at byte 4321: ...`.
[[nodiscard]] ChakraFile read_chakra_protobuf(ByteSource& source, std::string_view first);

// Whether the beginning of a file is that of such a trace: metadata, which files of early 2023
// lack, then a node with a name.
[[nodiscard]] bool looks_like_chakra(std::string_view head);

} // namespace stepsim::io
