#pragma once
// The assumptions behind a row of `compare --algorithms`, in words. The text is made from the
// scenario as it was run, with every default filled in:
//
//   "one message after backward; error feedback; density 0.001 by default; compressing is free"
//
// "by default" marks values that `compare --algorithms` fills in because the scenario lacks them.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// The text above for one run; empty if there is nothing to list. `record` is the flat summary of
// the run. `filled_in` has the names of the keys, such as "density", that got a default.
[[nodiscard]] std::string assumptions(const Scenario& scenario, const io::Json& record,
                                      const std::vector<std::string>& filled_in);

} // namespace stepsim::study
