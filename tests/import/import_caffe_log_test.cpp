// Layer logs of B-Caffe (MER 9, 12).
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_layer_table.hpp"
#include "import/import_samples.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

layers::Trace import_text(const std::string& text, const CaffeLogOptions& options = {}) {
  const TemporaryFolder folder;
  return import_caffe_log(folder.put("t.log", text), options);
}

std::string failure(const std::string& text) {
  try {
    (void)import_text(text);
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.substr(what.find("t.log") + 5);
  }
  return "no error";
}

double sum_backward(const layers::Trace& trace) {
  double sum = 0;
  for (const layers::Layer& layer : trace.layers) {
    sum += layer.backward->value;
  }
  return sum;
}

bool warned(const layers::Trace& trace, std::string_view part) {
  return std::ranges::any_of(trace.warnings, [=](const std::string& warning) {
    return warning.find(part) != std::string::npos;
  });
}

} // namespace

TEST_CASE("caffe-log: rows with equal backward time are one layer, forward is half") {
  const layers::Trace trace = import_text("I0219 a.cpp:112] [0, 128, 30, 5]\n"
                                          "some other line\n"
                                          "I0219 a.cpp:112] [1, 64, 30, 0]\n"
                                          "I0219 a.cpp:112] [2, 64, 0, 0]\n"
                                          "I0219 a.cpp:112] [3, 192, 12.5, 7, 9]\n");
  REQUIRE(trace.layers.size() == 2); // the layer of time 0 is dropped
  CHECK(trace.layers[0].backward->value == 30e-6);
  CHECK(trace.layers[0].forward->value == 0.5 * (30e-6));
  CHECK(trace.layers[0].gradient_bytes->value == 4 * (128 + 64));
  REQUIRE(trace.layers[0].tensors.size() == 2);
  CHECK(trace.layers[0].tensors[0].elements == 64); // a bias before its weight
  CHECK(trace.layers[1].gradient_bytes->value == 4 * 192);
  CHECK(trace.provenance == layers::Provenance::assumed);
  CHECK(warned(trace, "forward = 0.5 x backward"));
  CHECK(warned(trace, "layers are numbered"));
}

TEST_CASE("caffe-log: communication times are measured exchanges in the order of launch") {
  const layers::Trace trace = import_text("[0, 128, 30, 5]\n[1, 64, 30, 0]\n[2, 64, 0, 0]\n"
                                          "[3, 192, 12.5, 7, 9]\n");
  REQUIRE(trace.buckets.size() == 2); // the last layer is sent first
  CHECK(trace.buckets[0].elements == 192);
  CHECK(trace.buckets[0].median->value == 7e-6);
  CHECK(trace.buckets[1].elements == 128 + 64); // a bias without a time goes with its weight
  CHECK(trace.buckets[1].bytes.value == 4 * (128 + 64));
  CHECK(trace.buckets[1].tensors == 2);
  CHECK(trace.buckets[1].min->value == 5e-6);
  CHECK(trace.buckets[1].max->value == 5e-6);
  CHECK(trace.layers[0].tensors[0].bucket == 1);
  CHECK(trace.layers[0].tensors[1].bucket == 1);
  CHECK(trace.layers[1].tensors[0].bucket == 0);
  CHECK_FALSE(trace.ranks.has_value());
  CHECK(import_text("[0, 64, 5, 1]\n", {{}, {}, {}, 8}).ranks == 8);
  // Without any time nothing was exchanged.
  CHECK(import_text("[0, 128, 30, 0]\n[1, 64, 30, 0]\n").buckets.empty());
}

TEST_CASE("caffe-log: of several dumps the last with backward times counts") {
  const std::string first = "[0, 64, 1, 0]\n[1, 64, 2, 0]\n";
  const std::string second = "[0, 64, 3, 0]\n[1, 64, 4, 0]\n";
  const std::string zeros = "[0, 64, 0, 0]\n[1, 64, 0, 0]\n";
  CHECK(sum_backward(import_text(first + second)) == within(7e-6, 1e-12));
  const layers::Trace trace = import_text(first + second + zeros);
  CHECK(sum_backward(trace) == within(7e-6, 1e-12));
  CHECK(warned(trace, "3 dumps in the log: the last one with backward times is used"));
}

TEST_CASE("caffe-log: names come from the table whose padded tensors are the rows") {
  layers::ModelTable table;
  table.name = "two";
  table.layers = {{"conv", "conv", 0, {}, {}, {{"weight", {100}}, {"bias", {3}}}},
                  {"fc", "linear", 0, {}, {}, {{"weight", {64}}}}};
  CaffeLogOptions options;
  options.models = {&table, 1};
  const std::string log = "[0, 128, 5, 1]\n[1, 64, 5, 1]\n[2, 64, 6, 1]\n";
  const layers::Trace trace = import_text(log, options);
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.layers[0].name == "conv");
  CHECK(trace.layers[0].tensors[0].name == "conv.bias");
  CHECK(trace.layers[1].name == "fc");
  CHECK(import_text("[0, 64, 5, 1]\n", options).layers[0].name == "layer_1");
  options.model = "two";
  CHECK_THROWS_AS(import_text("[0, 64, 5, 1]\n", options), InputError);
  options.model = "tow";
  CHECK_THROWS_WITH_AS(import_text(log, options),
                       "--model: unknown model tow, did you mean two?; a table of your own is a "
                       "FILE of kind model, see docs/file-formats.md",
                       UsageError);
}

TEST_CASE("caffe-log: what bad logs get") {
  CHECK(failure("nothing here\n") == ": no layer rows found");
  CHECK(failure("[0, 64, 0, 1]\n") == ": no dump has backward times");
  CHECK(failure("x\n[0, 64, 3]\n") == ":2: expected [id, elements, backward_us, "
                                      "communication_us(, merged_us)], got 3 fields");
  CHECK(failure("[0, 64, 1, 1]\n[3, 64, 1, 1]\n") == ":2: id 3 after id 0");
  CHECK(failure("[0, 6.5, 1, 1]\n").starts_with(":1: elements: must be a whole number"));
  CHECK(failure("[0, 64, x, 1]\n") == ":1: must be microseconds >= 0, got x");
  CHECK(failure("[0, 64, -1, 1]\n") == ":1: must be microseconds >= 0, got -1");
  CHECK(failure("[0, 64, nan, 1]\n") == ":1: must be microseconds >= 0, got nan");
  CHECK(failure("") == ": empty");
}

TEST_CASE("caffe-log: GoogLeNet on K80, second dump of tmp8comm.log") {
  const std::string file = sample("b-caffe/tmp8comm.log");
  if (absent(file)) {
    return;
  }
  const std::vector<layers::ModelTable> models = shipped_models();
  CaffeLogOptions options;
  options.models = models;
  const layers::Trace trace = import_caffe_log(file, options);
  REQUIRE(trace.layers.size() == 64);
  CHECK(sum_backward(trace) == within(0.205334312, 1e-9));
  const auto check = [&](std::size_t i, std::int64_t elements, double backward_us) {
    CHECK(trace.layers[i].gradient_bytes->value == 4 * elements);
    CHECK(trace.layers[i].backward->value * 1e6 == within(backward_us, 1e-9));
  };
  check(0, 9408 + 64, 15143.7);
  check(1, 4096 + 64, 3825.38);
  check(2, 110784, 21038.8);
  check(63, 1025024, 461.088);
  std::int64_t bytes = 0;
  for (const layers::Layer& layer : trace.layers) {
    bytes += layer.gradient_bytes->value;
  }
  CHECK(bytes == 53'516'544);
  CHECK(bytes == 4 * 13'379'136);
  CHECK(trace.layers[0].tensors[1].name == "conv1/7x7_s2.weight");
  REQUIRE(trace.buckets.size() == 65); // one per layer, and the one bias that was timed by itself
  CHECK(trace.buckets[0].elements == 1'025'024);
  CHECK(trace.buckets[0].median->value == 24'282e-6);
  CHECK(trace.buckets[64].elements == 9408 + 64);
  CHECK(trace.buckets[64].median->value == 1169e-6);
  CHECK(warned(trace, "2 dumps"));
  CHECK(warned(trace, "layer names from model table googlenet_caffe_aux"));
}

TEST_CASE("caffe-log: one dump with four columns") {
  const std::string file = sample("b-caffe/tmpcomm.log");
  if (absent(file)) {
    return;
  }
  const layers::Trace trace = import_caffe_log(file, {});
  CHECK(trace.layers.size() == 64);
  CHECK(sum_backward(trace) == within(0.201531926, 1e-9));
  CHECK_FALSE(warned(trace, "dumps"));
  // The line through the times of all blobs (MER 9): a 5.350e-4 s, b 1.8380e-9 s per byte.
  REQUIRE(trace.buckets.size() == 128);
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const layers::MeasuredBucket& bucket : trace.buckets) {
    const auto bytes = static_cast<double>(bucket.bytes.value);
    n += 1, x += bytes, y += bucket.median->value;
    xx += bytes * bytes, xy += bytes * bucket.median->value;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  CHECK(slope == within(1.8380e-9, 1e-4));
  CHECK((y - slope * x) / n == within(5.350e-4, 1e-4));
}
