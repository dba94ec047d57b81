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

// The keys that every record has, in SI units, and per_rank if the record has it;
// evaluate_collective adds transfers, a written delay_s and the keys of a library.
[[nodiscard]] io::Json record_tree(const coll::CollectiveRecord& record);

// What a record holds beside what is always there, and the estimated CPU seconds above which it is
// refused.
struct RecordOptions {
  bool transfers = false; // every message, the first 10000
  bool per_rank = false;  // when every rank enters and finishes, and how long it sends and waits
  double max_seconds{};   // must be set: 0 refuses all that takes time
  // The keys of the model of a library in every record, where some record of the output has them.
  bool library_keys = false;
};

// Whether the collective has the algorithm `library`, a `preset` or a `library` block: its record
// then has keys for them.
[[nodiscard]] bool has_library_keys(const io::Json& tree);

// CPU seconds of the evaluators that the collective asks for, about; none of them is run.
[[nodiscard]] double estimated_seconds(const CollectiveFile& file);

// Runs the evaluators that the collective asks for. Throws SimulationError for too long a work, for
// a number beyond the range of numbers and where an evaluator has no answer; InputError for a pair
// of ranks without a link.
[[nodiscard]] io::Json evaluate_collective(const CollectiveFile& file,
                                           const RecordOptions& options);

// Sets the rates, and a delay, as they are written in the file. The tree must have reduction_Bps.
void set_written_rates(const CollectiveFile& file, io::Json& tree);

} // namespace stepsim::study
