// Ring (COL 5.4): P-1 rounds of n/P for reduce-scatter and for all-gather; with unequal parts the
// largest makes P-1 hops (COL 5.8).
#include "coll/formula/closed_form_ring.hpp"

#include <algorithm>

#include "coll/formula/symbols.hpp"

namespace stepsim::coll {

std::optional<ClosedForm> ring_allreduce(const Collective& collective) {
  const Symbols s = symbols(collective);
  const double startups = collective.options.ring_startup_2p ? 2 * s.P : 2 * (s.P - 1);
  return linear_form(startups * s.alpha, s.f * (2 * s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> ring_reduce_scatter(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form((s.P - 1) * s.alpha, s.f * (s.beta + s.gamma), s.n);
}

std::optional<ClosedForm> ring_allgather(const Collective& collective) {
  const Symbols s = symbols(collective);
  return linear_form((s.P - 1) * s.alpha, s.f * s.beta, s.n);
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

} // namespace stepsim::coll
