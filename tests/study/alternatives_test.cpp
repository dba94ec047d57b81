#include "study/alternatives.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "testing/paths.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

using Set = std::vector<std::pair<std::string, io::Json>>;

// One layer of 1 s and 1 MB of gradients on 4 workers, without latency.
io::Json scenario(std::string_view communication = "{}") {
  return io::parse_json(R"({"kind": "scenario", "name": "one",
    "workload": {"layers": [{"name": "l", "forward_s": 0.4, "backward_s": 0.6, "gradient_bytes": 1000000}]},
    "cluster": {"nodes": 4, "network": {"latency_s": 0, "bandwidth_Bps": 1e6}},
    "communication": )" + std::string(communication) +
                            "}",
                        "scenario.json");
}

study::Comparison compared(const io::Json& tree, const std::vector<std::string>& names,
                           std::vector<study::Axis> axes = {}, bool break_even = false) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::compare_alternatives(tree, std::move(axes), study::find_alternatives(names), {},
                                     files, {.jobs = 1}, break_even);
}

const io::Json& row(const study::Comparison& comparison, std::string_view name) {
  for (const io::Json& each : comparison.rows) {
    if (each.find("algorithm")->as_string() == name) {
      return each;
    }
  }
  throw std::runtime_error("no row " + std::string(name));
}

std::string assumes(std::string_view communication, const std::string& name) {
  return row(compared(scenario(communication), {name}), name).find("assumes")->as_string();
}

std::string refused(const std::vector<std::string>& names, const Set& set,
                    const std::vector<study::Axis>& over) {
  try {
    study::refuse_contradictions(study::find_alternatives(names), set, over);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("alternatives: what an algorithm sets cannot be set by hand") {
  const io::Json word("wfbp");
  CHECK(refused({"ddp"}, {}, {{"/communication/schedule", {word}}}) ==
        "--over: /communication/schedule is set by algorithm ddp");
  CHECK(refused({"ddp"}, {{"/communication/schedule", word}}, {}) ==
        "--set: /communication/schedule is set by algorithm ddp");
  CHECK(refused({"single", "p3"}, {{"/communication/preset", io::Json("tictac")}}, {}) ==
        "--set: /communication/preset is set by algorithm p3");
  // Every algorithm says how training goes and what is compressed, also by saying nothing.
  CHECK(refused({"ddp"}, {}, {{"/training/algorithm", {io::Json("pipe_sgd")}}}) ==
        "--over: /training/algorithm is set by algorithm ddp");
  CHECK(refused({"ddp"}, {{"/communication/compression/method", io::Json("topk")}}, {}) ==
        "--set: /communication/compression/method is set by algorithm ddp");
}

TEST_CASE("alternatives: a whole object is refused where it says what an algorithm sets") {
  const io::Json costs(io::Object{{"density", 0.01}});
  const io::Json none(io::Object{{"method", "none"}, {"density", 0.01}});
  const io::Json topk(io::Object{{"method", "topk"}, {"density", 0.01}});
  const std::string place = "/communication/compression";
  const std::string method = "/communication/compression/method is set by algorithm ddp";
  CHECK(refused({"ddp"}, {{place, costs}}, {}).empty());
  CHECK(refused({"ddp"}, {{place, none}}, {}).empty());
  CHECK(refused({"ddp"}, {{place, io::Json("none")}}, {}).empty());
  CHECK(refused({"ddp"}, {{place, topk}}, {}) == "--set: " + method);
  CHECK(refused({"ddp"}, {{place, io::Json("topk")}}, {}) == "--set: " + method);
  // --over comes after the algorithm, so any value would undo it.
  CHECK(refused({"ddp"}, {}, {{place, {costs}}}) == "--over: " + method);
}

TEST_CASE("alternatives: keys that no chosen algorithm sets are free") {
  CHECK(refused({"ddp", "pipe_sgd"}, {{"/communication/preset", io::Json("p3")}},
                {{"/training/pipeline_width", {io::Json(3)}},
                 {"/communication/compression/density", {io::Json(0.1)}}})
            .empty());
}

TEST_CASE("alternatives: density and rank are filled in only where none is given, and it is said") {
  const std::string none = assumes("{}", "topk");
  CHECK(none == "one message after backward; error feedback; density 0.001 by default; "
                "compressing is free");
  CHECK(assumes(R"({"compression": {"method": "none", "density": 0.01}})", "topk")
            .find("density 0.01;") != std::string::npos);
  CHECK(assumes(R"({"compression": {"method": "none", "k": 7}})", "topk").find("k 7;") !=
        std::string::npos);
  CHECK(assumes("{}", "powersgd").find("rank 4 by default") != std::string::npos);
  const std::string two = assumes(R"({"compression": {"method": "none", "rank": 2}})", "powersgd");
  CHECK(two.find("rank 2;") != std::string::npos);

  // An axis says it too: k and density exclude each other.
  const auto varied = compared(scenario(), {"topk"},
                               {{"/communication/compression/k", {io::Json(10), io::Json(20)}}});
  CHECK(varied.failed == 0);
  CHECK(varied.rows[0].find("assumes")->as_string().find("k 10;") != std::string::npos);
  CHECK(varied.rows[1].find("assumes")->as_string().find("k 20;") != std::string::npos);
}

TEST_CASE("alternatives: what a row assumes is what was run") {
  const std::string paid =
      R"({"compression": {"method": "none", "costs": {"select_s": 1e-3}, "encode_Bps": 1e9}})";
  for (const char* name : {"qsgd", "signsgd"}) {
    CHECK(assumes("{}", name).ends_with("encoding is free"));
    CHECK(assumes(paid, name).ends_with("encoding costs as given"));
  }
  CHECK(assumes(paid, "topk").ends_with("compressing costs as given"));
  CHECK(assumes("{}", "quantize8").ends_with("255 codes, rounded at every hop; coding is free"));
  CHECK(assumes(paid, "quantize8").ends_with("decoding is free"));
  CHECK(assumes("{}", "ddp") == "buckets of 25 MiB, the first of 1 MiB");
  CHECK(assumes(R"({"bucket_bytes": 1048576})", "ddp") == "buckets of 1 MiB");
  // Two at once, contention 1/2: 2 / (1 + 1/2) = 4/3.
  CHECK(assumes(R"({"contention": 0.5})", "asc_wfbp") ==
        "2 all-reduces at once move 1.33 times the bandwidth of one");
  CHECK(assumes(R"({"contention": 1})", "asc_wfbp") ==
        "2 all-reduces at once share the bandwidth of one");
  CHECK(assumes(R"({"concurrency": 3, "contention": 0})", "asc_wfbp") ==
        "3 all-reduces at once move 3 times the bandwidth of one");
  // A preset of the scenario does not change what the name stands for: 1 M parameters of 4 bytes.
  CHECK(assumes(R"({"schedule": "priority", "preset": "p3"})", "bytescheduler")
            .starts_with("chunks of 4.000 MB"));
  CHECK(assumes("{}", "p3") == "chunks of 200.0 kB, first layers first, one at a time");
}

TEST_CASE("alternatives: width, servers and staleness are those of the run") {
  io::Json tree = scenario();
  io::assign(tree, "/training/pipeline_width", 3);
  io::assign(tree, "/training/servers", 2);
  const auto comparison = compared(tree, {"pipe_sgd", "ps_sync", "ps_async", "ddp"});
  CHECK(row(comparison, "pipe_sgd").find("assumes")->as_string() ==
        "width 3: gradients are 2 iterations old");
  CHECK(row(comparison, "pipe_sgd").find("staleness_mean")->as_double() == 2);
  CHECK(row(comparison, "ps_sync").find("assumes")->as_string() == "2 dedicated servers");
  CHECK(row(comparison, "ps_async")
            .find("assumes")
            ->as_string()
            .starts_with("2 dedicated servers; gradients are "));
  CHECK(row(comparison, "ps_sync").find("staleness_mean")->as_double() == 0);
  CHECK(row(comparison, "ddp").find("staleness_mean")->as_double() == 0); // synchronous
}

TEST_CASE("alternatives: rows are compared by the time of a batch, and keys left out are named") {
  io::Json tree = scenario();
  tree.set("training", io::Object{{"micro_batches", 4}});
  const study::Comparison found = compared(tree, {"ddp", "pipe_sgd"});
  // 4 s of computing and 1.5 s of exchange for four batches of a worker, against 1.5 s for one.
  CHECK(row(found, "ddp").find("ratio")->as_double() == 1);
  CHECK(row(found, "pipe_sgd").find("ratio")->as_double() ==
        within(row(found, "pipe_sgd").find("iteration_time_s")->as_double() /
                   (row(found, "ddp").find("iteration_time_s")->as_double() / 4),
               1e-12));
  CHECK(found.rows.front().find("algorithm")->as_string() == "ddp");
  CHECK(std::ranges::any_of(found.warnings, [](const std::string& warning) {
    return warning == "pipe_sgd: keys left out: micro_batches has no meaning for pipe_sgd";
  }));
}

TEST_CASE("alternatives: a compression is compared with the dense step of the same nodes") {
  io::Json tree = scenario();
  io::assign(tree, "/cluster/gpus_per_node", 4);
  io::assign(tree, "/cluster/intra_network", io::Object{{"latency_s", 0}, {"bandwidth_Bps", 1e9}});
  const auto comparison = compared(tree, {"ddp", "fp16", "topk"});
  const double dense = row(comparison, "ddp").find("iteration_time_s")->as_double();
  for (const std::string_view name : {"fp16", "topk"}) {
    const io::Json& each = row(comparison, name);
    CHECK(each.find("speedup_vs_dense_overlapped")->as_double() *
              each.find("iteration_time_s")->as_double() ==
          within(dense, 1e-9));
  }
  CHECK(row(comparison, "fp16").find("iteration_time_s")->as_double() < dense);
}

TEST_CASE("alternatives: the break-even of a free compression that halves the bytes is none") {
  // fp16 sends half of the bytes of one bucket at no cost, so it is faster at every bandwidth.
  const auto comparison = compared(scenario(), {"fp16", "ddp"}, {}, true);
  const io::Json& half = row(comparison, "fp16");
  CHECK(half.find("break_even_Bps")->as_array().empty());
  REQUIRE(half.find("compression_wins")->as_array().size() == 1);
  CHECK(*half.find("compression_wins") ==
        io::Json(io::Array{io::Object{{"from_Bps", 0}, {"to_Bps", io::Json()}}}));
  CHECK(row(comparison, "ddp").find("compression_wins")->is_null()); // dense
}

TEST_CASE(
    "alternatives: compression that costs c wins below the bandwidth that saves less than c") {
  // Dense 2 (P-1)/P n = 1.5 n bytes after backward; topk of k of n/4 elements: (P-1) k 8 bytes and
  // c seconds, so equal at B = (1.5 n - 24 k) / c.
  const double n = 1e6;
  const double c = 1e-3;
  const double k = 250;
  const auto comparison = compared(scenario(R"({"compression": {"method": "none", "k": 250,
                            "costs": {"select_s": 1e-3}}})"),
                                   {"topk"}, {}, true);
  const io::Json& topk = row(comparison, "topk");
  const double expected = (1.5 * n - 24 * k) / c;
  REQUIRE(topk.find("break_even_Bps")->as_array().size() == 1);
  const double found = topk.find("break_even_Bps")->as_array()[0].as_double();
  CHECK(found == within(expected, 1e-5)); // a gain of less than 1e-9 is none
  const io::Array& wins = topk.find("compression_wins")->as_array();
  REQUIRE(wins.size() == 1);
  CHECK(wins[0].find("from_Bps")->as_double() == 0);
  CHECK(wins[0].find("to_Bps")->as_double() == found);
}

TEST_CASE("alternatives: compression that costs more than all dense exchanges never wins") {
  // 10 s of selection against 1.5 MB / (1.25 MB/s) = 1.2 s at the slowest bandwidth.
  const auto comparison = compared(scenario(R"({"compression": {"method": "none", "density": 0.01,
                                                "costs": {"select_s": 10}}})"),
                                   {"topk"}, {}, true);
  CHECK(row(comparison, "topk").find("break_even_Bps")->as_array().empty());
  CHECK(row(comparison, "topk").find("compression_wins")->as_array().empty());
}

TEST_CASE("alternatives: help says what each one sets") {
  const auto texts = study::find_alternatives(std::vector<std::string>{"ps_async", "topk"});
  CHECK(study::changes_text(texts[0]) ==
        "/training/algorithm=parameter_server, /training/mode=async, schedule=single");
  CHECK(study::changes_text(texts[1]) == "compression/method=topk, schedule=single");
}

TEST_CASE("alternatives: a varied field called ratio goes by its pointer") {
  const std::string pointer = "/communication/compression/ratio";
  const auto found =
      compared(scenario(), {"truncate16"}, {{pointer, {io::Json(1.5), io::Json(3)}}});
  CHECK(found.varied == std::vector<std::string>{"algorithm", pointer});
  REQUIRE(found.rows.size() == 2);
  CHECK(found.rows[0].find(pointer)->as_double() == 1.5);
  CHECK(found.rows[1].find(pointer)->as_double() == 3);
  CHECK(found.rows[1].find("ratio")->as_double() == 1); // to the best of its combination
}
