// Published and derived tables of the specification, end to end: a scenario in, an iteration time
// out. Model profiles are synthetic (shares of multiply-accumulates), as the results say.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

struct Cost {
  double startup_s, per_byte_s;
};
// Fitted all-reduce constants, 16 V100: 10 GbE and 56 Gb/s InfiniBand (MER 10.6).
constexpr Cost kEthernet{9.080981007148093e-4, 7.395651186836712e-10};
constexpr Cost kInfiniband{2.3583677659915685e-4, 4.0594787739537565e-10};

std::string cost_text(Cost cost) {
  return io::compact(io::Object{{"startup_s", cost.startup_s}, {"per_byte_s", cost.per_byte_s}});
}

struct ModelRun {
  std::string workload;
  Cost cost;
  std::string granularity = "tensor";

  [[nodiscard]] Result with(const std::string& schedule) const {
    return run_text(R"({"workload": {)" + workload + R"(, "granularity": ")" + granularity +
                    R"("}, "cluster": {"nodes": 16, "network": {"cost": )" + cost_text(cost) +
                    R"(}}, "communication": {"schedule": ")" + schedule + R"("}})");
  }
  [[nodiscard]] double seconds(const std::string& schedule) const {
    return *with(schedule).summary.iteration_time_s;
  }
};

const std::string kResnet50 =
    R"("model": "resnet50", "batch_size": 64, "device": {"flops_Ps": 2e13, "utilization": 0.5})";
const std::string kBert =
    R"("model": "bert_base", "batch_size": 32, "device": {"flops_Ps": 2e13, "utilization": 1})";
const std::string kGooglenet =
    R"("model": "googlenet_caffe_aux", "batch_size": 64, "device": {"flops_Ps": 1e12, "utilization": 1})";

struct Row {
  const char* schedule;
  double seconds;
  std::size_t groups; // 0 = not given
};

void check(const ModelRun& model, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    CAPTURE(row.schedule);
    const Result result = model.with(row.schedule);
    CHECK(*result.summary.iteration_time_s == within(row.seconds, 1e-8));
    CHECK((row.groups == 0 || result.buckets.size() == row.groups));
  }
}

} // namespace

TEST_CASE("synthetic resnet50: forward and backward are shares of MACs (MOD T1)") {
  const Result result = ModelRun{kResnet50, kEthernet}.with("wfbp");
  CHECK(*result.summary.forward_s == within(64 * 2 * 4089184256.0 / (2e13 * 0.5), 1e-12));
  CHECK(*result.summary.forward_s == within(0.052341558, 1e-8));
  CHECK(*result.summary.backward_s == within(0.104683117, 1e-8));
  CHECK(result.scenario->workload.provenance == layers::Provenance::synthetic);
}

TEST_CASE("synthetic resnet50 on 16 V100, 161 tensors (MOD T2, T3)") {
  check({kResnet50, kEthernet}, {{"wfbp", 0.274202139, 161},
                                 {"single", 0.233537131, 1},
                                 {"ddp", 0.165124423, 5},
                                 {"mg_wfbp", 0.157960605, 18},
                                 {"optimal", 0.157960605, 0},
                                 {"eager", 0.157960605, 0}});
  CHECK(*ModelRun{kResnet50, kEthernet}.with("mg_wfbp").summary.merge_waiting_merges == 2);
  check({kResnet50, kInfiniband}, {{"wfbp", 0.157275789, 161},
                                   {"single", 0.198759804, 1},
                                   {"ddp", 0.161208014, 5},
                                   {"mg_wfbp", 0.157275789, 45},
                                   {"optimal", 0.157275789, 0}});
  CHECK(*ModelRun{kResnet50, kInfiniband}.with("mg_wfbp").summary.merge_waiting_merges == 1);
}

TEST_CASE("synthetic resnet50 by layer and by weight (MOD T4, T5)") {
  check({kResnet50, kEthernet, "layer"}, {{"wfbp", 0.225164842, 107},
                                          {"single", 0.233537131, 1},
                                          {"ddp", 0.165124423, 5},
                                          {"mg_wfbp", 0.157960605, 0},
                                          {"optimal", 0.157960605, 0}});
  check({kResnet50, kEthernet, "weight"}, {{"wfbp", 0.177035642, 54},
                                           {"single", 0.233537131, 1},
                                           {"ddp", 0.165124423, 0},
                                           {"mg_wfbp", 0.157960984, 0},
                                           {"optimal", 0.157960984, 0}});
}

TEST_CASE("synthetic bert_base, 199 tensors (MOD T6, T7)") {
  const Result result = ModelRun{kBert, kEthernet}.with("mg_wfbp");
  CHECK(*result.summary.forward_s == within(0.035757490, 1e-8));
  CHECK(*result.summary.backward_s == within(0.071514980, 1e-8));
  CHECK(*result.summary.merge_waiting_merges == 3);
  check({kBert, kEthernet}, {{"wfbp", 0.540349770, 199},
                             {"single", 0.432057552, 1},
                             {"ddp", 0.375655666, 14},
                             {"mg_wfbp", 0.365547724, 5},
                             {"optimal", 0.364178739, 0},
                             {"eager", 0.364178739, 0}});
  check({kBert, kInfiniband}, {{"wfbp", 0.260497011, 0},
                               {"single", 0.285284639, 0},
                               {"ddp", 0.221603744, 0},
                               {"mg_wfbp", 0.216055810, 7},
                               {"optimal", 0.215923860, 0}});
  CHECK(*ModelRun{kBert, kInfiniband}.with("mg_wfbp").summary.merge_waiting_merges == 1);
}

TEST_CASE("synthetic googlenet_caffe_aux by layer and tensor (MOD T8, T9)") {
  const Result result = ModelRun{kGooglenet, kEthernet, "layer"}.with("mg_wfbp");
  CHECK(*result.summary.forward_s == within(0.203653644, 1e-8));
  CHECK(*result.summary.merge_waiting_merges == 12);
  check({kGooglenet, kEthernet, "layer"}, {{"wfbp", 0.611897052, 64},
                                           {"single", 0.651445468, 1},
                                           {"ddp", 0.628949057, 3},
                                           {"mg_wfbp", 0.611897052, 46},
                                           {"optimal", 0.611897052, 0}});
  check({kGooglenet, kEthernet},
        {{"wfbp", 0.612805150, 128}, {"mg_wfbp", 0.611897052, 0}, {"optimal", 0.611897052, 0}});
}

TEST_CASE("a profile scaled to a measured compute time (MOD T10)") {
  const Result result =
      ModelRun{R"("model": "resnet50", "batch_size": 64, "measured": {"compute_s": 0.3})",
               kEthernet}
          .with("wfbp");
  CHECK(*result.summary.forward_s == within(0.1, 1e-9));
  CHECK(*result.summary.backward_s == within(0.2, 1e-9));
  const auto& layers = result.scenario->workload.layers;
  CHECK(layers.back().backward.value == within(0.2 * 2048000 / 4089184256.0, 1e-9));
  CHECK(result.scenario->workload.provenance == layers::Provenance::scaled);
}

TEST_CASE("ddp forms the buckets of the table for every model (MOD 7)") {
  struct Buckets {
    const char* model;
    std::vector<std::int64_t> elements;
    std::vector<std::int64_t> tensors;
  };
  const auto repeated = [](std::vector<std::int64_t> head, std::int64_t value, std::size_t times,
                           std::vector<std::int64_t> tail) {
    head.insert(head.end(), times, value);
    head.insert(head.end(), tail.begin(), tail.end());
    return head;
  };
  const std::vector<Buckets> table{
      {"resnet50", {2049000, 7875584, 6563840, 6637568, 2431040}, {2, 15, 12, 51, 81}},
      {"resnet101",
       {2049000, 7875584, 6563840, 6965760, 6703104, 6703104, 6590464, 1098304},
       {2, 15, 12, 54, 54, 54, 63, 60}},
      {"resnet152", repeated({2049000, 7875584, 6563840, 6965760}, 6703104, 4, {6639104, 3287104}),
       repeated({2, 15, 12}, 54, 6, {114})},
      {"densenet201", {1921000, 6669120, 6630976, 4792832}, {2, 180, 141, 281}},
      {"inception_v4",
       {1537000, 6940416, 6718848, 6568576, 6629440, 6575936, 6588800, 1120800},
       {2, 45, 45, 57, 69, 66, 96, 69}},
      {"googlenet_caffe_aux", {1025000, 6579608, 5773672}, {2, 44, 82}},
      {"googlenet_caffe", {1025000, 5973552}, {2, 114}},
      {"googlenet", {1025000, 5599904}, {2, 171}},
      {"googlenet_aux", {1025000, 6582320, 5397568}, {2, 23, 162}},
      {"bert_base", repeated({590592}, 7087872, 12, {23837184}), repeated({2}, 16, 12, {5})},
      {"bert_base_pretrain", repeated({593666, 7118394}, 7087872, 11, {24427776}),
       repeated({6, 17}, 16, 11, {7})},
      {"gpt2", repeated({2361600}, 7087872, 11, {44111616}), repeated({4}, 12, 12, {})}};
  for (const Buckets& row : table) {
    CAPTURE(row.model);
    const ModelRun model{std::string(R"("model": ")") + row.model +
                             R"(", "batch_size": 1, "measured": {"compute_s": 1})",
                         kInfiniband};
    std::vector<std::int64_t> elements, tensors;
    for (const Bucket& bucket : model.with("ddp").buckets) {
      elements.push_back(bucket.elements);
      tensors.push_back(bucket.items);
    }
    CHECK(elements == row.elements);
    CHECK(tensors == row.tensors);
  }
  for (const auto& [model, count] :
       {std::pair<const char*, std::size_t>{"gpt2_large", 109}, {"gpt2_xl", 145}}) {
    const Result result = ModelRun{std::string(R"("model": ")") + model +
                                       R"(", "batch_size": 1, "measured": {"compute_s": 1})",
                                   kInfiniband}
                              .with("ddp");
    CHECK(result.buckets.size() == count);
    const std::array<std::int64_t, 4> first{4, 2, 6, 4};
    for (std::size_t b = 0; b < first.size(); ++b) {
      CHECK(result.buckets[b].items == first[b]);
    }
  }
}

TEST_CASE("GoogLeNet on K80, the shipped trace with the authors' constants (MER 10.1)") {
  struct TraceRow {
    int workers;
    double wfbp, single, greedy, optimum, eager; // finish from the start of backward
    std::size_t greedy_groups, optimum_groups;
    double waits;
  };
  constexpr std::array rows{
      TraceRow{4, 0.205824, 0.385786, 0.205824, 0.205824, 0.205824, 10, 10, 1},
      TraceRow{8, 0.256901, 0.416163, 0.215538, 0.215224, 0.215633, 6, 6, 1},
      TraceRow{32, 0.418421, 0.440846, 0.260840, 0.247557, 0.247557, 5, 5, 8},
      TraceRow{64, 0.607516, 0.447494, 0.380298, 0.265788, 0.265788, 2, 5, 51},
      TraceRow{512, 3.205615, 0.491321, 0.491321, 0.379119, 0.379119, 1, 3, 63},
      TraceRow{2048, 12.102479, 0.630680, 0.630680, 0.612293, 0.796495, 1, 2, 63}};
  // Weight and bias of a layer share one timer in the log: one item per layer, 64 of them.
  const double alpha = 45.25e-6;
  const double beta = 1.2 / (9.0 * std::pow(2.0, 30) / 8);
  const double gamma = 160 / (16e9 * 4);
  for (const TraceRow& row : rows) {
    CAPTURE(row.workers);
    const double n = row.workers;
    const Cost cost{2 * n * alpha, 2 * (n - 1) / n * beta + (n - 1) / n * gamma};
    const auto run_schedule = [&](const char* schedule) {
      return run_text(
          R"({"workload": {"trace": ")" STEPSIM_SOURCE_DIR
          R"(/traces/googlenet.k80.json", "granularity": "layer"}, "cluster": {"nodes": )" +
          std::to_string(row.workers) + R"(, "network": {"cost": )" + cost_text(cost) +
          R"(}}, "communication": {"schedule": ")" + schedule + R"("}})");
    };
    const auto finish = [&](const char* schedule) {
      const Result result = run_schedule(schedule);
      return *result.summary.iteration_time_s - *result.summary.forward_s;
    };
    CHECK(finish("wfbp") == within(row.wfbp, 1e-5));
    CHECK(finish("single") == within(row.single, 1e-5));
    CHECK(finish("mg_wfbp") == within(row.greedy, 1e-5));
    CHECK(finish("optimal") == within(row.optimum, 1e-5));
    CHECK(finish("eager") == within(row.eager, 1e-5));
    const Result greedy = run_schedule("mg_wfbp");
    CHECK(greedy.buckets.size() == row.greedy_groups);
    CHECK(*greedy.summary.merge_waiting_merges == row.waits);
    CHECK(run_schedule("optimal").buckets.size() == row.optimum_groups);
  }
}

TEST_CASE("the A100 trace under ddp rebuilds the five measured buckets exactly") {
  const Result result = run_text(R"({"workload": {"trace": ")" STEPSIM_SOURCE_DIR
                                 R"(/traces/resnet50.ddp.2xa100.json"}, "cluster": {"nodes": 2,
    "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e10}}, "communication": {"schedule": "ddp"}})");
  const std::vector<std::int64_t> elements{2049000, 7875584, 6563840, 6637568, 2431040};
  const std::vector<std::int64_t> tensors{2, 15, 12, 51, 81};
  REQUIRE(result.buckets.size() == elements.size());
  std::int64_t total = 0;
  for (std::size_t b = 0; b < elements.size(); ++b) {
    CHECK(result.buckets[b].elements == elements[b]);
    CHECK(result.buckets[b].bytes.value == 4 * elements[b]);
    CHECK(result.buckets[b].items == tensors[b]);
    total += result.buckets[b].elements;
  }
  CHECK(total == 25557032);
}

TEST_CASE("16 V100 measurements: simulated iteration times stay in the known band (MER 10.3, H)") {
  // Compute time, measured WFBP, single message, MG-WFBP. Our model is systematically optimistic;
  // the band says by how much, it is no claim of accuracy.
  struct Measured {
    const char* model;
    int batch;
    bool ethernet, half;
    double compute, wfbp, single, mg_wfbp;
  };
  constexpr std::array rows{
      Measured{"resnet152", 128, true, false, 0.8831, 1.2334, 1.3601, 1.1261},
      Measured{"resnet152", 128, true, true, 0.3886, 0.7571, 0.6363, 0.6297},
      Measured{"resnet152", 128, false, false, 0.8831, 1.0821, 1.1435, 1.0893},
      Measured{"resnet152", 128, false, true, 0.3886, 0.5310, 0.5182, 0.4863},
      Measured{"inception_v4", 128, true, false, 0.6108, 0.9437, 0.9000, 0.7806},
      Measured{"inception_v4", 128, true, true, 0.2797, 0.5910, 0.4771, 0.4232},
      Measured{"inception_v4", 128, false, false, 0.6108, 0.7674, 0.7462, 0.6613},
      Measured{"inception_v4", 128, false, true, 0.2797, 0.4302, 0.3732, 0.3638},
      Measured{"densenet161", 64, true, false, 0.4777, 0.8324, 0.6826, 0.6280},
      Measured{"densenet161", 64, true, true, 0.2530, 0.6149, 0.3994, 0.3604},
      Measured{"densenet161", 64, false, false, 0.4777, 0.6019, 0.5968, 0.5274},
      Measured{"densenet161", 64, false, true, 0.2530, 0.4000, 0.3300, 0.3211},
      Measured{"densenet201", 64, true, false, 0.3609, 0.7636, 0.5128, 0.4566},
      Measured{"densenet201", 64, true, true, 0.2152, 0.6142, 0.4065, 0.3618},
      Measured{"densenet201", 64, false, false, 0.3609, 0.5124, 0.4378, 0.4059},
      Measured{"densenet201", 64, false, true, 0.2152, 0.3977, 0.3544, 0.3313}};
  for (const Measured& row : rows) {
    CAPTURE(row.model);
    CAPTURE(row.ethernet);
    CAPTURE(row.half);
    const ModelRun model{std::string(R"("model": ")") + row.model + R"(", "batch_size": )" +
                             std::to_string(row.batch) + R"(, "value_bytes": )" +
                             (row.half ? "2" : "4") + R"(, "measured": {"compute_s": )" +
                             io::compact(io::Json(row.compute)) + "}",
                         row.ethernet ? kEthernet : kInfiniband};
    const double wfbp = model.seconds("wfbp");
    const double single = model.seconds("single");
    const double greedy = model.seconds("mg_wfbp");
    for (const double ratio : {wfbp / row.wfbp, single / row.single, greedy / row.mg_wfbp}) {
      CHECK(ratio >= 0.55);
      CHECK(ratio <= 1.10);
    }
    CHECK(greedy <= wfbp * (1 + 1e-12));
    CHECK(greedy <= single * (1 + 1e-12));
  }
}
