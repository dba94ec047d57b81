#pragma once
// A training algorithm as data: the operations of one iteration, the streams on which they run, and
// waits for other operations, also of earlier iterations (TRN 2.1). Every rank runs the same list
// and has its own copy of every stream.
//
//     compute  F1 F2 F3 | B3 B2 B1 ....wait....| F1 F2      forward and backward of three layers
//     reduce                 =X3==X2====X1=====|            X1 waits for B1 at distance 0,
//                                                           F1 for X1 at distance 1
//
// Operations are listed in issue order: a fifo stream runs its operations in the order of the list,
// iteration after iteration. The last `tail_operations` of the list run only once, after the last
// iteration (TRN 2.5). Times are seconds >= 0. program_draft.hpp makes programs and checks
// whether a program is valid, which all evaluators require.
#include <string>
#include <vector>

#include "base/units.hpp"
#include "buckets/planner_options.hpp"

namespace stepsim::programs {

// How a stream runs its operations: one after the other in list order (fifo), the message with the
// smallest priority first (priority), or several messages at a time (at_once).
enum class Discipline { fifo, priority, at_once };
inline constexpr auto kDisciplines = base::words<Discipline>();

// compute: work of the device; delay: time during which nothing computes; exchange: a message
// between ranks.
enum class OperationType { compute, delay, exchange };
inline constexpr auto kOperationTypes = base::words<OperationType>();

// The ranks on which a wait requires the operation to have ended: the own rank, or all ranks.
enum class Scope { own, all };

// When an exchange starts: for all ranks once the last one has entered (together), or rank by rank
// as the schedule of the collective allows (each).
enum class Entry { together, each };
inline constexpr auto kEntries = base::words<Entry>();

// The purpose of an operation. Attribution and interference are per kind.
enum class Kind {
  forward,
  backward,
  update,
  select,
  encode,
  decode,
  outer_update,
  step,
  allreduce,
  reduce,
  broadcast,
  reduce_scatter,
  allgather,
  push,
  pull,
  other
};
inline constexpr auto kKinds = base::words<Kind>();
inline constexpr std::size_t kKindCount = static_cast<std::size_t>(Kind::other) + 1;

struct Stream {
  std::string name;
  Discipline discipline{};
  // priority: the credit in bytes, > 0. A message is dispatched while credit is left, and takes its
  // bytes from the credit until it ends (MER 6.2).
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
  // at_once: the number of messages in flight, the share of the channel that each has, and with
  // equal shares the slowdown of each data phase per further message in its data phase (MER 6.1,
  // buckets/sending.hpp).
  std::int32_t concurrency = 2;
  buckets::ChannelShares shares{};
  double contention = 0.5;
};

// A partition of all ranks into parts. An exchange of the group runs once per part, among the ranks
// of the part.
struct Group {
  std::string name;
  std::vector<std::vector<std::uint32_t>> parts{};
};
inline constexpr std::uint32_t kAllRanks = std::numeric_limits<std::uint32_t>::max();

// The name of a delay in which workers wait for each other, for a reason that is not known.
inline constexpr std::string_view kWait = "wait";

struct Operation {
  std::string id{};
  std::uint32_t stream{};
  OperationType type{};
  Kind kind = Kind::other;
  Seconds seconds{};               // compute, delay
  Seconds startup{};               // exchange
  Seconds data{};                  // exchange
  std::int64_t bytes{};            // exchange on a priority stream: bytes taken from the credit
  std::int64_t priority{};         // exchange on a priority stream: the smallest is sent first
  std::uint32_t group = kAllRanks; // exchange: index into Program::groups
  Entry entry{};                   // exchange
  std::int32_t step{};             // inner step, 0 .. steps - 1, for the factors of variability
  std::int32_t unit = -1;          // bucket or sharding unit, -1 if none
  std::int32_t first_layer = -1;   // first and last layer of the operation, -1 if none
  std::int32_t last_layer = -1;
  std::int32_t micro_batch = -1;

  // Seconds without interference and variability.
  [[nodiscard]] double duration_s() const {
    return type == OperationType::exchange ? startup.value + data.value : seconds.value;
  }
};

// A condition for the start of an operation: `operation` of `distance` iterations ago has ended.
// Instances of iterations before the first one ended at time 0. The condition is required in
// iterations before `until` only, counted from 0: training that begins in another way than it goes
// on has waits that end (TRN 4.6).
inline constexpr std::uint32_t kAlways = std::numeric_limits<std::uint32_t>::max();
struct Wait {
  std::uint32_t operation{};
  std::int32_t distance{};
  Scope scope{};
  std::uint32_t until = kAlways;
};

// States that `update` of iteration t applies the gradient of `exchange` of iteration t - distance.
struct Applied {
  std::uint32_t update{};
  std::uint32_t exchange{};
  std::int32_t distance{};

  // The staleness of the gradients in iterations (TRN 2.8). It is less by one if the update comes
  // before the exchange in the list of operations, because iteration t then computes with the
  // updated weights.
  //
  //     sync_sgd   U1 waits X1 of the iteration before, F1 follows     staleness 0
  //     zero       U waits R of the same iteration                     staleness 0
  //     pipe_sgd   U waits X of K iterations ago                       staleness K - 1
  [[nodiscard]] std::int32_t staleness() const {
    return update < exchange ? distance - 1 : distance;
  }
};

// Slowdowns >= 1 (TRN 3.1): of compute operations, by kind, while an exchange of the same rank is
// in flight; of the data phase of an exchange while a rank of its part computes.
struct Interference {
  Interference() { compute.fill(1); }
  std::array<double, kKindCount> compute{};
  double exchange = 1;
  [[nodiscard]] bool any() const {
    for (const double slowdown : compute) {
      if (slowdown != 1) {
        return true;
      }
    }
    return exchange != 1;
  }
};

struct Program {
  std::uint32_t ranks = 1;
  std::vector<Stream> streams;
  std::vector<Group> groups;
  std::vector<Operation> operations;
  std::vector<Wait> waits;               // the waits of operation 0, then of operation 1, ..
  std::vector<std::uint64_t> first_wait; // operations + 1 positions in `waits`
  std::vector<Applied> applies;
  Interference interference;
  std::uint32_t marker{};          // the operation whose end completes an iteration
  std::int32_t steps = 1;          // optimizer steps per iteration
  std::uint32_t tail_operations{}; // number of operations at the end of the list that run once

  [[nodiscard]] std::span<const Wait> waits_of(std::size_t operation) const {
    return {waits.data() + first_wait[operation], waits.data() + first_wait[operation + 1]};
  }
  // Number of operations of one iteration: all but the tail.
  [[nodiscard]] std::uint32_t iteration_size() const {
    return static_cast<std::uint32_t>(operations.size()) - tail_operations;
  }
  [[nodiscard]] bool only_fifo() const {
    return std::ranges::all_of(
        streams, [](const Stream& stream) { return stream.discipline == Discipline::fifo; });
  }
  // Whether no rank leaves an exchange before another enters it.
  [[nodiscard]] bool enters_together() const {
    return std::ranges::none_of(operations, [](const Operation& operation) {
      return operation.type == OperationType::exchange && operation.entry == Entry::each;
    });
  }
};

} // namespace stepsim::programs
