#pragma once
// What records of dense and of compressed exchanges share. Internal to coll.
#include "coll/record.hpp"

namespace stepsim::coll {

// Whether the user's choice of evaluators takes `method`, `automatic` being the cheapest exact one.
[[nodiscard]] bool wants(AskedMethod asked, Method method, Method automatic);
// Links, rates and blocks as they are resolved.
void fill_inputs(CollectiveRecord& record, const Collective& collective);
// How far the times present differ, bandwidths and the gap to the bound. Times are set.
void fill_comparison(CollectiveRecord& record);

} // namespace stepsim::coll
