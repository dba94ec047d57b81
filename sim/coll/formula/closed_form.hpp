#pragma once
// The evaluator of collectives by formula: one function per operation and algorithm (COL 5), found
// in the table of algorithms. A formula is a pure function of numbers for P >= 2 ranks, n > 0
// bytes, identical links, parts of exactly n / k bytes and ranks that all enter at 0.
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct ClosedForm {
  double seconds{};
  bool upper_bound = false;        // the schedule may be faster (COL 3 a to c); else it is equal
  std::optional<double> startup_s; // a and b of a + b n, where the form is linear in n
  std::optional<double> per_byte_s;
};

// The form of one operation by one algorithm; empty where these values have none.
using ClosedFormFunction = std::optional<ClosedForm> (*)(const Collective&);

// startup + per_byte n.
[[nodiscard]] ClosedForm linear_form(double startup, double per_byte, double n);

// The form that `cost_form` names; empty where it does not exist, and for `automatic`, which has
// none of its own. Needs `homogeneous()` and an operation that has the algorithm (asserted).
// `chunking` is ignored but for blocks: parts are n / k. Seconds count from time 0, a common entry
// time included.
[[nodiscard]] std::optional<ClosedForm> closed_form(const Collective& collective);

} // namespace stepsim::coll
