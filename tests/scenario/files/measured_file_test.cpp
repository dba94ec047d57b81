#include "scenario/files/trace_file.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"
#include "scenario/files/measured_speed.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::io;
using stepsim::testing::within;

namespace {

const layers::MeasuredTraining& icdcs19() {
  static const layers::MeasuredTraining measured =
      parse_measured(read_json(STEPSIM_SOURCE_DIR "/traces/icdcs19.measured.json"));
  return measured;
}

const layers::MeasuredModel& model(std::string_view name) {
  for (const layers::MeasuredModel& each : icdcs19().models) {
    if (each.name == name) {
      return each;
    }
  }
  FAIL("no such model");
  std::abort();
}

double speed(std::string_view name, std::string_view method, std::int64_t ranks) {
  return measured_speed(model(name), method, ranks).value();
}

std::string problems(std::string_view text) { return problem_text(text, parse_measured); }

// A file with one model of the given keys.
std::string with_model(std::string_view keys) {
  return R"({"kind": "measured_training", "name": "n", "source": "s", "models": [{"name": "m", )" +
         std::string(keys) + "}]}";
}
constexpr std::string_view kSpeeds = R"("samples_per_s_per_gpu": {"none": {"1": 10, "4": 8.5}})";

} // namespace

TEST_CASE("icdcs19: five models, dense on one rank, all methods on 4 to 32") {
  CHECK(icdcs19().models.size() == 5);
  for (const layers::MeasuredModel& each : icdcs19().models) {
    CAPTURE(each.name);
    CHECK(measured_speed(each, "none", 1));
    CHECK_FALSE(measured_speed(each, "topk", 1));
    for (const std::string_view method : {"none", "topk", "gtopk_tree"}) {
      for (const std::int64_t ranks : {4, 8, 16, 32}) {
        CHECK(measured_speed(each, method, ranks));
      }
    }
    CHECK(each.phases.has_value() == (each.name != "lstm_ptb"));
    CHECK(each.batch_size.has_value() == (each.name != "lstm_ptb"));
  }
}

TEST_CASE("icdcs19: phases add up to an update (SPA V12)") {
  struct Row {
    std::string_view name;
    double sum_s;
    double images_per_s;
  };
  constexpr std::array kRows{Row{"vgg16_cifar", 1.042642, 122.77},
                             Row{"resnet20", 0.172309, 742.85},
                             Row{"alexnet_caffe", 4.003961, 15.98}};
  for (const auto& [name, sum_s, images_per_s] : kRows) {
    CAPTURE(name);
    const layers::MeasuredPhases& phases = *model(name).phases;
    const double sum = (phases.compute + phases.compress + phases.communication).value;
    CHECK(sum == within(sum_s, 1e-3));
    CHECK(static_cast<double>(*model(name).batch_size) / sum == within(images_per_s, 1e-3));
    CHECK(phases.ranks == 32);
    CHECK(phases.method == "gtopk_tree");
  }
}

TEST_CASE("icdcs19: ratios and efficiencies follow from the throughputs (SPA V13)") {
  struct Row {
    std::string_view name;
    std::array<double, 4> over_dense, over_topk; // gtopk_tree at 4, 8, 16, 32 ranks
    std::array<double, 3> efficiency;            // per cent at 32: dense, topk, gtopk_tree
  };
  constexpr std::array kRows{
      Row{"vgg16_cifar",
          {1.258, 1.410, 3.202, 9.778},
          {1.185, 1.188, 1.292, 1.955},
          {1.0, 4.8, 9.4}},
      Row{"resnet20",
          {1.115, 1.232, 1.554, 2.742},
          {1.008, 1.154, 1.096, 1.134},
          {31.3, 75.6, 85.7}},
      Row{"alexnet_caffe",
          {1.180, 1.357, 3.314, 12.785},
          {1.161, 1.186, 1.225, 1.708},
          {0.7, 5.3, 9.1}},
      Row{"resnet50",
          {1.020, 1.074, 1.685, 3.649},
          {1.055, 1.112, 1.132, 1.279},
          {20.3, 57.8, 74.0}},
      Row{"lstm_ptb", {1.406, 2.023, 3.683, 5.143}, {0.894, 0.946, 1.020, 2.000}, {0.5, 1.4, 2.8}}};
  constexpr std::array<std::int64_t, 4> kRanks{4, 8, 16, 32};
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    for (std::size_t i = 0; i < kRanks.size(); ++i) {
      CAPTURE(kRanks[i]);
      const double gtopk = speed(row.name, "gtopk_tree", kRanks[i]);
      CHECK(gtopk / speed(row.name, "none", kRanks[i]) == within(row.over_dense[i], 1e-3));
      CHECK(gtopk / speed(row.name, "topk", kRanks[i]) == within(row.over_topk[i], 1e-3));
    }
    const std::array<std::string_view, 3> methods{"none", "topk", "gtopk_tree"};
    for (std::size_t i = 0; i < methods.size(); ++i) {
      CAPTURE(methods[i]);
      const double percent = 100 * speed(row.name, methods[i], 32) / speed(row.name, "none", 1);
      CHECK(std::abs(percent - row.efficiency[i]) <= 0.05 + 1e-9);
    }
  }
}

TEST_CASE("icdcs19: parameters are those of the layer tables of the same name (SPA V25)") {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kParameters{
      {{"vgg16_cifar", 14'728'266},
       {"resnet20", 269'722},
       {"alexnet_caffe", 60'965'224},
       {"resnet50", 25'557'032},
       {"lstm_ptb", 66'034'000}}};
  for (const auto& [name, parameters] : kParameters) {
    CAPTURE(name);
    const layers::ModelTable table = parse_model(
        read_json(std::string(STEPSIM_SOURCE_DIR "/models/") + std::string(name) + ".json"));
    CHECK(table.elements() == parameters);
    CHECK(model(name).parameters == parameters);
  }
}

TEST_CASE("what a measured file must say") {
  CHECK(problems(with_model(kSpeeds)).empty());
  CHECK(problems("{}") == "f.json: /kind: required (a text)\n"
                          "f.json: /name: required (a text)\n"
                          "f.json: /source: required (a text)\n"
                          "f.json: /models: required (a list)\n");
  CHECK(problems(with_model(R"("batch_size": 1)")) ==
        "f.json: /models/0/samples_per_s_per_gpu: required ({METHOD: {\"RANKS\": number}})\n");
  CHECK(problems(R"({"kind": "measured_training", "name": "n", "source": "s", "models": []})") ==
        "f.json: /models: needs at least one model\n");
}

TEST_CASE("wrong measured files are refused with pointer and rule") {
  CHECK(problems(with_model(R"("samples_per_s_per_gpu": {"gtopk": {"4": 1}})")) ==
        "f.json: /models/0/samples_per_s_per_gpu/gtopk: unknown compression method \"gtopk\"; did "
        "you mean \"gtopk_tree\"?\n");
  for (const std::string_view key : {"0", "04", "-4", "4.5", "four", ""}) {
    CAPTURE(key);
    CHECK(problems(with_model(R"("samples_per_s_per_gpu": {"none": {")" + std::string(key) +
                              R"(": 1}})")) == "f.json: /models/0/samples_per_s_per_gpu/none/" +
                                                   std::string(key) +
                                                   ": the key must be a number of ranks\n");
  }
  CHECK(problems(with_model(R"("samples_per_s_per_gpu": {"none": {"4": 0}})")) ==
        "f.json: /models/0/samples_per_s_per_gpu/none/4: must be > 0, got 0\n");
  CHECK(problems(with_model(R"("samples_per_s_per_gpu": {"none": {}})")) ==
        "f.json: /models/0/samples_per_s_per_gpu/none: must be an object {\"RANKS\": samples per "
        "second and GPU}\n");
  const auto phases = R"("phases": {"ranks": 4, "method": "tokp", "compute_s": -1,
      "compress_s": 0}, )" +
                      std::string(kSpeeds);
  CHECK(problems(with_model(phases)) ==
        "f.json: /models/0/phases/method: unknown compression method \"tokp\"; did you mean "
        "\"topk\"?\n"
        "f.json: /models/0/phases/compute_s: must be >= 0, got -1\n"
        "f.json: /models/0/phases/communication_s: required (a number)\n");
  CHECK(problems(with_model(R"("batchsize": 1, )" + std::string(kSpeeds))) ==
        "f.json: /models/0/batchsize: unknown key, did you mean batch_size?\n");
  CHECK(problems(R"({"kind": "measured_training", "name": "n", "source": "s", "models": [
      {"name": "m", )" +
                 std::string(kSpeeds) + R"(}, {"name": "m", )" + std::string(kSpeeds) + "}]}") ==
        "f.json: /models/1/name: model m appears twice\n");
}
