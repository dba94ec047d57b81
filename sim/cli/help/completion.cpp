// The words before the one that is completed say what it is: the name of the command, the value of
// an option, an option, or an argument.

#include "cli/help/help_text.hpp"

namespace stepsim::cli {

namespace {

void keep_those_with(std::string_view typed, std::vector<Candidate>& words) {
  std::erase_if(words, [&](const Candidate& each) { return !each.word.starts_with(typed); });
}

void put_before(std::string_view prefix, std::vector<Candidate>& words) {
  for (Candidate& each : words) {
    each.word.insert(0, prefix);
  }
}

// The last word of a list: what stands before it is kept, and words it already has are left out.
void complete_list(std::string_view typed, std::vector<Candidate>& words) {
  const std::size_t comma = typed.rfind(',');
  if (comma != typed.npos) {
    const std::string before = "," + std::string(typed.substr(0, comma + 1));
    std::erase_if(words, [&](const Candidate& each) {
      return before.find("," + each.word + ",") != before.npos;
    });
    put_before(typed.substr(0, comma + 1), words);
  }
  keep_those_with(typed, words);
}

// The value of an option or argument.
Completion complete_value(const ProgramPage& program, const CommandPage& page,
                          const OptionText& option, std::string_view typed) {
  Completion found;
  const std::string_view kind = option.is_argument ? option.names.front() : option.value;
  if (kind.starts_with("POINTER")) {
    const std::size_t equals = typed.find('=');
    if (equals == typed.npos) {
      found.words = pointer_words(typed, kind == "POINTER" ? "" : "=");
      return found;
    }
    found.words = words_of_key(typed.substr(0, equals), program.data_folder);
    complete_list(typed.substr(equals + 1), found.words);
    put_before(typed.substr(0, equals + 1), found.words);
    return found;
  }
  found.words = value_words(page, option, program.data_folder);
  complete_list(typed, found.words);
  found.files = option.is_argument
                    ? kind != "ACTION" && kind != "KIND" && kind != "FORMAT" && kind != "COMMAND"
                    : kind.find("FILE") != kind.npos || kind == "CAL" || kind == "FOLDER";
  return found;
}

// The argument at this place; the last one takes all that follow if it is a list.
const OptionText* argument(const CommandPage& page, std::size_t place) {
  const OptionText* last = nullptr;
  for (const OptionText& option : page.options) {
    if (option.is_argument) {
      last = &option;
      if (place-- == 0) {
        return last;
      }
    }
  }
  return last != nullptr && last->is_list ? last : nullptr;
}

std::vector<Candidate> option_words(const CommandPage& page, std::string_view typed) {
  std::vector<Candidate> words;
  for (const OptionText& option : page.options) {
    if (!option.is_argument) {
      words.push_back({option.names.back(), option.sentence});
    }
  }
  keep_those_with(typed, words);
  return words;
}

std::vector<Candidate> command_words(const ProgramPage& program, std::string_view typed) {
  std::vector<Candidate> words = named(program.commands());
  if (typed.starts_with('-')) {
    words = {{"--help", "this text"}, {"--version", "the build"}};
  }
  keep_those_with(typed, words);
  return words;
}

// NAME becomes the program, FUNCTION a name that a shell takes for a function.
std::string filled(std::string_view script, std::string_view program) {
  std::string function(program);
  std::ranges::replace(function, '-', '_');
  std::string out(script);
  for (const auto& [mark, value] :
       {std::pair<std::string_view, std::string_view>{"NAME", program}, {"FUNCTION", function}}) {
    for (std::size_t at = out.find(mark); at != out.npos; at = out.find(mark, at + value.size())) {
      out.replace(at, mark.size(), value);
    }
  }
  return out;
}

} // namespace

Completion complete(const ProgramPage& program, std::span<const std::string> typed) {
  const std::string last = typed.empty() ? "" : typed.back();
  if (typed.size() <= 1) {
    return {command_words(program, last), false};
  }
  CommandPage page;
  try {
    page = program.page(typed.front());
  } catch (const UsageError&) {
    return {};
  }
  const OptionText* pending = nullptr; // the option whose value comes next
  std::size_t arguments = 0;
  for (const std::string& word : typed.subspan(1, typed.size() - 2)) {
    if (pending != nullptr) {
      pending = nullptr;
    } else if (word.size() > 1 && word.starts_with('-')) {
      const OptionText* option = find_option(page, word); // none of the form --option=value
      pending = option != nullptr && !option->value.empty() ? option : nullptr;
    } else {
      ++arguments;
    }
  }
  if (pending != nullptr) {
    return complete_value(program, page, *pending, last);
  }
  const std::size_t equals = last.find('=');
  if (last.starts_with("--") && equals != last.npos) {
    const OptionText* option = find_option(page, last.substr(0, equals));
    Completion found =
        option == nullptr
            ? Completion{}
            : complete_value(program, page, *option, std::string_view(last).substr(equals + 1));
    put_before(last.substr(0, equals + 1), found.words);
    return {found.words, false};
  }
  if (last.starts_with('-')) {
    return {option_words(page, last), false};
  }
  const OptionText* place = argument(page, arguments);
  if (place == nullptr) {
    return {option_words(page, last), false};
  }
  if (page.text.name == "help" && place->names.front() == "COMMAND") {
    return {command_words(program, last), false};
  }
  return complete_value(program, page, *place, last);
}

std::string completion_text(const Completion& completion) {
  std::string out;
  for (const Candidate& each : completion.words) {
    out += each.word;
    if (!each.sentence.empty()) {
      const std::size_t line = std::min(each.sentence.find('\n'), each.sentence.size());
      const std::size_t end = std::min(each.sentence.find(". "), line);
      out.append("\t").append(each.sentence, 0, end);
    }
    out += '\n';
  }
  return completion.files ? out + ":files\n" : out;
}

// bash breaks words at = and :, and then replaces the last part only: the parts are put together
// for the question, and what stands before the last break is cut from each answer.
std::string bash_script(std::string_view program) {
  return filled(R"(# bash completion of NAME
_FUNCTION() {
  local words=() part joined=0 i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    part=${COMP_WORDS[i]}
    if ((${#words[@]} > 0)) && { [[ $part == [=:]* ]] || ((joined)); }; then
      words[-1]+=$part
    else
      words+=("$part")
    fi
    joined=0
    [[ $part == [=:] ]] && joined=1
  done
  local typed=${words[-1]} line answer
  local cut=${typed%"${typed##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames
      while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "$typed")
      continue
    fi
    line=${line%%$'\t'*}
    [[ $line == *[/=] ]] && compopt -o nospace
    COMPREPLY+=("${line#"$cut"}")
  done < <("${COMP_WORDS[0]}" help --format words -- "${words[@]}" 2>/dev/null)
}
complete -F _FUNCTION NAME
)",
                program);
}

std::string zsh_script(std::string_view program) {
  return filled(R"(#compdef NAME
_FUNCTION() {
  local -a whole open whole_text open_text
  local line word
  for line in "${(@f)$($words[1] help --format words -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
      continue
    fi
    word=${line%%$'\t'*}
    [[ -z $word ]] && continue
    if [[ $word == *[/=] ]]; then
      open+=("$word")
      open_text+=("${line/$'\t'/  -- }")
    else
      whole+=("$word")
      whole_text+=("${line/$'\t'/  -- }")
    fi
  done
  (( $#whole )) && compadd -Q -l -d whole_text -a whole
  (( $#open )) && compadd -Q -S '' -l -d open_text -a open
}
_FUNCTION "$@"
)",
                program);
}

std::string fish_script(std::string_view program) {
  return filled(R"(# fish completion of NAME
function __FUNCTION_words
  set -l typed (commandline -ct)
  set -l words (commandline -opc)
  for line in ($words[1] help --format words -- $words[2..-1] "$typed" 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path "$typed"
    else
      echo $line
    end
  end
end
complete -c NAME -f -a '(__FUNCTION_words)'
)",
                program);
}

} // namespace stepsim::cli
