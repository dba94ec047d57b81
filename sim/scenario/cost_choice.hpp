#pragma once
// Chooses the cost of an all-reduce in a file of kind cost (MER 4.2, INP 1.10). A file has measured
// points of one operation, or one linear cost (a line) per operation and number of ranks.

#include "scenario/files.hpp"

namespace stepsim::study {

// Reads the file. Points are changed so that the time never falls with the size (CostFile::report
// says by how much). Throws InputError if the file is invalid.
[[nodiscard]] CostFile read_cost_file(const io::Json& tree);

struct ChosenCost {
  buckets::Cost cost;
  std::string warning; // "link at least 201 GB/s: times are upper bounds"; "" = none
};
// The points of the file, or its line for an all-reduce on `ranks` ranks. A problem is reported at
// `place`, the name of the file, unless exactly one line fits, or if the file names another
// operation or number of ranks for its points. Without `ranks`, as in a merge problem, any number
// of ranks fits.
[[nodiscard]] ChosenCost all_reduce_cost(const CostFile& file, std::optional<std::int64_t> ranks,
                                         const io::Json& place, io::Problems& problems);

} // namespace stepsim::study
