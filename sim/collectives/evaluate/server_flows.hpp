#pragma once
// The evaluators of the parameter server (COL 5.10). It has no schedule of transfers in program
// order: every worker pushes n/S bytes to each of S servers at once; a server adds when all its
// pushes have arrived, and then sends its part to all workers at once. A transfer holds no port
// during its latency; ports are shared max-min fairly.
//   max_plus   for one server, which on two levels must be dedicated. The pushes end at t, found by
//              t = max(t, enter_i + alpha) + n beta over the workers i in the order of arrival; it
//              is the same whether the port serves pushes in turn or at once.
//   events     for any servers and entry times: flows through links::FairPorts; on a fabric through
//              links::FlowNetwork, where the hosts of dedicated servers follow those of the
//              workers.
#include "collectives/collective.hpp"
#include "collectives/evaluate/evaluation.hpp"
#include "collectives/evaluate/traffic.hpp"

namespace stepsim::collectives {

// The ranks of a node share its interfaces to servers on other nodes. `with_transfer_times` fills
// ranks.transfer_s. Both evaluators throw SimulationError for an operation other than allreduce,
// for links that differ by pair, for no server, and for more servers on workers than there are
// workers; parameter_server_max_plus() also if max_plus_defined() is false.
[[nodiscard]] Evaluation parameter_server_max_plus(const Collective& collective,
                                                   bool with_transfer_times);
[[nodiscard]] Evaluation parameter_server_events(const Collective& collective,
                                                 bool with_transfer_times);
// Returns the traffic as traffic() does (traffic.hpp).
[[nodiscard]] Traffic parameter_server_traffic(const Collective& collective);

// Whether max_plus can time `collective`, whatever its algorithm. False on a fabric, for several
// parameter servers, whose transfers share ports in no fixed order, and for a server on a worker of
// a two-level cluster.
[[nodiscard]] bool max_plus_defined(const Collective& collective);

} // namespace stepsim::collectives
