#pragma once
// The buckets of DistributedDataParallel as `model._get_ddp_logging_data()` reports them, printed
// as a Python dictionary or written as JSON (INP 1.5): sizes in bytes in launch order, and the
// positions of the parameters in each bucket.
#include <cstdint>
#include <string>
#include <vector>

#include "files/import_source.hpp"

namespace stepsim::io {

struct DdpLog {
  std::string file; // for messages
  train::SourceFile source;
  std::vector<std::int64_t> bucket_bytes;            // at least one
  std::vector<std::vector<std::int64_t>> parameters; // by bucket, from 0; empty = not reported
  std::vector<std::int64_t> ready_order;             // of the parameters; empty = not reported
};

// The values of the rebuilt buckets where they are there, else those of the first iteration. Throws
// InputError: no bucket sizes, numbers that are none or out of range.
[[nodiscard]] DdpLog read_ddp_log(const std::string& path, std::uint64_t max_bytes);

} // namespace stepsim::io
