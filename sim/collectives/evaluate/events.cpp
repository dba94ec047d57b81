// The choice of links and network model for `EventRun`: the template is compiled for every kind of
// link cost, so that the loop over events asks no question about it.
#include "collectives/evaluate/evaluation.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/event_run.hpp"
#include "collectives/evaluate/few_ranks.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/evaluate/streams.hpp"
#include "collectives/schedule/two_level.hpp"
#include "links/flow/flow_network.hpp"
#include "links/flow/port_network.hpp"

namespace stepsim::collectives {
namespace {

// The network between nodes: one port per interface and direction, at the rate of the outer link.
// Transfers inside a node have no port, and so the rate of the inner link.
links::PortNetwork interfaces(const TwoLevelLinks& links) {
  return links::PortNetwork(
      std::vector<double>(links.ports(), 1 / links.between_nodes().per_byte_s));
}

// Whether the end of a transfer is all that happens to it (EventRun's Plain).
bool is_plain(const Collective& collective, const Schedule& schedule, const LinkCost& link) {
  return schedule.lanes.size() == 1 && schedule.data_sets == 1 && link.delay_s == 0 &&
         std::ranges::all_of(reduction_costs(collective), [](double gamma) { return gamma == 0; });
}

struct Runner {
  const Collective& collective;
  const Schedule& schedule;
  bool with_transfer_times;
  SendTimes* sends; // null: not listed

  template <class Run> Evaluation played(Run run) const {
    if (sends != nullptr) {
      run.list_sends(*sends);
    }
    return run.run();
  }
  template <class Links> Evaluation operator()(const Links& links) const {
    if constexpr (std::same_as<Links, TwoLevelLinks>) {
      if (links.gpus_per_node() > 1) {
        return played(
            EventRun(collective, schedule, links, interfaces(links), with_transfer_times));
      }
    }
    if constexpr (std::same_as<Links, EqualLinks>) {
      if (!with_transfer_times && is_plain(collective, schedule, links.all)) {
        return EventRun<Links, links::AlphaBeta, true>(collective, schedule, links,
                                                       links::AlphaBeta(), false)
            .run();
      }
    }
    return played(EventRun(collective, schedule, links, links::AlphaBeta(), with_transfer_times));
  }
};

Evaluation play(const Collective& collective, const Schedule& schedule, bool with_transfer_times,
                SendTimes* sends = nullptr) {
  const AnyLinks links = make_links(collective.links, collective.ranks);
  return std::visit(Runner{collective, schedule, with_transfer_times, sends}, links);
}

Evaluation fabric_events(const Collective& collective, bool with_transfer_times,
                         SendTimes* sends = nullptr) {
  const Schedule schedule = make_schedule(collective);
  const FabricLinks links(collective.links);
  EventRun run(collective, schedule, links, links::FlowNetwork(*collective.links.fabric),
               with_transfer_times);
  if (sends != nullptr) {
    run.list_sends(*sends);
  }
  Evaluation result = run.run();
  result.links = run.network().level().link_use(result.seconds);
  return result;
}

} // namespace

Evaluation events(const Collective& collective, bool with_transfer_times, bool shortcuts) {
  if (takes_measured_steps(collective)) {
    throw SimulationError("events knows no duplex factors of a calibration; use max_plus");
  }
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return parameter_server_events(collective, with_transfer_times);
  }
  if (algorithm(collective.algorithm).in_switch) {
    return in_switch_evaluation(collective, with_transfer_times);
  }
  if (collective.links.fabric) {
    if (shortcuts && !with_transfer_times) {
      if (std::optional<Evaluation> ring = disjoint_ring(collective)) {
        return *std::move(ring);
      }
    }
    return fabric_events(collective, with_transfer_times);
  }
  if (shortcuts && !with_transfer_times) {
    if (std::optional<Evaluation> ring = equal_ring(collective)) {
      return *std::move(ring);
    }
  }
  const Schedule schedule = make_schedule(collective);
  if (shortcuts && !with_transfer_times && has_equal_streams(collective)) {
    return *streams(collective, schedule);
  }
  return play(collective, schedule, with_transfer_times);
}

SendTimes event_sends(const Collective& collective) {
  SendTimes sends;
  (void)(collective.links.fabric ? fabric_events(collective, true, &sends)
                                 : play(collective, make_schedule(collective), true, &sends));
  return sends;
}

} // namespace stepsim::collectives
