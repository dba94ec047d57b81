#pragma once
// The evaluator of collectives by formula: one function per operation and algorithm (COL 5), in the
// table of algorithms. A formula assumes P >= 2 ranks, n > 0 bytes, identical links, parts of
// exactly n / k bytes, and ranks that all enter at 0.
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

struct ClosedForm {
  double seconds{};
  bool upper_bound = false;        // the schedule may be faster (COL 3 a to c); else equal
  std::optional<double> startup_s; // a and b of a + b n, if the form is linear in n
  std::optional<double> per_byte_s;
};

// Returns the form of one operation by one algorithm; empty if there is none for these values.
using ClosedFormFunction = std::optional<ClosedForm> (*)(const Collective&);

// Returns the form startup + per_byte n.
[[nodiscard]] ClosedForm linear_form(double startup, double per_byte, double n);

// Returns the form that options.cost_form names; empty if it does not exist, and for the algorithm
// `automatic`. A collective that is_empty() (uniform.hpp) takes 0 s. Needs `homogeneous()` and an
// operation that the algorithm offers (asserted). The option `chunking` applies to blocks only:
// parts are n / k bytes. Seconds count from time 0, so they include the common entry time.
[[nodiscard]] std::optional<ClosedForm> closed_form(const Collective& collective);

} // namespace stepsim::coll
