#pragma once
// Refuses keys of a collective that its algorithm does not read. refuse_meaningless()
// (collective_file.hpp) does the same for the keys of compressions.
#include "run/collective_file.hpp"

namespace stepsim::study {

// Adds a problem if nics_per_node > 1 is given for an algorithm that sends through one interface of
// each node (a flat ring or lp on several nodes), and if intra_algorithm is given for collnet but
// is not nvls.
void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems);

} // namespace stepsim::study
