#pragma once
// Output lines about micro-batches and sharding.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// "full_shard (fsdp2), 34 units, 2 micro-batches, exchanged after the last"; "" for a run with
// neither.
[[nodiscard]] std::string sharding_text(const study::Result& result);
// "all-gather of 2-byte parameters, reduce-scatter of 4-byte gradients"; only for a sharded run.
[[nodiscard]] std::string sharded_exchange_text(const study::Result& result);
// "18.3 GB a rank: parameters 1 GB, .."; "" if the summary has no memory.
[[nodiscard]] std::string memory_text(const study::Summary& summary);

} // namespace stepsim::cli
