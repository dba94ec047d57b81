// The sweep itself is max_plus_sweep.hpp; here it is run with an observer that keeps nothing, one
// that collects busy times, or one that keeps the first transfers.
#include "collectives/evaluate/evaluation.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/busy_time.hpp"
#include "collectives/evaluate/max_plus_sweep.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/evaluate/streams.hpp"
#include "collectives/method.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {
namespace {

struct BusyObserver {
  static constexpr bool kWatches = true;
  explicit BusyObserver(std::uint32_t ranks) : busy(ranks) {}
  void seen(const Operation& operation) {
    busy.add(operation.src, operation.start_s, operation.end_s);
    busy.add(operation.dst, operation.start_s, operation.port_free_s);
    if (operation.reduce) {
      // The addition ends at ready_s without a pause.
      busy.add(operation.dst, std::max(operation.end_s, operation.ready_s - operation.addition_s),
               operation.ready_s);
    }
  }
  [[nodiscard]] static bool done() { return false; }

  BusyTime busy;
};

struct Recorder {
  static constexpr bool kWatches = true;
  void seen(const Operation& operation) {
    if (!done()) {
      records.push_back({operation.step, operation.src, operation.dst, operation.offset,
                         operation.bytes, operation.reduce, operation.start_s, operation.end_s});
      ports.push_back(operation.port);
    }
  }
  [[nodiscard]] bool done() const { return records.size() >= limit; }

  std::size_t limit;
  std::vector<TransferRecord> records;
  std::vector<std::uint32_t> ports; // of the records
};

template <class Observer>
SweepState sweep(const Collective& collective, const Schedule& schedule, Observer& observer) {
  const AnyLinks any_links = make_links(collective.links, collective.ranks);
  return std::visit(
      [&](const auto& links) {
        Sweep run(collective, links, observer);
        run.run(schedule);
        return run.state();
      },
      any_links);
}

// A rank has finished when its ports are free, and all that it was sent is there and added.
Evaluation result_of(const SweepState& state) {
  Evaluation result;
  result.messages = state.messages;
  result.ranks.finish_s = state.finish;
  result.seconds = *std::max_element(result.ranks.finish_s.begin(), result.ranks.finish_s.end());
  return result;
}

void refuse_fabric(const Collective& collective) {
  if (collective.links.fabric) {
    throw SimulationError("max_plus knows no topology; use events");
  }
}

// What the sharing of interfaces is estimated to take is at least what they carry at full rate.
Evaluation bounded(const Collective& collective, Evaluation result) {
  if (shares_interfaces(collective)) {
    double& last = *std::max_element(result.ranks.finish_s.begin(), result.ranks.finish_s.end());
    last = result.seconds = std::max(result.seconds, lower_bound(collective).seconds());
  }
  return result;
}

} // namespace

Evaluation max_plus(const Collective& collective, bool with_transfer_times, bool shortcuts) {
  refuse_fabric(collective);
  if (takes_measured_steps(collective)) {
    return measured_evaluation(collective);
  }
  if (collective.algorithm == AlgorithmId::parameter_server) {
    return parameter_server_max_plus(collective, with_transfer_times);
  }
  if (algorithm(collective.algorithm).in_switch) {
    return in_switch_evaluation(collective, with_transfer_times);
  }
  const Schedule schedule = make_schedule(collective);
  if (shortcuts && !with_transfer_times) {
    if (std::optional<Evaluation> quick = streams(collective, schedule)) {
      quick->events = 0;
      return bounded(collective, *std::move(quick));
    }
  }
  if (!with_transfer_times) {
    NoObserver nobody;
    return bounded(collective, result_of(sweep(collective, schedule, nobody)));
  }
  BusyObserver observer(collective.ranks);
  Evaluation result = bounded(collective, result_of(sweep(collective, schedule, observer)));
  result.ranks.transfer_s = observer.busy.lengths();
  return result;
}

// A port sends in program order, whatever plays the schedule.
std::vector<TransferRecord> list_transfers(const Collective& collective, std::size_t limit,
                                           bool by_events) {
  Recorder recorder{limit, {}, {}};
  if (!by_events) {
    refuse_fabric(collective);
  }
  sweep(collective, make_schedule(collective), recorder);
  std::vector<TransferRecord>& records = recorder.records;
  if (by_events) {
    const SendTimes sends = event_sends(collective);
    std::vector<std::size_t> next(sends.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::uint32_t port = recorder.ports[i];
      std::tie(records[i].start_s, records[i].end_s) = sends[port][next[port]++];
    }
  }
  return std::move(records);
}

} // namespace stepsim::collectives
