// Standard output carries the result and nothing else; everything here that is not the result goes
// to standard error. Text that users wrote is made printable on its way to a terminal.
#include "cli/shell/output.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <iostream>
#include <system_error>

#include "base/printable.hpp"
#include "cli/shell/interrupts.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"

namespace stepsim::cli {

namespace {

// Writes the line at once, so that lines of several processes on one terminal stay whole.
void print_whole_line(const std::string& line) { std::cerr << line + "\n"; }

} // namespace

void write_named(const std::string& path, std::string_view text) {
  const DelayInterrupts delay;
  io::write_file(path, text);
}

void write_named(const Common& common, const std::string& path, std::string_view text) {
  refuse_other_kind(common, path, text);
  write_named(path, text);
}

// The progress line ends before anything else reaches the terminal.
void write_output(const Common& common, std::string_view text) {
  common.work.end();
  refuse_other_kind(common, common.output, text);
  const bool table = format_of(common, Format::table) == Format::table;
  write_named(common.output, table ? base::printable_lines(text) : std::string(text));
}

void print_text(std::string_view text) { write_named("-", base::printable_lines(text)); }

// Where the result has standard output, people read standard error.
void print_beside(std::string_view text, const Common& common) {
  if (common.quiet) {
    return;
  }
  if (common.output == "-") {
    print_error_lines(text);
  } else {
    print_text(text);
  }
}

void print_warnings(std::span<const std::string> warnings, const Common& common) {
  if (common.embedded) {
    return;
  }
  const bool color = use_color(common.color, Stream::error);
  common.work.hide();
  for (const std::string& warning : warnings) {
    print_whole_line((color ? "\x1b[33mwarning:\x1b[0m " : "warning: ") + base::printable(warning));
  }
}

void print_note(std::string_view note, const Common& common) {
  if (!common.quiet) {
    common.work.hide();
    print_whole_line(base::printable(note));
  }
}

void print_notes(std::span<const std::string> notes, const Common& common) {
  for (const std::string& note : notes) {
    print_note(note, common);
  }
}

void print_error_lines(std::string_view lines) {
  std::cerr << base::printable_lines(lines) << std::flush;
}

int report_error(std::string_view message, int code, std::string_view choice) {
  const bool color = use_color(choice, Stream::error);
  print_whole_line((color ? "\x1b[31merror:\x1b[0m " : "error: ") + base::printable(message));
  return code;
}

void write_tree(const Common& common, const io::Json& tree) {
  io::require_finite(tree);
  write_output(common, io::pretty(tree));
}

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder()
    : path_(fs::temp_directory_path() / ("stepsim-" + std::to_string(::getpid()))) {
  fs::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void require_parent(const fs::path& folder) {
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  std::error_code error;
  if (!fs::is_directory(parent, error)) {
    throw SimulationError(folder.string() + ": cannot be made: no folder " + parent.string());
  }
}

namespace {

// The most memory this process has held at once, in bytes; 0 where the system does not say. Linux
// counts in units of 1024 bytes.
std::int64_t peak_memory_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? std::int64_t{usage.ru_maxrss} * 1024 : 0;
}

} // namespace

io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                         std::optional<std::uint64_t> packet_hops, double simulation_s) {
  io::Json tree = meta(invocation);
  if (simulation_s > 0) {
    tree.set("events_per_s", static_cast<double>(events) / simulation_s);
    if (packet_hops) {
      tree.set("packet_hops_per_s", static_cast<double>(*packet_hops) / simulation_s);
    }
  }
  tree.set("peak_rss_bytes", peak_memory_bytes());
  return tree;
}

} // namespace stepsim::cli
