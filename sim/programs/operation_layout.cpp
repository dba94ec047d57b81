#include "programs/operation_layout.hpp"

#include <bit>

namespace stepsim::programs {

namespace {

// The order of OperationLayout::single_pass; empty where there is none.
std::vector<std::uint32_t> single_pass_of(const Program& program) {
  const auto of_type = [&](OperationType type) {
    return std::ranges::find(program.operations, type, &Operation::type);
  };
  const auto computing = of_type(OperationType::compute);
  const auto exchange = of_type(OperationType::exchange);
  if (computing == program.operations.end() || exchange == program.operations.end() ||
      computing->stream == exchange->stream) {
    return {};
  }
  std::vector<std::uint32_t> computed;                      // in order
  std::vector<std::size_t> place(program.iteration_size()); // behind so many of them
  std::vector<std::uint32_t> exchanges;                     // in order
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const Operation& each = program.operations[o];
    const bool computes = each.type == OperationType::compute && each.stream == computing->stream;
    if (!computes && (each.type != OperationType::exchange || each.stream != exchange->stream)) {
      return {};
    }
    (computes ? computed : exchanges).push_back(o);
    place[o] = computed.size();
  }
  std::vector<std::uint32_t> order;
  std::size_t done = 0;
  const auto compute_until = [&](std::size_t end) {
    for (; done < end; ++done) {
      order.push_back(computed[done]);
    }
  };
  for (const std::uint32_t o : computed) {
    for (const Wait& wait : program.waits_of(o)) {
      if (wait.distance == 0 &&
          program.operations[wait.operation].type == OperationType::exchange) {
        return {};
      }
    }
  }
  for (const std::uint32_t o : exchanges) {
    for (const Wait& wait : program.waits_of(o)) {
      if (wait.distance == 0 && program.operations[wait.operation].type == OperationType::compute) {
        compute_until(std::max(done, place[wait.operation]));
      }
    }
    order.push_back(o);
  }
  compute_until(computed.size());
  return order;
}

} // namespace

// Whether all operations of an iteration have ended when the first one of the next can start, and
// all others wait for that one: every iteration then begins on idle streams, as the first does.
bool begins_idle(const Program& program) {
  const std::uint32_t count = program.iteration_size();
  std::vector<char> awaited(count); // by operation 0 of the next iteration
  std::vector<char> begun(count);   // behind operation 0
  std::vector<char> on_stream(program.streams.size());
  if (count == 0) {
    return false;
  }
  on_stream[program.operations[0].stream] = 1;
  for (const Wait& wait : program.waits) {
    if (wait.until != kAlways) {
      return false;
    }
  }
  for (const Wait& wait : program.waits_of(0)) {
    if (wait.distance == 1 && wait.operation < count) {
      awaited[wait.operation] = 1;
    }
  }
  for (std::uint32_t o = count; o-- > 0;) {
    const std::uint32_t stream = program.operations[o].stream;
    if (awaited[o] == 0 && on_stream[stream] == 0) {
      return false;
    }
    on_stream[stream] = 1;
    for (const Wait& wait : program.waits_of(o)) {
      if (wait.distance == 0) {
        awaited[wait.operation] = 1;
      }
    }
  }
  on_stream.assign(program.streams.size(), 0);
  for (std::uint32_t o = 0; o < count; ++o) {
    const std::uint32_t stream = program.operations[o].stream;
    const auto behind = [&](const Wait& wait) {
      return wait.distance == 0 && begun[wait.operation] != 0;
    };
    if (o > 0 && on_stream[stream] == 0 && std::ranges::none_of(program.waits_of(o), behind)) {
      return false;
    }
    begun[o] = on_stream[stream] = 1;
  }
  return true;
}

std::int64_t longest_wait(const Program& program) {
  std::int32_t longest = 0;
  for (const Wait& wait : program.waits) {
    longest = std::max(longest, wait.distance);
  }
  return longest;
}

OperationLayout layout_of(const Program& program) {
  OperationLayout layout;
  const std::size_t count = program.operations.size();
  layout.order = issue_order(program).order;
  layout.on_streams = waits_on_streams(program);
  for (std::uint32_t o = program.iteration_size(); o < count; ++o) {
    layout.order.push_back(o);
  }
  layout.ring_mask.assign(count, 0);
  for (const Wait& wait : program.waits) {
    std::uint32_t& mask = layout.ring_mask[wait.operation];
    mask = std::max(mask, static_cast<std::uint32_t>(wait.distance));
  }
  layout.ring_first.resize(count);
  layout.stream.resize(count);
  for (std::size_t o = 0; o < count; ++o) {
    layout.ring_mask[o] = std::bit_ceil(layout.ring_mask[o] + 1) - 1;
    layout.ring_first[o] = layout.slots;
    layout.slots += layout.ring_mask[o] + 1;
    layout.stream[o] = program.operations[o].stream;
  }
  layout.waits.reserve(program.waits.size());
  for (const Wait& wait : program.waits) {
    layout.waits.push_back({.first = layout.ring_first[wait.operation],
                            .mask = layout.ring_mask[wait.operation],
                            .distance = static_cast<std::uint32_t>(wait.distance),
                            .until = wait.until});
  }
  layout.begins_idle = program.only_fifo() && program.enters_together() && begins_idle(program);
  if (layout.begins_idle) {
    layout.single_pass = single_pass_of(program);
  }
  return layout;
}

} // namespace stepsim::programs
