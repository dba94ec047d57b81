#pragma once
// Resolves JSON pointers (RFC 6901) through objects and lists.

#include "document/json.hpp"

namespace stepsim::io {

// The value at the pointer, null if it does not exist. The empty pointer is the root. Throws
// UsageError for a text that is not a pointer.
[[nodiscard]] const Json* resolve(const Json& root, std::string_view pointer);

// Sets the value at the pointer and returns a reference to it. Missing objects on the way are
// created. The value and the new objects get their pointer and the file of the root as origin, so
// that later errors name them. "-" or the length of an array appends to it. Throws UsageError for a
// text that is not a pointer, for any other token that is no element of an array, and for a token
// below a text, a number or a truth value; the tree is then unchanged.
Json& assign(Json& root, std::string_view pointer, Json value);

// Escapes a key as one token of a pointer: "a/b" -> "a~1b", "~" -> "~0".
[[nodiscard]] std::string escape_token(std::string_view token);
// The unescaped tokens: "/a~1b/0" -> {"a/b", "0"}; none for "". Throws UsageError for other texts
// that do not start with "/".
[[nodiscard]] std::vector<std::string> pointer_tokens(std::string_view pointer);

} // namespace stepsim::io
