// The published measurements of the gTop-k authors (SPA 10) beside the closed form and the profile
// that was fitted to them (SPA 9). The bands of the profile pin a fit, in-sample: they say nothing
// of other machines, and every result must say "calibrated".
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "document/json_text.hpp"
#include "run/result_file.hpp"
#include "scenario/files/measured_speed.hpp"
#include "scenario/files/trace_file.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

const std::string kPaper = R"("latency_s": 4.36e-4, "bandwidth_Bps": 111111111.1111111)";
const std::string kProfile = R"("calibration": "icdcs19")";
constexpr std::array<std::string_view, 3> kMethods{"none", "topk", "gtopk_tree"};
constexpr std::array<std::string_view, 3> kLargeNetworks{"vgg16_cifar", "alexnet_caffe",
                                                         "resnet50"};
constexpr std::array<int, 4> kRanks{4, 8, 16, 32};

const layers::MeasuredModel& model(std::string_view name) {
  static const layers::MeasuredTraining measured =
      io::parse_measured(io::read_json(STEPSIM_SOURCE_DIR "/traces/icdcs19.measured.json"));
  return *std::ranges::find(measured.models, name, &layers::MeasuredModel::name);
}

double batch(const layers::MeasuredModel& network) {
  return static_cast<double>(*network.batch_size);
}

// One layer, one message after backward (SPA V16). `costs`: of compressing, "" = the
// profile's.
Result run_one(std::string_view name, std::string_view method, int ranks, const std::string& net,
               const std::string& costs = "", const std::string& density = "0.001") {
  const layers::MeasuredModel& network = model(name);
  const double compute = network.phases->compute.value;
  const io::Object layer{{"name", network.name},
                         {"forward_s", compute / 3},
                         {"backward_s", 2 * compute / 3},
                         {"gradient_bytes", 4 * *network.parameters}};
  std::string compression = R"({"method": ")" + std::string(method) + "\"";
  if (method != "none") {
    compression += R"(, "density": )" + density + costs;
  }
  return run_text(R"({"workload": {"layers": [)" + io::compact(layer) +
                  R"(]}, "cluster": {"nodes": )" + std::to_string(ranks) + R"(, "network": {)" +
                  net +
                  R"(}}, "training": {"update_s": 0}, "communication": {"schedule": "single",
                  "collective": "ring", "compression": )" +
                  compression + "}}}");
}

double seconds(std::string_view name, std::string_view method, int ranks, const std::string& net,
               const std::string& costs = "") {
  return *run_one(name, method, ranks, net, costs).summary.iteration_time_s;
}

// With the measured compress phase and the paper's network.
double closed_form_seconds(std::string_view name, std::string_view method, int ranks) {
  return seconds(name, method, ranks, kPaper,
                 R"(, "costs": {"select_s": )" + io::compact(model(name).phases->compress.value) +
                     "}");
}

bool says(const Result& result, const std::string& text) {
  return std::ranges::any_of(result.warnings, [&](const std::string& warning) {
    return warning.find(text) != std::string::npos;
  });
}

} // namespace

TEST_CASE("the closed form gives half of the measured ratios on 32 ranks (SPA V14)") {
  struct Row {
    std::string_view name;
    double over_dense, over_topk;
  };
  for (const Row& row : {Row{"vgg16_cifar", 4.856, 1.082}, Row{"resnet20", 1.261, 0.988},
                         Row{"alexnet_caffe", 6.582, 1.131}}) {
    CAPTURE(row.name);
    const double gtopk = closed_form_seconds(row.name, "gtopk_tree", 32);
    CHECK(closed_form_seconds(row.name, "none", 32) / gtopk == within(row.over_dense, 1e-2));
    CHECK(closed_form_seconds(row.name, "topk", 32) / gtopk == within(row.over_topk, 1e-2));
    const double measured = *measured_speed(model(row.name), "gtopk_tree", 32) /
                            *measured_speed(model(row.name), "none", 32);
    CHECK(row.over_dense < 0.55 * measured);
  }
}

TEST_CASE("calibrated: communication of the large networks is that of the fit (SPA V15)") {
  for (const std::string_view name : kLargeNetworks) {
    for (const int ranks : kRanks) {
      CAPTURE(name);
      CAPTURE(ranks);
      const layers::MeasuredModel& network = model(name);
      const double compute = network.phases->compute.value;
      const double compress = network.phases->compress.value;
      const auto effective = [&](std::string_view method) { // communication, as the authors' runs
        return batch(network) / *measured_speed(network, method, ranks) - compute;
      };
      const auto communication = [&](std::string_view method) {
        const Summary& summary = run_one(name, method, ranks, kProfile).summary;
        return *summary.communication_s;
      };
      CHECK(communication("gtopk_tree") == within(effective("gtopk_tree") - compress, 0.08));
      CHECK(communication("none") == within(effective("none"), 0.15));
    }
  }
}

TEST_CASE("calibrated: iteration times (SPA V16)") {
  struct Row {
    std::string_view name;
    int ranks;
    std::array<double, 3> seconds; // dense, topk, gtopk_tree
  };
  for (const Row& row : {Row{"vgg16_cifar", 32, {11.352320, 1.844171, 1.063159}},
                         Row{"resnet20", 32, {0.633568, 0.179323, 0.167195}},
                         Row{"alexnet_caffe", 32, {45.768160, 7.306465, 4.066708}},
                         Row{"resnet50", 32, {24.127509, 7.838408, 6.481543}},
                         Row{"alexnet_caffe", 4, {4.523891, 4.399809, 3.814806}}}) {
    for (std::size_t i = 0; i < kMethods.size(); ++i) {
      CAPTURE(row.name);
      CAPTURE(kMethods[i]);
      CHECK(seconds(row.name, kMethods[i], row.ranks, kProfile) == within(row.seconds[i], 1e-5));
    }
  }
}

TEST_CASE("calibrated: ratios on 32 ranks are in the published ranges (SPA V17)") {
  const auto over = [](std::string_view name, std::string_view method) {
    return seconds(name, method, 32, kProfile) / seconds(name, "gtopk_tree", 32, kProfile);
  };
  for (const std::string_view name : {"vgg16_cifar", "resnet20", "alexnet_caffe", "resnet50"}) {
    CAPTURE(name);
    CHECK(over(name, "none") >= 3);
    CHECK(over(name, "none") <= 13);
  }
  CHECK(over("vgg16_cifar", "none") > 8);
  CHECK(over("alexnet_caffe", "none") > 8);
  CHECK(over("resnet50", "none") >= 3.2);
  CHECK(over("resnet50", "none") <= 4.2);
  CHECK(1.0 < over("resnet20", "topk"));
  CHECK(over("resnet20", "topk") < over("resnet50", "topk"));
  for (const std::string_view name : {"vgg16_cifar", "alexnet_caffe"}) {
    CHECK(over("resnet50", "topk") < over(name, "topk"));
    CHECK(over(name, "topk") < 2.1);
  }
}

TEST_CASE("a result from the profile is labelled and repeats its note (SPA 9)") {
  for (const std::string_view method : kMethods) {
    CAPTURE(method);
    const Result result = run_one("vgg16_cifar", method, 32, kProfile);
    const io::Json tree = result_tree(result);
    CHECK(tree.find("label")->as_string() == "calibrated");
    CHECK(says(result, "In-sample; not a prediction of the paper's cost model."));
    CHECK_FALSE(says(result, "outside the calibrated"));
  }
}

TEST_CASE("leaving the range of the profile is said (SPA 9)") {
  CHECK(says(run_one("vgg16_cifar", "none", 64, kProfile),
             "icdcs19: ranks=64 outside the calibrated 4..32, gamma held at 10.635"));
  CHECK(says(run_one("vgg16_cifar", "topk", 64, kProfile),
             "icdcs19: ranks=64 outside the calibrated 4..32"));
  CHECK(says(run_one("vgg16_cifar", "topk", 32, kProfile, "", "0.01"),
             "icdcs19: density=0.01 outside the calibrated 0.001"));
}

TEST_CASE("selection costs against the measured compress phase (SPA V19, V20)") {
  struct Row {
    std::string_view name;
    double n_log_n_s; // 2.18896957e-10 m log2 m, P102-100, selection alone
  };
  for (const Row& row : {Row{"vgg16_cifar", 0.07677}, Row{"resnet20", 0.00107},
                         Row{"alexnet_caffe", 0.34512}, Row{"resnet50", 0.13766}}) {
    CAPTURE(row.name);
    const double measured = model(row.name).phases->compress.value;
    CHECK(*run_one(row.name, "topk", 32, kProfile).summary.compress_s == within(measured, 0.04));
    const Result published =
        run_one(row.name, "topk", 32, kPaper,
                R"(, "costs": {"form": "n_log_n", "select_s_per_element_log2": 2.18896957e-10})");
    CHECK(*published.summary.select_s == within(row.n_log_n_s, 1e-2));
    CHECK(*published.summary.select_s < measured); // the residual update is not in it
  }
}
