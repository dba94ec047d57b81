#pragma once
// Lower bounds of the iteration time that hold for every schedule on this network. They follow from
// the bytes that a link must carry and the work that a worker must compute, never from a formula
// that is itself an upper bound.

#include "run/evaluated_program.hpp"

namespace stepsim::study {

// Lower bounds of the messages of one iteration, in seconds, whatever their order and partition.
struct MessageBounds {
  double first_layer_s = 0; // time to send the bytes of layer 0; 0 if it has none
  double all_s = 0;         // time to send all bytes; 0 if there are none
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

  // In seconds, for workers whose factors are constant, the largest of which is `slowest`. With
  // micro-batches they follow each other; an algorithm that applies gradients late computes and
  // sends at once.
  [[nodiscard]] std::optional<double> with_slowest(double slowest) const;
  // For random factors, with those drawn: the mean over the iterations of the window, each from the
  // positions of the workers at its start. Empty also if an iteration has several steps, does not
  // last from marker to marker of one that follows its exchanges, or gathers in the next one what
  // it has reduced while exchanges vary. `times` has the marker ends of all ranks.
  [[nodiscard]] std::optional<double> with_factors(const programs::OperationTimes& times,
                                                   const programs::Factors& factors,
                                                   const Window& window) const;

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
