// Help is written here and not by CLI11: examples come first, and groups stand in the order in
// which commands add their options.

#include "cli/help/help_text.hpp"

#include "cli/shell/entry.hpp"

#include <CLI/CLI.hpp>
#include <cctype>

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

// Folders that texts name, and where they lie when stepsim is installed, below the data folder.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPlaces{
    {{"docs/", "../doc/stepsim/docs/"},
     {"schemas/", "schemas/"},
     {"models/", "models/"},
     {"topologies/", "topologies/"},
     {"traces/", "traces/"},
     {"examples/", "examples/"}}};

// Text from --help is escaped as a whole: a hyphen stays what a user may copy, and a line that
// begins with a dot or a quote is no request.

constexpr std::array<std::pair<char, const char*>, 5> kMarks{
    {{'\\', "\\e"}, {'-', "\\-"}, {'~', "\\(ti"}, {'^', "\\(ha"}, {'`', "\\(ga"}}};

std::string escaped(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    begins_line = c == '\n';
    const auto* mark = std::ranges::find(kMarks, c, &std::pair<char, const char*>::first);
    out += mark == kMarks.end() ? std::string(1, c) : mark->second;
  }
  return out;
}

std::string in_font(char font, std::string_view text) {
  return std::string("\\f") + font + escaped(text) + "\\fR";
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string title(const std::string& name) {
  return ".TH " + escaped(upper(name)) + " 1 \"\" \"stepsim " + std::string(version()) +
         "\" \"User Commands\"\n";
}

// Lines as they are, each indented as in an example.
std::string lines_as_they_are(std::string_view lines) {
  std::string text = escaped(lines);
  return ".nf\n" + text + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

std::string option_item(const OptionText& option) {
  std::string names = base::listed(option.names, [&](const std::string& name) {
    return in_font(option.is_argument ? 'I' : 'B', name);
  });
  names += option.value.empty() ? "" : " " + in_font('I', option.value);
  return ".TP\n" + names + "\n" + escaped(option.sentence.empty() ? "." : option.sentence) + "\n";
}

// What --help has for a command, without its name; headings of groups are `.SS`.
std::string body(const CommandPage& page) {
  std::string out = ".PP\n" + escaped(page.text.sentence) + "\n";
  for (const std::string& group : groups_of(page)) {
    out += ".SS \"" + escaped(group) + "\"\n";
    for (const OptionText& option : page.options) {
      if (option.group == group) {
        out += option_item(option);
      }
    }
  }
  if (!page.footer.empty()) {
    out += ".SS \"Words\"\n" + lines_as_they_are(page.footer);
  }
  out += ".SS \"Examples\"\n" + lines_as_they_are(page.text.examples);
  if (!page.text.see.empty()) {
    out += ".PP\n" + lines_as_they_are(page.text.see);
  }
  return out;
}

std::string synopsis(const CommandPage& page) {
  return in_font('B', std::string(page.text.program) + " " + std::string(page.text.name)) + " " +
         escaped(page.text.usage) + (page.text.usage.empty() ? "" : " ") + "[options]\n";
}

std::string head(const ProgramPage& program) {
  const auto& [name, summary, commands, help, version, former, has_pages] = program.table;
  return title(std::string(name)) + ".SH NAME\n" + escaped(name) + " \\- " + escaped(summary) +
         "\n.SH SYNOPSIS\n" + in_font('B', name) + " COMMAND [arguments] [options]\n";
}

} // namespace

// Two blanks, the name, and the text in one column for all rows.
std::string help_list(std::string_view heading, std::span<const Candidate> rows) {
  std::string out = std::string(heading) + ":\n";
  for (const Candidate& row : rows) {
    append_row(out, row.word, kLeft, row.sentence);
  }
  return out;
}

std::string command_help(const CommandPage& page) {
  const CommandText& text = page.text;
  std::string out = "Usage: " + std::string(text.program) + " " + std::string(text.name);
  if (!text.usage.empty()) {
    out.append(" ").append(text.usage);
  }
  out += " [options]\n\nExamples:\n";
  append_indented_lines(out, text.examples);
  out.append("\n").append(text.sentence).append("\n");
  for (const std::string& group : groups_of(page)) {
    out += "\n" + group + ":\n";
    for (const OptionText& option : page.options) {
      if (option.group == group) {
        append_row(out,
                   base::listed(option.names) + (option.value.empty() ? "" : " ") + option.value,
                   kLeft, option.sentence);
      }
    }
  }
  if (!page.footer.empty()) {
    out.append("\n").append(page.footer);
  }
  if (!text.see.empty()) {
    out.append("\n").append(text.see).append("\n");
  }
  return out;
}

// A path is replaced where the installed file is there: "traces/mine.json" of an example is not.
std::string with_installed_places(std::string text, const std::string& data_folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(fs::path(data_folder) / "../doc/stepsim/docs", error)) {
    return text;
  }
  constexpr std::string_view kPath =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find_first_not_of(kPath, at);
    end = end == at ? at + 1 : std::min(end, text.size());
    std::string word = text.substr(at, end - at);
    const std::size_t last = word.find_last_not_of('.') + 1; // a full stop may follow
    const std::string path = word.substr(0, last);
    for (const auto& [folder, place] : kPlaces) {
      if (path.starts_with(folder)) {
        const fs::path file = fs::path(data_folder) / place / path.substr(folder.size());
        if (fs::is_regular_file(file, error)) {
          word = file.lexically_normal().string() + word.substr(last);
          break;
        }
      }
    }
    out += word;
    at = end;
  }
  return out;
}

std::string program_help() {
  std::string out = "stepsim predicts how long a training step takes on a GPU cluster, and why.\n\n"
                    "Usage: stepsim COMMAND [arguments] [options]\n";
  std::string_view group; // whose commands follow one another
  for (const Command& command : commands()) {
    if (command.group != group) {
      group = command.group;
      out.append("\n").append(group).append(":\n");
    }
    append_row(out, std::string(command.name), 10, command.summary);
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
      "`stepsim --version` the build. stepsim-calibrate measures networks and GPUs and fits "
      "them.\n";
  out.append(kExitCodes).append("\n");
  return out;
}

CommandPage page_of(const CLI::App& app, const CommandText& text) {
  CommandPage page{text, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    OptionText each;
    each.sentence = option->get_description();
    each.group = option->get_group();
    each.is_argument = option->get_positional();
    if (each.is_argument) {
      each.names = {option->get_name(true)};
      each.is_list = option->get_items_expected_max() > 1;
    } else {
      for (const std::string& name : option->get_snames()) {
        each.names.push_back("-" + name);
      }
      for (const std::string& name : option->get_lnames()) {
        each.names.push_back("--" + name);
      }
      each.value = option->get_items_expected_max() > 0 ? option->get_type_name() : "";
    }
    page.options.push_back(std::move(each));
  }
  return page;
}

const OptionText* find_option(const CommandPage& page, std::string_view name) {
  const auto found = std::ranges::find_if(page.options, [&](const OptionText& option) {
    return !option.is_argument && std::ranges::find(option.names, name) != option.names.end();
  });
  return found == page.options.end() ? nullptr : &*found;
}

std::vector<std::string> groups_of(const CommandPage& page) {
  std::vector<std::string> groups;
  for (const OptionText& option : page.options) {
    if (std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::ranges::stable_partition(groups, [](const auto& group) { return group != kOutputGroup; });
  return groups;
}

std::vector<Command> ProgramPage::commands() const {
  std::vector<Command> built(table.commands.begin(), table.commands.end());
  std::erase_if(built, [](const Command& each) { return each.run == nullptr; });
  return built;
}

// The command does not run.
CommandPage ProgramPage::page(std::string_view name) const {
  const Command& command = find_command(table, std::string(name));
  if (command.run == nullptr) {
    throw UsageError(std::string(name) + ": built without " + std::string(command.missing));
  }
  Invocation invocation;
  invocation.data_folder = data_folder;
  CommandPage page;
  invocation.described = [&](const CommandPage& described) { page = described; };
  try {
    (void)command.run(invocation);
  } catch (const HelpWasGiven&) { // the page is described
  }
  return page;
}

std::string man_page(const ProgramPage& program) {
  std::string out = head(program) + ".SH COMMANDS\n";
  for (const Command& row : program.commands()) {
    out += ".TP\n" + in_font('B', row.name) + "\n" + escaped(row.summary) + "; see " +
           in_font('B', std::string(program.table.name) + "-" + std::string(row.name)) + "(1)\n";
  }
  return out + ".SH DESCRIPTION\n" + lines_as_they_are(program.table.help());
}

std::string man_page(const ProgramPage& program, const Command& row) {
  const std::string name = std::string(program.table.name) + "-" + std::string(row.name);
  const CommandPage page = program.page(row.name);
  return title(name) + ".SH NAME\n" + escaped(name) + " \\- " + escaped(row.summary) +
         "\n.SH SYNOPSIS\n" + synopsis(page) + ".SH DESCRIPTION\n" + body(page) +
         ".SH \"SEE ALSO\"\n" + in_font('B', program.table.name) + "(1)\n";
}

std::string whole_man_page(const ProgramPage& program) {
  std::string out = head(program) + ".SH DESCRIPTION\n" + lines_as_they_are(program.table.help());
  for (const Command& row : program.commands()) {
    const CommandPage page = program.page(row.name);
    out += ".SH \"" + escaped(upper(row.name)) + "\"\n" + synopsis(page) + body(page);
  }
  return out;
}

} // namespace stepsim::cli
