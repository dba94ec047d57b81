#include "programs/operation_layout.hpp"

#include <bit>

namespace stepsim::programs {

OperationLayout layout_of(const Program& program) {
  OperationLayout layout;
  const std::size_t count = program.operations.size();
  layout.order = issue_order(program).order;
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
                            .until = wait.until,
                            .all = wait.scope == Scope::all});
  }
  return layout;
}

} // namespace stepsim::programs
