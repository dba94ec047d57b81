#pragma once
// Checks of the flags that say where a result goes and in which format, for `parse` (app.hpp).
// CLI11 is seen by the .cpp files of this folder only.
#include <span>
#include <string>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// "json, jsonl, csv or table".
[[nodiscard]] std::string words_of(std::span<const Format> formats);
// "stepsim run".
[[nodiscard]] std::string full_name(const CommandText& text);

// A format that the command does not write, by --format or by the name of -o: UsageError.
void require_format(const CommandText& text, Common& common);
// The same for files beside the result, such as --timeline.
void require_endings(const CLI::App& app);
// An output that is an input too, or another output: UsageError.
void refuse_common_files(const CLI::App& app);

} // namespace stepsim::cli
