#include "import/kineto/import_kineto.hpp"

#include <fmt/core.h>

namespace stepsim::io {

namespace {

bool has_gradients(const layers::Layer& layer) { return !layer.tensors.empty(); }

void add_times(const layers::Layer& from, layers::Layer& to) {
  to.forward = *to.forward + *from.forward;
  to.backward = *to.backward + *from.backward;
}

} // namespace

void join_layers(layers::Trace& trace) {
  const std::size_t before = trace.layers.size();
  if (before <= kMostSeparateLayers || std::ranges::none_of(trace.layers, has_gradients)) {
    return;
  }
  std::vector<layers::Layer> joined;
  std::vector<std::int64_t> place(before); // of every layer in `joined`
  layers::Layer waiting;                   // the times of layers without gradients
  waiting.forward = waiting.backward = Seconds{0};
  for (std::size_t l = 0; l < before; ++l) {
    place[l] = std::ssize(joined);
    if (!has_gradients(trace.layers[l])) {
      add_times(trace.layers[l], waiting);
      continue;
    }
    add_times(waiting, trace.layers[l]);
    waiting.forward = waiting.backward = Seconds{0};
    joined.push_back(std::move(trace.layers[l]));
  }
  add_times(waiting, joined.back());
  const auto last = std::ssize(joined) - 1;
  for (layers::MeasuredUnit& unit : trace.units) {
    unit.first_layer = std::min(place[static_cast<std::size_t>(unit.first_layer)], last);
    unit.last_layer = std::min(place[static_cast<std::size_t>(unit.last_layer)], last);
  }
  trace.layers = std::move(joined);
  if (trace.layers.size() < before) {
    trace.warnings.push_back(fmt::format(
        "{} layers: those without gradients are joined to the next one with gradients, which makes "
        "{} (--keep-layers keeps all)",
        before, trace.layers.size()));
  }
}

} // namespace stepsim::io
