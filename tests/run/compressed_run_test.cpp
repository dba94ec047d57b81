// Compressed training through whole scenarios: phases add up, evaluators agree, comparisons with
// dense training mean what they say (SPA 5, 13).
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

struct Case {
  int workers = 8;
  std::string compression{}; // the object
  std::string schedule = "single";
  std::string method = "auto";
};

// Three layers of 1.2, 0.4 and 2.4 M elements; forward 3 ms, backward 6 ms, update 0.5 ms.
study::Summary summary_of(const Case& c) {
  const std::string compression = c.compression.empty() ? R"("none")" : c.compression;
  return study::testing::run_text(
             R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4800000},
      {"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 1600000},
      {"name": "c", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 9600000}]},
      "cluster": {"nodes": )" +
             std::to_string(c.workers) +
             R"(, "network": {"latency_s": 2e-5, "bandwidth_Bps": 1.25e9}},
      "training": {"update_s": 0.0005}, "method": ")" +
             c.method + R"(", "communication": {"schedule": ")" + c.schedule +
             R"(", "compression": )" + compression + "}}")
      .summary;
}

const std::string kCosts =
    R"("costs": {"select_s": 1e-5, "select_s_per_element": 2e-11, "residual_s_per_element": 1e-11,
     "staging_s_per_element": 3e-11, "merge_s": 1e-6, "merge_s_per_entry": 1e-9,
     "scatter_s": 2e-6, "scatter_s_per_entry": 5e-10})";

std::string sparse(const std::string& method, double density, const std::string& more = "") {
  return R"({"method": ")" + method + R"(", "density": )" + std::to_string(density) +
         (more.empty() ? "" : ", " + more) + "}";
}

} // namespace

// Each of 4 servers on 2 nodes of 2 GPUs has a quarter of the bytes: half the bytes over a card
// each way, of values that are half as wide (COL 5.10).
TEST_CASE("compression: servers on GPUs of nodes receive compressed gradients") {
  const auto period = [](const std::string& model, const std::string& compression) {
    return study::testing::run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 0.001,
        "backward_s": 0.001, "gradient_bytes": 750000}]}, "cluster": {"nodes": 2,
        "gpus_per_node": 2, "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e10},
        "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9, "model": ")" +
                                    model + R"("}}, "training": {"algorithm": "parameter_server",
        "placement": "sharded"}, "communication": {"schedule": "single", "compression": )" +
                                    compression + "}}")
        .summary.iteration_time_s.value();
  };
  for (const std::string model : {"alpha_beta", "flow"}) {
    const double dense = period(model, R"("none")") - 0.002 - 2e-5;
    CHECK(period(model, R"("fp16")") == within(0.002 + 2e-5 + dense / 2, 1e-9));
    CHECK(period(model, R"("quantize8")") == within(0.002 + 2e-5 + dense / 4, 1e-9));
  }
}

TEST_CASE("compression: the phases of a sequential iteration add up to it") {
  for (const char* method :
       {"topk", "gtopk_tree", "gtopk_butterfly", "gtopk_exact", "sparcml_rd"}) {
    for (const int workers : {2, 3, 5, 6, 7, 12, 24}) {
      CAPTURE(method);
      CAPTURE(workers);
      const study::Summary s =
          summary_of({.workers = workers, .compression = sparse(method, 0.01, kCosts)});
      const double m = 4e6; // elements
      CHECK(*s.select_s == within(1e-5 + 2e-11 * m, 1e-12));
      CHECK(*s.residual_s == within(1e-11 * m, 1e-12));
      CHECK(*s.staging_s == within(3e-11 * m, 1e-12));
      CHECK(*s.k == 40000);
      CHECK(*s.communication_s ==
            within(*s.staging_s + *s.wire_s + *s.merge_s + *s.scatter_s, 1e-12));
      CHECK(*s.iteration_time_s == within(0.0095 + *s.compress_s + *s.communication_s, 1e-12));
      CHECK(*s.iteration_time_s ==
            within(*s.compute_s + *s.compress_s + *s.exposed_communication_s, 1e-12));
    }
  }
}

TEST_CASE(
    "compression: a tree's critical path has ceil(log2 P) merges, a butterfly floor(log2 P)") {
  const double merge = 1e-6 + 1e-9 * 40000;
  for (const auto& [workers, tree, butterfly] :
       {std::tuple{2, 1, 1}, {4, 2, 2}, {5, 3, 3}, {7, 3, 3}, {8, 3, 3}, {12, 4, 4}, {16, 4, 4}}) {
    CAPTURE(workers);
    const auto merge_of = [&](const char* method) {
      return *summary_of({.workers = workers, .compression = sparse(method, 0.01, kCosts)}).merge_s;
    };
    CHECK(merge_of("gtopk_tree") == within(tree * merge, 1e-12));
    // Folded: one more, F = floor(log2 P) otherwise.
    CHECK(merge_of("gtopk_butterfly") == within(butterfly * merge, 1e-12));
  }
}

TEST_CASE("compression: all evaluators give the same iteration") {
  for (const char* method : {"topk", "gtopk_tree", "gtopk_butterfly", "gaussian_k", "fp16"}) {
    for (const int workers : {1, 2, 3, 4, 5, 7, 8, 12}) {
      CAPTURE(method);
      CAPTURE(workers);
      const std::string object =
          std::string(method) == "fp16" ? R"({"method": "fp16"})" : sparse(method, 0.01, kCosts);
      const auto time = [&](const char* evaluator) {
        return *summary_of({.workers = workers, .compression = object, .method = evaluator})
                    .iteration_time_s;
      };
      CHECK(time("max_plus") == within(time("closed_form"), 1e-9));
      CHECK(time("events") == within(time("closed_form"), 1e-9));
    }
  }
}

TEST_CASE("compression: one worker computes, selects and updates, and sends nothing") {
  const study::Summary s = summary_of({.workers = 1, .compression = sparse("topk", 0.01, kCosts)});
  CHECK(*s.wire_bytes == 0);
  CHECK(*s.wire_s == 0);
  CHECK(*s.staging_s == 0);
  CHECK(*s.iteration_time_s >= 0.0095 + *s.compress_s);
  const study::Summary free = summary_of({.workers = 1, .compression = sparse("topk", 0.01)});
  CHECK(*free.iteration_time_s == within(0.0095, 1e-12));
}

TEST_CASE("compression: top-k of everything is no faster than the dense ring") {
  for (const int workers : {2, 3, 5, 6, 7, 8, 12, 24}) {
    CAPTURE(workers);
    const study::Summary s = summary_of({.workers = workers, .compression = sparse("topk", 1)});
    const study::Summary dense = summary_of({.workers = workers});
    CHECK(*s.communication_s >= *dense.communication_s);
    CHECK(*s.speedup_vs_dense_sequential <= 1);
  }
}

TEST_CASE("compression: speed-ups are ratios to the same run without it") {
  const study::Summary s = summary_of({.compression = sparse("gtopk_tree", 0.001, kCosts)});
  const double period = *s.iteration_time_s;
  const study::Summary sequential = summary_of({});
  const study::Summary overlapped = summary_of({.schedule = "ddp"});
  CHECK(*s.speedup_vs_dense_sequential == within(*sequential.iteration_time_s / period, 1e-12));
  CHECK(*s.speedup_vs_dense_overlapped == within(*overlapped.iteration_time_s / period, 1e-12));
  const study::Summary other =
      summary_of({.compression = sparse("gtopk_tree", 0.001,
                                        kCosts + R"(, "baseline": {"schedule": "wfbp"})")});
  CHECK(*other.speedup_vs_dense_overlapped ==
        within(*summary_of({.schedule = "wfbp"}).iteration_time_s / period, 1e-12));
}

TEST_CASE("compression: under typical conditions, too, dense runs lose what they lose alone") {
  const auto run = [](const std::string& compression, const std::string& schedule) {
    return study::testing::run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 0.001,
        "backward_s": 0.002, "gradient_bytes": 400000000}]}, "cluster": {"nodes": 4,
        "preset": "a100x8n4"}, "conditions": "typical", "communication": {"collective": "ring",
        "schedule": ")" + schedule + R"(", "compression": )" +
                                    compression + "}}")
        .summary;
  };
  for (const std::string& compression : {sparse("topk", 0.01), std::string(R"("signsgd")")}) {
    CAPTURE(compression);
    const study::Summary coded = run(compression, "single");
    const double period = *coded.iteration_time_s;
    CHECK(*coded.speedup_vs_dense_sequential ==
          within(*run(R"("none")", "single").iteration_time_s / period, 1e-12));
    CHECK(*coded.speedup_vs_dense_overlapped ==
          within(*run(R"("none")", "ddp").iteration_time_s / period, 1e-12));
  }
}

TEST_CASE("compression: layer by layer, selection delays backward or runs beside it") {
  const auto run_with = [](const char* stream) {
    return summary_of(
        {.compression = sparse("topk", 0.01, kCosts + R"(, "select_stream": ")" + stream + "\""),
         .schedule = "wfbp"});
  };
  const study::Summary compute = run_with("compute");
  const study::Summary side = run_with("side");
  CHECK(*side.iteration_time_s <= *compute.iteration_time_s);
  CHECK(*side.iteration_time_s ==
        within(*side.compute_s + *side.compress_s + *side.exposed_communication_s, 1e-12));
  CHECK(*side.compress_s < *compute.compress_s); // the rest of it is hidden
  CHECK(*side.select_s == within(*compute.select_s, 1e-12));
  // Three selections instead of one; k per layer.
  CHECK(*compute.select_s == within(3e-5 + 2e-11 * 4e6, 1e-12));
  CHECK(*compute.k == 12000 + 4000 + 24000);
  CHECK(*compute.iteration_time_s ==
        within(*compute.compute_s + *compute.compress_s + *compute.exposed_communication_s, 1e-12));
  // The recurrence of LAGS by hand: layers c, b, a.
  double begin = 0;
  double sent = 0;
  for (const double m : {2.4e6, 0.4e6, 1.2e6}) {
    const double k = std::floor(0.01 * m);
    const double select = 1e-5 + 3e-11 * m;
    const double wire = 3 * 2e-5 + 7 * k * 8 / 1.25e9;
    begin += 0.002 + select;
    sent = std::max(sent, begin) + wire + 3e-11 * m + 2e-6 + 5e-10 * 8 * k;
  }
  CHECK(*compute.iteration_time_s == within(0.003 + 0.0005 + sent, 1e-9));
}

TEST_CASE("compression: encoding runs on a side stream where the scenario says so") {
  const auto time = [](const std::string& stream) {
    return *summary_of({.compression = R"({"method": "signsgd", "select_stream": ")" + stream +
                                       R"(", "costs": {"select_s": 0.001}})",
                        .schedule = "wfbp"})
                .iteration_time_s;
  };
  // Ready at 2, 4, 6 ms, encoded at 3, 5, 7 ms; sent at once: the last message is layer a's.
  const double send = 7 * (2e-5 + 1.2e6 / 8 / 1.25e9);
  CHECK(time("side") == within(0.003 + 0.0005 + 0.007 + send, 1e-9));
  CHECK(time("compute") == within(0.003 + 0.0005 + 0.009 + send, 1e-9));
}

TEST_CASE("compression: time grows with density, and never falls below computing") {
  for (const char* method : {"topk", "gtopk_tree", "gtopk_butterfly", "ok_topk", "sparcml_split"}) {
    double before = 0;
    for (const double density : {0.0005, 0.001, 0.01, 0.1, 0.5, 1.0}) {
      CAPTURE(method);
      CAPTURE(density);
      const double time = *summary_of({.compression = sparse(method, density)}).iteration_time_s;
      CHECK(time >= before);
      CHECK(time >= 0.0095);
      before = time;
    }
  }
}

TEST_CASE("compression: a density warm-up shows in the iterations, not in the steady period") {
  const auto result_with = [](const std::string& warmup) {
    return study::testing::run_text(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000}]},
            "cluster": {"nodes": 4, "network": {"latency_s": 2e-5, "bandwidth_Bps": 1.25e9}},
            "training": {"iterations": 6},
            "communication": {"schedule": "single", "compression": {"method": "topk", "density": 0.001)" +
        warmup + "}}}");
  };
  const study::Result plain = result_with("");
  const study::Result warm =
      result_with(R"(, "density_warmup": [0.25, 0.0625], "iterations_per_epoch": 2)");
  CHECK(*warm.summary.iteration_time_s == *plain.summary.iteration_time_s);
  double t = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    const double density = i < 2 ? 0.25 : i < 4 ? 0.0625 : 0.001;
    const study::Iteration& iteration = warm.iterations[i];
    CHECK(*iteration.density == density);
    CHECK(*iteration.k == static_cast<std::int64_t>(density * 1e6));
    // 2 rounds, 3 blocks of 8 k bytes.
    const double wire = 2 * 2e-5 + 3 * 8 * static_cast<double>(*iteration.k) / 1.25e9;
    CHECK(iteration.iteration_time_s == within(0.003 + wire, 1e-9));
    CHECK(iteration.start_s == within(t, 1e-9));
    t += iteration.iteration_time_s;
  }
  CHECK(*warm.summary.makespan_s == within(t, 1e-9));
}

TEST_CASE("compression: a warm-up moves the start of a forward that waits for nothing") {
  // Layer 0 has no gradient: its forward runs beside the messages of the iteration before.
  const study::Result result = study::testing::run_text(
      R"({"workload": {"layers": [
            {"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 0},
            {"name": "b", "forward_s": 0.003, "backward_s": 0.004, "gradient_bytes": 4000000}]},
          "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1e8}},
          "training": {"iterations": 4},
          "communication": {"schedule": "single", "next_forward": "per_layer",
                            "compression": {"method": "topk", "density": 0.1, "density_warmup": [1, 0.5],
                                            "iterations_per_epoch": 1}}})");
  // 8 bytes of index and value per entry to the other worker; backward b, then the exchange beside
  // backward and forward of a, then forward b.
  double backward = 0.001 + 0.003;
  double start = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    const study::Iteration& iteration = result.iterations[i];
    const double exchange = (i == 0 ? 1 : i == 1 ? 0.5 : 0.1) * 1e6 * 8 / 1e8;
    CHECK(iteration.start_s == within(start, 1e-9));
    CHECK(iteration.exchange_start_s == within(backward + 0.004, 1e-9));
    CHECK(iteration.exchange_end_s == within(backward + 0.004 + exchange, 1e-9));
    CHECK(iteration.iteration_time_s == within(0.004 + exchange + 0.003, 1e-9));
    start = backward + 0.004 + 0.002; // forward a follows backward a
    backward += 0.004 + exchange + 0.003;
  }
}

TEST_CASE("compression: a density warm-up without densities is refused") {
  CHECK(
      study::testing::problem_of(
          R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4}]},
                "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 1000}},
                "communication": {"compression": {"method": "topk", "density": 0.5, "density_warmup": [],
                                                  "iterations_per_epoch": 1}}})")
          .find("/communication/compression/density_warmup: needs at least one density") !=
      std::string::npos);
}

// Forward, backward, selection and update on one stream, the exchange on the other (PIP 4).
TEST_CASE("compression: Pipe-SGD hides what is left of a sparse exchange") {
  const std::string text =
      R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 4000000}]},
          "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 10000}},
          "training": {"algorithm": "pipe_sgd", "update_s": 0.5, "iterations": 40},
          "communication": {"compression": {"method": "topk", "k": 10000,
                                            "costs": {"select_s_per_element": 1e-6}}}})";
  const study::Summary summary = study::testing::run_text(text).summary;
  // 10,000 entries of 4 + 4 bytes to the other worker take 8 s; selecting takes 1 s. Computing
  // counts without selecting.
  CHECK(*summary.communication_s == within(8, 1e-9));
  CHECK(*summary.compute_s == within(2.5, 1e-9));
  CHECK(*summary.iteration_time_s == within(8, 1e-9));
  CHECK(*summary.closed_form_s == within(8, 1e-9));
}

// fp16 is the dense exchange of half the bytes, so that a cost that was measured for dense
// gradients holds for it.
TEST_CASE("compression: fp16 takes half the bytes of a measured cost") {
  const auto step_of = [](int value_bytes, const std::string& schedule,
                          const std::string& compression) {
    const auto layer = [&](const char* name, int values) {
      return std::string(R"({"name": ")") + name +
             R"(", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": )" +
             std::to_string(values * value_bytes) + "}";
    };
    return study::testing::run_text(R"({"workload": {"layers": [)" + layer("a", 1200000) + "," +
                                    layer("b", 400000) + "," + layer("c", 2400000) +
                                    R"(]}, "cluster": {"nodes": 4, "network": {"cost": {"table":
               [[1000, 1e-4], [800000, 9e-4], [4800000, 0.004], [20000000, 0.03]]}}},
               "communication": {"schedule": ")" +
                                    schedule + R"(", "compression": ")" + compression + R"("}})")
        .summary;
  };
  for (const char* schedule : {"wfbp", "single", "optimal"}) {
    CAPTURE(schedule);
    const study::Summary half = step_of(4, schedule, "fp16");
    const study::Summary dense = step_of(2, schedule, "none");
    CHECK(*half.iteration_time_s == within(*dense.iteration_time_s, 1e-12));
    CHECK(half.bottleneck == dense.bottleneck);
  }
}
