#pragma once
// What a row of `compare --algorithms` takes for granted, in words, from the scenario as it was
// run with every default filled in:
//
//   "one message after backward; error feedback; density 0.001 by default; compressing is free"
//
// "by default" marks what `compare --algorithms` fills in because the scenario does not say it.
#include <string>
#include <string_view>
#include <vector>

#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// `record`: the flat summary of the run. `filled_in`: names of keys such as "density".
[[nodiscard]] std::string assumptions(const Scenario& scenario, const io::Json& record,
                                      const std::vector<std::string>& filled_in);

} // namespace stepsim::study
