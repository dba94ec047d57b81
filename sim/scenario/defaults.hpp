#pragma once
// What a scenario leaves open and what decides a time all the same: every key of the resolved
// scenario that the file does not hold and whose value has an effect here, with the reason for the
// value. A comparison must not depend on a default that its reader does not see.
//
//     {"pointer": "/communication/schedule", "value": "trace", "reason": "5 measured buckets"}
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct DefaultValue {
  std::string pointer; // into the resolved scenario, but for copy_bandwidth_Bps
  io::Json value;
  std::string reason;
  bool decisive = false;  // printed after `assumed:` by `run`
  bool from_node = false; // the node type that the scenario names fills it
};

// The decisive defaults: "schedule trace (5 measured buckets), reduction_Bps 0"; "" without any.
[[nodiscard]] std::string defaults_text(const std::vector<DefaultValue>& defaults);

// The defaults of `scenario`, which was parsed from the tree `written`, in the order of the
// resolved scenario, the schedule first. copy_bandwidth_Bps, which a resolved scenario leaves out
// where it is not given, comes last with the value null.
[[nodiscard]] std::vector<DefaultValue> defaults_that_decide(const io::Json& written,
                                                             const Scenario& scenario);

} // namespace stepsim::study
