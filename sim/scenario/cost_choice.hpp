#pragma once
// Chooses the cost of an all-reduce in a file of kind cost (MER 4.2, INP 1.10). A file has points
// of one operation, or one line per operation and number of ranks.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// The file with its points made monotone, or with its lines. Throws InputError.
[[nodiscard]] CostFile read_cost_file(const io::Json& tree);

struct ChosenCost {
  plan::Cost cost;
  std::string warning; // "link at least 201 GB/s: times are upper bounds"; "" = none
};
// The points of the file, or its line for an all-reduce on `ranks` ranks. If there is none, or the
// points are of another operation or number of ranks, a problem is reported at `place`, the name of
// the file. Without `ranks`, for a merge problem, lines must have exactly one all-reduce.
[[nodiscard]] ChosenCost all_reduce_cost(const CostFile& file, std::optional<std::int64_t> ranks,
                                         const io::Json& place, io::Problems& problems);

} // namespace stepsim::study
