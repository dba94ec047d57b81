#pragma once
// Names layers by the code around an operator (INP 1.11): the innermost module that contains it,
// "nn.Module: Conv2d_3" (with_stack or with_modules), else the innermost annotation "## name ##"
// that does not name a phase of the step.

#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

class LayerNames {
public:
  explicit LayerNames(const KinetoRecording& recording);

  // The name at a moment on a thread; empty if nothing was recorded. O(log ranges).
  [[nodiscard]] std::string at(std::int32_t thread, Nanoseconds moment) const;

private:
  struct Range {
    std::int32_t thread{};
    Nanoseconds begin{}, end{};
    std::int32_t name = -1;  // name in the recording
    std::int32_t outer = -1; // range that contains this one
  };
  [[nodiscard]] std::int32_t innermost(const std::vector<Range>& ranges, std::int32_t thread,
                                       Nanoseconds moment) const;
  static void nest(std::vector<Range>& ranges);

  const KinetoRecording& recording_;
  std::vector<Range> modules_, annotations_; // sorted by (thread, begin)
};

// A module that is one layer gives the layer its name. If a module has several layers, the operator
// is added, and a running number to equal names. Without modules the name is the operator and a
// running number: "conv2d_3".
[[nodiscard]] std::vector<std::string> layer_names(const std::vector<LayerSample>& samples);

// Look-up tables of an attributed recording, so that the time to read a step is proportional to its
// own events: operators by sequence number, nodes and collective calls by step.

// Built once per recording in O(events log events); recording and attribution must outlive it.
// `calls` is what collective_calls() returned for the same recording.
// Top-level operators are indices into `tops` of the attribution, steps into `steps`.
class KinetoIndex {
public:
  KinetoIndex(const KinetoRecording& recording, std::span<const KinetoStep> steps,
              const Attribution& attribution, std::span<const CollectiveCall> calls);

  [[nodiscard]] NodeKind kind(std::int32_t top) const { return attribution_.top(top).kind; }
  // Backward and gradient nodes (top-level operators) that start in a step, in order of start.
  [[nodiscard]] std::span<const std::int32_t> nodes(std::size_t step) const { return nodes_[step]; }
  // Collective calls that start in a step, in order of start.
  [[nodiscard]] std::span<const CollectiveCall> collectives(std::size_t step) const {
    return collectives_[step];
  }
  // Device work launched in a step, in order of launch.
  [[nodiscard]] std::span<const DeviceItem> items(std::size_t step) const;
  // All operators inside a top-level operator, which is the first of them.
  [[nodiscard]] std::span<const Operator> inside(std::int32_t top) const;
  // The top-level operator of the last operator, in order of start, that has this sequence number,
  // is in the step and on its forward thread, and is outside backward nodes; -1 if there is none.
  [[nodiscard]] std::int32_t forward_of(std::size_t step, std::int64_t sequence) const;
  // Operators of the forward thread in the step, at any depth and outside backward nodes, in order
  // of start: indices into `operators`.
  [[nodiscard]] std::vector<std::int32_t> forward_operators(std::size_t step) const;

private:
  struct Numbered {
    std::int64_t sequence{};
    std::int32_t position{}; // index into the operators of the attribution
  };
  struct Range {
    std::int32_t first{}, last{}; // operators of the forward thread, half-open
  };

  const Attribution& attribution_;
  std::vector<std::vector<std::int32_t>> nodes_;
  std::vector<std::vector<CollectiveCall>> collectives_;
  std::vector<Range> forward_; // [step]
  std::vector<Numbered> numbered_;
};

// Finds the forward operator of each backward node of a step (IO 4.5, rule 2; INP 1.3, rule 3).
//   numbers   the node has the sequence number of its operator
//   names     used if fewer than half of the nodes have the number of an operator: nodes run in
//             the reverse order of their operators, so XBackward belongs to the last operator X
//             before the operator of the previous node; a node with a number has no other
//             operator than that with its number where some nodes have one
struct NodeMatch {
  std::int32_t node{};     // the backward node, a top-level operator
  std::int32_t layer = -1; // top-level operator of the forward thread; -1: no match
};

// One match per backward node of the step in order of start, without gradient nodes.
[[nodiscard]] std::vector<NodeMatch> match_nodes(const KinetoRecording& recording,
                                                 const Attribution& attribution,
                                                 const KinetoIndex& index, std::size_t step);

} // namespace stepsim::io
