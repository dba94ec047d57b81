// Bruck (COL 5.3): L = ceil(log2 P) rounds with 1, 2, 4, .. parts, any P, no fold. The rounds are
// blocking: a rank starts a round when it has finished the one before, as an implementation does
// that waits for its receive before it sends again. One `ready` time per rank (COL 3) says just
// that. Where P is no power of two the last round sends only some of the parts, and on unequal
// links a rank then waits for parts that it does not pass on.
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

ClosedForm parts_form(const Symbols& s, Op op, double rounds, double startup_s) {
  const bool both = op == Op::allreduce || op == Op::reduce;
  const double halves = both ? 2 : 1;
  const double gamma = both || op == Op::reduce_scatter ? s.gamma : 0;
  return linear_form(halves * rounds * s.alpha + startup_s, s.f * (halves * s.beta + gamma), s.n);
}

std::optional<ClosedForm> bruck_form(const Collective& collective) {
  if (!all_equal(collective.sizes)) {
    return std::nullopt;
  }
  const Symbols s = symbols(collective);
  const bool exchange = collective.op == Op::allgatherv && collective.options.exchange_sizes;
  return parts_form(s, collective.op, s.L,
                    exchange ? s.L * s.alpha + (s.P - 1) * kSizeEntryBytes * s.beta : 0);
}

} // namespace stepsim::collectives
