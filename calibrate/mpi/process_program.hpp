#pragma once
// The part of one process in a collective (CAL 8): a list of steps, each with at most one message
// to send and one to receive, from the schedule that the simulator evaluates. Vectors are fp32;
// offsets and counts are in elements.
//
//   step k   post both messages, wait for both; then add the received data if its message has
//            `reduce`
//
// In trees that spread data, the sender waits for an acknowledgement, so that its step ends when
// the message has been delivered, as in the model (CAL D11). These are the way down of `mst`
// (binomial tree) and the scatter of the `be` broadcast (scatter, then all-gather). The steps of
// `lp` (linear pipeline) do not wait for each other: a block is sent on as soon as it has arrived
// (wire.hpp).

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::mpi {

inline constexpr std::int64_t kEntry = 8; // bytes of a sparse entry: index and value

[[nodiscard]] std::string_view algorithm_name(const Kind& kind);
[[nodiscard]] std::string name(const Kind& kind); // "lp allreduce"
// All kinds that can be run, in the order of the tables that are printed.
[[nodiscard]] std::span<const Kind> kinds();

struct Message : ElementMessage {
  bool acknowledged{}; // the sender's next step waits for an empty reply
};

struct MessageOptions {
  std::int64_t segment_bytes = 32768; // a message is sent in segments (wire.hpp); block of `lp`
  bool acknowledge = true;            // false: no sender waits for a reply
};

// All messages of all ranks in program order; the root is rank 0. `bytes` must be a multiple of 4
// (asserted); a sparse kind has 8 bytes per entry. `ring` broadcast and reduce are the chain of
// `lp` with exactly P blocks; if P does not divide the number of elements, the first blocks are one
// element longer. Empty for one rank or no bytes.
[[nodiscard]] std::vector<Message> messages_of(const Kind& kind, std::uint32_t ranks,
                                               std::int64_t bytes, const MessageOptions& options);

// A step of one process, with its number in the schedule. Steps in which the process neither sends
// nor receives are left out.
struct Step {
  std::int64_t number{};
  std::optional<Message> send, receive;
};
struct Program { // the steps of one rank in a collective of `bytes` bytes
  Kind kind;
  std::int64_t bytes{};
  std::vector<Step> steps; // ascending
};
[[nodiscard]] Program program_of(const Kind& kind, std::uint32_t ranks, std::uint32_t rank,
                                 std::int64_t bytes, const MessageOptions& options);

} // namespace stepsim::calibrate::mpi
