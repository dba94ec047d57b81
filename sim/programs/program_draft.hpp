#pragma once
// Makes a Program operation by operation, and checks programs. Operations are numbered from 0 in
// the order in which they are added. Waits may name operations that are added later.
//
//     ProgramDraft draft;
//     const auto compute = draft.stream("compute");
//     const auto reduce = draft.stream("reduce");
//     const auto step = draft.compute("S", compute, Kind::step, Seconds{2});
//     const auto exchange = draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{4});
//     draft.wait(exchange, step, 0);
//     draft.wait(step, exchange, 1);
//     const Program program = draft.finish(step);

#include "base/error.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

class ProgramDraft {
public:
  std::uint32_t stream(std::string name, Discipline discipline = Discipline::fifo) {
    return stream(Stream{.name = std::move(name), .discipline = discipline});
  }
  std::uint32_t stream(Stream stream) {
    program_.streams.push_back(std::move(stream));
    return static_cast<std::uint32_t>(program_.streams.size() - 1);
  }
  std::uint32_t group(Group group) {
    program_.groups.push_back(std::move(group));
    return static_cast<std::uint32_t>(program_.groups.size() - 1);
  }
  // compute(), exchange() and add() return the number of the new operation.
  std::uint32_t compute(std::string id, std::uint32_t stream, Kind kind, Seconds seconds) {
    return add({.id = std::move(id),
                .stream = stream,
                .type = OperationType::compute,
                .kind = kind,
                .seconds = seconds});
  }
  std::uint32_t exchange(std::string id, std::uint32_t stream, Kind kind, Seconds startup,
                         Seconds data) {
    return add({.id = std::move(id),
                .stream = stream,
                .type = OperationType::exchange,
                .kind = kind,
                .startup = startup,
                .data = data});
  }
  std::uint32_t add(Operation operation) {
    program_.operations.push_back(std::move(operation));
    return size() - 1;
  }
  // The operation that was added last, so that the caller can set its labels.
  [[nodiscard]] Operation& last() { return program_.operations.back(); }
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(program_.operations.size());
  }

  void wait(std::uint32_t waiter, std::uint32_t operation, std::int32_t distance,
            Scope scope = Scope::own, std::uint32_t until = kAlways) {
    waiters_.push_back(waiter);
    program_.waits.push_back({operation, distance, scope, until});
  }
  // Waits for several operations, in their order.
  void wait(std::uint32_t waiter, std::span<const std::uint32_t> operations,
            std::int32_t distance) {
    for (const std::uint32_t operation : operations) {
      wait(waiter, operation, distance);
    }
  }
  void applies(std::uint32_t update, std::uint32_t exchange, std::int32_t distance) {
    program_.applies.push_back({update, exchange, distance});
  }
  // Waits for the exchanges and applies what each has brought.
  void apply(std::uint32_t update, std::span<const std::uint32_t> exchanges,
             std::int32_t distance) {
    wait(update, exchanges, distance);
    for (const std::uint32_t exchange : exchanges) {
      applies(update, exchange, distance);
    }
  }
  // Every operation added from now on belongs to the tail.
  void start_tail() { tail_first_ = size(); }
  // The program so far, in which the caller sets ranks, steps and interference before finish().
  [[nodiscard]] Program& settings() { return program_; }

  // Returns the program with this marker and leaves the draft empty. The waits of one operation
  // keep the order in which they were added. O(operations + waits).
  [[nodiscard]] Program finish(std::uint32_t marker);

private:
  Program program_;
  std::vector<std::uint32_t> waiters_; // [wait]: waiting operation, until the waits are sorted
  std::uint32_t tail_first_ = kAllRanks;
};

// Checks whether a program whose numbers are in the range of their keys is valid (TRN 2.1, 8.4).

inline constexpr std::uint64_t kMaxOperations = 1'000'000;
// Limit of operations x ranks of one iteration, and of the instances that waits may look back on.
inline constexpr std::uint64_t kMaxInstances = std::uint64_t{1} << 31;

// The problems of a program; empty if it is valid. Problems with the number of operations come
// first, then with streams, groups, operations and waits, each in list order, then with the marker.
// The distances and cycles of waits are checked only if nothing else is
// wrong. `file` names the program in the messages:
//     program.json: /operations/4/waits/0/1: must be >= 0, got -1
//     program.json: /operations: a, b, a wait for each other in the same iteration
[[nodiscard]] std::vector<base::Problem> problems_of(const Program& program,
                                                     const std::string& file);

// Throws InputError with the problems of the program, if there are any.
void check(const Program& program, const std::string& file);

// The operations, ascending, that no wait names, except the marker and the tail. Such an operation
// delays training only through the order of its fifo stream, or not at all, which is seldom the
// intention of the author.
[[nodiscard]] std::vector<std::uint32_t> unawaited(const Program& program);

} // namespace stepsim::programs
