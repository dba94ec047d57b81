// Which evaluator is the cheapest exact one, and its time.

#include "collectives/method.hpp"

#include "base/quantity.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/evaluate/few_ranks.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/formula/blocks.hpp"
#include "collectives/formula/lower_bound.hpp"

namespace stepsim::collectives {

namespace {

// Equal parts of the message of a flat algorithm.
double part_count(Op op, AlgorithmId id, std::uint32_t ranks) {
  const auto parts = algorithm(id).parts;
  return parts != nullptr ? parts(op, ranks) : 1;
}

// Several nodes, each with more ranks than interfaces.
// Only then do ranks of a node wait for one another at its interfaces.
bool few_interfaces(const Collective& collective) {
  const std::optional<TwoLevel>& two = collective.links.two_level;
  return two && collective.ranks > two->gpus_per_node && two->nics_per_node < two->gpus_per_node;
}

// The choice of `auto` (COL 9): every candidate at its cheapest, all ranks entering at 0;
// on a fabric by events.

// Why a grid first: two curves may cross more than once, as the time of a pipeline grows with the
// root of the bytes at first, so that bisection over the whole range would lose crossings. Between
// two sizes of the grid it finds the first of them to a relative error of 1e-9.

constexpr double kGridStep = 1.189207115002721; // 2^(1/4)
constexpr double kTolerance = 1e-9;             // relative, of a crossover
constexpr double kSameCost = 1e-12;             // relative, of two costs

// Given sizes of ranks keep their ratios; only the whole grows.
Collective resized(const Collective& collective, double bytes) {
  Collective result = collective;
  const double whole = total_bytes(collective);
  for (double& size : result.sizes) {
    size *= whole > 0 ? bytes / whole : 0;
  }
  result.bytes = bytes;
  result.options.chunking = Chunking::real;
  return result;
}

std::size_t winner(std::span<const CostByBytes> costs, double bytes) {
  std::size_t best = 0;
  double least = costs[0](bytes);
  for (std::size_t i = 1; i < costs.size(); ++i) {
    if (const double cost = costs[i](bytes); cost < least * (1 - kSameCost)) {
      best = i;
      least = cost;
    }
  }
  return best;
}

} // namespace

// Formulas know parts of n / k bytes. Where n is no multiple some parts are one element longer, and
// the schedule takes longer by up to one element per step.
bool parts_divide(const Collective& collective) {
  const Options& options = collective.options;
  if (options.chunking == Chunking::real ||
      (!collective.sizes.empty() && algorithm(collective.algorithm).node_parts == nullptr)) {
    return true; // given sizes are no parts of a whole
  }
  if (!collective.held_bytes.empty()) {
    return std::ranges::all_of(collective.held_bytes,
                               [](double bytes) { return std::fmod(bytes, 1) == 0; });
  }
  const double elements = collective.bytes / static_cast<double>(options.element_bytes);
  const auto into = [&](double parts) { return std::fmod(elements, parts) == 0; };
  if (const auto parts = algorithm(collective.algorithm).node_parts) {
    return into(parts(collective));
  }
  if (algorithm(collective.algorithm).in_switch) {
    return true; // a formula of bytes, cut or not
  }
  const std::uint32_t ranks = collective.ranks;
  if (has_level_algorithms(collective.algorithm)) {
    const NodeRanks nodes(collective);
    const double inter = part_count(Op::allreduce, options.inter_algorithm, nodes.nodes());
    if (collective.algorithm == AlgorithmId::hierarchical) {
      return into(nodes.largest() * inter);
    }
    const auto into_nodes_of = [&](std::uint32_t size) {
      return into(part_count(Op::reduce, options.intra_algorithm, size)) &&
             into(part_count(Op::broadcast, options.intra_algorithm, size));
    };
    bool divide = into(inter) && into_nodes_of(nodes.largest());
    for (std::uint32_t node = 0; divide && !nodes.equal() && node < nodes.nodes(); ++node) {
      divide = into_nodes_of(nodes.size(node));
    }
    return divide;
  }
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return into(options.placement == Placement::sharded ? ranks : options.servers);
  }
  return into(part_count(collective.op, collective.algorithm, ranks));
}

bool has_equal_ring(const Collective& collective) {
  const Links& links = collective.links;
  return collective.algorithm == AlgorithmId::ring && collective.ranks > 1 && !links.fabric &&
         !links.two_level && links.pairs.empty() && !links.pairs_only && links.all.delay_s == 0 &&
         collective.reduction_s_per_byte_rank.empty() && collective.homogeneous() &&
         parts_divide(collective);
}

bool static_share_estimates(const Collective& collective) {
  return algorithm(collective.algorithm).interfaces == Interfaces::fixed_share &&
         few_interfaces(collective) && !(collective.homogeneous() && parts_divide(collective));
}

bool shares_interfaces(const Collective& collective) {
  if (!few_interfaces(collective)) {
    return false;
  }
  switch (algorithm(collective.algorithm).interfaces) {
  case Interfaces::fixed_share:
  case Interfaces::own:
    return false;
  case Interfaces::shared_off_chain:
    return !collective.chain.empty();
  case Interfaces::shared:
    return true;
  }
  return true;
}

bool leaves_nodes_once(const Collective& collective) {
  return collective.algorithm == AlgorithmId::ring ||
         (collective.algorithm == AlgorithmId::lp && collective.chain.empty());
}

std::optional<std::string> idle_interfaces(const Collective& collective) {
  const std::optional<TwoLevel>& two = collective.links.two_level;
  if (!two || collective.links.fabric || two->gpus_per_node == 1 ||
      collective.ranks <= two->gpus_per_node || collective.op == Op::alltoall) {
    return std::nullopt; // all algorithms of an alltoall know the nodes
  }
  const std::uint32_t nics = std::min(two->nics_per_node, two->gpus_per_node);
  const std::string word(name(collective.algorithm));
  const bool equal = NodeRanks(collective).equal();
  const std::string others = !equal ? "hierarchical_leader"
                             : collective.op == Op::allreduce
                                 ? "hierarchical, two_level and ring_rails"
                                 : "two_level and ring_rails";
  if (!equal && (collective.op != Op::allreduce ||
                 collective.algorithm == AlgorithmId::hierarchical_leader)) {
    return std::nullopt; // nothing better is there
  }
  if (collective.algorithm == AlgorithmId::hierarchical_leader && nics > 1) {
    return word + " uses one of the " + std::to_string(nics) + " interfaces of a node; " + others +
           " use them all";
  }
  const bool flat = !is_two_level(collective.algorithm) &&
                    collective.algorithm != AlgorithmId::parameter_server &&
                    collective.algorithm != AlgorithmId::automatic;
  if (!flat || (nics > 1 && !leaves_nodes_once(collective))) {
    return std::nullopt;
  }
  return "flat_on_two_levels: " + word + " is flat and uses one network card of a node" +
         (nics > 1 ? " of " + std::to_string(nics) : "") + "; " + others +
         (equal ? " know" : " knows") + " both levels";
}

// From the cheapest to the dearest: a formula that is equal to the schedule, a sweep that is exact
// because no two transfers share anything, events.
Method automatic_method(const Collective& asked) {
  if (asked.links.fabric) {
    return Method::events;
  }
  if (asked.algorithm == AlgorithmId::automatic) {
    return automatic_method(with_chosen_algorithm(asked));
  }
  const Collective& collective = asked;
  // The formula of trees is an upper bound, whatever their blocks are.
  const bool bounded = collective.algorithm == AlgorithmId::double_binary_tree;
  const bool printed = collective.options.cost_form != CostForm::exact ||
                       (collective.options.ring_startup_2p && collective.op == Op::allreduce &&
                        collective.algorithm == AlgorithmId::ring);
  if (collective.homogeneous() && !(bounded && times_blocks(collective))) {
    const std::optional<ClosedForm> form = closed_form(collective);
    if (form &&
        (printed || is_empty(collective) || (!form->upper_bound && parts_divide(collective)))) {
      return Method::closed_form;
    }
  }
  const bool one_by_one = collective.algorithm == AlgorithmId::parameter_server
                              ? max_plus_defined(collective)
                              : !shares_interfaces(collective);
  return one_by_one ? Method::max_plus : Method::events;
}

std::optional<std::string> estimate_warning(const Collective& collective, Method method) {
  if (method == Method::closed_form && collective.options.cost_form == CostForm::exact) {
    const std::optional<ClosedForm> form =
        collective.homogeneous() ? closed_form(collective) : std::nullopt;
    if (form && form->upper_bound) {
      return std::string(kUpperBound);
    }
    if (!parts_divide(collective)) {
      return "the closed form takes equal parts, but the bytes do not divide; max_plus is exact";
    }
  }
  if (method == Method::max_plus && static_share_estimates(collective)) {
    return "max_plus gives every rank a fixed share of its interface, but transfers differ in size "
           "or start; events is exact";
  }
  if (method == Method::max_plus && shares_interfaces(collective)) {
    return "max_plus estimates the sharing of interfaces; events is exact";
  }
  return std::nullopt;
}

// Formulas of a printed cost form may lie below the bound and are given as they are; all other
// times are checked.
double seconds(const Collective& asked, Method method) {
  if (asked.algorithm == AlgorithmId::automatic) {
    return seconds(with_chosen_algorithm(asked), method);
  }
  const Collective& collective = asked;
  switch (method) {
  case Method::closed_form: {
    const std::optional<ClosedForm> form =
        collective.homogeneous() ? closed_form(collective) : std::nullopt;
    if (!form) {
      throw SimulationError(
          std::string(name(collective.op)) + " " + std::string(name(collective.algorithm)) +
          " has no closed form here; use " + (collective.links.fabric ? "events" : "max_plus"));
    }
    if (collective.options.cost_form == CostForm::exact) {
      check_bound(collective, method, form->seconds);
    }
    return form->seconds;
  }
  case Method::max_plus: {
    const std::optional<double> quick = seconds_of_largest_messages(collective);
    const double time = quick ? *quick : max_plus(collective).seconds;
    check_bound(collective, method, time);
    return time;
  }
  case Method::events: {
    const double time = events(collective).seconds;
    check_bound(collective, method, time);
    return time;
  }
  }
  return 0;
}

// Measured times of small messages may be shorter than the slope of large ones allows.
void check_bound(const Collective& collective, Method method, double seconds) {
  if (takes_measured_steps(collective)) {
    return;
  }
  // Flows that end together may each end by 1e-9 of their size early (flow_level.hpp).
  const double slack = collective.links.fabric ? 1e-8 : 1e-9;
  const double bound = lower_bound(collective).seconds();
  if (seconds >= bound * (1 - slack)) {
    return;
  }
  throw SimulationError("internal error: " + std::string(name(collective.op)) + " " +
                        std::string(name(collective.algorithm)) + " of " +
                        base::shortest(collective.bytes) + " bytes on " +
                        std::to_string(collective.ranks) + " ranks takes " +
                        base::shortest(seconds) + " s by " + std::string(name(method)) +
                        ", less than the lower bound of " + base::shortest(bound) + " s");
}

// Closed forms where they are exact keep a choice cheap; a printed form would favour algorithms
// whose papers are optimistic, so that the exact one is taken whatever the run asks for.
double candidate_cost(const Collective& collective, AlgorithmId algorithm) {
  Collective candidate = collective;
  candidate.algorithm = algorithm;
  candidate.enter_s.clear();
  candidate.options.cost_form = CostForm::exact;
  if (candidate.links.fabric) {
    return plays_for_minutes(candidate) ? std::numeric_limits<double>::infinity()
                                        : events(candidate).seconds;
  }
  if (candidate.homogeneous()) {
    if (const std::optional<ClosedForm> form = closed_form(candidate)) {
      return form->seconds;
    }
  }
  if (!candidate.homogeneous() && !candidate.links.measured && times_blocks(candidate)) {
    return *resolve_blocks(candidate)->seconds;
  }
  return max_plus(candidate).seconds;
}

bool plays_for_minutes(const Collective& candidate) {
  constexpr double kMostMessages = 1e6;
  const std::optional<Blocks> blocks =
      candidate.links.fabric ? resolve_blocks(candidate) : std::nullopt;
  return blocks && static_cast<double>(blocks->blocks) * candidate.ranks > kMostMessages;
}

std::vector<AlgorithmId> candidates_of(const Collective& collective) {
  const std::vector<AlgorithmId>& asked = collective.options.candidates;
  return asked.empty() ? default_candidates(collective) : asked;
}

Choice choose_algorithm(const Collective& collective) {
  const std::vector<AlgorithmId> candidates = candidates_of(collective);
  const std::vector<double> costs = base::collected<double>(
      candidates, [&](AlgorithmId candidate) { return candidate_cost(collective, candidate); });
  // The runner-up is the cheapest without the winner, so that results can say by how much a choice
  // was made.
  const auto cheapest = [&](std::size_t except) {
    std::size_t best = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (i != except && std::isfinite(costs[i]) &&
          (best == candidates.size() || costs[i] < costs[best] * (1 - kFirstWins))) {
        best = i;
      }
    }
    return best;
  };
  const std::size_t first = cheapest(candidates.size()) % candidates.size(); // if none is finite
  Choice choice;
  choice.chosen = candidates[first];
  choice.chosen_s = costs[first];
  if (const std::size_t second = cheapest(first); second < candidates.size()) {
    choice.runner_up = candidates[second];
    choice.runner_up_s = costs[second];
  }
  return choice;
}

Collective with_chosen_algorithm(Collective collective) {
  if (collective.algorithm == AlgorithmId::automatic) {
    collective.algorithm = choose_algorithm(collective).chosen;
  }
  return collective;
}

CostByBytes cost_by_bytes(const Collective& collective, AlgorithmId algorithm) {
  return [=](double bytes) { return candidate_cost(resized(collective, bytes), algorithm); };
}

std::vector<Crossover> find_crossovers(std::span<const CostByBytes> costs, double low_bytes,
                                       double high_bytes) {
  assert(!costs.empty() && low_bytes > 0 && low_bytes <= high_bytes);
  std::vector<Crossover> found;
  double at = low_bytes;
  std::size_t here = winner(costs, at);
  while (at < high_bytes) {
    const double next = std::min(at * kGridStep, high_bytes);
    const std::size_t there = winner(costs, next);
    // A pair of neighbours may hide several changes: take the first, go on from it.
    while (here != there) {
      double low = at;
      double high = next;
      std::size_t above = there;
      while (high - low > kTolerance * high) {
        const double middle = std::sqrt(low * high);
        const std::size_t between = winner(costs, middle);
        (between == here ? low : high) = middle;
        above = between == here ? above : between;
      }
      found.push_back({here, above, high});
      at = high;
      here = above;
    }
    at = next;
  }
  return found;
}

} // namespace stepsim::collectives
