// The constants are seconds of one core per transfer. What they are multiplied with is counted
// exactly where a phase can say how much it sends, and estimated where a search over block sizes
// comes first.
#include "collectives/method.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/few_ranks.hpp"
#include "collectives/evaluate/streams.hpp"
#include "collectives/formula/blocks.hpp"

namespace stepsim::collectives {

namespace {

constexpr double kFormula = 1e-6;
constexpr double kSweptTransfer = 6e-8;
constexpr double kStreamTransfer = 8e-9; // of blocks of a chain over unequal links
constexpr double kTreeTransfer = 3e-8;   // of blocks of trees over unequal links
constexpr double kIdlePlace = 5e-9;      // of a rank that sends nothing in a step
constexpr double kRingTransfer = 4e-10;
constexpr double kEqualRingStep = 1e-7; // of a ring of which one rank is played
constexpr double kEventTransfer = 2.5e-7;
constexpr double kRingEvent = 3e-8; // where all links are equal
constexpr double kFabricTransfer = 2e-6;
constexpr double kFabricBlock = 4e-7;         // of blocks, which go the same few ways
constexpr double kPath = 2e-6;                // through a fabric
constexpr double kLargestMessagesRank = 4e-7; // of exchanges by halves whose parts are alike
constexpr double kTreeRank = 3e-7;            // of equal trees, for all slots that are played
constexpr double kAddingTreeRank = 2e-6;      // if additions take time: more slots until a period
constexpr double kStreamBlock = 2e-8;         // of an equal pipeline
constexpr double kWatchedTransfer = 1e-7;     // more, where the busy times of ranks are collected
constexpr double kWorthChoosing = 1; // of the slowest candidate: to choose by formulas takes less

double transfer_seconds(const Collective& collective, Method method, bool ring) {
  if (method == Method::events) {
    if (collective.links.fabric) {
      return algorithm(collective.algorithm).block_streams > 0 ? kFabricBlock : kFabricTransfer;
    }
    const std::optional<TwoLevel>& two = collective.links.two_level;
    const bool equal_links = collective.homogeneous() && (!two || two->gpus_per_node == 1);
    return ring && equal_links ? kRingEvent : kEventTransfer;
  }
  return ring ? kRingTransfer : kSweptTransfer;
}

bool has_trees(const Collective& collective) {
  return algorithm(collective.algorithm).block_streams > 1;
}

// Transfers between nodes from the first rank to the last one.
double slow_hops(const Collective& collective) {
  const std::optional<TwoLevel>& two = collective.links.two_level;
  const double nodes = static_cast<double>(collective.ranks) / (two ? two->gpus_per_node : 1);
  return std::max(1.0, has_trees(collective) ? 2 * std::log2(nodes) : nodes);
}

// About as many blocks as the square root of wire time over latency, as where all links are alike
// (COL 7).
double estimated_blocks(const Collective& collective) {
  const LinkCost& link = collective.links.all;
  const double most = std::max(1.0, collective.bytes / kSmallestBlock);
  const double wire = slow_hops(collective) * collective.bytes * link.per_byte_s;
  return link.block_latency_s > 0 ? std::clamp(std::sqrt(wire / link.block_latency_s), 1.0, most)
                                  : most;
}

// A few ranks, or the slots until all edges are at work, stand for all.
double of_equal_streams(const Collective& collective, double blocks) {
  const auto ranks = static_cast<double>(collective.ranks);
  const bool adds = collective.reduction_s_per_byte > 0;
  return has_trees(collective) ? (adds ? kAddingTreeRank : kTreeRank) * ranks
                               : kStreamBlock * (ranks + blocks);
}

// Trees over unequal links mostly have a period after some blocks for each of their levels, and
// skip the rest.
double of_unequal_trees(const Collective& collective, double blocks) {
  const auto ranks = static_cast<double>(collective.ranks);
  return 4 * ranks * std::min(blocks, 8 + 4 * std::log2(ranks)) * kTreeTransfer;
}

// Timing 1, 2, 4, .. blocks until the time rises, and the schedule of the best.
double of_search(const Collective& collective, double schedule_transfer_s) {
  const double blocks = estimated_blocks(collective);
  if (has_equal_streams(collective)) {
    return (2 + std::log2(blocks)) * of_equal_streams(collective, blocks);
  }
  const double transfers = 2 * static_cast<double>(collective.ranks) * blocks;
  if (has_streams(collective) && has_trees(collective)) {
    return (2 + std::log2(blocks)) * of_unequal_trees(collective, blocks) +
           transfers * schedule_transfer_s;
  }
  const double tried = has_streams(collective) ? kStreamTransfer : kSweptTransfer;
  return transfers * (4 * tried + schedule_transfer_s);
}

// Of the places of a schedule, ranks in steps, those in which something is sent. In rings it is all
// of them; a tree has two per rank.
double sending_part(const Collective& collective, const Schedule& schedule) {
  double places = 0;
  for (const Phase& phase : schedule.phases) {
    places += static_cast<double>(phase.layout.groups * phase.layout.size * phase.steps());
    if (std::holds_alternative<RingPass>(phase.rule)) {
      return 1;
    }
  }
  const auto is_full = [](const Phase& phase) { return all_send(phase.rule); };
  const bool all_ranks =
      schedule.ranks == collective.ranks && !std::ranges::all_of(schedule.phases, is_full);
  return all_ranks && places > 0 ? static_cast<double>(traffic(collective).messages) / places : 1;
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
  const bool streams =
      method == Method::max_plus && !with_transfer_times && has_streams(collective);
  const double transfer = streams ? kStreamTransfer : transfer_seconds(collective, method, false);
  if (times_blocks(collective)) {
    return of_search(collective, transfer);
  }
  if (!with_transfer_times && has_equal_streams(collective)) {
    return of_equal_streams(collective, static_cast<double>(resolve_blocks(collective)->blocks));
  }
  if (streams && has_trees(collective)) {
    return of_unequal_trees(collective, static_cast<double>(resolve_blocks(collective)->blocks));
  }
  if (streams) {
    return transfer * static_cast<double>(traffic(collective).messages);
  }
  double seconds = 0;
  const bool equal_ring = has_equal_ring(collective) && !with_transfer_times;
  const Schedule schedule = make_schedule(collective);
  if (!with_transfer_times && has_disjoint_ring(collective, schedule)) {
    const double ranks = static_cast<double>(collective.ranks);
    return ranks * (kPath + kRingTransfer * static_cast<double>(schedule.steps()));
  }
  const bool has_ring = std::ranges::any_of(schedule.phases, [](const Phase& phase) {
    return std::holds_alternative<RingPass>(phase.rule);
  });
  if (method == Method::max_plus && !with_transfer_times && !has_ring &&
      seconds_of_largest_messages(collective)) {
    return static_cast<double>(collective.ranks) * kLargestMessagesRank;
  }
  const double sending = sending_part(collective, schedule);
  for (const Phase& phase : schedule.phases) {
    if (equal_ring) {
      seconds += static_cast<double>(phase.steps()) * kEqualRingStep;
      continue;
    }
    const double places = static_cast<double>(phase.layout.groups) *
                          static_cast<double>(phase.layout.size) *
                          static_cast<double>(phase.steps());
    const bool ring = std::holds_alternative<RingPass>(phase.rule);
    const double transfers = places * sending;
    seconds += (places - transfers) * kIdlePlace +
               transfers * (transfer_seconds(collective, method, ring) +
                            (with_transfer_times ? kWatchedTransfer : 0));
  }
  return seconds;
}

// Whether the closed form would time the ranks of equal links for every size of blocks.
bool searches_ranks(const Collective& collective) {
  return collective.homogeneous() && times_blocks(collective) && !has_equal_streams(collective);
}

// What `auto` takes, if formulas tell; empty where the choice is as much work as the evaluation.
std::optional<AlgorithmId> chosen_by_formula(const Collective& asked) {
  const auto has_formula = [&](AlgorithmId id) {
    Collective candidate = asked;
    candidate.algorithm = id;
    return candidate.homogeneous() && !searches_ranks(candidate) &&
           closed_form(candidate).has_value();
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
      if (plays_for_minutes(collective)) {
        continue;
      }
      const Method tried = asked.links.fabric         ? Method::events
                           : collective.homogeneous() ? Method::closed_form
                                                      : Method::max_plus;
      seconds += evaluation_seconds(collective, tried);
      longest = std::max(longest, evaluation_seconds(collective, method, with_transfer_times));
    }
    if (longest == 0) { // none is left, and the first one is played
      collective.algorithm = candidates_of(asked).front();
      longest = evaluation_seconds(collective, method, with_transfer_times);
    }
    if (longest > kWorthChoosing) {
      if (const std::optional<AlgorithmId> chosen = chosen_by_formula(asked)) {
        collective.algorithm = *chosen;
        longest = evaluation_seconds(collective, method, with_transfer_times);
      }
    }
    return seconds + longest;
  }
  const double formula =
      kFormula + algorithm(asked.algorithm).formula_s_per_rank * static_cast<double>(asked.ranks);
  Method by = method ? *method : searches_ranks(asked) ? Method::max_plus : automatic_method(asked);
  if (with_transfer_times) { // no formula knows them
    by = std::max(by, Method::max_plus);
  }
  if (by == Method::closed_form) {
    return formula + (times_blocks(asked) ? of_search(asked, 0) : 0);
  }
  if (!method && !with_transfer_times && seconds_of_largest_messages(asked)) {
    return formula;
  }
  return formula + of_schedule(asked, by, with_transfer_times);
}

} // namespace stepsim::collectives
