// Bidirectional exchange (COL 5.2): recursive halving and doubling among q = 2^K ranks; the other
// P - q ranks hand their vector to a partner first and get the result last (the fold, F = 1).
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

std::optional<ClosedForm> be_broadcast(const Collective& collective) {
  const Symbols s = symbols(collective);
  // With q < P ranks no part has L hops of the scatter in a row: the root's port and not the data
  // sets the pace, and delays count less often than start-ups.
  if (s.delay > 0 && s.F > 0) {
    return std::nullopt;
  }
  return linear_form((s.L + s.P - 1) * s.alpha, 2 * s.f * s.beta, s.n);
}

// A reduce takes the folded ranks in, an all-reduce also gives them the result.
std::optional<ClosedForm> be_sums(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double folds = collective.op == Op::allreduce ? 2 : 1;
  const double core = 2 * s.fq * s.beta + s.fq * s.gamma;
  return linear_form((2 * s.K + folds * s.F) * s.alpha, core + s.F * (folds * s.beta + s.gamma),
                     s.n);
}

} // namespace stepsim::collectives
