#pragma once
// Makes a Program operation by operation. Waits may name operations that are added later: their
// numbers count from 0 in the order of adding.
//
//     ProgramDraft draft;
//     const auto compute = draft.stream("compute");
//     const auto reduce = draft.stream("reduce");
//     const auto step = draft.compute("S", compute, Kind::step, Seconds{2});
//     const auto exchange = draft.exchange("X", reduce, Kind::allreduce, Seconds{0}, Seconds{4});
//     draft.wait(exchange, step, 0);
//     draft.wait(step, exchange, 1);
//     const Program program = draft.finish(step);
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

class ProgramDraft {
public:
  std::uint32_t stream(std::string name, Discipline discipline = Discipline::fifo);
  std::uint32_t stream(Stream stream);
  std::uint32_t group(Group group);
  // The number of the operation.
  std::uint32_t compute(std::string id, std::uint32_t stream, Kind kind, Seconds seconds);
  std::uint32_t exchange(std::string id, std::uint32_t stream, Kind kind, Seconds startup,
                         Seconds data);
  std::uint32_t add(Operation operation);
  // The operation added last, to set its labels.
  [[nodiscard]] Operation& last() { return program_.operations.back(); }
  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(program_.operations.size());
  }

  void wait(std::uint32_t waiter, std::uint32_t operation, std::int32_t distance,
            Scope scope = Scope::own);
  void applies(std::uint32_t update, std::uint32_t exchange, std::int32_t distance);
  // Every operation added from now on belongs to the tail.
  void start_tail() { tail_first_ = size(); }
  // Ranks, steps, interference: set them here before finish().
  [[nodiscard]] Program& settings() { return program_; }

  // The program with `marker`; the draft is empty afterwards. Waits of one operation keep the order
  // of adding. O(operations + waits).
  [[nodiscard]] Program finish(std::uint32_t marker);

private:
  Program program_;
  std::vector<std::uint32_t> waiters_; // of program_.waits, until they are sorted
  std::uint32_t tail_first_ = kAllRanks;
};

} // namespace stepsim::program
