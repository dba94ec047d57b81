#include "programs/step/selection.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace stepsim::programs;
using stepsim::testing::within;

namespace {

struct LagsLayer { // ms
  double backward{}, select{}, exchange{};
};

// Layers in forward order, one message each; no forward, no update.
StepInput step_of(const std::vector<LagsLayer>& layers, bool side,
                  std::vector<SelectionWork>& work) {
  StepInput input;
  double t = 0;
  for (const LagsLayer& layer : layers) {
    input.forward_s.push_back(0);
    input.backward_s.push_back(layer.backward);
    input.gradient_bytes.push_back(1);
  }
  for (std::size_t l = layers.size(); l-- > 0;) {
    t += layers[l].backward;
    const auto number = static_cast<std::uint32_t>(l);
    input.messages.push_back(
        {.layers = {number}, .bytes = 1, .ready_s = t, .seconds = layers[l].exchange});
    work.push_back({.layer = number,
                    .compute_s = side ? 0 : layers[l].select,
                    .side_s = side ? layers[l].select : 0});
  }
  return input;
}

double end_of(const std::vector<LagsLayer>& layers, bool side) {
  std::vector<SelectionWork> work;
  StepInput input = step_of(layers, side, work);
  (void)add_selection(input, work);
  return run_step(input).finish_s;
}

// The recurrence as published (SPA 5), from the last layer to the first.
double recurrence(const std::vector<LagsLayer>& layers, bool side) {
  double begin = 0;
  double selected = 0;
  double sent = 0;
  for (std::size_t l = layers.size(); l-- > 0;) {
    const double gradient = begin + layers[l].backward;
    selected = (side ? std::max(selected, gradient) : gradient) + layers[l].select;
    begin = side ? gradient : selected;
    sent = std::max(sent, selected) + layers[l].exchange;
  }
  return sent;
}

} // namespace

TEST_CASE("selection: three layers end at 19 ms with overlap (SPA V29)") {
  const std::vector<LagsLayer> layers{{3, 1, 4}, {2, 1, 3}, {4, 2, 6}};
  CHECK(end_of(layers, false) == 19);
  // Without overlap: the sum of everything.
  CHECK(3 + 2 + 4 + 1 + 1 + 2 + 4 + 3 + 6 == 26);
}

TEST_CASE("selection: a side stream hides it behind backward (SPA V29)") {
  const std::vector<LagsLayer> layers{{3, 1, 1}, {2, 1, 1}, {4, 2, 1}};
  CHECK(end_of(layers, false) == 14);
  CHECK(end_of(layers, true) == 11);
}

TEST_CASE("selection: the step equals the published recurrence on random layers") {
  std::uint64_t state = 7;
  const auto random = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
  };
  for (int instance = 0; instance < 500; ++instance) {
    CAPTURE(instance);
    std::vector<LagsLayer> layers(1 + static_cast<std::size_t>(12 * random()));
    for (LagsLayer& layer : layers) {
      layer = {random(), random(), random()};
    }
    for (const bool side : {false, true}) {
      CHECK(end_of(layers, side) == within(recurrence(layers, side), 1e-12));
    }
    CHECK(end_of(layers, true) <= end_of(layers, false) * (1 + 1e-12));
  }
}
