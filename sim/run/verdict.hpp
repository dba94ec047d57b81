#pragma once
// Decides what bounds a step, for `run`, tables, `explain`, reports and the page alike. The parts
// are seconds of the binding path (programs/explain/binding_path.hpp): operations that wait for
// each other and so set the pace. Communication that is hidden behind computing is not on it.
//
//   delay > compute and delay >= exchange   input, or latency where exchanges wait for a tick
//   compute >= exchange                     compute
//   else the largest part of the exchanges: latency, bandwidth, reduction, compression
//
// Where computing bounds the step and other workers wait long for the slowest one, the word is
// straggler. Servers that are busy all the time are decided before that. The largest part is
// decided by largest_of() alone, whatever computed the parts.

#include "run/evaluated_program.hpp"

namespace stepsim::study {

struct PathParts {
  double compute_s{}, exchange_s{}, delay_s{};
};

enum class Bound { compute, exchange, delay };

[[nodiscard]] constexpr Bound bound_of(const PathParts& path) {
  if (path.delay_s > path.compute_s && path.delay_s >= path.exchange_s) {
    return Bound::delay;
  }
  return path.compute_s >= path.exchange_s ? Bound::compute : Bound::exchange;
}

// The word of /summary/bottleneck for a step of `summary`, whose times must be set. exchange_s()
// returns the seconds of exchanges on the binding path, which lie between the exposed communication
// and all communication, and largest() the word for their largest part; each is called only if it
// decides.
template <class ExchangeSeconds, class Largest>
[[nodiscard]] std::string_view verdict(const Summary& summary, ExchangeSeconds exchange_s,
                                       Largest largest) {
  constexpr double kNothing = 1e-9; // of the step: rounding
  const double input = summary.input_wait_s.value_or(0);
  const double exposed = summary.exposed_communication_s.value_or(0);
  // More is exposed than is sent where a schedule waits for its next tick.
  const double beyond = exposed - *summary.communication_s;
  const double ticks = beyond > kNothing * step_of(summary) ? beyond : 0;
  const double delay = input + ticks;
  const double work = step_of(summary) - delay;
  const double least = exposed - ticks;
  const bool hidden = !(least > kNothing * work) || 2 * *summary.communication_s <= work;
  const double exchange = hidden ? 0 : 2 * least > work ? least : exchange_s();
  switch (bound_of({.compute_s = work - exchange, .exchange_s = exchange, .delay_s = delay})) {
  case Bound::compute: {
    const double codec = summary.codec_compute_s.value_or(0);
    return codec + summary.compress_s.value_or(0) > summary.compute_s.value_or(0) - codec
               ? "compression"
               : "compute";
  }
  case Bound::exchange:
    return largest();
  case Bound::delay:
    return input >= ticks ? "input" : "latency";
  }
  return {};
}

// Seconds of the exchanges of a step, by what they are spent on.
struct ExchangeShares {
  double latency_s{}, bandwidth_s{}, reduction_s{}, compression_s{};
};
// The word for the largest part: "latency", "bandwidth", "reduction" or "compression". Equal parts
// count in this order.
[[nodiscard]] std::string_view largest_of(const ExchangeShares& parts);

// The subject of a sentence for the word: "Computing" for "compute", as in "Computing bounds it".
// Empty for any other word.
[[nodiscard]] std::string_view subject_of(std::string_view bottleneck);

// Finds the bottleneck of the messages of a plan: the part of their time that is longest. With
// alpha-beta links, and on a star of such links, each part is timed with the costs of the other
// parts set to 0. On a topology, messages of one byte give the latency, the time that free
// additions save is the reduction, and the rest of the time is the bandwidth. With compression, the
// time that links without latency save is the latency, the time that links of 1e12 times the
// bandwidth save is the bandwidth, and the rest is compression. With both, the times on the wire
// ("bandwidth") are compared with the times of compressing. The model of a library gives latency
// and transfer itself. A measured curve has no parts; its bottleneck is "bandwidth".

// "latency", "bandwidth", "reduction" or, for compressed exchanges only, "compression". `plan` must
// have a message; units[g] belongs to group g of `plan`. `planned`, if not null, is merge_cost() of
// the scenario, where a message is compressed.
[[nodiscard]] std::string_view largest_part(const Scenario& scenario, const buckets::Plan& plan,
                                            std::span<const ProgramUnit> units,
                                            const buckets::Cost* planned = nullptr);

// Lower bounds of the iteration time that hold for every schedule on this network. They follow from
// the bytes that a link must carry and the work that a worker must compute, never from a formula
// that is itself an upper bound.

// Lower bounds of the messages of one iteration, in seconds, whatever their order and partition.
struct MessageBounds {
  double first_layer_s = 0; // time to send the bytes of layer 0; 0 if it has none
  double all_s = 0;         // time to send all bytes; 0 if there are none
  // Workers go on when their own sums are back, so that some compute while others exchange.
  bool apart = false;
};

// Sums over the layers and gradients of a scenario, in seconds and bytes.
struct WorkSums {
  explicit WorkSums(const Scenario& scenario);
  double forward_s, backward_s;
  double bytes, first_layer_bytes;
};

// Lower bounds of the period of `scenario` with the gradients of `problem`, both of which must
// outlive it. No bound is known without gradients, where messages may lose a part, with a measured
// curve of several segments, with reduce_broadcast, and with the collectives `auto` and `library`.
class PeriodBounds {
public:
  // `sums` are those of the scenario.
  PeriodBounds(const Scenario& scenario, const buckets::Problem& problem, const WorkSums& sums);
  // With the bounds of the messages.
  PeriodBounds(const Scenario& scenario, const buckets::Problem& problem, const WorkSums& sums,
               std::optional<MessageBounds> messages);

  // In seconds, for workers whose factors are constant, the largest of which is `slowest`. With
  // micro-batches they follow each other; an algorithm that applies gradients late computes and
  // sends at once.
  [[nodiscard]] std::optional<double> with_slowest(double slowest) const;
  // For random factors, with those drawn: the mean over the iterations of the window, each from the
  // positions of the workers at its start. Empty also if an iteration has several steps, does not
  // last from marker to marker of one that follows its exchanges, or gathers in the next one what
  // it has reduced while exchanges vary. `times` has the marker ends of all ranks.
  [[nodiscard]] std::optional<double> with_factors(const programs::OperationTimes& times,
                                                   const ScenarioProgram& made) const;

private:
  [[nodiscard]] double earlier_s() const;

  const Scenario& scenario_;
  std::optional<MessageBounds> messages_;
  double forward_;
  double backward_;
  double last_layer_;  // its forward pass
  double first_ready_; // seconds from the start of backward to the first gradient
};

// `bound_s`, or `time_s` if the bound exceeds the time by rounding only.
[[nodiscard]] double bound_of(double bound_s, double time_s);

// Adds a warning if workers or exchanges vary and the iteration time is below `bound_s`. Random
// factors and fast workers can make it so, because the bound holds for mean times.
void warn_below_bound(const Scenario& scenario, double bound_s, Result& result);

} // namespace stepsim::study
