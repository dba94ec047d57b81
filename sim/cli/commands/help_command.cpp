// stepsim help [COMMAND]: --help of a command, and what is made from the same tables: man pages,
// completion scripts, and the words that these scripts ask for.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/help/help_text.hpp"
#include "document/fields/members.hpp"

namespace stepsim::cli {

namespace {

enum class HelpFormat { text, json, man, bash, zsh, fish, words };
constexpr auto kHelpFormats = base::words<HelpFormat>();

constexpr CommandText kHelpText = answered_at_once({
    "help",
    "[COMMAND]",
    R"(Prints the help of the program or of a command; as a man page (man), as a script that
completes words on TAB (bash, zsh, fish), or what is known about it (json). words prints what
completes the last of the words that follow, which is what the scripts ask for.)",
    "stepsim help run\n"
    "stepsim help run --format man | man -l -\n"
    "source <(stepsim help --format bash)\n"
    "stepsim help --format words -- collective --algorithm gt",
    "Installed packages have man pages and completion already.",
    kJsonOrTable,
});

io::Json option_tree(const OptionText& option, const CommandPage& page,
                     const std::string& data_folder) {
  using Option = OptionText;
  io::Json tree =
      io::tree_of<&Option::names, &Option::value, &Option::group, &Option::sentence>(option);
  tree.set("argument", option.is_argument);
  tree.set("words",
           base::collected<io::Json>(value_words(page, option, data_folder), &Candidate::word));
  return tree;
}

io::Json command_tree(const ProgramPage& program, const Command& row) {
  const CommandPage page = program.page(row.name);
  io::Json tree = io::tree_of<&Command::name, &Command::summary>(row);
  io::set_members<&CommandText::usage, &CommandText::sentence, &CommandText::examples>(page.text,
                                                                                       tree);
  tree.set("options", io::write_each(page.options, [&](const OptionText& each) {
             return option_tree(each, page, program.data_folder);
           }));
  return tree;
}

// All commands, or the one named. Throws UsageError for an unknown one.
io::Json program_tree(const ProgramPage& program, const std::string& command) {
  const auto rows =
      command.empty() ? program.commands() : std::vector{find_command(program.table, command)};
  return io::Object{{"commands", io::write_each(rows, [&](const Command& row) {
                       return command_tree(program, row);
                     })}};
}

std::string text_in(HelpFormat format, const ProgramPage& program, const std::string& command,
                    const std::vector<std::string>& words) {
  switch (format) {
  case HelpFormat::man:
    if (!command.empty()) {
      return man_page(program, find_command(program.table, command));
    }
    return program.table.has_pages_of_commands ? man_page(program) : whole_man_page(program);
  case HelpFormat::bash:
    return bash_script(program.table.name);
  case HelpFormat::zsh:
    return zsh_script(program.table.name);
  case HelpFormat::fish:
    return fish_script(program.table.name);
  case HelpFormat::words:
    return completion_text(complete(program, words));
  case HelpFormat::json:
    return io::pretty(program_tree(program, command));
  case HelpFormat::text:
    break;
  }
  return command.empty() ? program.table.help() : command_help(program.page(command));
}

} // namespace

// Words may look like options: they follow "--".
int help_of(const Invocation& invocation, const ProgramTable& of) {
  const ProgramPage program{of, invocation.data_folder};
  std::vector<std::string> words;
  CLI::App app;
  app.add_option("COMMAND", words, "of which help is wanted; with --format words: what is typed");
  std::string typed_format;
  add_value(app, "--format", typed_format, "WORD",
            base::joined(kHelpFormats.all(), " or ") + "; default text", kOutputGroup);
  CommandText text = kHelpText;
  text.program = of.name;
  Common common(app, text, invocation);
  HelpFormat format =
      format_of(common, Format::table) == Format::json ? HelpFormat::json : HelpFormat::text;
  read_word("--format", typed_format, kHelpFormats, format);
  if (words.size() > 1 && format != HelpFormat::words) {
    throw UsageError(base::shown_value(words[1]) + ": surplus argument; see " +
                     std::string(of.name) + " help --help");
  }
  const std::string command = words.empty() || format == HelpFormat::words ? "" : words.front();
  const std::string out =
      with_installed_places(text_in(format, program, command, words), invocation.data_folder);
  if (format == HelpFormat::words) {
    write_named(common.output, out); // tabs stay
  } else {
    write_output(common, out);
  }
  return kOk;
}

int help(const Invocation& invocation) { return help_of(invocation, stepsim_program()); }

} // namespace stepsim::cli
