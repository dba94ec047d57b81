#pragma once
// Imports layer logs of B-Caffe (MER 9): rows `[id, elements, backward_us, communication_us(,
// merged_us)]` in forward order, one per parameter blob. Consecutive rows with equal backward time
// are one layer, because weight and bias share a timer. The communication times become measured
// exchanges on the network of the logged cluster: a blob whose time is 0 was sent together with the
// one before it. The last column must be a time but is not used. The log has no forward times:
// forward is set to 0.5 x backward, and the trace is marked `assumed`. Elements stay as logged,
// where B-Caffe has padded each blob to a multiple of 64. Rows without backward time are left out.
// A log may have several dumps of the layers; the last one with times is used.

#include "layers/model_table.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

struct CaffeLogOptions {
  ImportOptions common;
  // The table that names the rows; by default the first one that fits, else layers are numbered.
  std::optional<std::string> model;
  std::span<const layers::ModelTable> models{};
  std::optional<std::int64_t> ranks{}; // of the logged cluster; not in the file
};

// Throws InputError for rows that cannot be read, gaps between ids, a log without rows or times,
// and a `model` that does not fit, and UsageError for an unknown model (MER 12).
[[nodiscard]] layers::Trace import_caffe_log(const std::string& file,
                                             const CaffeLogOptions& options);

} // namespace stepsim::io
