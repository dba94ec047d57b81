#pragma once
// The record of a collective with the algorithm `library`, as JSON (CLU 11): the keys of every
// record of a collective, and further keys for the model of a library.
#include <string>

#include "document/json.hpp"
#include "run/collective_file.hpp"

namespace stepsim::study {

// Adds the further keys, all null, to a record of another algorithm, so that all records of one
// output have the same keys.
void add_library_keys(io::Json& record);

// The record of `file`, whose `system.question` must be complete (ask_library()).
[[nodiscard]] io::Json library_record(const CollectiveFile& file);

// The record in words: "NCCL would use nvls_tree/simple (estimate 6229 us; next tree/simple
// 6444 us). The network cards limit it."
[[nodiscard]] std::string library_sentence(const io::Json& record);

} // namespace stepsim::study
