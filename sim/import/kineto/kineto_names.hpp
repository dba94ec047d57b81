#pragma once
// Names layers by the code around an operator (INP 1.11): the innermost module that contains it,
// "nn.Module: Conv2d_3" (with_stack or with_modules), else the innermost annotation "## name ##"
// that does not name a phase of the step.
#include <string>
#include <vector>

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

} // namespace stepsim::io
