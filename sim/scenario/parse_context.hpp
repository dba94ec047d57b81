#pragma once
// The context of all functions that read a scenario: where to report problems, the files that the
// scenario names, and how to treat keys without effect. Lists of flows, merge problems and
// break-even problems are read with it, too.

#include "scenario/scenario.hpp"

namespace stepsim::study {

// The two ways to give a network, for the error where it has neither.
inline constexpr std::string_view kNumberOrNetwork =
    "a number; or give calibration, a network that stepsim topologies list names";

struct ParseContext {
  io::Problems& problems;
  Files& files;
  Leftovers leftovers;

  // Reports `key` of `fields` if it is present, has no effect here (not `meaningful`) and leftovers
  // are refused: "cycle_s has no meaning for schedule ddp".
  void needs_meaning(io::Fields& fields, std::string_view key, bool meaningful,
                     std::string_view where) const;
};

// Takes keys out of a scenario that lost their meaning when another key was changed.

// Drops from `tree` the keys that parse_scenario() refuses because they have no meaning there, one
// after the other, as one may have none only because of another one, and adds them to `dropped`.
// Only keys at pointers for which `may` is true are dropped. Returns the scenario; throws what
// parse_scenario() throws about the rest.
Scenario without_leftovers(io::Json& tree, Files& files,
                           const std::function<bool(std::string_view pointer)>& may,
                           std::vector<MeaninglessKey>& dropped);

} // namespace stepsim::study
