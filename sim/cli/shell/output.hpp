#pragma once
// Where the results and remarks of a command go. Results are complete or absent: a file is written
// next to its name and renamed, so that an interrupted command leaves the old one.
#include <span>
#include <string>
#include <string_view>

#include "cli/shell/app.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// The result: to standard output, or to the file of -o through a temporary one beside it, so that a
// failed or interrupted command leaves nothing. In tables, what users wrote cannot steer a terminal
// (base/printable.hpp); the writers of JSON and CSV see to it themselves. A file of another kind
// stays: UsageError (replaced_file.hpp). Throws SimulationError `FILE: write failed: reason`.
void write_output(const Common& common, std::string_view text);
// The same for a tree, with two-space indent. No NaN, no infinity: SimulationError names the value.
void write_tree(const Common& common, const io::Json& tree);
// Another file that the user asked for by its name, in one piece ("-" = standard output).
void write_named(const std::string& path, std::string_view text);
// Text on standard output that is no result: help, versions. Throws SimulationError.
void print_text(std::string_view text);
// What a command tells beside its result: on standard output, or on standard error where the result
// goes to standard output. Silent with --quiet.
void print_beside(std::string_view text, const Common& common);
// All of `warnings` on standard error, `warning: ...`, one line each, also with --quiet.
void print_warnings(std::span<const std::string> warnings, const Common& common);
// A remark of one line on standard error; silent with --quiet.
void print_note(std::string_view note, const Common& common);
// `assumed: schedule trace (5 measured buckets)` as a note; nothing for "".
void print_assumed(std::string_view defaults, const Common& common);
// Lines on standard error whatever --quiet says.
void print_error_lines(std::string_view lines);
// "error: message", one line on standard error; gives the code back.
int report_error(std::string_view message, int code, std::string_view color = "auto");

} // namespace stepsim::cli
