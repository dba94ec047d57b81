// Bruck (COL 5.3): L = ceil(log2 P) rounds with 1, 2, 4, .. parts, any P, no fold. The rounds are
// blocking: a rank starts a round when it has finished the one before, as an implementation does
// that waits for its receive before it sends again. One `ready` time per rank (COL 3) says just
// that. Where P is no power of two the last round sends only some of the parts, and on unequal
// links a rank then waits for parts that it does not pass on.
#include "collectives/formula/closed_forms.hpp"

#include <algorithm>

#include "collectives/formula/symbols.hpp"

namespace stepsim::collectives {

std::optional<ClosedForm> bruck_allreduce(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(2 * s.L * s.alpha, s.f * (2 * s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> bruck_reduce_scatter(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(s.L * s.alpha, s.f * (s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> bruck_allgather(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form(s.L * s.alpha, s.f * s.beta, s.n);
}

std::optional<ClosedForm> bruck_allgatherv(const Collective& collective) {
  const std::vector<double>& sizes = collective.sizes;
  const bool equal =
      std::all_of(sizes.begin(), sizes.end(), [&](double size) { return size == sizes.front(); });
  if (!equal) {
    return std::nullopt;
  }
  const Symbols s = symbols(collective);
  const double exchange =
      collective.options.exchange_sizes ? s.L * s.alpha + (s.P - 1) * kSizeEntryBytes * s.beta : 0;
  return linear_form(s.L * s.alpha + exchange, s.f * s.beta, s.n);
}

} // namespace stepsim::collectives
