#pragma once
// One line of text about the points of a sweep: the defaults that decide their times
// (scenario/scenario_tree.hpp), and the keys that they ignore.

#include "scenario/scenario.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::study {

// The decisive defaults of a sweep: "schedule trace (5 measured buckets), reduction_Bps 0". Keys
// whose default differs between points follow as "; by point: mode". At most 32 points, evenly
// spread over the grid, are read; points that cannot be parsed are left out. "" if there are no
// decisive defaults, and for a sweep of collectives.
[[nodiscard]] std::string assumed_text(const Sweep& sweep, Files& files);
// The keys of the scenario that some points ignore because of another key: "collective has no
// meaning for parameter_server". The same points are read as in assumed_text(). Keys that an axis
// sets are not named. "" if no key is ignored, and for a sweep of collectives.
[[nodiscard]] std::string left_out_text(const Sweep& sweep, Files& files);
// Lines for people: "assumed: .." with the first text, and "left out: .." with the keys that all
// points ignore, or the second text, too, with `of_each_point`; where there are any.
[[nodiscard]] std::vector<std::string> notes_of(const Sweep& sweep, Files& files,
                                                bool of_each_point = false);
// Throws UsageError for an axis whose key has no meaning at any point, so that it changes nothing:
// "/training/drain: applies to pipe_sgd only". Before it throws it has read all points, or
// up to 4,096 that are evenly spread, and fewer of a scenario above 2 kB; an axis that counts only
// at others is refused, too. In a sweep of at most 32 points this holds for every value of an axis.
// A sweep of collectives is not checked.
void require_effect(const Sweep& sweep, Files& files);

// What is wrong with a scenario; nothing if it can be parsed.
[[nodiscard]] std::vector<base::Problem> problems_of(const io::Json& tree, Files& files,
                                                     Leftovers leftovers);

} // namespace stepsim::study
