// Text from --help is escaped as a whole: a hyphen stays what a user may copy, and a line that
// begins with a dot or a quote is no request.
#include "cli/help/help_text.hpp"

#include <algorithm>
#include <cctype>

#include "cli/shell/entry.hpp"

namespace stepsim::cli {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    begins_line = c == '\n';
    switch (c) {
    case '\\':
      out += "\\e";
      break;
    case '-':
      out += "\\-";
      break;
    case '~':
      out += "\\(ti";
      break;
    case '^':
      out += "\\(ha";
      break;
    case '`':
      out += "\\(ga";
      break;
    default:
      out += c;
    }
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
  return title(std::string(program.name)) + ".SH NAME\n" + escaped(program.name) + " \\- " +
         escaped(program.summary) + "\n.SH SYNOPSIS\n" + in_font('B', program.name) +
         " COMMAND [arguments] [options]\n";
}

} // namespace

std::string man_page(const ProgramPage& program) {
  std::string out = head(program) + ".SH COMMANDS\n";
  for (const ProgramPage::Row& row : program.commands) {
    out += ".TP\n" + in_font('B', row.name) + "\n" + escaped(row.summary) + "; see " +
           in_font('B', std::string(program.name) + "-" + std::string(row.name)) + "(1)\n";
  }
  return out + ".SH DESCRIPTION\n" + lines_as_they_are(program.help);
}

std::string man_page(const ProgramPage& program, const ProgramPage::Row& row) {
  const std::string name = std::string(program.name) + "-" + std::string(row.name);
  const CommandPage page = program.page(std::string(row.name));
  return title(name) + ".SH NAME\n" + escaped(name) + " \\- " + escaped(row.summary) +
         "\n.SH SYNOPSIS\n" + synopsis(page) + ".SH DESCRIPTION\n" + body(page) +
         ".SH \"SEE ALSO\"\n" + in_font('B', program.name) + "(1)\n";
}

std::string whole_man_page(const ProgramPage& program) {
  std::string out = head(program) + ".SH DESCRIPTION\n" + lines_as_they_are(program.help);
  for (const ProgramPage::Row& row : program.commands) {
    const CommandPage page = program.page(std::string(row.name));
    out += ".SH \"" + escaped(upper(row.name)) + "\"\n" + synopsis(page) + body(page);
  }
  return out;
}

} // namespace stepsim::cli
