#pragma once
// The record of a collective as JSON, with the keys of COL 14. `stepsim collective` writes it, and
// a sweep of collectives has its keys in every record.

#include "run/collective_file.hpp"

namespace stepsim::study {

// The keys that every record has, in SI units, and `per_rank` if it is set in `record`.
// evaluate_collective() adds `transfers`, the `delay_s` of the file and the keys of a library.
[[nodiscard]] io::Json record_tree(const collectives::CollectiveRecord& record);

// The optional keys of a record, and the limit of CPU time. The algorithm `library` is a formula:
// it refuses `transfers` and `per_rank` and ignores the others.
struct RecordOptions {
  bool transfers = false; // a list of the messages, at most the first 10000
  bool per_rank = false;  // when every rank enters and finishes, and how long it sends and waits
  // Largest estimated_seconds() that is run; must be set, because 0 allows no work at all.
  double max_seconds{};
  // Adds the keys of the model of a library to a record of another algorithm. A sweep sets it if
  // any of its records has them, so that all its records have the same keys.
  bool library_keys = false;
};

// Whether the collective has the algorithm `library`, a `preset` or a `library` block: its record
// then has keys for them.
[[nodiscard]] bool has_library_keys(const io::Json& tree);

// An estimate of the CPU seconds of the evaluators that the collective asks for; runs none of them.
// It is 0 for the algorithm `library`, whose model is a formula. With the times of every rank it is
// more, but for compressed exchanges.
[[nodiscard]] double estimated_seconds(const CollectiveFile& file, bool per_rank = false);

// Runs the evaluators that the collective asks for. Throws SimulationError if the estimate exceeds
// max_seconds, if a number of the record is not finite, and if an evaluator does not support the
// collective; InputError for a pair of ranks without a link; UsageError for `transfers` or
// `per_rank` of the algorithm `library`.
[[nodiscard]] io::Json evaluate_collective(const CollectiveFile& file,
                                           const RecordOptions& options);

// Sets bandwidth_Bps, reduction_Bps and delay_s to the values of the file, because evaluators
// compute with 1 / rate, and 1 / (1 / rate) may differ in the last digit. The tree must have
// reduction_Bps.
void set_written_rates(const CollectiveFile& file, io::Json& tree);

// The record of a collective with the algorithm `library`, as JSON (CLU 11): the keys of every
// record of a collective, and further keys for the model of a library.

// Adds the further keys, all null, to a record of another algorithm, so that all records of one
// output have the same keys.
void add_library_keys(io::Json& record);

// The record in words: "NCCL would use nvls_tree/simple, which it expects to take 6229 us (next
// tree/simple, 6444 us); the prediction is 6000 us. The network cards limit it." NCCL chooses by
// its own expectation, so that another pair may be predicted to be faster; a sentence then says so.
[[nodiscard]] std::string library_sentence(const io::Json& record);

} // namespace stepsim::study
