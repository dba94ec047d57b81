#include "cli/commands/file_kinds.hpp"

#include "scenario/keys/problem_keys.hpp"
#include "scenario/keys/scenario_keys.hpp"

namespace stepsim::cli {

std::vector<io::FileKind> file_kinds() {
  return {study::keys::problem_file(), study::keys::scenario_file()};
}

} // namespace stepsim::cli
