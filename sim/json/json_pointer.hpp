#pragma once
// JSON pointers (RFC 6901), through objects and lists; nothing else walks them.
#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace stepsim::io {

// The value at the pointer, null if the path does not exist. The empty pointer is the root. Throws
// UsageError for text that is no pointer.
[[nodiscard]] const Json* resolve(const Json& root, std::string_view pointer);

// Sets the value at the pointer and returns it where it now stands. Missing objects on the way are
// created; throws UsageError where a part is no object or array element ("-" or the length appends
// to an array). The new value, and objects created on the way, get their pointer and the root's
// file as origin, so that later errors name them.
Json& assign(Json& root, std::string_view pointer, Json value);

// "a/b" -> "a~1b", "~" -> "~0": a key as one token of a pointer.
[[nodiscard]] std::string escape_token(std::string_view token);
// "/a~1b/0" -> {"a/b", "0"}; none for "". Throws UsageError for text that is neither empty nor
// starts with "/".
[[nodiscard]] std::vector<std::string> pointer_tokens(std::string_view pointer);

} // namespace stepsim::io
