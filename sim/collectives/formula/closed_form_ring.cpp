// Ring (COL 5.4): P-1 rounds of n/P for reduce-scatter and for all-gather; of an allgatherv the
// largest part makes P-1 hops (COL 5.8).
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

std::optional<ClosedForm> ring_form(const Collective& collective) {
  const Symbols s = symbols(collective);
  const bool startup_2p = collective.options.ring_startup_2p && collective.op == Op::allreduce;
  return parts_form(s, collective.op, startup_2p ? s.P : s.P - 1);
}

std::optional<ClosedForm> ring_allgatherv(const Collective& collective) {
  const Symbols s = symbols(collective);
  const std::vector<double>& sizes = collective.sizes;
  const double largest = sizes.empty() ? s.n / s.P : *std::max_element(sizes.begin(), sizes.end());
  const double exchange =
      collective.options.exchange_sizes ? (s.P - 1) * (s.alpha + kSizeEntryBytes * s.beta) : 0;
  const double startup = (s.P - 1) * s.alpha + exchange;
  return linear_form(startup, (s.P - 1) * (largest / s.n) * s.beta, s.n);
}

} // namespace stepsim::collectives
