// How many values a gradient has follows from its type; `value_bytes` of a compression is the size
// of a value as it is sent.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;

namespace {

constexpr double kBytes = 4e6;
constexpr double kWorkers = 4;
constexpr double kDensity = 0.01;

study::Summary summary(const std::string& dtype, const std::string& compression) {
  return study::testing::run_text(
             R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3, "backward_s": 2e-3,
                   "gradient_bytes": 4000000)" +
             (dtype.empty() ? "" : R"(, "dtype": ")" + dtype + "\"") +
             R"(}]}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
                 "communication": {"schedule": "single", "compression": )" +
             compression + "}}")
      .summary;
}

std::string topk(const std::string& more = "") {
  return R"({"method": "topk", "density": 0.01)" + more + "}";
}

// Sent by every rank around a ring: 2 (P - 1) / P of the buffer.
double ring(double bytes) { return 2 * (kWorkers - 1) / kWorkers * bytes; }

} // namespace

TEST_CASE("compression: elements are those of the gradient's type") {
  for (const auto& [dtype, size] : {std::pair<std::string, double>{"float32", 4},
                                    {"", 4},
                                    {"float16", 2},
                                    {"bfloat16", 2},
                                    {"float64", 8},
                                    {"int8", 1}}) {
    CAPTURE(dtype);
    const double k = std::floor(kDensity * kBytes / size);
    const study::Summary plain = summary(dtype, topk());
    CHECK(*plain.k == k);
    CHECK(*plain.wire_bytes == (kWorkers - 1) * k * (4 + 4));
    // The size of a sent value changes the bytes of an entry alone.
    const study::Summary half = summary(dtype, topk(R"(, "value_bytes": 2)"));
    CHECK(*half.k == k);
    CHECK(*half.wire_bytes == (kWorkers - 1) * k * (4 + 2));
  }
}

TEST_CASE("compression: a model of 2-byte values has as many elements as one of 4") {
  const auto elements = [](int value_bytes) {
    const study::Result result = study::testing::run_text(
        R"({"workload": {"model": "resnet50", "batch_size": 32, "device": {"flops_Ps": 1e14, "utilization": 0.5},
                         "value_bytes": )" +
        std::to_string(value_bytes) +
        R"(}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
            "communication": {"schedule": "single", "compression": {"method": "topk", "density": 0.01}}})");
    CHECK(*result.summary.k ==
          std::floor(kDensity * static_cast<double>(result.buckets[0].elements)));
    return result.buckets[0].elements;
  };
  CHECK(elements(4) == 25'557'032);
  CHECK(elements(2) == elements(4));
}

TEST_CASE("compression: what dense values send follows from their type") {
  CHECK(*summary("float16", R"("none")").wire_bytes == ring(kBytes));
  CHECK(*summary("float32", R"("fp16")").wire_bytes == ring(kBytes / 4 * 2));
  CHECK(*summary("float16", R"("fp16")").wire_bytes == ring(kBytes));
  CHECK(*summary("float16", R"("truncate16")").wire_bytes == ring(kBytes));
  CHECK(*summary("float32", R"("truncate16")").wire_bytes == ring(kBytes / 2));
  CHECK(*summary("float16", R"("quantize8")").wire_bytes == ring(kBytes / 2));
  CHECK(*summary("float32", R"("quantize8")").wire_bytes == ring(kBytes / 4));
  const double values = kBytes / 2; // of float16
  CHECK(*summary("float16", R"("signsgd")").wire_bytes == (kWorkers - 1) * values / 8);
  CHECK(*summary("float16", R"("qsgd")").wire_bytes ==
        (kWorkers - 1) * (values * 8 / 8 + 4 * std::ceil(values / 512)));
  CHECK(*summary("int8", R"("fp16")").wire_bytes == ring(kBytes)); // narrower values stay
}

TEST_CASE("compression: buckets of several types count the values of each") {
  const study::Result result = study::testing::run_text(
      R"({"workload": {"layers": [
            {"name": "a", "forward_s": 0, "backward_s": 1e-3, "gradient_bytes": 4000, "dtype": "float32"},
            {"name": "b", "forward_s": 0, "backward_s": 1e-3, "gradient_bytes": 4000, "dtype": "float16"}]},
          "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
          "communication": {"schedule": "wfbp", "compression": {"method": "topk", "density": 0.1}}})");
  CHECK(*result.summary.k == std::floor(0.1 * 1000) + std::floor(0.1 * 2000));
  CHECK(result.buckets[0].elements == 2000);
  CHECK(result.buckets[1].elements == 1000);
}

TEST_CASE("inline layers: the type is a known word, and a shape must hold the bytes of it") {
  const auto problem = [](const std::string& keys) {
    return study::testing::problem_of(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4000, )" +
        keys +
        R"(}]}, "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}}})");
  };
  CHECK(problem(R"("dtype": "float16", "shape": [2000])").empty());
  CHECK(
      problem(R"("dtype": "float16", "shape": [1000])") ==
      "test.json: /workload/layers/0/shape: 1000 elements do not make 4000 bytes of 2 bytes each");
  CHECK(problem(R"("dtype": "flot16")").starts_with("test.json: /workload/layers/0/dtype: "));
}
