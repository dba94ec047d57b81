#pragma once
// Refuses keys of a collective that its algorithm does not read. refuse_meaningless()
// (collective_file.hpp) does the same for the keys of compressions.
#include "collective/collective_file.hpp"

namespace stepsim::study {

// Adds a problem if a node has several interfaces but the algorithm uses one, and if the inner
// algorithm of collnet is not nvls.
void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems);

} // namespace stepsim::study
