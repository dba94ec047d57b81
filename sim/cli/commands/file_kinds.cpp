#include "cli/commands/file_kinds.hpp"

#include "files/keys/links_keys.hpp"
#include "files/keys/model_keys.hpp"
#include "files/keys/topology_keys.hpp"
#include "files/keys/trace_keys.hpp"
#include "scenario/keys/problem.hpp"
#include "scenario/keys/scenario.hpp"

namespace stepsim::cli {

std::vector<io::FileKind> file_kinds() {
  return {io::keys::links_file(),       io::keys::model_file(),    study::keys::problem_file(),
          study::keys::scenario_file(), io::keys::topology_file(), io::keys::trace_file()};
}

} // namespace stepsim::cli
