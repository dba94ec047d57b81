#pragma once
// What the points of a sweep assume: the defaults that decide their times (scenario/defaults.hpp).
#include <string>

#include "scenario/files.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// "schedule trace (5 measured buckets), reduction_Bps 0", with "; by point: mode" for the keys
// whose default differs between points. At most 32 points, evenly spread, are looked at; one that
// cannot be parsed is left out. "" where nothing is assumed, and for a collective.
[[nodiscard]] std::string assumed_text(const Sweep& sweep, Files& files);
// The same for one scenario.
[[nodiscard]] std::string assumed_text(const io::Json& scenario, Files& files);
// What some points leave out of the scenario, which has no meaning there: "collective has no
// meaning for parameter_server". The same points are looked at, and keys that an axis sets do not
// count. "" where nothing is left out.
[[nodiscard]] std::string left_out_text(const Sweep& sweep, Files& files);
// Throws UsageError for an axis whose key has no meaning at any of these points, so that it changes
// nothing: "/training/pipeline_width: applies to pipe_sgd only". Collectives are not looked at.
void require_effect(const Sweep& sweep, Files& files);

} // namespace stepsim::study
