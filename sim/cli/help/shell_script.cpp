#include "cli/help/completion.hpp"

#include <algorithm>

namespace stepsim::cli {

namespace {

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
