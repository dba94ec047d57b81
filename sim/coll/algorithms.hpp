#pragma once
// The table of all algorithms: which operation has which, with its closed forms (COL 4, 5) and one
// line about it. A new algorithm is one row here, its formula in a `closed_form_*.cpp` and its
// schedule. Rows of one operation stand in the order in which `auto` tries them (COL 9).
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coll/collective.hpp"
#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// Which candidates `auto` takes by itself: all with `always`, on two-level clusters also
// `two_level`; `never` only by name.
enum class Candidate { always, two_level, never };

struct AlgorithmRow {
  Op op;
  AlgorithmId algorithm;
  Candidate candidate;
  ClosedFormFunction exact; // of the schedule
  ClosedFormFunction paper; // as printed, null where there is none
  ClosedFormFunction ideal; // infinitely fine free pipelining, null where there is none
  std::string_view summary;
};

[[nodiscard]] std::span<const AlgorithmRow> algorithm_table();
// The row, or null where the operation does not offer the algorithm.
[[nodiscard]] const AlgorithmRow* find_algorithm(Op op, AlgorithmId algorithm);
// What `auto` tries if the user names no candidates.
[[nodiscard]] std::vector<AlgorithmId> default_candidates(const Collective& collective);

} // namespace stepsim::coll
