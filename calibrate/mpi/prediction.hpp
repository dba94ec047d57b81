#pragma once
// How long collectives should take, from messages between two ranks alone (CAL 8.3, 8.4). There is
// one predictor: what is predicted here is what `stepsim collective --calibration` computes from
// the same file (coll/evaluate/measured_steps.hpp). Added are the operations that the simulator
// does not have: broadcast and reduce by `ring`, and the tree of sparse lists.
#include <cstdint>
#include <memory>
#include <string>

#include "calibrate/mpi/process_program.hpp"
#include "coll/evaluate/measured_steps.hpp"
#include "net/fabric/rank_fabric.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::mpi {

struct Predictor {
  std::shared_ptr<const coll::MeasuredSteps> steps; // not null
  coll::LinkCost link;                              // of large messages
  double gamma{};                                   // s per byte added
  double merge_s{};                                 // merging two lists of the size to be predicted
  // Where given, messages go through it and share its links, by `link` without its bytes; the steps
  // are not used. Only kinds that the simulator has a schedule for.
  std::shared_ptr<const net::RankFabric> fabric{};
  std::vector<double> enter_s{}; // when each rank begins; empty = all at 0
  // Broadcast by mst: a rank starts the messages to all of its children at once, as MPI libraries
  // do, and not one after the other.
  bool children_at_once = false;
};

// From a file of kind network_calibration with the link class network, or host, and its duplex
// factors. Throws InputError for any other.
[[nodiscard]] Predictor predictor_of(const io::Json& calibration);

// A file of kind topology as the network of these ranks, in the order of its hosts.
[[nodiscard]] std::shared_ptr<const net::RankFabric> fabric_of(const io::Json& topology,
                                                               std::uint32_t ranks);

// Whether the simulator has a schedule for it: not for broadcast and reduce by ring, nor for lists.
[[nodiscard]] bool simulated(const Kind& kind);

// Seconds of the collective from time 0; 0 for one rank or no bytes.
[[nodiscard]] double predict(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                             const MessageOptions& options, const Predictor& predictor);

// Which part of the prediction is largest: "latency", "bandwidth" or "reduction" (CAL 11).
[[nodiscard]] std::string bound_of(const Kind& kind, std::uint32_t ranks, std::int64_t bytes,
                                   const MessageOptions& options, const Predictor& predictor);

} // namespace stepsim::calibrate::mpi
