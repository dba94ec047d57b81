#include "layers/workload.hpp"
#include "testing/tolerance.hpp"

#include <doctest/doctest.h>

using namespace stepsim;
using namespace stepsim::layers;
using namespace stepsim::programs;
using stepsim::testing::within;

namespace {

ModelLayer layer(std::string name, std::string kind, std::int64_t macs,
                 std::vector<ModelTensor> tensors) {
  ModelLayer made;
  made.name = std::move(name);
  made.kind = std::move(kind);
  made.macs = macs;
  made.tensors = std::move(tensors);
  return made;
}

// conv (weight), bn (two tensors), attention (no tensor), fc (weight and bias).
ModelTable small_table() {
  ModelTable table;
  table.name = "small";
  table.layers = {layer("bn0", "batchnorm", 0, {{"weight", {2}}}),
                  layer("conv", "conv", 600, {{"weight", {4, 5}}}),
                  layer("bn", "batchnorm", 0, {{"weight", {4}}, {"bias", {4}}}),
                  layer("attn", "attention", 100, {}),
                  layer("fc", "linear", 300, {{"weight", {10, 3}}, {"bias", {10}}})};
  return table;
}

ProfileOptions on_device() {
  ProfileOptions options;
  options.batch_size = 8;
  options.device = DeviceSpeed{{1e6}, 0.5};
  return options;
}

} // namespace

TEST_CASE("a synthetic layer takes batch x 2 macs / (flops x utilization), backward twice that") {
  const Workload workload = workload_from_model(small_table(), on_device());
  CHECK(workload.provenance == Provenance::synthetic);
  CHECK(workload.layers[1].forward.value == within(8 * 2 * 600 / (1e6 * 0.5), 1e-12));
  CHECK(workload.layers[1].backward.value == within(2 * 8 * 2 * 600 / (1e6 * 0.5), 1e-12));
  CHECK(workload.layers[2].forward.value == 0);
  CHECK(workload.warnings.front().find("synthetic") != std::string::npos);
}

TEST_CASE("the overhead counts for layers with multiply-accumulates or tensors") {
  ProfileOptions options = on_device();
  options.layer_overhead = {1};
  const Workload workload = workload_from_model(small_table(), options);
  CHECK(workload.layers[0].forward.value == within(1, 1e-12));                     // tensors only
  CHECK(workload.layers[3].forward.value == within(1 + 8 * 2 * 100 / 5e5, 1e-12)); // macs only
}

TEST_CASE("measured totals are shared by multiply-accumulates and labelled scaled") {
  ProfileOptions options;
  options.measured = MeasuredTotals{{0.1}, {0.2}};
  const Workload workload = workload_from_model(small_table(), options);
  CHECK(workload.provenance == Provenance::scaled);
  CHECK(workload.layers[4].forward.value == within(0.1 * 300 / 1000, 1e-12));
  CHECK(workload.layers[4].backward.value == within(0.2 * 300 / 1000, 1e-12));
  CHECK(workload.forward().value == within(0.1, 1e-12));
}

TEST_CASE("gradients come in backward order, the bias of a layer before its weight") {
  const Workload workload = workload_from_model(small_table(), on_device());
  std::vector<std::int64_t> elements, registration;
  for (const Gradient& gradient : workload.gradients) {
    elements.push_back(gradient.elements);
    registration.push_back(gradient.registration);
  }
  CHECK(elements == std::vector<std::int64_t>{10, 30, 4, 4, 20, 2});
  CHECK(registration == std::vector<std::int64_t>{5, 4, 3, 2, 1, 0});
  CHECK(workload.bytes().value == 4 * (10 + 30 + 4 + 4 + 20 + 2));
}

TEST_CASE("granularity keeps the total bytes and the total time") {
  ProfileOptions options = on_device();
  const Workload tensor = workload_from_model(small_table(), options);
  options.granularity = Granularity::layer;
  const Workload layer = workload_from_model(small_table(), options);
  options.granularity = Granularity::weight;
  const Workload weight = workload_from_model(small_table(), options);
  CHECK(layer.gradients.size() == 4);  // layers with tensors
  CHECK(weight.gradients.size() == 2); // conv with bn0 and bn, fc
  CHECK(weight.gradients[1].elements == 2 + 20 + 8);
  CHECK(weight.gradients[1].layer == 1);
  CHECK(layer.bytes() == tensor.bytes());
  CHECK(weight.bytes() == tensor.bytes());
  CHECK(weight.backward() == tensor.backward());
}

TEST_CASE("value_bytes changes bytes and never times") {
  ProfileOptions options = on_device();
  const Workload full = workload_from_model(small_table(), options);
  options.value_bytes = 2;
  const Workload half = workload_from_model(small_table(), options);
  CHECK(half.bytes().value * 2 == full.bytes().value);
  CHECK(half.backward() == full.backward());
}

TEST_CASE("scaling backward reaches the given total and keeps the proportions") {
  Workload workload = workload_from_model(small_table(), on_device());
  const double ratio = workload.layers[1].backward / workload.layers[4].backward;
  scale_backward(workload, {3.5});
  CHECK(workload.backward().value == within(3.5, 1e-12));
  CHECK(workload.layers[1].backward / workload.layers[4].backward == within(ratio, 1e-12));
}

TEST_CASE("a trace gives its tensors in ready order and its update with the framework's copies") {
  Trace trace;
  trace.name = "t";
  trace.update = {0.5};
  trace.framework = {0.25};
  const auto tensor = [](std::int64_t elements) {
    Tensor made;
    made.elements = elements;
    made.dtype = "float32";
    made.bytes = Bytes{4 * elements};
    return made;
  };
  Layer a;
  a.name = "a";
  a.forward = Seconds{1};
  a.backward = Seconds{2};
  a.gradient_bytes = Bytes{12};
  a.tensors = {tensor(1), tensor(2)};
  Layer relu = a;
  relu.name = "relu";
  relu.gradient_bytes = Bytes{0};
  relu.tensors.clear();
  trace.layers = {a, relu};
  const Workload workload = workload_from_trace(trace, Granularity::tensor);
  CHECK(workload.update.value == 0.75);
  REQUIRE(workload.gradients.size() == 2);
  CHECK(workload.gradients[0].bytes.value == 4);
  CHECK(workload.gradients[0].registration == 1); // the reverse of the ready order
  CHECK(workload_from_trace(trace, Granularity::layer).gradients.size() == 1);
}
