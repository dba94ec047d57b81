#pragma once
// Time of a parameter server (COL 5.10): two latencies, twice the bytes of the busiest port, and
// the additions of one server.

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// Returns the time in which all workers push to S servers at once, which add and send the sums
// back. Needs equal links.
[[nodiscard]] std::optional<ClosedForm> parameter_server_allreduce(const Collective& collective);

} // namespace stepsim::coll
