// Help is written here and not by CLI11: examples come first, and groups stand in the order in
// which commands add their options.
#include "cli/shell/help.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/commands/commands.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kLeft = 30; // columns of names

// "  left   right", the right part wrapped at blanks under itself.
void append_row(std::string& out, const std::string& left, std::size_t left_width,
                std::string_view right) {
  out += "  " + left;
  std::size_t column = 2 + left.size();
  const std::size_t indent = left_width + 4;
  if (column + 2 > indent) {
    out += '\n';
    column = 0;
  }
  out.append(indent - column, ' ');
  column = indent;
  while (!right.empty()) {
    const std::size_t room = kWidth - column;
    if (right.size() <= room) {
      out += right;
      break;
    }
    std::size_t cut = right.rfind(' ', room);
    cut = cut == std::string_view::npos ? room : cut;
    out.append(right.substr(0, cut)).append("\n").append(indent, ' ');
    right.remove_prefix(std::min(right.size(), cut + 1));
  }
  out += '\n';
}

void append_indented_lines(std::string& out, std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    out.append("  ").append(lines.substr(0, end)).append("\n");
    lines.remove_prefix(std::min(lines.size(), end + 1));
  }
}

std::string option_names(const CLI::Option& option) {
  if (option.get_positional()) {
    return option.get_name(true);
  }
  std::string names;
  for (const std::string& name : option.get_snames()) {
    names += "-" + name + ", ";
  }
  for (const std::string& name : option.get_lnames()) {
    names += "--" + name + ", ";
  }
  names.resize(names.size() - 2);
  if (option.get_items_expected_max() > 0) {
    names += " " + option.get_type_name();
  }
  return names;
}

} // namespace

// Two blanks, the name, and the text in one column for all rows.
std::string help_list(std::string_view heading, std::span<const HelpRow> rows) {
  std::string out = std::string(heading) + ":\n";
  for (const auto& [name, summary] : rows) {
    append_row(out, name, kLeft, summary);
  }
  return out;
}

std::string command_help(const CLI::App& app, const CommandText& text) {
  std::string out = "Usage: " + std::string(text.program) + " " + std::string(text.name);
  if (!text.usage.empty()) {
    out.append(" ").append(text.usage);
  }
  out += " [options]\n\nExamples:\n";
  append_indented_lines(out, text.examples);
  out.append("\n").append(text.sentence).append("\n");
  std::vector<std::string> groups;
  for (const CLI::Option* option : app.get_options()) {
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      groups.push_back(option->get_group());
    }
  }
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group != "Output"; });
  for (const std::string& group : groups) {
    out += "\n" + group + ":\n";
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() == group) {
        append_row(out, option_names(*option), kLeft, option->get_description());
      }
    }
  }
  if (const std::string footer = app.get_footer(); !footer.empty()) {
    out.append("\n").append(footer);
  }
  if (!text.see.empty()) {
    out.append("\n").append(text.see).append("\n");
  }
  return out;
}

std::string program_help() {
  std::string out = "stepsim predicts how long a training step takes on a GPU cluster, and why.\n\n"
                    "Usage: stepsim COMMAND [arguments] [options]\n";
  std::vector<std::string_view> groups;
  for (const Command& command : commands()) {
    if (std::find(groups.begin(), groups.end(), command.group) == groups.end()) {
      groups.push_back(command.group);
    }
  }
  for (const std::string_view group : groups) {
    out.append("\n").append(group).append(":\n");
    for (const Command& command : commands()) {
      if (command.group == group) {
        append_row(out, std::string(command.name), 10, command.summary);
      }
    }
  }
  out += "\nExamples:\n";
  append_indented_lines(
      out, "stepsim run scenario.json --set /cluster/nodes=64\n"
           "stepsim compare scenario.json --over /communication/schedule=wfbp,ddp,mg_wfbp,optimal\n"
           "stepsim sweep scenario.json --over /cluster/nodes=4:64:x2 -o results/nodes.jsonl\n"
           "stepsim collective --op allreduce --algorithm ring,be --ranks 8 --bytes 100MB"
           " --latency 10us --bandwidth 10Gbps\n"
           "stepsim import kineto profile.json.gz -o traces/mine.json\n");
  out +=
      "\n`stepsim COMMAND --help` explains a command, `stepsim keys POINTER` a key of a scenario,\n"
      "`stepsim --version` the build. stepsim-calibrate measures networks and GPUs and fits them.\n"
      "Exit codes: 0 ok, 1 simulation error, 2 usage, 3 bad input file, 4 target not met,"
      " 130 interrupted, 141 standard output closed.\n";
  return out;
}

} // namespace stepsim::cli
