#pragma once
// A result may replace a result of its own kind, but no other file, so that `-o mine.json` does not
// overwrite the user's scenario. The kind of a file follows from its first bytes and, for JSON,
// from its keys, so that no file has to be read into memory.
#include <string>
#include <string_view>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// "kind scenario" by the key `kind`; without it "key rows", the first key of an object; "a list",
// "text", "a page", "a picture", "binary data"; "" for an empty file and an object without keys.
// For JSON Lines the first record decides.
[[nodiscard]] std::string content_kind(std::string_view text);

// Throws UsageError `mine.json: holds another kind of file (kind scenario); --force replaces it` if
// the path holds a regular file that is not empty and whose kind differs from that of `text`. Does
// nothing with --force.
void refuse_other_kind(const Common& common, const std::string& path, std::string_view text);

} // namespace stepsim::cli
