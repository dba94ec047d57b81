#pragma once
// The layout of a program for the evaluators `recurrence` and `max_plus`: flat arrays in the order
// of evaluation. The end times of an operation are stored in a ring buffer with a slot for every
// iteration that waits look back to, rounded up to a power of two:
//
//     operation awaited at distances 0 and 2:  4 slots, iteration t in slot first + (t & 3)

#include <array>

#include "programs/operation_times.hpp"

namespace stepsim::programs {

struct OperationLayout {
  struct WaitSlot {
    std::uint32_t first; // first slot in the ring of the awaited operation
    std::uint32_t mask;
    std::uint32_t distance; // iterations back
    std::uint32_t until;    // the first iteration that no longer waits
    [[nodiscard]] bool holds(std::int64_t iteration) const {
      return iteration >= distance && iteration < until;
    }
  };

  std::vector<std::uint32_t> order; // operations of one iteration, then operations of the tail
  // [operation] in the order of the program's list.
  std::vector<std::uint32_t> stream;
  std::vector<std::uint32_t> ring_first;
  std::vector<std::uint32_t> ring_mask;
  std::vector<WaitSlot> waits;
  std::uint32_t slots{}; // total of all rings
  // The waits of the operations of an iteration, each last for the one before it on its stream:
  // where the awaited end lies in rows of one end per operation, counted from the row of the
  // iteration. Those of operation o begin at first_arc[o] and end at first_arc[o + 1].
  struct Arc {
    std::int64_t back;
    std::uint32_t distance, until;
  };
  std::vector<Arc> arcs;
  std::vector<std::uint32_t> first_arc;
  std::int64_t longest{}; // longest_wait()
  std::int64_t warmup{};  // the last iteration that a wait which ends does not hold in, or 0
  bool always = true;     // no wait ends
  std::vector<std::uint32_t> exchanges; // of an iteration
  bool one_channel = true;              // all of them are on one stream
  // Every iteration begins as the first does, and streams and exchanges are those of fifo_pass().
  bool begins_idle{};
  // The operations of an iteration, each delay and exchange behind the computing that it waits for.
  // Empty unless the program begins idle, computes on one stream, exchanges on another one, and
  // computing waits for nothing else of its own iteration. A delay has a stream of its own.
  struct PassStep {
    std::uint32_t operation{};
    std::uint32_t delay = kAllRanks; // of an exchange: the delay that it waits for, if any
  };
  std::vector<PassStep> single_pass;
  // The operations of an iteration that begins idle, in order: the start of each is the later end
  // of two others, first the one on its own stream, as kLast or kBefore if it is the last step or
  // the one before it. The first waits for itself. Empty if one waits for more streams.
  struct IdleStep {
    static constexpr std::uint32_t kNone = kAllRanks, kLast = kNone - 1, kBefore = kNone - 2;
    std::uint32_t operation{};
    std::array<std::uint32_t, 2> awaited{kNone, kNone};
  };
  std::vector<IdleStep> idle_steps;

  // The slot for the end of `operation` in `iteration`.
  [[nodiscard]] std::size_t slot(std::size_t operation, std::int64_t iteration) const {
    return ring_first[operation] + (static_cast<std::uint32_t>(iteration) & ring_mask[operation]);
  }
  // The slot that a wait in `iteration` reads; requires that it holds then.
  [[nodiscard]] static std::size_t slot(const WaitSlot& wait, std::int64_t iteration) {
    return wait.first + ((static_cast<std::uint32_t>(iteration) - wait.distance) & wait.mask);
  }
  [[nodiscard]] std::span<const WaitSlot> waits_of(const Program& program,
                                                   std::size_t operation) const {
    return {waits.data() + program.first_wait[operation],
            waits.data() + program.first_wait[operation + 1]};
  }
};

// Whether all operations of an iteration have ended when the first one of the next can start, and
// all others wait for that one: every iteration then begins on idle streams, as the first does.
[[nodiscard]] bool begins_idle(const Program& program);

// The layout of `program`, made in O(operations + waits). It is that of every program with the same
// operations, streams and waits, whatever their times.
[[nodiscard]] OperationLayout layout_of(const Program& program);

// The largest distance of a wait, in iterations; 0 without waits.
[[nodiscard]] std::int64_t longest_wait(const Program& program);

// [operation]: seconds without factors of variability.
[[nodiscard]] inline std::vector<double> durations_of(const Program& program) {
  std::vector<double> seconds(program.operations.size());
  std::ranges::transform(program.operations, seconds.begin(),
                         [](const Operation& each) { return each.duration_s(); });
  return seconds;
}

// The factor on the exchange time of `operation` in `iteration`; 1 in the tail.
[[nodiscard]] inline double exchange_factor(const Program& program, const Factors& factors,
                                            const Operation& operation, std::int64_t iteration,
                                            std::int64_t iterations) {
  if (factors.exchange.empty() || iteration >= iterations) {
    return 1;
  }
  return factors.exchange[static_cast<std::size_t>(iteration * program.steps + operation.step)];
}

// The factors on the compute time of `operation` in `iteration`: [rank]. Empty if all of them are
// 1, as in the tail.
[[nodiscard]] inline std::span<const double>
compute_factors(const Program& program, const Factors& factors, const Operation& operation,
                std::int64_t iteration, std::int64_t iterations) {
  if (factors.compute.empty() || iteration >= iterations) {
    return {};
  }
  const auto n = static_cast<std::size_t>(iteration * program.steps + operation.step);
  return {factors.compute.data() + n * program.ranks, program.ranks};
}

// Orders the operations of one iteration for evaluation: every operation comes after the operations
// that it waits for at distance 0 (in the same iteration) and, unless it is on a priority stream,
// after the previous operation of its stream.

// Operations by stream, in issue order.
struct StreamLists {
  std::vector<std::uint32_t> first; // streams + 1 positions in `operations`
  std::vector<std::uint32_t> operations;
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t stream) const {
    return {operations.data() + first[stream], operations.data() + first[stream + 1]};
  }
};
// The operations of one iteration, without the tail of the program.
[[nodiscard]] StreamLists stream_lists(const Program& program);
// The operations of the tail, which run once after the last iteration.
[[nodiscard]] StreamLists tail_lists(const Program& program);

// [operation of an iteration]: its wait for the one before it on its stream; that of the first is
// for the last one of the iteration before.
[[nodiscard]] std::vector<Wait> waits_on_streams(const Program& program);

struct IssueOrder {
  std::vector<std::uint32_t> order; // the operations of one iteration; shorter if there is a cycle
  // A cycle: each operation waits for the next one of the list, in the same iteration, and the last
  // for the first. Empty for a valid program.
  std::vector<std::uint32_t> cycle;
};

// The order of program.operations if it is valid, else another valid order. fifo and at_once
// streams start their operations in issue order; on a priority stream an operation may overtake
// another. O(operations + waits).
[[nodiscard]] IssueOrder issue_order(const Program& program);

} // namespace stepsim::programs
