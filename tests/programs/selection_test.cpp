// Selection of gradients between backward and the exchange, on the compute stream or beside it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "programs/builders/step_programs.hpp"
#include "programs/recurrence.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::programs;
using stepsim::testing::within;

namespace {

struct LagsLayer { // ms
  double backward{}, select{}, exchange{};
};

// When the last exchange of the first iteration ends. Layers are in forward order, one message
// each; no forward, no update.
double end_of(const std::vector<LagsLayer>& layers, bool side) {
  std::vector<LayerTimes> times;
  std::vector<BucketTimes> buckets;
  for (const LagsLayer& layer : layers) {
    times.push_back({.forward = {}, .backward = {layer.backward}, .bytes = 1});
  }
  for (std::size_t l = layers.size(); l-- > 0;) {
    BucketTimes& bucket = buckets.emplace_back();
    bucket.layers = {static_cast<std::uint32_t>(l)};
    bucket.reduce = {.startup = {}, .data = {layers[l].exchange}};
    (side ? bucket.side : bucket.select) = {layers[l].select};
  }
  const Program program = sync_sgd_program(times, buckets);
  const OperationTimes found = recurrence(program, 1, Record::all);
  double end = 0;
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    if (program.operations[o].type == OperationType::exchange) {
      end = std::max(end, found.end[found.at(0, o, 0)]);
    }
  }
  return end;
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

TEST_CASE("selection: the program equals the published recurrence on random layers") {
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
