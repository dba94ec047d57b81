#pragma once
// The evaluator of collectives that models contention: it sends the transfers of the schedule
// through a network model one by one (event_run.hpp).
//     equal links, or single links    a transfer takes latency + bytes * per_byte
//     two levels                      the interfaces of a node are shared max-min fairly
//     fabric                          flows over the routes of the fabric, max-min fairly
// There is one event per transfer and per addition that ends; memory is O(ranks). A parameter
// server runs in server_flows.hpp; sums in switches use their formula (in_switch.hpp).
#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"

namespace stepsim::collectives {

// Evaluates the collective; fills `ranks.transfer_s` if `with_transfer_times`, and `links` on a
// fabric. Two nodes stand for many equal ones (equal_nodes.hpp). Without transfer times, rings of
// equal ranks and, on a fabric, those whose connections share no link are evaluated
// by disjoint_ring.hpp, and streams of blocks over equal ranks by equal_streams.hpp. Tests switch
// these `shortcuts` off to compare. Throws SimulationError if the link of a pair is missing (the
// text names the pair), and if measured steps give the time (takes_measured_steps), which only
// max_plus supports.
[[nodiscard]] Evaluation events(const Collective& collective, bool with_transfer_times = false,
                                bool shortcuts = true);

} // namespace stepsim::collectives
