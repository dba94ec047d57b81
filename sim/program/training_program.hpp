#pragma once
// A training algorithm as data: what every worker does in one iteration, as operations on streams
// with waits that may reach into earlier iterations (TRN 2.1). Every rank runs the same list and
// has its own copy of every stream.
//
//     compute  F1 F2 F3 | B3 B2 B1 ....wait....| F1 F2      forward and backward of three layers
//     reduce                 =X3==X2====X1=====|            X1 waits for B1 at distance 0,
//                                                           F1 for X1 at distance 1
//
// Operations stand in issue order: restricted to one stream, the order in which a fifo stream takes
// them, iteration after iteration. The last `tail_operations` of the list run once, after the last
// iteration (TRN 2.5). Times are seconds >= 0. program_draft.hpp makes programs, program_check.hpp
// says whether one is valid; the evaluators expect a valid one.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"

namespace stepsim::program {

enum class Discipline { fifo, priority, at_once };
inline constexpr auto kDisciplines = base::words<Discipline>({{Discipline::fifo, "fifo"},
                                                              {Discipline::priority, "priority"},
                                                              {Discipline::at_once, "at_once"}});

enum class OperationType { compute, delay, exchange };
inline constexpr auto kOperationTypes =
    base::words<OperationType>({{OperationType::compute, "compute"},
                                {OperationType::delay, "delay"},
                                {OperationType::exchange, "exchange"}});

// Whose instance a wait means: that of the same rank, or those of every rank.
enum class Scope { own, all };
inline constexpr auto kScopes = base::words<Scope>({{Scope::own, "own"}, {Scope::all, "all"}});

// When an exchange starts: together, once its last rank is there, or rank by rank as the schedule
// of its collective allows.
enum class Entry { together, each };
inline constexpr auto kEntries =
    base::words<Entry>({{Entry::together, "together"}, {Entry::each, "each"}});

// What an operation is for; attribution and interference are by kind.
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
inline constexpr auto kKinds = base::words<Kind>({{Kind::forward, "forward"},
                                                  {Kind::backward, "backward"},
                                                  {Kind::update, "update"},
                                                  {Kind::select, "select"},
                                                  {Kind::encode, "encode"},
                                                  {Kind::decode, "decode"},
                                                  {Kind::outer_update, "outer_update"},
                                                  {Kind::step, "step"},
                                                  {Kind::allreduce, "allreduce"},
                                                  {Kind::reduce, "reduce"},
                                                  {Kind::broadcast, "broadcast"},
                                                  {Kind::reduce_scatter, "reduce_scatter"},
                                                  {Kind::allgather, "allgather"},
                                                  {Kind::push, "push"},
                                                  {Kind::pull, "pull"},
                                                  {Kind::other, "other"}});
inline constexpr std::size_t kKindCount = static_cast<std::size_t>(Kind::other) + 1;

struct Stream {
  std::string name;
  Discipline discipline{};
  // priority: bytes that may be in flight when the next message is dispatched, > 0 (MER 6.2).
  std::int64_t credit_bytes = std::numeric_limits<std::int64_t>::max();
  // at_once: messages at a time, and how much one more of them slows each data phase (MER 6.1).
  std::int32_t concurrency = 2;
  double contention = 0.5;
};

// A group of ranks: a partition of all ranks into parts. An exchange of the group runs once per
// part, among the ranks of the part.
struct Group {
  std::string name;
  std::vector<std::vector<std::uint32_t>> parts;
};
inline constexpr std::uint32_t kAllRanks = std::numeric_limits<std::uint32_t>::max();

struct Operation {
  std::string id;
  std::uint32_t stream{};
  OperationType type{};
  Kind kind = Kind::other;
  Seconds seconds;                 // compute, delay
  Seconds startup;                 // exchange
  Seconds data;                    // exchange
  std::int64_t bytes{};            // exchange on a priority stream: takes part of the credit
  std::int64_t priority{};         // exchange on a priority stream: smallest first
  std::uint32_t group = kAllRanks; // exchange: index into Program::groups
  Entry entry{};                   // exchange
  std::int32_t step{};             // inner step, 0 .. steps - 1: selects the factors of variability
  std::int32_t unit = -1;          // bucket or sharding unit, -1 if none
  std::int32_t first_layer = -1;   // layers that it works on, -1 if none
  std::int32_t last_layer = -1;
  std::int32_t micro_batch = -1;

  // Without interference and variability.
  [[nodiscard]] double duration_s() const {
    return type == OperationType::exchange ? startup.value + data.value : seconds.value;
  }
};

// The operation must not start before `operation` of `distance` iterations ago has ended. Instances
// of iterations before the first one ended at time 0.
struct Wait {
  std::uint32_t operation{};
  std::int32_t distance{};
  Scope scope{};
};

// The update of iteration t uses the gradient that `exchange` of iteration t - distance delivered.
struct Applied {
  std::uint32_t update{};
  std::uint32_t exchange{};
  std::int32_t distance{};
};

// How much slower computing is while an exchange of the same rank is under way, by kind, and the
// data phase of an exchange while a rank of its group computes (TRN 3.1); >= 1.
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
  std::vector<Wait> waits;               // of operation 0, then of operation 1, ..
  std::vector<std::uint64_t> first_wait; // operations + 1 positions in `waits`
  std::vector<Applied> applies;
  Interference interference;
  std::uint32_t marker{};          // its completions count iterations
  std::int32_t steps = 1;          // optimizer steps per iteration
  std::uint32_t tail_operations{}; // the last ones of the list run once, at the end

  [[nodiscard]] std::span<const Wait> waits_of(std::size_t operation) const {
    return {waits.data() + first_wait[operation], waits.data() + first_wait[operation + 1]};
  }
  // Operations of one iteration: all but the tail.
  [[nodiscard]] std::uint32_t iteration_size() const {
    return static_cast<std::uint32_t>(operations.size()) - tail_operations;
  }
  [[nodiscard]] bool only_fifo() const {
    for (const Stream& stream : streams) {
      if (stream.discipline != Discipline::fifo) {
        return false;
      }
    }
    return true;
  }
};

} // namespace stepsim::program
