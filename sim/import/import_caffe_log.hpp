#pragma once
// Layer logs of B-Caffe (MER 9): rows `[id, elements, backward_us, communication_us(, merged_us)]`
// in forward order, one per parameter blob. Consecutive rows with equal backward time are one
// layer (weight and bias share a timer). Forward is not logged: forward = 0.5 x backward, and the
// trace is marked `assumed`. Elements stay as logged, padded to multiples of 64 per blob. Rows
// without backward time are left out, and of several dumps in a log the last with times counts.
#include <optional>
#include <span>
#include <string>

#include "files/import_options.hpp"
#include "train/workload/model_table.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

struct CaffeLogOptions {
  ImportOptions common;
  std::optional<std::string> model; // names for the rows; default: the table that fits
  std::span<const train::ModelTable> models{};
};

// Throws InputError (MER 12), UsageError for an unknown model.
[[nodiscard]] train::Trace import_caffe_log(const std::string& file,
                                            const CaffeLogOptions& options);

} // namespace stepsim::io
