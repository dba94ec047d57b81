#pragma once
// The record of a collective as a tree; keys of the contract (COL 14). `stepsim collective` writes
// it, and a sweep of collectives has its keys in every record.
#include <string>
#include <string_view>
#include <vector>

#include "coll/evaluate/max_plus.hpp"
#include "coll/record.hpp"
#include "collective/collective_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// All keys of a record, in SI units; `transfers` are added by evaluate_collective.
[[nodiscard]] io::Json record_tree(const coll::CollectiveRecord& record);

// What a record holds beside what is always there, and the estimated CPU seconds above which it is
// refused.
struct RecordOptions {
  bool transfers = false;
  bool per_rank = false;
  double max_seconds{};
  // The keys of the model of a library in every record, where some record of the output has them.
  bool library_keys = false;
};

// Whether the collective is one of a library, or names a node type: its record has keys for them.
[[nodiscard]] bool has_library_keys(const io::Json& tree);

// Runs the evaluators that the collective asks for. Throws SimulationError for too long a work, for
// a number beyond the range of numbers and where an evaluator has no answer; InputError for a pair
// of ranks without a link.
[[nodiscard]] io::Json evaluate_collective(const CollectiveFile& file,
                                           const RecordOptions& options);

// The rates of the file as written, in a tree that has keys for them.
void set_written_rates(const CollectiveFile& file, io::Json& tree);

} // namespace stepsim::study
