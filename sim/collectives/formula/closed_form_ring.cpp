// Ring (COL 5.4): P-1 rounds of n/P for reduce-scatter and for all-gather; with unequal parts the
// largest makes P-1 hops (COL 5.8).
#include "collectives/formula/closed_form.hpp"

#include "collectives/formula/uniform.hpp"
#include "collectives/schedule/partition.hpp"

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

// The chain of hops of a longest part takes as long as all hops of that length, and no schedule of
// parts that are at most as long takes longer.
std::optional<double> ring_seconds_of_longest_part(const Collective& collective) {
  const Options& options = collective.options;
  const bool cut_evenly = collective.op == Op::allreduce || collective.op == Op::reduce_scatter ||
                          collective.op == Op::allgather;
  if (collective.algorithm != AlgorithmId::ring || !cut_evenly ||
      options.cost_form != CostForm::exact || options.ring_startup_2p ||
      !collective.homogeneous()) {
    return std::nullopt;
  }
  Collective even = collective;
  even.bytes =
      collective.ranks * Partition::equal(collective.bytes, collective.ranks, options).bytes(0, 1);
  const std::optional<ClosedForm> form = closed_form(even);
  return form && !form->upper_bound ? std::optional(form->seconds) : std::nullopt;
}

} // namespace stepsim::collectives
