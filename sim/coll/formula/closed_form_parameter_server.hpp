#pragma once
// Time of a parameter server (COL 5.10): two latencies, twice what the busiest port carries, and
// the additions of one server.

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

// All workers push to S servers at once, which add and send back. Needs equal links.
[[nodiscard]] std::optional<ClosedForm> parameter_server_allreduce(const Collective& collective);

} // namespace stepsim::coll
