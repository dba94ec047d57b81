#pragma once
// The evaluator of collectives by formula: one function per operation and algorithm (COL 5), in the
// table of algorithms. The functions of the table assume P >= 2 ranks, n > 0 bytes, identical
// links, parts of exactly n / k bytes, and ranks that all enter at 0; closed_form() also takes one
// rank, 0 bytes and a common entry time.

#include "collectives/collective.hpp"

namespace stepsim::collectives {

struct ClosedForm {
  double seconds{};
  bool upper_bound = false;        // the schedule may be faster (COL 3 a to c); else equal
  std::optional<double> startup_s; // a and b of a + b n, if the form is linear in n: closed_form()
                                   // gives `seconds` as this sum, to the last digit
  std::optional<double> per_byte_s;
};

// Returns the form of one operation by one algorithm; empty if there is none for these values.
using ClosedFormFunction = std::optional<ClosedForm> (*)(const Collective&);

// Returns the form startup + per_byte n.
[[nodiscard]] ClosedForm linear_form(double startup, double per_byte, double n);

// Returns the form that options.cost_form names; empty if it does not exist, and for the algorithm
// `automatic`. Needs `homogeneous()` and an operation that the algorithm offers (asserted). A
// collective that is_empty() (uniform.hpp) lasts 0 s. `seconds` and `startup_s` count from time 0:
// the common entry time is added to both, also for an empty collective. The option `chunking`
// applies to blocks only: parts are n / k bytes.
[[nodiscard]] std::optional<ClosedForm> closed_form(const Collective& collective);

} // namespace stepsim::collectives
