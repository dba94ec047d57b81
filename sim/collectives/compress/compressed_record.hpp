#pragma once
// Evaluates one compressed exchange and reports it like a collective, as a CollectiveRecord.
#include "collectives/compress/compressed_exchange.hpp"
#include "collectives/record.hpp"

namespace stepsim::collectives {

// Exchanges `gradient` on the ranks and links of `base`; base.bytes are the bytes of the dense
// gradient. Times and traffic are sums over all stages; the lower bounds are 0 and busbw_Bps is
// empty. `with_ranks` adds the times of every rank: by events if `seconds` is by events, else by
// max_plus. A method that is only a formula has no times per rank. Throws SimulationError as
// compressed_exchange() and the evaluators do.
[[nodiscard]] CollectiveRecord make_record(const Compression& compression,
                                           const GradientPart& gradient, const Collective& base,
                                           AskedMethod asked, bool with_ranks = false);

} // namespace stepsim::collectives
