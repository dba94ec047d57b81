#pragma once
// Makes a Program operation by operation. Operations are numbered from 0 in the order in which they
// are added. Waits may name operations that are added later.
//
//     ProgramDraft draft;
//     const auto compute = draft.stream("compute");
//     const auto reduce = draft.stream("reduce");
//     const auto step = draft.compute("S", compute, Kind::step, Seconds{2});
//     const auto exchange = draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{4});
//     draft.wait(exchange, step, 0);
//     draft.wait(step, exchange, 1);
//     const Program program = draft.finish(step);

#include "programs/training_program.hpp"

namespace stepsim::programs {

class ProgramDraft {
public:
  std::uint32_t stream(std::string name, Discipline discipline = Discipline::fifo);
  std::uint32_t stream(Stream stream);
  std::uint32_t group(Group group);
  // compute(), exchange() and add() return the number of the new operation.
  std::uint32_t compute(std::string id, std::uint32_t stream, Kind kind, Seconds seconds);
  std::uint32_t exchange(std::string id, std::uint32_t stream, Kind kind, Seconds startup,
                         Seconds data);
  std::uint32_t add(Operation operation);
  // The operation that was added last, so that the caller can set its labels.
  [[nodiscard]] Operation& last() { return program_.operations.back(); }
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(program_.operations.size());
  }

  void wait(std::uint32_t waiter, std::uint32_t operation, std::int32_t distance,
            Scope scope = Scope::own, std::uint32_t until = kAlways);
  void applies(std::uint32_t update, std::uint32_t exchange, std::int32_t distance);
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

} // namespace stepsim::programs
