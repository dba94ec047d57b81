#pragma once
// Writes the results and messages of a command. Results are complete or absent: a file is written
// next to its final name and then renamed, so that an interrupted command leaves the old file.
#include <filesystem>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Writes the result to standard output, or to the file of -o through a temporary file next to it.
// Text of users in tables is escaped, so that it cannot control a terminal (base/printable.hpp);
// JSON and CSV are escaped by their writers. Throws UsageError if -o holds a file of another kind
// (replaced_file.hpp), and SimulationError `FILE: write failed: reason`.
void write_output(const Common& common, std::string_view text);
// Writes a tree with an indent of two spaces. Throws as write_output() does, and SimulationError
// that names a NaN or infinite value.
void write_tree(const Common& common, const io::Json& tree);
// Writes another file that the user named ("-" = standard output), completely or not at all. Throws
// SimulationError if that fails.
void write_named(const std::string& path, std::string_view text);
// The same, unless the path holds a file of another kind: throws as refuse_other_kind() does.
void write_named(const Common& common, const std::string& path, std::string_view text);
// Columns of the terminal that the result is shown on; empty if it goes to a file or a pipe.
[[nodiscard]] std::optional<std::size_t> terminal_columns(const Common& common);
// Tables in `text` that are wider than `columns` become several below each other, each with the
// first column. A table is two lines or more whose columns stand two blanks apart.
[[nodiscard]] std::string folded_tables(std::string_view text, std::size_t columns);
// Prints text that is not a result, such as help, on standard output. Throws SimulationError if
// writing fails.
void print_text(std::string_view text);
// Prints text that accompanies the result, with the line ends that are in it: on standard output,
// or on standard error if the result goes to standard output. Silent with --quiet.
void print_beside(std::string_view text, const Common& common);
// Prints `warning: ...` on standard error, one line per warning, also with --quiet. Silent if
// another command runs this one (Common::embedded).
void print_warnings(std::span<const std::string> warnings, const Common& common);
// Prints a note of one line on standard error; silent with --quiet.
void print_note(std::string_view note, const Common& common);
// The same for each of them.
void print_notes(std::span<const std::string> notes, const Common& common);
// Prints lines, with the line ends that are in them, on standard error, also with --quiet.
void print_error_lines(std::string_view lines);
// Prints "error: message" as one line on standard error and returns `code`.
int report_error(std::string_view message, int code, std::string_view color = "auto");

// A result may replace a result of its own kind, but no other file, so that `-o mine.json` does not
// overwrite the user's scenario. The kind of a file follows from its first bytes and, for JSON,
// from its keys, so that no file has to be read into memory.

// "kind scenario" by the key `kind`; without it "key rows", the first key of an object; "a list",
// "text", "a page", "a picture", "binary data"; "" for an empty file and an object without keys.
// For JSON Lines the first record decides.
[[nodiscard]] std::string content_kind(std::string_view text);

// Throws UsageError `mine.json: holds another kind of file (kind scenario); --force replaces it` if
// the path holds a regular file that is not empty and whose kind differs from that of `text`. Does
// nothing with --force.
void refuse_other_kind(const Common& common, const std::string& path, std::string_view text);

// `meta` of commands that simulate packets: the usual keys, and the speed of the simulation.

// Adds events_per_s and packet_hops_per_s, for the simulation without reading and writing, and
// peak_rss_bytes of the whole process. `simulation_s` is in wall-clock seconds; 0 leaves out both
// rates. Without `packet_hops` (flow level) the second rate is left out.
[[nodiscard]] io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                                       std::optional<std::uint64_t> packet_hops,
                                       double simulation_s);

// Folders of commands that write several files.

// A folder for files that nobody asked to keep; it goes with the object.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

// A folder in a place that does not exist is a slip of the pen: throws SimulationError if the
// folder that is to hold `folder` is missing.
void require_parent(const std::filesystem::path& folder);

// Checks the flags for the file and format of the result, for `parse` (app.hpp). Only .cpp files
// include CLI11.

// "json, jsonl, csv or table".
[[nodiscard]] std::string words_of(std::span<const Format> formats);
// "--format csv" or "-o out.csv": what asks for the format of the result.
[[nodiscard]] std::string asked_format(const Common& common);
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
