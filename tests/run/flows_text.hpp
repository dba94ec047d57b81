#pragma once
// Lists of flows as text for the tests of this folder.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "run/flows_run.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study::testing {

using Changes = std::vector<std::pair<std::string, io::Json>>;

inline io::Json flows_with(std::string_view text, const Changes& changes = {}) {
  io::Json tree = with_short_forms_expanded(io::parse_json(text, "flows.json"));
  for (const auto& [pointer, value] : changes) {
    io::assign(tree, pointer, value);
  }
  return tree;
}

inline FlowsFile flows_file(std::string_view text, const Changes& changes = {},
                            Leftovers leftovers = Leftovers::refuse) {
  return parse_flows(flows_with(text, changes), shipped_files(), leftovers);
}

inline FlowsResult run_flows_text(std::string_view text, const Changes& changes = {}) {
  return run_flow_list(flows_file(text, changes));
}

// Completion times in seconds; -1 where nothing arrived.
inline std::vector<double> fct(std::string_view text, const Changes& changes = {}) {
  std::vector<double> seconds;
  for (const FlowResult& flow : run_flows_text(text, changes).flows) {
    seconds.push_back(flow.fct_s.value_or(-1));
  }
  return seconds;
}

// The first problem's text, or "" where the list is fine.
inline std::string flows_problem(std::string_view text, const Changes& changes) {
  try {
    (void)flows_file(text, changes);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

inline io::Json json(std::string_view text) { return io::parse_json(text, "value"); }

} // namespace stepsim::study::testing
