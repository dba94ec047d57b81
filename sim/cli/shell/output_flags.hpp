#pragma once
// Checks of the flags that say where a result goes and in which format, for `parse` (app.hpp).
// No header includes CLI11, only .cpp files.
#include <span>
#include <string>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// "json, jsonl, csv or table".
[[nodiscard]] std::string words_of(std::span<const Format> formats);
// "stepsim run".
[[nodiscard]] std::string full_name(const CommandText& text);

// A format that the command does not write, by --format or by the name of -o: UsageError.
// Sets the format to table where -o ends in .md and the command writes tables but no Markdown.
void require_format(const CommandText& text, Common& common);
// The same for files beside the result, such as --timeline.
void require_endings(const CLI::App& app);
// An output that is an input too, or another output: UsageError.
void refuse_common_files(const CLI::App& app);

} // namespace stepsim::cli
