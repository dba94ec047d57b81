#pragma once
// The context of all functions that read a scenario: where to report problems, the files that the
// scenario names, and how to treat keys without effect. Lists of flows, merge problems and
// break-even problems are read with it, too.
#include <string_view>

#include "document/reader.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

struct ParseContext {
  io::Problems& problems;
  Files& files;
  Leftovers leftovers;

  // Reports `key` of `fields` if it is present, has no effect here (not `meaningful`) and leftovers
  // are refused: "cycle_s has no meaning for schedule ddp".
  void needs_meaning(io::Fields& fields, std::string_view key, bool meaningful,
                     std::string_view where) const;
};

} // namespace stepsim::study
