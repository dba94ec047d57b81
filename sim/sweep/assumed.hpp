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
// The text for one scenario: "schedule trace (5 measured buckets), reduction_Bps 0".
[[nodiscard]] std::string assumed_text(const io::Json& scenario, Files& files);
// The keys of the scenario that some points ignore, because they have no meaning there: "collective
// has no meaning for parameter_server". The same points are looked at as in assumed_text(); keys
// that an axis sets do not count. "" if no key is ignored.
[[nodiscard]] std::string left_out_text(const Sweep& sweep, Files& files);

} // namespace stepsim::study
