// Recursive doubling of whole vectors (COL 5.5): K exchanges among 2^K ranks, the others folded.
#include "coll/closed_form.hpp"

namespace stepsim::coll {

std::optional<ClosedForm> recursive_doubling_allreduce(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double startup = (s.K + 2 * s.F) * s.alpha;
  const double per_byte = s.K * (s.beta + s.gamma) + s.F * (2 * s.beta + s.gamma);
  ClosedForm form = linear_form(startup, per_byte, s.n);
  form.upper_bound = s.F > 0 && s.gamma > 0 && !s.serial;
  return form;
}

std::optional<ClosedForm> recursive_doubling_paper(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(s.L * s.alpha, s.L * (s.beta + s.gamma), s.n);
}

} // namespace stepsim::coll
