#pragma once
// Keys of a collective that its algorithm does not read, next to those of compressions
// (refuse_meaningless).
#include "collective/collective_file.hpp"

namespace stepsim::study {

// Problems: several interfaces for an algorithm that uses one of them, and an inner algorithm of
// collnet other than nvls.
void refuse_unused_keys(const CollectiveFile& file, const io::Json& tree, io::Problems& problems);

} // namespace stepsim::study
