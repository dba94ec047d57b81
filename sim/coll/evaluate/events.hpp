#pragma once
// The evaluator of collectives that knows contention: the transfers of the schedule go through a
// network model one by one (event_run.hpp).
//     links alike, or one by one      a transfer takes latency + bytes * per_byte
//     two levels                      the interfaces of a node are shared max-min fairly
//     fabric                          flows over the routes of the fabric, max-min fairly
// One event per transfer and per addition that ends; memory O(ranks). A parameter server runs by
// server_flows.hpp, sums in switches by their formula (in_switch.hpp).
#include "coll/collective.hpp"
#include "coll/evaluate/evaluation.hpp"

namespace stepsim::coll {

// Throws SimulationError naming the pair where a link is missing, and where measured steps give the
// time (takes_measured_steps), which only max_plus knows. With transfer times `ranks.transfer_s` is
// filled in. On a fabric `links` says what every link carried; without transfer times a ring whose
// connections share no link is evaluated as disjoint_ring.hpp says.
[[nodiscard]] Evaluation events(const Collective& collective, bool with_transfer_times = false);

} // namespace stepsim::coll
