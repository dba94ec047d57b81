#pragma once
// Reads the buckets of DistributedDataParallel from the output of `model._get_ddp_logging_data()`,
// printed as a Python dictionary or written as JSON (INP 1.5): sizes in bytes in launch order, and
// the positions of the parameters in each bucket.
#include <cstdint>
#include <string>
#include <vector>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

struct DdpLog {
  std::string file; // path or "<stdin>", for error messages
  layers::SourceFile source;
  std::vector<std::int64_t> bucket_bytes; // at least one
  // [bucket] positions of its parameters in registration order, from 0; empty = not reported
  std::vector<std::vector<std::int64_t>> parameters;
  // The same positions in the order in which gradients became ready; empty = not reported.
  std::vector<std::int64_t> ready_order;
};

// Takes the values of the rebuilt buckets if there are any, else those of the first iteration. A
// list without brackets ends at the first character that is no digit, comma or space. Throws
// InputError if there are no bucket sizes, if a list in brackets has anything but whole numbers, if
// a value is above 2^53, or if there are positions, but not of as many buckets as sizes.
[[nodiscard]] DdpLog read_ddp_log(const std::string& path, std::uint64_t max_bytes);

} // namespace stepsim::io
