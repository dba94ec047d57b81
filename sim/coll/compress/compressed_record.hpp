#pragma once
// The record of one compressed exchange, in the shape of the record of a collective.
#include "coll/compress/compressed_exchange.hpp"
#include "coll/record.hpp"

namespace stepsim::coll {

// Of `gradient`, on the ranks and links of `base`. With ranks: by max_plus, or by events where they
// were asked for; empty for a formula. Times and traffic are those of all stages together, bytes
// those of the dense gradient; lower bounds and busbw do not exist. Throws SimulationError as
// `compressed_exchange` and the evaluators do.
[[nodiscard]] CollectiveRecord make_record(const Compression& compression,
                                           const GradientPart& gradient, const Collective& base,
                                           AskedMethod asked, bool with_ranks = false);

} // namespace stepsim::coll
