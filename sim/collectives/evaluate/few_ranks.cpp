#include "collectives/evaluate/few_ranks.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/link_costs.hpp"
#include "collectives/formula/uniform.hpp"
#include "collectives/method.hpp"
#include "links/flow/flow_network.hpp"

#include <ranges>

namespace stepsim::collectives {

namespace {

struct Connection { // of a rank to the next
  std::uint32_t src{}, dst{};
  links::FlowPath path;
  LinkCost cost;
};

bool fits(const Collective& collective) {
  const links::RankFabric& fabric = *collective.links.fabric;
  const LinkCost& all = collective.links.all;
  const bool delays = all.delay_s > 0 ||
                      (collective.links.two_level && collective.links.two_level->intra.delay_s > 0);
  return collective.algorithm == AlgorithmId::ring && collective.ranks > 1 && !delays &&
         collective.reduction_s_per_byte_rank.empty() && fabric.headers.payload_bytes <= 0;
}

// Entries, ends of transfers and of additions: what events() counts.
std::uint64_t events_of_ring(const Collective& collective, const Schedule& schedule) {
  std::uint64_t events = collective.ranks;
  for (const Phase& phase : schedule.phases) {
    const RingPass& pass = std::get<RingPass>(phase.rule);
    const auto transfers = static_cast<std::uint64_t>(phase.layout.size * pass.steps());
    events += pass.reduce && collective.reduction_s_per_byte > 0 ? 2 * transfers : transfers;
  }
  return events;
}

// All phases are passes round one ring, with something to send in each of their steps.
bool is_one_ring(const Schedule& schedule) {
  return !schedule.phases.empty() && schedule.lanes.size() == 1 &&
         std::ranges::all_of(schedule.phases, [&](const Phase& phase) {
           return std::holds_alternative<RingPass>(phase.rule) && phase.layout.groups == 1 &&
                  phase.layout.size == schedule.ranks && phase.inner_share == 1 &&
                  phase.partition.bytes(phase.layout.size - 1, 1) > 0 &&
                  phase.layout.rank(0, 0) == schedule.phases.front().layout.rank(0, 0);
         });
}

Connection connection_of(const Collective& collective, const FabricLinks& links, std::uint32_t src,
                         std::uint32_t dst) {
  Connection result{src, dst, links::rank_path(*collective.links.fabric, src, dst),
                    links.cost(src, dst)};
  const std::vector<double> no_parts(result.path.links.size(), 1);
  const std::vector<double>& parts = result.path.parts.empty() ? no_parts : result.path.parts;
  result.cost.latency_s += result.path.latency_s;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const links::LinkId link = result.path.links[i];
    const double bandwidth = collective.links.fabric->fabric().links[link].bandwidth_Bps;
    result.cost.per_byte_s = std::max(result.cost.per_byte_s, parts[i] / bandwidth);
  }
  return result;
}

// The ring with the costs of its paths instead of the fabric, and what each link carries. Empty if
// the ring is no such ring, or a link would carry two connections.
struct DisjointRing {
  Collective collective;
  std::vector<links::LinkUse> uses;
};

std::optional<DisjointRing> without_fabric(const Collective& asked, const Schedule& schedule) {
  if (!fits(asked) || !is_one_ring(schedule)) {
    return std::nullopt;
  }
  const FabricLinks links(asked.links);
  const Layout& layout = schedule.phases.front().layout;
  DisjointRing result{asked, {}};
  result.uses.resize(asked.links.fabric->fabric().links.size());
  Collective& collective = result.collective;
  collective.links = {.all = {}, .pairs_only = true};
  for (Index local = 0; local < layout.size; ++local) {
    const auto rank = [&](Index place) {
      return static_cast<std::uint32_t>(layout.rank(0, place));
    };
    const Connection each =
        connection_of(asked, links, rank(local), rank((local + 1) % layout.size));
    double bytes = 0;
    for (const Phase& phase : schedule.phases) {
      const RingPass& pass = std::get<RingPass>(phase.rule);
      const Index kept = pass.reduce ? local : (local + 1) % layout.size;
      bytes += phase.partition.total() - phase.partition.bytes(kept, 1);
    }
    for (std::size_t i = 0; i < each.path.links.size(); ++i) {
      links::LinkUse& use = result.uses[each.path.links[i]];
      if (use.busy_s > 0) {
        return std::nullopt;
      }
      const double part = each.path.parts.empty() ? 1 : each.path.parts[i];
      use = {part * bytes, each.cost.per_byte_s * bytes};
    }
    collective.links.pairs.push_back({each.src, each.dst, each.cost});
  }
  std::ranges::sort(collective.links.pairs, {},
                    [](const PairCost& pair) { return std::pair(pair.src, pair.dst); });
  return result;
}

bool all_ranks_send(const Schedule& schedule) {
  return !schedule.phases.empty() && std::ranges::all_of(schedule.phases, [&](const Phase& phase) {
    const bool sends = all_send(phase.rule) || std::holds_alternative<RingPass>(phase.rule);
    return sends && phase.partition.is_equal() && phase.layout.size == schedule.ranks &&
           phase.partition.parts() == schedule.ranks;
  });
}

// The rank that begins the path on which `owner` gets its sum, or `owner` if nothing is added.
Index start_of_path(const Schedule& schedule, Index owner) {
  Index rank = owner;
  for (const Phase& phase : schedule.phases | std::views::reverse) {
    std::visit(
        [&](const auto& rule) {
          for (Index step = rule.steps(); step-- > 0 && rule.send(step, rank).reduce;) {
            rank = rule.receive(step, rank).peer;
          }
        },
        phase.rule);
  }
  return rank;
}

// The time at which the path that begins at the rank ends; empty if a message on it is not a
// largest one of its step. Times are added in the order of the general sweep.
std::optional<double> end_of_path(const Schedule& schedule, const UniformCost& cost, Index rank) {
  double now = cost.enter_s;
  for (const Phase& phase : schedule.phases) {
    const bool complete = std::visit(
        [&](const auto& rule) {
          for (Index step = 0; step < rule.steps(); ++step) {
            const Send send = rule.send(step, rank);
            assert(send.needs == Needs::all && "a message waits for all that was received");
            const double bytes = phase.partition.bytes(send.first, send.count);
            if (bytes < phase.partition.most_bytes(send.count)) {
              return false;
            }
            now += cost.link.latency_s + bytes * cost.link.per_byte_s;
            now += cost.link.delay_s;
            now += send.reduce ? bytes * cost.reduction_s_per_byte : 0;
            rank = send.peer;
          }
          return true;
        },
        phase.rule);
    if (!complete) {
      return std::nullopt;
    }
  }
  return now;
}

} // namespace

std::optional<Evaluation> disjoint_ring(const Collective& asked) {
  if (!fits(asked)) {
    return std::nullopt;
  }
  const Schedule schedule = make_schedule(asked);
  std::optional<DisjointRing> ring = without_fabric(asked, schedule);
  if (!ring) {
    return std::nullopt;
  }
  Evaluation result = max_plus(ring->collective);
  result.events = events_of_ring(asked, schedule);
  result.links = std::move(ring->uses);
  return result;
}

bool has_disjoint_ring(const Collective& collective, const Schedule& schedule) {
  return collective.links.fabric && without_fabric(collective, schedule).has_value();
}

std::optional<Evaluation> equal_ring(const Collective& collective) {
  if (!has_equal_ring(collective)) {
    return std::nullopt;
  }
  const Schedule schedule = make_schedule(collective);
  if (!is_one_ring(schedule) || !std::ranges::all_of(schedule.phases, [](const Phase& phase) {
        return phase.partition.uniform();
      })) {
    return std::nullopt;
  }
  Evaluation result;
  result.seconds = seconds_of_largest_messages(collective).value();
  result.messages = static_cast<std::uint64_t>(schedule.steps()) * collective.ranks;
  result.ranks.finish_s.assign(collective.ranks, result.seconds);
  result.events = events_of_ring(collective, schedule);
  return result;
}

// A part of a ring goes around alone. Elsewhere the sum of part 0 passes through the largest
// messages where these begin at multiples of their length (halving, swing), that of the last large
// part where they end with it (Bruck).
std::optional<double> seconds_of_largest_messages(const Collective& collective) {
  const Algorithm& row = algorithm(collective.algorithm);
  if (row.phases == nullptr || row.parts == nullptr || row.block_streams > 0) {
    return std::nullopt;
  }
  const std::optional<UniformCost> cost = uniform_cost(collective);
  if (!cost) {
    return std::nullopt;
  }
  const Schedule schedule = make_schedule(collective);
  if (!all_ranks_send(schedule)) {
    return std::nullopt;
  }
  const Phase& first = schedule.phases.front();
  std::optional<double> end;
  for (const Index part : {Index{0}, std::max<Index>(first.partition.large_parts() - 1, 0)}) {
    if (const std::optional<Index> rank = owner(first.rule, part); rank && !end) {
      end = end_of_path(schedule, *cost, start_of_path(schedule, *rank));
    }
  }
  return end;
}

} // namespace stepsim::collectives
