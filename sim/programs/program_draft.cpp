#include "programs/program_draft.hpp"

#include <cassert>
#include <numeric>
#include <utility>

namespace stepsim::programs {

std::uint32_t ProgramDraft::stream(std::string name, Discipline discipline) {
  return stream(Stream{.name = std::move(name), .discipline = discipline});
}

std::uint32_t ProgramDraft::stream(Stream stream) {
  program_.streams.push_back(std::move(stream));
  return static_cast<std::uint32_t>(program_.streams.size() - 1);
}

std::uint32_t ProgramDraft::group(Group group) {
  program_.groups.push_back(std::move(group));
  return static_cast<std::uint32_t>(program_.groups.size() - 1);
}

std::uint32_t ProgramDraft::compute(std::string id, std::uint32_t stream, Kind kind,
                                    Seconds seconds) {
  Operation operation;
  operation.id = std::move(id);
  operation.stream = stream;
  operation.type = OperationType::compute;
  operation.kind = kind;
  operation.seconds = seconds;
  return add(std::move(operation));
}

std::uint32_t ProgramDraft::exchange(std::string id, std::uint32_t stream, Kind kind,
                                     Seconds startup, Seconds data) {
  Operation operation;
  operation.id = std::move(id);
  operation.stream = stream;
  operation.type = OperationType::exchange;
  operation.kind = kind;
  operation.startup = startup;
  operation.data = data;
  return add(std::move(operation));
}

std::uint32_t ProgramDraft::add(Operation operation) {
  program_.operations.push_back(std::move(operation));
  return size() - 1;
}

void ProgramDraft::wait(std::uint32_t waiter, std::uint32_t operation, std::int32_t distance,
                        Scope scope, std::uint32_t until) {
  waiters_.push_back(waiter);
  program_.waits.push_back(
      {.operation = operation, .distance = distance, .scope = scope, .until = until});
}

void ProgramDraft::applies(std::uint32_t update, std::uint32_t exchange, std::int32_t distance) {
  program_.applies.push_back({.update = update, .exchange = exchange, .distance = distance});
}

Program ProgramDraft::finish(std::uint32_t marker) {
  Program program = std::exchange(program_, {});
  const std::vector<std::uint32_t> waiters = std::exchange(waiters_, {});
  const std::size_t operations = program.operations.size();
  program.marker = marker;
  program.tail_operations =
      tail_first_ == kAllRanks ? 0 : static_cast<std::uint32_t>(operations) - tail_first_;
  tail_first_ = kAllRanks;
  // Counting sort by waiter.
  program.first_wait.assign(operations + 1, 0);
  for (const std::uint32_t waiter : waiters) {
    assert(waiter < operations && "an operation that waits was added");
    ++program.first_wait[waiter + 1];
  }
  std::partial_sum(program.first_wait.begin(), program.first_wait.end(),
                   program.first_wait.begin());
  std::vector<std::uint64_t> next(program.first_wait.begin(), program.first_wait.end() - 1);
  std::vector<Wait> sorted(program.waits.size());
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    sorted[next[waiters[i]]++] = program.waits[i];
  }
  program.waits = std::move(sorted);
  return program;
}

} // namespace stepsim::programs
