#pragma once
// A collective as copies and additions on streams, built on the host from the schedule that the
// simulator evaluates (COL 5). Rank r has two streams, `send` (its outbound copy engine) and
// `compute`, a vector x[r] and a temporary temp[r] of the same length. Program order, step by step:
//
//   copy  on send(src):     x[src][range] -> x[dst][range], or -> temp[dst][range] if it is added
//   add   on compute(dst):  x[dst][range] += temp[dst][range], after all copies of its step
//
// `waits` name the operations of other streams that must end first; what stands earlier on the own
// stream is done anyway. They follow from who reads and writes which elements: data ready at the
// sender, temporary free at the receiver. None of them is implied by the others. Executing in any
// order that respects streams and waits gives the same result. Offsets and counts are in elements.
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

struct PlanOperation {
  enum class Kind : std::uint8_t { copy, add };
  Kind kind = Kind::copy;
  bool to_temp = false; // of a copy: what arrives is added
  bool awaited = false; // an operation of another stream waits for this one
  std::uint32_t src{};  // of a copy
  std::uint32_t dst{};
  std::int64_t offset{};
  std::int64_t count{};             // 0: nothing to move, the dependencies hold all the same
  std::vector<std::uint32_t> waits; // positions in the plan, at most one per stream, ascending

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
  coll::Op op = coll::Op::allreduce;                     // broadcast, reduce, allreduce
  coll::AlgorithmId algorithm = coll::AlgorithmId::ring; // mst, be, lp, ring
  std::uint32_t ranks = 1;
  std::int64_t elements{};       // fp32
  std::int64_t block_elements{}; // of lp; 0 = optimal for the link
  coll::LinkCost link{5e-6, 5e-6, 1e-11};
  double reduction_s_per_byte = 1e-12;
};

// What can be asked for, in the order in which it is measured.
struct PlanKind {
  coll::Op op;
  coll::AlgorithmId algorithm;
};
[[nodiscard]] std::span<const PlanKind> plan_kinds();

// Operation and algorithm must be one of plan_kinds() (not checked); the root is rank 0. `ring`
// broadcast and reduce are the chain of `lp` (linear pipeline) in exactly P blocks of whole
// elements, the first ones one element longer where P does not divide their number. Empty for one
// rank or no elements.
[[nodiscard]] CollectivePlan make_plan(const PlanRequest& request);
// The messages of which the plan is made, in program order.
[[nodiscard]] std::vector<ElementMessage> messages_of(const PlanRequest& request);

// The block of `lp` that is best for the link of the request [elements]; 0 where the collective has
// no blocks. It comes from the formula that the simulator uses, so that both pipeline the same way.
[[nodiscard]] std::int64_t best_block(const PlanRequest& request);

// A block size that can be given for `lp`: whole elements, at most 1 GB. It is used for vectors of
// which it makes no more blocks than can be planned and launched.
[[nodiscard]] inline bool is_block(double bytes) {
  return bytes > 0 && bytes <= 1e9 && std::fmod(bytes, sizeof(float)) == 0;
}
inline constexpr std::int64_t kMostBlocks = 4096;
[[nodiscard]] constexpr bool has_few_blocks(std::int64_t elements, std::int64_t block_elements) {
  return block_elements > 0 && elements <= kMostBlocks * block_elements;
}

// `round_trips` messages of the whole vector from one rank to another and back, one after the
// other. The time of one message is the time of the plan divided by 2 round_trips.
[[nodiscard]] CollectivePlan ping_pong_plan(std::int64_t elements, std::uint32_t round_trips,
                                            std::uint32_t src = 0, std::uint32_t dst = 1);

struct Direction {
  std::uint32_t src{}, dst{};
};
// Sends the whole vector `messages` times in each direction. All directions start at the same time,
// and the messages of one sender follow one another. Every message arrives in the temporary of its
// receiver and not in the vector that the receiver sends, so that no sender waits for another.
[[nodiscard]] CollectivePlan traffic_plan(std::int64_t elements, std::uint32_t messages,
                                          std::span<const Direction> directions);

} // namespace stepsim::calibrate::gpu
