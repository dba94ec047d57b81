#pragma once
// The buckets that PyTorch's DistributedDataParallel should use in a scenario: one size for all of
// them (bucket_cap_mb), and one size for each (bucket_cap_mb_list) where DDP can then make the best
// merge. 1 MiB is 2^20 bytes, as in PyTorch.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "scenario/files.hpp"
#include "sweep/rows.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct DdpBuckets {
  Bytes cap;                              // best single bucket size
  Bytes first;                            // of the first bucket, with `cap`
  Seconds cap_step;                       // step with `cap`
  std::optional<std::vector<Bytes>> list; // sizes in launch order, of the best buckets of all
  Seconds step;                           // step with `list`; with `cap` if there is no list
  Seconds default_step;                   // step with PyTorch's defaults
  std::string no_list;                    // why there is no list, "" if there is one
  std::vector<std::string> warnings;      // of the runs
};

// `cap` is the best of all values, because one value of every division that PyTorch's rule can make
// is run (MER 5.2). A list exists if the gradients have one element type and DDP fills buckets in
// the order of their backward pass, so that every contiguous division is a list of sizes. Throws
// InputError for the scenario, UsageError where it has no bucket_bytes, SimulationError if every
// value fails.
[[nodiscard]] DdpBuckets ddp_buckets(const io::Json& scenario, Files& files,
                                     const RowsOptions& options);

// The settings of DDP, with a Python snippet that applies them.
[[nodiscard]] io::Json ddp_buckets_tree(const io::Json& scenario, const DdpBuckets& buckets);

} // namespace stepsim::study
