#pragma once
// Activations of the layers of a workload that was made from a model table.
#include "layers/workload.hpp"

namespace stepsim::layers {

// Fills the lists of activations of `workload`, whose layers are those of the table, and their
// ranges: from a loss in chunks to composed kernels, where the options do not say which.
void add_activations(const ModelTable& table, const ProfileOptions& options, Workload& workload);

} // namespace stepsim::layers
