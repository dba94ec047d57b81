#pragma once
// The parameter server (COL 5.10), which is no list of transfers in program order: every worker
// pushes n/S bytes to each of S servers at once, a server adds when all its pushes have arrived and
// sends its part to every worker at once. Latency holds no port; ports are shared max-min fairly.
//   max_plus   one server only: pushes end by t = max(t, enter_i + alpha) + n beta in the order of
//              arrival (the same for FIFO and fair sharing); on two levels a dedicated one only
//   events     flows through net::FairPorts, any entry times and servers; on a fabric through
//              net::FlowNetwork, dedicated servers on the hosts after those of the workers
#include "coll/collective.hpp"
#include "coll/evaluate/evaluation.hpp"
#include "coll/evaluate/traffic.hpp"

namespace stepsim::coll {

// The ranks of a node share its interfaces towards servers elsewhere. Both throw SimulationError
// for an operation other than allreduce, for links of pairs and for more servers on workers than
// there are workers; max_plus also where max_plus_defined is false.
[[nodiscard]] Evaluation parameter_server_max_plus(const Collective& collective,
                                                   bool with_transfer_times);
[[nodiscard]] Evaluation parameter_server_events(const Collective& collective,
                                                 bool with_transfer_times);
[[nodiscard]] Traffic parameter_server_traffic(const Collective& collective);

// Whether max_plus can time a collective, by any algorithm; it throws otherwise. False on a fabric,
// for several parameter servers, which share ports in no fixed order, and for a server on a worker
// of a two-level cluster.
[[nodiscard]] bool max_plus_defined(const Collective& collective);

} // namespace stepsim::coll
