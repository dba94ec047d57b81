#include "layers/optimizer_state.hpp"

namespace stepsim::layers {

namespace {

constexpr double kFloat = 4;
constexpr double kBlock = 256; // parameters that share the scale of an 8-bit moment

double factored_bytes(const Workload& workload) {
  double values = 0;
  double state = 0;
  for (const Gradient& gradient : workload.gradients) {
    const auto count = static_cast<double>(gradient.values());
    values += count;
    if (gradient.shapes.empty()) {
      state += count;
    }
    for (const collectives::MatrixShape& shape : gradient.shapes) {
      const auto rows = static_cast<double>(shape.rows);
      const auto columns = static_cast<double>(shape.columns);
      state += shape.rows > 1 && shape.columns > 1 ? rows + columns : rows * columns;
    }
  }
  return values > 0 ? kFloat * state / values : 0;
}

} // namespace

double optimizer_bytes_per_parameter(Optimizer optimizer, const Workload& workload) {
  switch (optimizer) {
  case Optimizer::adam:
  case Optimizer::adam_fused:
  case Optimizer::adam_composed:
    return 2 * kFloat;
  case Optimizer::adam_8bit:
    return 2 * (1 + kFloat / kBlock);
  case Optimizer::momentum:
    return kFloat;
  case Optimizer::sgd:
    return 0;
  case Optimizer::adafactor:
    return factored_bytes(workload);
  }
  return 0;
}

} // namespace stepsim::layers
