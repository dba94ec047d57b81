// The operations are copied to a new draft, so that reading stands at its place in the issue order;
// waits are added when all operations have their new numbers.
#include "programs/builders/step_parts.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stepsim::programs {
namespace {

std::uint32_t add_reading(ProgramDraft& draft, std::string id, std::uint32_t stream,
                          Seconds seconds) {
  Operation reading;
  reading.id = std::move(id);
  reading.stream = stream;
  reading.type = OperationType::delay;
  reading.seconds = seconds;
  return draft.add(std::move(reading));
}

} // namespace

// Layers that are updated one by one have their updates between forwards, during which nothing is
// read: reading begins after the first of them and lasts as much longer as the others take.
Program with_input(const Program& program, Seconds input, bool pipelined) {
  ProgramDraft draft;
  for (const Stream& stream : program.streams) {
    draft.stream(stream);
  }
  for (const Group& group : program.groups) {
    draft.group(group);
  }
  const std::uint32_t count = program.iteration_size();
  std::vector<std::uint32_t> updates;
  Seconds other_updates{};
  std::int32_t micro_batches = 1;
  for (std::uint32_t o = 0; o < count; ++o) {
    const Operation& operation = program.operations[o];
    micro_batches = std::max(micro_batches, operation.micro_batch + 1);
    if (operation.type == OperationType::compute && operation.kind == Kind::update) {
      other_updates = other_updates + (updates.empty() ? Seconds{} : operation.seconds);
      updates.push_back(o);
    }
  }
  assert(!updates.empty() && "synchronous training updates");
  std::vector<std::uint32_t> number; // [operation]: its number in the draft
  std::int32_t read = 0;             // micro-batches that have been read
  std::uint32_t reading = 0;         // on its own stream, at the end of the iteration
  const auto add_pipelined = [&] {
    if (pipelined) {
      reading = add_reading(draft, "I", draft.stream("input"),
                            input * static_cast<double>(micro_batches) + other_updates);
    }
  };
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    const Operation& operation = program.operations[o];
    if (!pipelined && operation.kind == Kind::backward && operation.micro_batch == read) {
      add_reading(draft, operation_name("I", static_cast<std::size_t>(read)), operation.stream,
                  input);
      ++read;
    }
    if (o == count) {
      add_pipelined();
      draft.start_tail();
    }
    number.push_back(draft.add(operation));
  }
  if (program.tail_operations == 0) {
    add_pipelined();
  }
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    for (const Wait& wait : program.waits_of(o)) {
      draft.wait(number[o], number[wait.operation], wait.distance, wait.scope, wait.until);
    }
  }
  for (const Applied& applied : program.applies) {
    draft.applies(number[applied.update], number[applied.exchange], applied.distance);
  }
  if (pipelined) {
    draft.wait(reading, number[updates.front()], 0);
    draft.wait(number[updates.front()], reading, 1);
  }
  draft.settings().ranks = program.ranks;
  draft.settings().steps = program.steps;
  draft.settings().interference = program.interference;
  return draft.finish(number[program.marker]);
}

} // namespace stepsim::programs
