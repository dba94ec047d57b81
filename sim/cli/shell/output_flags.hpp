#pragma once
// Checks the flags for the file and format of the result, for `parse` (app.hpp). Only .cpp files
// include CLI11.
#include <span>
#include <string>
#include <vector>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// "json, jsonl, csv or table".
[[nodiscard]] std::string words_of(std::span<const Format> formats);
// "stepsim run".
[[nodiscard]] std::string full_name(const CommandText& text);

// Throws UsageError for a format, by --format or by the ending of -o, that the command does not
// write. Sets the format to table if -o ends in .md and the command writes tables but no Markdown.
void require_format(const CommandText& text, const CLI::App& app, Common& common);
// Throws UsageError for a further output file, such as --timeline, whose ending does not fit.
void require_endings(const CLI::App& app);
// The arguments of the command with paths of shipped files, as the documentation writes them
// (examples/quickstart.scenario.json), in the data folder where there is no such file here; a note
// for each tells which file was taken. Outputs stay as they are.
[[nodiscard]] std::vector<std::string> with_shipped_files(const CLI::App& app,
                                                          const Invocation& invocation,
                                                          std::vector<std::string>& notes);
// Throws UsageError if an output is also an input or another output.
void refuse_common_files(const CLI::App& app);

} // namespace stepsim::cli
