#pragma once
// Predicts the times of collectives from measured messages between two ranks alone (CAL 8.3, 8.4).
// The evaluator is the one of `stepsim collective --calibration` on the same file
// (collectives/evaluate/measured_steps.hpp). Operations that the simulator does not have are added
// here: broadcast and reduce by `ring`, and the tree of sparse lists.

#include "calibrate/mpi/process_program.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "document/json.hpp"
#include "links/fabric/placement.hpp"

namespace stepsim::calibrate::mpi {

struct Predictor {
  std::shared_ptr<const collectives::MeasuredSteps> steps; // not null
  collectives::LinkCost link;                              // cost of large messages
  double gamma{};                                          // s per byte added
  double merge_s{}; // s to merge two sparse lists of the size that is predicted
  // If set, messages share the links of this fabric, which give the time of their bytes; `link`
  // gives the latency, and `steps` are not used. Only kinds for which simulated() is true can then
  // be predicted.
  std::shared_ptr<const links::RankFabric> fabric{};
  std::vector<double> enter_s{}; // [rank] time at which it begins, s; empty = all at 0
  // Broadcast by mst (binomial tree): a rank sends to all of its children at once, as MPI libraries
  // do, instead of to one child after the other. `fabric` and `enter_s` are then not used.
  bool children_at_once = false;
};

// The predictor of a file of kind network_calibration, by its link of class network, else host.
// Throws InputError unless there is one and it has both duplex factors.
[[nodiscard]] Predictor predictor_of(const io::Json& calibration);

// The network of `ranks` ranks on a file of kind topology: rank r is on the host r of the file.
[[nodiscard]] std::shared_ptr<const links::RankFabric> fabric_of(const io::Json& topology,
                                                                 std::uint32_t ranks);

// Whether the simulator has a schedule for this kind. It has none for broadcast and reduce by ring,
// and none for sparse kinds.
[[nodiscard]] bool simulated(const Kind& kind);

// Seconds of the collective from time 0; 0 for one rank or no bytes.
[[nodiscard]] double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                             const MessageOptions& options, const Predictor& predictor);

// The largest part of the predicted time: "latency", "bandwidth" or "reduction" (CAL 11).
[[nodiscard]] std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                   const MessageOptions& options, const Predictor& predictor);

} // namespace stepsim::calibrate::mpi
