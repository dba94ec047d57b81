#pragma once
// A collective as what one process does (CAL 8): steps of at most one message out and one in, from
// the schedule that the simulator evaluates. fp32 vectors; offsets and counts are in elements.
//
//   step k   post both messages, wait for both, add what came in if it is added
//
// In trees that spread data (mst down the tree, also of an all-reduce; scatter of a be broadcast) a
// message is acknowledged, so that a round means delivery as in the model (CAL D11). Steps of `lp`
// are not waited for one by one: a block goes on as soon as it is here (wire.hpp).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::mpi {

inline constexpr std::int64_t kEntry = 8; // bytes of a sparse entry: index and value

struct Kind {
  coll::Op op = coll::Op::allreduce;
  coll::AlgorithmId algorithm = coll::AlgorithmId::ring;
  bool sparse = false; // gtopk_tree: mst all-reduce of k entries
};
[[nodiscard]] std::string_view algorithm_name(const Kind& kind);
[[nodiscard]] std::string name(const Kind& kind); // "lp allreduce"
// What can be asked for, in the order of tables.
[[nodiscard]] std::span<const Kind> kinds();

struct Message : ElementMessage {
  bool acknowledged{}; // the sender's next step waits for an empty reply
};

struct MessageOptions {
  std::int64_t segment_bytes = 32768; // also the block of `lp`
  bool acknowledge = true;            // false: no message waits for a reply
};

// All messages in program order, root 0; of a sparse kind `bytes` is 8 k. `ring` broadcast and
// reduce are the chain of `lp` in exactly P blocks of whole elements, the first ones one element
// longer where P does not divide their number. `bytes` must be whole elements. Empty for one rank
// or no bytes.
[[nodiscard]] std::vector<Message> messages_of(const Kind& kind, std::uint32_t ranks,
                                               std::int64_t bytes, const MessageOptions& options);

// What one process does at a time. Numbers are those of the schedule; steps in which it does
// nothing are left out.
struct Step {
  std::int64_t number{};
  std::optional<Message> send, receive;
};
struct Program { // of one rank
  Kind kind;
  std::int64_t bytes{};
  std::vector<Step> steps; // ascending
};
[[nodiscard]] Program program_of(const Kind& kind, std::uint32_t ranks, std::uint32_t rank,
                                 std::int64_t bytes, const MessageOptions& options);

} // namespace stepsim::calibrate::mpi
