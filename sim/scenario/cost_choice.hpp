#pragma once
// Which cost of a file of kind cost (MER 4.2, INP 1.10) is that of an all-reduce here. A file has
// points of one operation, or one line for each operation and number of ranks.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// The file's points made monotone once, or its lines. Throws InputError.
[[nodiscard]] CostFile read_cost_file(const io::Json& tree);

struct ChosenCost {
  plan::Cost cost;
  std::string warning; // "link at least 201 GB/s: times are upper bounds"; "" = none
};
// `place` is the name of the file, where problems are reported: other ranks than `ranks`, or no
// all-reduce. Without `ranks`, for a merge problem, the file must have one all-reduce only.
[[nodiscard]] ChosenCost all_reduce_cost(const CostFile& file, std::optional<std::int64_t> ranks,
                                         const io::Json& place, io::Problems& problems);

} // namespace stepsim::study
