#pragma once
// A result may replace a result of its own kind, and no other file: `-o mine.json` must not cost a
// user the scenario that was in it. The kind of a file is told by its first bytes and, of JSON, by
// its keys, so that no file has to be read into memory.
#include <string>
#include <string_view>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// "kind scenario" by the key `kind`; else "key rows", the first key of an object; "a list", "text",
// "a page", "a picture", "binary data", or "" for nothing and for an object without keys. JSON
// Lines go by their first record.
[[nodiscard]] std::string content_kind(std::string_view text);

// Throws UsageError `mine.json: holds another kind of file (kind scenario); --force replaces it`
// where a regular file is there that is not empty and whose kind is not that of `text`, unless
// --force was given.
void refuse_other_kind(const Common& common, const std::string& path, std::string_view text);

} // namespace stepsim::cli
