#pragma once
// Look-up tables over an attributed recording, so that a step is read in time proportional to its
// own events: operators by sequence number, nodes and calls of collectives by step.
#include <cstdint>
#include <span>
#include <vector>

#include "import/kineto/kineto_calls.hpp"

namespace stepsim::io {

// Made once per recording, which outlives it as `attribution` does: O(events log events). Top-level
// operators are given by their positions in `tops` of the attribution, steps by theirs in `steps`.
class KinetoIndex {
public:
  KinetoIndex(const KinetoRecording& recording, std::span<const KinetoStep> steps,
              const Attribution& attribution);

  [[nodiscard]] NodeKind kind(std::int32_t top) const {
    return attribution_.tops[static_cast<std::size_t>(top)].kind;
  }
  // Backward and gradient nodes (top-level operators) that start in a step, by start.
  [[nodiscard]] std::span<const std::int32_t> nodes(std::size_t step) const { return nodes_[step]; }
  // Calls of collectives that start in a step, by start.
  [[nodiscard]] std::span<const CollectiveCall> collectives(std::size_t step) const {
    return collectives_[step];
  }
  // Device work launched in a step, by its launch.
  [[nodiscard]] std::span<const DeviceItem> items(std::size_t step) const;
  // Operators of one top-level operator, itself first.
  [[nodiscard]] std::span<const Operator> inside(std::int32_t top) const;
  // Top-level operator of the last operator in start order, outside backward nodes, that is on the
  // step's forward thread, in the step, and has this sequence number; -1 if none.
  [[nodiscard]] std::int32_t forward_of(std::size_t step, std::int64_t sequence) const;
  // Operators of the forward thread in the step, at any depth and outside backward nodes, by start:
  // positions in `operators`.
  [[nodiscard]] std::vector<std::int32_t> forward_operators(std::size_t step) const;

private:
  struct Numbered {
    std::int64_t sequence{};
    std::int32_t position{}; // in operators
  };
  struct Range {
    std::int32_t first{}, last{}; // positions of the forward thread's operators, half-open
  };

  const Attribution& attribution_;
  std::vector<std::vector<std::int32_t>> nodes_;
  std::vector<std::vector<CollectiveCall>> collectives_;
  std::vector<Range> forward_; // by step
  std::vector<Numbered> numbered_;
};

} // namespace stepsim::io
