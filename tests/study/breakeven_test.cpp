#include "study/breakeven_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "collectives/compress/compression.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;
using study::testing::shipped_files;

namespace {

// Row V30 of the acceptance values.
constexpr std::string_view kTopk = R"({
  "schema_version": 1, "kind": "compression_breakeven", "ranks": 16, "latency_s": 5e-5,
  "gradient_bytes": 1e8, "forward_s": 0, "backward_s": 0.1, "overlap_slowdown": 1,
  "bucket_bytes": 2.5e7, "compression": {"method": "topk", "density": 0.01},
  "encode_decode_s": 0.05, "bandwidth_Bps": [1.25e9, 5e8]
})";

using Changes = std::vector<std::pair<std::string, io::Json>>;

io::Json changed(const Changes& changes) {
  io::Json tree = io::parse_json(kTopk, "b.json");
  for (const auto& [pointer, value] : changes) {
    io::assign(tree, pointer, value);
  }
  return tree;
}

study::BreakEvenFile answer(const Changes& changes) {
  return study::parse_breakeven(changed(changes), shipped_files());
}

// The first row of compressed training.
io::Json compressed_row(const study::BreakEvenFile& file) {
  const io::Array rows = study::breakeven_rows(file).rows;
  return *std::ranges::find_if(
      rows, [&](const io::Json& row) { return *row.find("algorithm") == io::Json(file.method); });
}

double number_at(const io::Json& tree, std::string_view pointer) {
  const io::Json* value = io::resolve(tree, pointer);
  REQUIRE_MESSAGE(value != nullptr, pointer);
  return value->as_double();
}

std::size_t size_at(const io::Json& tree, std::string_view pointer) {
  return io::resolve(tree, pointer)->as_array().size();
}

std::string problem_of(const Changes& changes) {
  try {
    (void)study::parse_breakeven(changed(changes), shipped_files());
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("break-even file: topk and gtopk_tree on 16 ranks") {
  const study::BreakEvenFile file = answer({});
  CHECK(programs::buckets_of(file.problem).count == 4);
  CHECK(programs::buckets_of(file.problem).last_bytes == 25'000'000);
  CHECK(file.problem.startup_s == within(4 * 5e-5, 1e-12));            // ceil(log2 P) alpha
  CHECK(file.problem.sent_bytes == within(15 * 250'000 * 8.0, 1e-12)); // (P-1) k E
  CHECK(file.warnings.empty()); // compressing takes encode_decode_s
  const io::Json topk = compressed_row(file);
  CHECK(size_at(topk, "/break_even_Bps") == 1);
  CHECK(number_at(topk, "/break_even_Bps/0") == within(1.0922330e9, 1e-6));
  CHECK(number_at(topk, "/break_even_sequential_Bps/0") == within(3.2340862e9, 1e-6));
  CHECK(number_at(topk, "/compression_wins/0/from_Bps") == 0);
  CHECK(number_at(topk, "/compression_wins/0/to_Bps") == number_at(topk, "/break_even_Bps/0"));
  const io::Json tree = compressed_row(answer({{"/compression/method", "gtopk_tree"}}));
  CHECK(number_at(tree, "/break_even_Bps/0") == within(1.1876731e9, 1e-6));
  CHECK(number_at(tree, "/break_even_sequential_Bps/0") == within(3.5071575e9, 1e-6));
}

TEST_CASE("break-even file: three rows for each bandwidth, the fastest first") {
  const study::Comparison found = study::breakeven_rows(answer({}));
  CHECK(found.varied == std::vector<std::string>{"algorithm", "bandwidth_Bps"});
  const io::Json rows(found.rows);
  REQUIRE(found.rows.size() == 2 * 3);
  CHECK(number_at(rows, "/0/bandwidth_Bps") == 1.25e9);
  CHECK(*io::resolve(rows, "/0/algorithm") == io::Json("dense_overlapped"));
  CHECK(number_at(rows, "/0/iteration_time_s") == within(0.156, 1e-6));
  CHECK(number_at(rows, "/0/exposed_communication_s") == within(0.156 - 0.1, 1e-6));
  CHECK(number_at(rows, "/0/ratio") == 1);
  CHECK(*io::resolve(rows, "/1/algorithm") == io::Json("topk"));
  CHECK(number_at(rows, "/1/iteration_time_s") == within(0.1742, 1e-6));
  CHECK(number_at(rows, "/1/ratio") == within(0.1742 / 0.156, 1e-6));
  CHECK(*io::resolve(rows, "/2/algorithm") == io::Json("dense_sequential"));
  CHECK(number_at(rows, "/2/iteration_time_s") == within(0.2515, 1e-6));
  CHECK(*io::resolve(rows, "/3/algorithm") == io::Json("topk"));
  CHECK(number_at(rows, "/3/iteration_time_s") == within(0.2102, 1e-6));
  CHECK(number_at(rows, "/3/speedup_vs_dense_overlapped") == within(0.381 / 0.2102, 1e-6));
  CHECK(number_at(rows, "/3/speedup_vs_dense_sequential") == within(0.4765 / 0.2102, 1e-6));
  const study::Comparison one = study::breakeven_rows(answer({{"/bandwidth_Bps", nullptr}}));
  REQUIRE(one.rows.size() == 1);
  CHECK(one.varied == std::vector<std::string>{"algorithm"});
  CHECK(one.rows[0].find("iteration_time_s") == nullptr);
  CHECK(number_at(one.rows[0], "/break_even_Bps/0") == within(1.0922330e9, 1e-6));
}

TEST_CASE("break-even file: start-up and bytes of an exchange are told apart") {
  // One entry of 8 bytes from each of 15 others, messages of 1 s.
  const programs::BreakEvenProblem problem =
      answer({{"/gradient_bytes", 400}, {"/latency_s", 1}}).problem;
  CHECK(problem.startup_s == within(4, 1e-12));
  CHECK(problem.sent_bytes == within(15 * 8, 1e-12));
}

TEST_CASE(
    "break-even file: slowed-down backward gives two bandwidths, an end without limit is null") {
  const io::Json two = compressed_row(answer(
      {{"/overlap_slowdown", 1.1}, {"/encode_decode_s", 0.005}, {"/compression/density", 0.04}}));
  CHECK(size_at(two, "/break_even_Bps") == 2);
  CHECK(number_at(two, "/break_even_Bps/0") == within(6.8044355e8, 1e-6));
  CHECK(number_at(two, "/break_even_Bps/1") == within(1.16071429e10, 1e-6));
  CHECK(size_at(two, "/compression_wins") == 2);
  CHECK(number_at(two, "/compression_wins/0/from_Bps") == 0);
  CHECK(number_at(two, "/compression_wins/1/from_Bps") == number_at(two, "/break_even_Bps/1"));
  CHECK(io::resolve(two, "/compression_wins/1/to_Bps")->is_null());
}

TEST_CASE("break-even file: five buckets, the last of 1e7 bytes") {
  const study::BreakEvenFile file = answer({{"/ranks", 8},
                                            {"/latency_s", 1e-5},
                                            {"/gradient_bytes", 1.1e8},
                                            {"/backward_s", 0.05},
                                            {"/encode_decode_s", 0.01}});
  CHECK(programs::buckets_of(file.problem).count == 5);
  CHECK(programs::buckets_of(file.problem).last_bytes == 10'000'000);
  CHECK(number_at(compressed_row(file), "/break_even_Bps/0") == within(2.9849992e9, 1e-6));
}

TEST_CASE("break-even file: the costs of compressing where encode_decode_s is not given") {
  // select 1 ns and staging 2 ns per element, scatter 3 ns per entry of all ranks
  const io::Json costs = io::Object{{"select_s_per_element", 1e-9},
                                    {"staging_s_per_element", 2e-9},
                                    {"scatter_s_per_entry", 3e-9}};
  const study::BreakEvenFile file =
      answer({{"/encode_decode_s", nullptr}, {"/compression/costs", costs}});
  CHECK(number_at(compressed_row(file), "/encode_decode_s") ==
        within(25e6 * (1e-9 + 2e-9) + 16 * 250'000 * 3e-9, 1e-12));
  CHECK(file.warnings.empty());
  const study::BreakEvenFile free = answer({{"/encode_decode_s", nullptr}});
  CHECK(free.problem.encode_decode_s == 0);
  CHECK(study::breakeven_rows(free).warnings ==
        std::vector<std::string>{"compression is free: no select cost given"});
}

TEST_CASE("break-even file: every method has a straight line or an error that says why not") {
  int with_line = 0;
  for (const collectives::CompressionRow& row : collectives::compression_table()) {
    CAPTURE(row.name);
    io::Json compression(io::Object{{"method", row.name}});
    for (const auto& [key, value] :
         Changes{{"density", 0.01}, {"rank", 4}, {"block", 256}, {"ratio", 2}}) {
      const bool wanted =
          std::ranges::find(row.keys, key) != row.keys.end() &&
          (key != "ratio" || row.method == collectives::CompressionMethod::custom_codec);
      if (wanted) {
        compression.set(key, value);
      }
    }
    if (row.method == collectives::CompressionMethod::custom) {
      compression.set("bytes_per_worker", "n * density * 8");
    }
    const std::string problem = problem_of({{"/compression", compression}});
    if (row.method == collectives::CompressionMethod::hierarchical_topk) {
      CHECK(problem.ends_with("hierarchical_topk needs at least 2 nodes and 2 GPUs per node"));
      continue;
    }
    CHECK(problem.empty());
    const io::Json compressed = compressed_row(answer({{"/compression", compression}}));
    ++with_line;
    CHECK(number_at(compressed, "/exchange_startup_s") > 0);
    CHECK(number_at(compressed, "/exchange_bytes") > 0);
  }
  CHECK(with_line >= 19);
  // Compared with itself, dense: T_z = T_s + T_e never gains on sequential dense.
  const io::Json none = compressed_row(answer({{"/compression", "none"}}));
  CHECK(number_at(none, "/exchange_bytes") == within(2 * 15.0 / 16 * 1e8, 1e-12));
  CHECK(size_at(none, "/compression_wins_sequential") == 0);
  CHECK(problem_of({{"/ranks", 6}, {"/compression/method", "sparcml_rd"}}) ==
        "b.json: /compression: sparcml_rd has no closed form on 6 ranks");
}

TEST_CASE("break-even file: problems name the place") {
  CHECK(problem_of({{"/ranks", 1}}) == "b.json: /ranks: needs at least 2 ranks, got 1");
  CHECK(problem_of({{"/gradient_bytes", 0}}) == "b.json: /gradient_bytes: must be > 0, got 0");
  CHECK(problem_of({{"/overlap_slowdown", 0.9}}) ==
        "b.json: /overlap_slowdown: must be >= 1, got 0.9");
  CHECK(problem_of({{"/bucket_bytes", 0}}) == "b.json: /bucket_bytes: must be > 0, got 0");
  CHECK(problem_of({{"/bucket_bytes", -5}}) == "b.json: /bucket_bytes: must be > 0, got -5");
  CHECK(problem_of({{"/bandwidth_Bps/1", 0}}) == "b.json: /bandwidth_Bps/1: must be > 0, got 0");
  CHECK(problem_of({{"/compression/density", 1.5}}) ==
        "b.json: /compression/density: must be in (0, 1], got 1.5");
  CHECK(problem_of({{"/compression/method", "gtopk"}}) ==
        "b.json: /compression/method: unknown compression method \"gtopk\"; did you mean "
        "\"gtopk_tree\"?");
  CHECK(problem_of({{"/compression", nullptr}}) == "b.json: /compression: required");
  CHECK(problem_of({{"/gradient_bytes", 4'000'001}}) ==
        "b.json: /compression: 4000001 bytes is not a whole number of 4-byte values");
  CHECK(problem_of({{"/latency", 1}}) == "b.json: /latency: unknown key, did you mean latency_s?");
}

TEST_CASE("break-even: the overlapped form is a lower bound of the simulated dense step") {
  // One layer per bucket, backward times at random; the forward pass of the next step waits for the
  // bucket of the first layer, which is sent last.
  constexpr unsigned kSeed = 99;
  std::mt19937_64 random(kSeed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
  };
  for (int i = 0; i < 60; ++i) {
    CAPTURE(kSeed);
    CAPTURE(i);
    programs::BreakEvenProblem problem;
    problem.ranks = std::uniform_int_distribution<>(2, 16)(random);
    problem.latency_s = uniform(0, 1e-3);
    problem.bucket_bytes = 4 * problem.ranks * std::uniform_int_distribution<>(1, 200'000)(random);
    const int count = std::uniform_int_distribution<>(1, 8)(random);
    const std::int64_t last = 4 * problem.ranks *
                              std::uniform_int_distribution<std::int64_t>(
                                  1, problem.bucket_bytes / (4 * problem.ranks))(random);
    problem.gradient_bytes = (count - 1) * problem.bucket_bytes + last;
    const double bandwidth = std::exp(uniform(std::log(1e7), std::log(1e11)));
    io::Array layers;
    for (int l = 0; l < count; ++l) { // the first layer is the last bucket
      const double backward = uniform(0, 0.02);
      const double forward = uniform(0, 0.01);
      problem.backward_s += backward;
      problem.forward_s += forward;
      layers.push_back(io::Object{{"name", "layer " + std::to_string(l)},
                                  {"forward_s", forward},
                                  {"backward_s", backward},
                                  {"gradient_bytes", l == 0 ? last : problem.bucket_bytes}});
    }
    const double bound = programs::dense_overlapped_s(problem, bandwidth);
    for (const char* schedule : {"wfbp", "ddp"}) {
      const io::Json tree =
          io::Object{{"workload", io::Object{{"layers", layers}}},
                     {"cluster", io::Object{{"nodes", problem.ranks},
                                            {"network", io::Object{{"latency_s", problem.latency_s},
                                                                   {"bandwidth_Bps", bandwidth}}}}},
                     {"communication", io::Object{{"schedule", schedule}, {"collective", "ring"}}}};
      io::Json scenario = tree;
      if (std::string_view(schedule) == "ddp") {
        io::assign(scenario, "/communication/bucket_bytes", problem.bucket_bytes);
      }
      const double simulated =
          *study::run(study::parse_scenario(scenario, shipped_files())).summary.iteration_time_s;
      CHECK(simulated >= bound * (1 - 1e-12));
    }
    // Everything ready at once: the bound is reached.
    programs::BreakEvenProblem at_once = problem;
    at_once.backward_s = 0;
    io::Json scenario =
        io::Object{{"workload", io::Object{{"layers", layers}}},
                   {"cluster", io::Object{{"nodes", problem.ranks},
                                          {"network", io::Object{{"latency_s", problem.latency_s},
                                                                 {"bandwidth_Bps", bandwidth}}}}},
                   {"communication", io::Object{{"schedule", "wfbp"}}}};
    for (int l = 0; l < count; ++l) {
      io::assign(scenario, "/workload/layers/" + std::to_string(l) + "/backward_s", 0.0);
    }
    const double simulated =
        *study::run(study::parse_scenario(scenario, shipped_files())).summary.iteration_time_s;
    CHECK(simulated == within(programs::dense_overlapped_s(at_once, bandwidth), 1e-12));
  }
}
