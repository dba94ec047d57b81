#pragma once
// The record of one compressed exchange, in the shape of the record of a collective.
#include "coll/compress/compressed_exchange.hpp"
#include "coll/record.hpp"

namespace stepsim::coll {

// Of `gradient`, on the ranks and links of `base`, whose `bytes` are those of the dense gradient.
// `with_ranks` adds times per rank: by events where they give `seconds`, else by max_plus; none for
// a method that is a formula only. Times and traffic are those of all stages together; lower bounds
// are 0, busbw is empty. Throws SimulationError as `compressed_exchange` and the evaluators do.
[[nodiscard]] CollectiveRecord make_record(const Compression& compression,
                                           const GradientPart& gradient, const Collective& base,
                                           AskedMethod asked, bool with_ranks = false);

} // namespace stepsim::coll
