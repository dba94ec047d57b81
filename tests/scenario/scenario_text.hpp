#pragma once
// Scenarios as text for the tests of this folder.
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/paths.hpp"

namespace stepsim::study::testing {

inline Files& shipped_files() {
  static Files files(STEPSIM_SOURCE_DIR);
  return files;
}

inline Scenario scenario(std::string_view text, Leftovers leftovers = Leftovers::refuse) {
  return parse_scenario(with_short_forms_expanded(io::parse_json(text, "test.json")),
                        shipped_files(), leftovers);
}

inline Result run_text(std::string_view text) { return run(scenario(text)); }

// The first problem's text, or "" where the scenario is fine.
inline std::string problem_of(std::string_view text) {
  try {
    (void)scenario(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

} // namespace stepsim::study::testing
