#include <doctest/doctest.h>

#include "import/kineto/import_kineto.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;

namespace {

// Every `apart`-th layer has a gradient; forward takes 1 s, backward 2 s.
layers::Trace trace_of(std::size_t layers, std::size_t apart) {
  layers::Trace trace;
  for (std::size_t l = 0; l < layers; ++l) {
    layers::Layer layer;
    layer.name = "layer " + std::to_string(l);
    layer.forward = Seconds{1};
    layer.backward = Seconds{2};
    layer.gradient_bytes = Bytes{0};
    if (l % apart == apart - 1) {
      layer.tensors.emplace_back();
      layer.gradient_bytes = Bytes{8};
    }
    trace.layers.push_back(std::move(layer));
  }
  return trace;
}

} // namespace

TEST_CASE("import: more than 400 layers: those without gradients are joined to the next with one") {
  layers::Trace trace = trace_of(1004, 5); // four at the end have none
  layers::MeasuredUnit unit;
  unit.first_layer = 10; // 10..14 is the third group
  unit.last_layer = 1003;
  trace.units = {unit};
  io::join_layers(trace);
  REQUIRE(trace.layers.size() == 1000 / 5);
  for (std::size_t l = 0; l < trace.layers.size(); ++l) {
    CAPTURE(l);
    const double joined = l + 1 == trace.layers.size() ? 5 + 4 : 5;
    CHECK(trace.layers[l].forward->value == joined);
    CHECK(trace.layers[l].backward->value == 2 * joined);
    CHECK(trace.layers[l].gradient_bytes->value == 8);
    CHECK(trace.layers[l].name == "layer " + std::to_string(5 * l + 4));
  }
  CHECK(trace.units[0].first_layer == 10 / 5);
  CHECK(trace.units[0].last_layer == 1000 / 5 - 1);
  REQUIRE(trace.warnings.size() == 1);
  CHECK(trace.warnings[0] ==
        "1004 layers: those without gradients are joined to the next one with gradients, which "
        "makes 200 (--keep-layers keeps all)");
}

TEST_CASE("import: 400 layers, layers that all have gradients, or none, stay as they are") {
  for (const auto& [layers, apart] :
       {std::pair<std::size_t, std::size_t>{400, 5}, {1000, 1}, {1000, 2000}}) {
    layers::Trace trace = trace_of(layers, apart);
    io::join_layers(trace);
    CHECK(trace.layers.size() == layers);
    CHECK(trace.warnings.empty());
  }
}
