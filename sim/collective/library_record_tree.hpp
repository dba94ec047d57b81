#pragma once
// The record of the algorithm `library` as a tree (CLU 11): the keys of every record of a
// collective, and those that only the model of a library has.
#include <string>

#include "collective/collective_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Adds the keys that only the model of a library has, all null, to a record of any collective:
// records of one output have the same keys.
void add_library_keys(io::Json& record);

// The record of a collective whose question is complete.
[[nodiscard]] io::Json library_record(const CollectiveFile& file);

// "NCCL would use nvls_tree/simple (estimate 6229 us; next tree/simple 6444 us). The network cards
// limit it."
[[nodiscard]] std::string library_sentence(const io::Json& record);

} // namespace stepsim::study
