#pragma once
// The evaluator of collectives by formula: one function per operation and algorithm (COL 5), found
// in the table of algorithms. A formula is a pure function of numbers for P >= 2 ranks, n > 0
// bytes, identical links, parts of exactly n / k bytes and ranks that all enter at 0.
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct ClosedForm {
  double seconds{};
  bool upper_bound = false;        // exceptions (a) to (c) of COL 3; else equal to the schedule
  std::optional<double> startup_s; // a and b of a + b n, where the form is linear in n
  std::optional<double> per_byte_s;
};

// The form of one operation by one algorithm; empty where these values have none.
using ClosedFormFunction = std::optional<ClosedForm> (*)(const Collective&);

// startup + per_byte n.
[[nodiscard]] ClosedForm linear_form(double startup, double per_byte, double n);

// Form `cost_form`; empty where that form does not exist, and for `automatic`, which is none of its
// own. Needs `homogeneous()` (asserted). `chunking` is ignored but for blocks: parts are n / k. A
// common entry time counts in.
[[nodiscard]] std::optional<ClosedForm> closed_form(const Collective& collective);

} // namespace stepsim::coll
