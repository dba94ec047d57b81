#pragma once
// A collective as copies and additions on streams, built on the host from the schedule that the
// simulator evaluates (COL 5). Rank r has two streams, `send` (its outbound copy engine) and
// `compute`, a vector x[r] and a temporary temp[r] of the same length. Program order, step by step:
//
//   copy  on send(src):     x[src][range] -> x[dst][range], or -> temp[dst][range] if it is added
//   add   on compute(dst):  x[dst][range] += temp[dst][range], after all copies of its step
//
// `waits` are the operations of other streams that must end first; a stream runs its own operations
// in order. The waits follow from which operation reads and writes which elements, and a wait that
// follows from other waits is left out. Any order of execution that respects streams and waits
// gives the same result. Offsets and counts are in elements.
#include <cmath>

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

struct PlanOperation {
  enum class Kind : std::uint8_t { copy, add };
  Kind kind = Kind::copy;
  bool to_temp = false; // a copy goes to temp[dst], from where an `add` takes it; add: false
  bool awaited = false; // an operation of another stream waits for this one
  std::uint32_t src{};  // copy: sending rank; add: the same as dst
  std::uint32_t dst{};  // rank whose vector or temporary is written
  std::int64_t offset{};
  std::int64_t count{};               // 0: nothing is moved, but `waits` still hold
  std::vector<std::uint32_t> waits{}; // positions in the plan, at most one per stream, ascending

  [[nodiscard]] std::uint32_t stream() const { // 2 rank: send, 2 rank + 1: compute
    return kind == Kind::copy ? 2 * src : 2 * dst + 1;
  }
};

struct CollectivePlan {
  std::uint32_t ranks{};
  std::int64_t elements{};
  std::vector<PlanOperation> operations;
};

struct PlanRequest {
  collectives::Op op = collectives::Op::allreduce; // broadcast, reduce, allreduce
  collectives::AlgorithmId algorithm = collectives::AlgorithmId::ring; // mst, be, lp, ring
  std::uint32_t ranks = 1;
  std::int64_t elements{};       // fp32
  std::int64_t block_elements{}; // block of lp (linear pipeline); 0 = optimal for `link`
  collectives::LinkCost link{5e-6, 5e-6, 1e-11};
  double reduction_s_per_byte = 1e-12;
};

// Operation and algorithm must be one of dense_kinds() (not checked); the root is rank 0. A `ring`
// broadcast or reduce is the chain of `lp` (linear pipeline) with exactly P blocks of whole
// elements, the first blocks one element longer if P does not divide the number of elements. The
// plan has no operations for one rank or no elements.
[[nodiscard]] CollectivePlan make_plan(const PlanRequest& request);
// The best block of `lp` for the link of the request [elements], whatever its block_elements; 0 if
// the algorithm has no blocks. It comes from the formula that the simulator uses, so that both use
// the same blocks.
[[nodiscard]] std::int64_t best_block(const PlanRequest& request);

// Whether `bytes` may be requested as the block of `lp`: whole elements, at most 1 GB. A plan has
// operations per block, so measurements use a requested block only for vectors that
// has_few_blocks() accepts, which make_plan() does not check.
[[nodiscard]] inline bool is_block(double bytes) {
  return bytes > 0 && bytes <= 1e9 && std::fmod(bytes, sizeof(float)) == 0;
}
inline constexpr std::int64_t kMostBlocks = 4096;
[[nodiscard]] constexpr bool has_few_blocks(std::int64_t elements, std::int64_t block_elements) {
  return block_elements > 0 && elements <= kMostBlocks * block_elements;
}

struct Direction {
  std::uint32_t src{}, dst{};
};
using Round = std::vector<Direction>; // its messages go at once
// Sends the whole vector in every direction of every round, and all of that `times` times. With
// several rounds each message waits for the one before, so that what is timed is a chain of single
// messages. With one round the messages of one sender follow one another, and every message arrives
// in the temporary of its receiver and not in the vector that the receiver sends, so that no sender
// waits for another.
[[nodiscard]] CollectivePlan traffic_plan(std::int64_t elements, std::uint32_t times,
                                          std::span<const Round> rounds);

} // namespace stepsim::calibrate::gpu
