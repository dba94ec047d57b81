// The constants are seconds of one core per transfer. What they are multiplied with is counted
// exactly where a phase can say how much it sends, and estimated where a search over block sizes
// comes first.
#include "coll/work.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "coll/algorithms.hpp"
#include "coll/choose.hpp"
#include "coll/evaluate/equal_nodes.hpp"
#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"
#include "coll/formula/uniform.hpp"
#include "coll/method.hpp"
#include "coll/schedule/schedule.hpp"

namespace stepsim::coll {

namespace {

constexpr double kFormula = 1e-6;
constexpr double kSweptTransfer = 2e-8;
constexpr double kRingTransfer = 1e-9;
constexpr double kEqualRingStep = 1e-7; // of a ring of which one rank is played
constexpr double kEventTransfer = 3e-7;
constexpr double kRingEvent = 3e-8;
constexpr double kUnequalRingEvent = 1.2e-7;
constexpr double kFabricTransfer = 2e-6;
constexpr double kWatchedTransfer = 1e-7; // more, where the busy times of ranks are collected
constexpr double kWorthChoosing = 1; // of the slowest candidate: to choose by formulas takes less

double formula_seconds(const Collective& collective) {
  return algorithm(collective.algorithm).formula_s_per_rank * static_cast<double>(collective.ranks);
}

double transfer_seconds(const Collective& collective, Method method, bool ring) {
  if (method == Method::events) {
    if (collective.links.fabric) {
      return kFabricTransfer;
    }
    return !ring ? kEventTransfer : collective.homogeneous() ? kRingEvent : kUnequalRingEvent;
  }
  return ring ? kRingTransfer : kSweptTransfer;
}

// Timing 1, 2, 4, .. blocks until the time rises, and the schedule of the best: about as many
// blocks as the square root of wire time over latency, as where all links are alike (COL 7).
double of_search(const Collective& collective, double schedule_transfer_s) {
  const auto ranks = static_cast<double>(collective.ranks);
  const LinkCost& link = collective.links.all;
  const double most = std::max(1.0, collective.bytes / kSmallestBlock);
  const double wire = ranks * collective.bytes * link.per_byte_s;
  const double blocks = link.block_latency_s > 0
                            ? std::clamp(std::sqrt(wire / link.block_latency_s), 1.0, most)
                            : most;
  const double transfers = 2 * ranks * blocks;
  return transfers * (4 * kSweptTransfer + schedule_transfer_s);
}

double of_schedule(const Collective& collective, Method method, bool with_transfer_times) {
  if (is_empty(collective)) {
    return 0;
  }
  if (collective.algorithm == AlgorithmId::parameter_server) {
    const auto ranks = static_cast<double>(collective.ranks);
    const double servers = collective.options.placement == Placement::sharded
                               ? ranks
                               : static_cast<double>(collective.options.servers);
    return 2 * ranks * servers * transfer_seconds(collective, method, false);
  }
  if (!has_transfers(collective.algorithm)) {
    return 0; // a formula, which is counted for every algorithm
  }
  if (times_blocks(collective)) {
    return of_search(collective, transfer_seconds(collective, method, false));
  }
  double seconds = 0;
  const bool equal_ring = has_equal_ring(collective) && !with_transfer_times;
  Schedule schedule = make_schedule(collective);
  if (method == Method::events) {
    if (std::optional<TwoNodes> two = two_of_equal_nodes(collective, schedule)) {
      schedule = std::move(two->schedule);
    }
  }
  for (const Phase& phase : schedule.phases) {
    if (equal_ring) {
      seconds += static_cast<double>(phase.steps()) * kEqualRingStep;
      continue;
    }
    const double transfers = static_cast<double>(phase.layout.groups) *
                             static_cast<double>(phase.layout.size) *
                             static_cast<double>(phase.steps());
    const bool ring = std::holds_alternative<RingPass>(phase.rule);
    seconds += transfers * (transfer_seconds(collective, method, ring) +
                            (with_transfer_times ? kWatchedTransfer : 0));
  }
  return seconds;
}

// What `auto` takes, if formulas tell; empty where the choice is as much work as the evaluation.
std::optional<AlgorithmId> chosen_by_formula(const Collective& asked) {
  const auto has_formula = [&](AlgorithmId id) {
    Collective candidate = asked;
    candidate.algorithm = id;
    return candidate.homogeneous() && closed_form(candidate).has_value();
  };
  const bool all = !asked.links.fabric && std::ranges::all_of(candidates_of(asked), has_formula);
  return all ? std::optional(choose_algorithm(asked).chosen) : std::nullopt;
}

} // namespace

double evaluation_seconds(const Collective& asked, std::optional<Method> method,
                          bool with_transfer_times) {
  if (asked.algorithm == AlgorithmId::automatic) { // tries all candidates, then takes one of them
    Collective collective = asked;
    double seconds = 0;
    double longest = 0;
    for (const AlgorithmId candidate : candidates_of(asked)) {
      collective.algorithm = candidate;
      const Method tried = asked.links.fabric         ? Method::events
                           : collective.homogeneous() ? Method::closed_form
                                                      : Method::max_plus;
      seconds += evaluation_seconds(collective, tried);
      longest = std::max(longest, evaluation_seconds(collective, method, with_transfer_times));
    }
    if (longest > kWorthChoosing) {
      if (const std::optional<AlgorithmId> chosen = chosen_by_formula(asked)) {
        collective.algorithm = *chosen;
        longest = evaluation_seconds(collective, method, with_transfer_times);
      }
    }
    return seconds + longest;
  }
  const double formula = kFormula + formula_seconds(asked);
  Method by = method ? *method : automatic_method(asked);
  if (with_transfer_times) { // no formula knows them
    by = std::max(by, Method::max_plus);
  }
  if (by == Method::closed_form) {
    return formula + (times_blocks(asked) ? of_search(asked, 0) : 0);
  }
  return formula + of_schedule(asked, by, with_transfer_times);
}

} // namespace stepsim::coll
