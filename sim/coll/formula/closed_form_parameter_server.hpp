#pragma once
// Time of a parameter server (COL 5.10): two latencies, the bytes of the busiest port once for the
// push and once for the way back, and the additions of one server.

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// Returns the time in which all workers push n/S bytes to each of S servers at once, and the
// servers add and send the sums back. Needs equal links.
[[nodiscard]] std::optional<ClosedForm> parameter_server_allreduce(const Collective& collective);

} // namespace stepsim::coll
