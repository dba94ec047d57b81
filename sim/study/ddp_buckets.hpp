#pragma once
// Finds the bucket sizes that PyTorch's DistributedDataParallel should use in a scenario: one size
// for all buckets (bucket_cap_mb) and, if DDP can make the best merge that way, a list with a size
// for each bucket (bucket_cap_mb_list). 1 MiB is 2^20 bytes, as in PyTorch.

#include "study/tune.hpp"

namespace stepsim::study {

struct DdpBuckets {
  Bytes cap;                              // best single bucket size
  Bytes first;                            // size of the first bucket if `cap` is used
  Seconds cap_step;                       // iteration time with `cap`
  std::optional<std::vector<Bytes>> list; // sizes of the best buckets, in launch order
  Seconds step;                           // iteration time with `list`, or with `cap` without list
  Seconds default_step;                   // iteration time with PyTorch's defaults
  // Iteration time with the buckets of the trace, where the scenario has these.
  std::optional<Seconds> trace_step;
  Gain gain;           // of `step` over `trace_step` or, without it, over `default_step`
  std::string no_list; // why there is no list; empty if there is one
  std::vector<std::string> warnings; // warnings of the runs
};

// `cap` is the answer of tune() for bucket_bytes: the value nearest PyTorch's default within 1 % of
// the shortest (MER 5.2). There is a list only if a list of sizes can express every
// contiguous division of the gradients: all gradients are dense and have one element type, and DDP
// fills its buckets in the order of the backward pass. Throws InputError if the scenario is
// invalid, UsageError if it cannot have bucket_bytes, and SimulationError if every value fails.
[[nodiscard]] DdpBuckets ddp_buckets(const io::Json& scenario, Files& files,
                                     const SweepOptions& options);

// The settings for DDP as a JSON object, with a Python snippet that applies them or, where the gain
// is not worth it, leaves PyTorch's defaults.
[[nodiscard]] io::Json ddp_buckets_tree(const io::Json& scenario, const DdpBuckets& buckets);

} // namespace stepsim::study
