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
    "Prints the help of the program or of a command; as a man page (man), as a script that\n"
    "completes words on TAB (bash, zsh, fish), or what is known about it (json). words prints "
    "what\n"
    "completes the last of the words that follow, which is what the scripts ask for.",
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

io::Json command_tree(const ProgramPage& program, const ProgramPage::Row& row) {
  const CommandPage page = program.page(std::string(row.name));
  io::Json tree = io::tree_of<&ProgramPage::Row::name, &ProgramPage::Row::summary>(row);
  io::set_members<&CommandText::usage, &CommandText::sentence, &CommandText::examples>(page.text,
                                                                                       tree);
  tree.set("options", io::write_each(page.options, [&](const OptionText& each) {
             return option_tree(each, page, program.data_folder);
           }));
  return tree;
}

// The row of the command, for errors too: `page` throws for a name that is none.
ProgramPage::Row row_of(const ProgramPage& program, const std::string& name) {
  const auto found = std::ranges::find(program.commands, name, &ProgramPage::Row::name);
  return found != program.commands.end() ? *found
                                         : ProgramPage::Row{program.page(name).text.name, ""};
}

// All commands, or the one named. Throws UsageError for an unknown one.
io::Json program_tree(const ProgramPage& program, const std::string& command) {
  const auto rows = command.empty() ? program.commands : std::vector{row_of(program, command)};
  return io::Object{{"commands", io::write_each(rows, [&](const ProgramPage::Row& row) {
                       return command_tree(program, row);
                     })}};
}

std::string text_in(HelpFormat format, const ProgramPage& program, const std::string& command,
                    const std::vector<std::string>& words) {
  switch (format) {
  case HelpFormat::man:
    if (!command.empty()) {
      return man_page(program, row_of(program, command));
    }
    return program.has_pages_of_commands ? man_page(program) : whole_man_page(program);
  case HelpFormat::bash:
    return bash_script(program.name);
  case HelpFormat::zsh:
    return zsh_script(program.name);
  case HelpFormat::fish:
    return fish_script(program.name);
  case HelpFormat::words:
    return completion_text(complete(program, words));
  case HelpFormat::json:
    return io::pretty(program_tree(program, command));
  case HelpFormat::text:
    break;
  }
  return command.empty() ? program.help : command_help(program.page(command));
}

// The page of a command, which does not run.
CommandPage page_of_command(const Command& command, const std::string& data_folder) {
  if (command.run == nullptr) {
    throw UsageError(std::string(command.name) + ": built without " + std::string(command.missing));
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

ProgramPage page_of_program(const ProgramTable& program, const std::string& data_folder) {
  ProgramPage page{program.name,
                   program.summary,
                   program.help(),
                   {},
                   [&program, data_folder](const std::string& name) {
                     return page_of_command(find_command(program, name), data_folder);
                   },
                   data_folder,
                   program.has_pages_of_commands};
  for (const Command& command : program.commands) {
    if (command.run != nullptr) {
      page.commands.push_back({command.name, command.summary});
    }
  }
  return page;
}

} // namespace

// Words may look like options: they follow "--".
int help_of(const Invocation& invocation, const ProgramTable& of) {
  const ProgramPage program = page_of_program(of, invocation.data_folder);
  std::vector<std::string> words;
  CLI::App app;
  app.add_option("COMMAND", words, "of which help is wanted; with --format words: what is typed");
  std::string typed_format;
  add_value(app, "--format", typed_format, "WORD",
            base::joined(kHelpFormats.all(), " or ") + "; default text", kOutputGroup);
  CommandText text = kHelpText;
  text.program = program.name;
  Common common(app, text, invocation);
  HelpFormat format =
      format_of(common, Format::table) == Format::json ? HelpFormat::json : HelpFormat::text;
  read_word("--format", typed_format, kHelpFormats, format);
  if (words.size() > 1 && format != HelpFormat::words) {
    throw UsageError(base::shown_value(words[1]) + ": surplus argument; see " +
                     std::string(program.name) + " help --help");
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
