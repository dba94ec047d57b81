#pragma once
// Imports layer logs of B-Caffe (MER 9): rows `[id, elements, backward_us, communication_us(,
// merged_us)]` in forward order, one per parameter blob. The last two columns must be times but are
// not used: they belong to the network of the logged cluster. Consecutive rows with equal backward
// time are one layer, because weight and bias share a timer. The log has no forward times: forward
// is set to 0.5 x backward, and the trace is marked `assumed`. Elements stay as logged, where
// B-Caffe has padded each blob to a multiple of 64. Rows without backward time are left out. A log
// may have several dumps of the layers; the last one with times is used.
#include <optional>
#include <span>
#include <string>

#include "files/import_options.hpp"
#include "train/workload/model_table.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

struct CaffeLogOptions {
  ImportOptions common;
  // The table that names the rows; by default the first one that fits, else layers are numbered.
  std::optional<std::string> model;
  std::span<const train::ModelTable> models{};
};

// Throws InputError for rows that cannot be read, gaps between ids, a log without rows or times,
// and a `model` that does not fit, and UsageError for an unknown model (MER 12).
[[nodiscard]] train::Trace import_caffe_log(const std::string& file,
                                            const CaffeLogOptions& options);

} // namespace stepsim::io
