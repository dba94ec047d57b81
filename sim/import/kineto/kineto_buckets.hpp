#pragma once
// Which gradient travels in which measured bucket (INP 1.4.1). A bucket is launched in the node of
// its last gradient, so its candidates are the gradients since the launch before. DDP launches in
// an order of its own: a gradient may be ready early and wait for a later bucket. Where the
// candidates sum up to more than the bucket, the fewest and latest of them that make up the
// difference go on to the next bucket; where they sum up to less, gradients without a size fill it,
// or DDP sent parameters that have no gradient in this step.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// One gradient: its elements if they are known, and the measured bucket that carries it.
struct BucketMember {
  static constexpr std::int32_t kUnknown = -1; // some bucket, but not which
  static constexpr std::int32_t kNever = -2;   // no bucket: it is never reduced

  std::optional<std::int64_t> elements;
  std::int32_t bucket = kUnknown;
  std::int64_t extra_elements = 0; // sent beside it, for parameters without a gradient
};

struct BucketMembers {
  std::vector<BucketMember> members; // one per gradient in ready order
  std::vector<std::string> notes;
  // The first bucket whose elements the gradients do not make up, in words; empty if all agree
  // without extra elements and without sizes that were filled in.
  std::string difference;
};

// `elements`: one per gradient of the step; empty = unknown. Without buckets every gradient counts
// and none has a bucket.
[[nodiscard]] BucketMembers
assign_buckets(const StepSample& step, const std::vector<std::optional<std::int64_t>>& elements);

// Positions of the fewest values that sum up to `sum`, the latest ones of several such sets; empty
// if none was found. One or two are looked for among all values, more only among the last 24.
[[nodiscard]] std::vector<std::size_t> subset_with_sum(const std::vector<std::int64_t>& values,
                                                       std::int64_t sum);

} // namespace stepsim::io
