#pragma once
// Checks the flags for the file and format of the result, for `parse` (app.hpp). Only .cpp files
// include CLI11.
#include <span>
#include <string>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// "json, jsonl, csv or table".
[[nodiscard]] std::string words_of(std::span<const Format> formats);
// "stepsim run".
[[nodiscard]] std::string full_name(const CommandText& text);

// Throws UsageError for a format, by --format or by the ending of -o, that the command does not
// write. Sets the format to table if -o ends in .md and the command writes tables but no Markdown.
void require_format(const CommandText& text, Common& common);
// Throws UsageError for a further output file, such as --timeline, whose ending does not fit.
void require_endings(const CLI::App& app);
// Throws UsageError if an output is also an input or another output.
void refuse_common_files(const CLI::App& app);

} // namespace stepsim::cli
