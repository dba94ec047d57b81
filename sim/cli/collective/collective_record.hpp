#pragma once
// The record of `stepsim collective` as a tree; keys of the contract (COL 14).
#include <optional>
#include <vector>

#include "coll/crossovers.hpp"
#include "coll/evaluate/max_plus.hpp"
#include "coll/record.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// The number, or null for an empty one.
[[nodiscard]] io::Json or_null(const std::optional<double>& value);
// All keys of a record, in SI units; `transfers` are added by the command.
[[nodiscard]] io::Json record_tree(const coll::CollectiveRecord& record);
// One message with its times, in seconds from the start of the collective.
[[nodiscard]] io::Json transfer_tree(const coll::TransferRecord& transfer);

} // namespace stepsim::cli
