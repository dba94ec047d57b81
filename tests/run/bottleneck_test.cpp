// One rule names what bounds a step on every road that a run can take.
#include <doctest/doctest.h>

#include <string>

#include "scenario/scenario_text.hpp"

using namespace stepsim;

namespace {

std::string_view
bottleneck(const std::string& keys, const std::string& network,
           const std::string& communication = R"("schedule": "wfbp")",
           const std::string& links = R"("latency_s": 1e-5, "reduction_Bps": 2e8)") {
  return study::testing::run_text(
             R"({"workload": {"layers": [
                   {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000},
                   {"name": "b", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000}]},
                 "cluster": {"nodes": 8, "network": {)" +
             network + links + R"(}}, "communication": {)" + communication + "}, " + keys + "}")
      .summary.bottleneck;
}

} // namespace

TEST_CASE("additions that take longest are the bottleneck of every algorithm and network") {
  for (const std::string wire : {R"("bandwidth_Bps": 1.25e9, )", R"("bandwidth_Bps": 1e12, )"}) {
    for (const std::string keys :
         {R"("training": {"iterations": 4})", R"("training": {"micro_batches": 2})",
          R"("training": {"sharding": "zero1"})", R"("training": {"sharding": "zero2"})",
          R"("training": {"algorithm": "od_sgd"})", R"("training": {"algorithm": "pipe_sgd"})",
          R"("training": {"overlap": {"compute": 1.01}})",
          R"("training": {"overlap": {"compute": 1.01}}, "variability": {"compute_cv": 1e-4})",
          R"("variability": {"compute_cv": 1e-4})",
          R"("training": {"algorithm": "pipe_sgd"}, "variability": {"compute_cv": 1e-4})"}) {
      CAPTURE(wire);
      CAPTURE(keys);
      CHECK(bottleneck(keys, wire) == "reduction");
    }
    for (const std::string keys :
         {R"("training": {"sharding": "full_shard"})",
          R"("training": {"algorithm": "local_sgd", "local_steps": 2})",
          R"("training": {"algorithm": "parameter_server"})",
          R"("training": {"algorithm": "parameter_server"}, "variability": {"compute_cv": 1e-4})",
          R"("training": {"algorithm": "parameter_server", "mode": "async"})"}) {
      CAPTURE(wire);
      CAPTURE(keys);
      CHECK(bottleneck(keys, wire, "") == "reduction");
    }
    for (const std::string keys :
         {R"("training": {"iterations": 4})", R"("variability": {"compute_cv": 1e-4})",
          R"("training": {"sharding": "zero1"})", R"("training": {"algorithm": "od_sgd"})"}) {
      CAPTURE(wire);
      CAPTURE(keys);
      CHECK(bottleneck(keys, R"("model": "flow", )" + wire) == "reduction");
    }
  }
}

TEST_CASE("the largest part is the bottleneck of every algorithm, simulated or not") {
  struct Word {
    std::string word, links;
  };
  for (const Word& word :
       {Word{"latency", R"("latency_s": 3e-3, "bandwidth_Bps": 1e11, "reduction_Bps": 1e11)"},
        Word{"bandwidth", R"("latency_s": 1e-6, "bandwidth_Bps": 2e8, "reduction_Bps": 1e11)"},
        Word{"reduction", R"("latency_s": 1e-6, "bandwidth_Bps": 1e11, "reduction_Bps": 1e8)"}}) {
    for (const std::string model : {R"()", R"("model": "flow", )"}) {
      CAPTURE(word.word);
      CAPTURE(model);
      for (const std::string keys :
           {R"("training": {"iterations": 4})", R"("training": {"micro_batches": 2})",
            R"("training": {"sharding": "zero1"})", R"("training": {"sharding": "zero2"})",
            R"("training": {"sharding": "full_shard"})", R"("training": {"algorithm": "od_sgd"})",
            R"("training": {"algorithm": "pipe_sgd"})",
            R"("training": {"algorithm": "local_sgd", "local_steps": 1})",
            R"("training": {"algorithm": "diloco", "local_steps": 1})",
            R"("training": {"algorithm": "parameter_server"})",
            R"("training": {"algorithm": "parameter_server", "placement": "dedicated"})"}) {
        CAPTURE(keys);
        CHECK(bottleneck(keys, model, "", word.links) == word.word);
      }
      const std::string keys = R"("training": {"iterations": 4})";
      CHECK(bottleneck(keys, model, R"("exchange": "reduce_broadcast", "collective": "mst")",
                       word.links) == word.word);
      CHECK(bottleneck(keys, model, R"("schedule": "dear")", word.links) == word.word);
      CHECK(bottleneck(keys, model, R"("schedule": "priority")", word.links) == word.word);
      CHECK(bottleneck(keys, model, R"("schedule": "asc_wfbp")", word.links) == word.word);
      if (word.word != "reduction") { // of which a codec leaves half
        CHECK(bottleneck(keys, model, R"("compression": "fp16")", word.links) == word.word);
      }
    }
  }
  // Encoding and decoding take 4 ms of computing and more, however slow they are.
  for (const std::string speed : {"1e9", "1e8", "1e7"}) {
    CHECK(bottleneck(R"("training": {"iterations": 4})", "",
                     R"("compression": {"method": "truncate16", "encode_Bps": )" + speed +
                         R"(, "decode_Bps": )" + speed + "}",
                     R"("latency_s": 1e-5, "bandwidth_Bps": 1e11)") == "compression");
  }
  for (const std::string model : {R"()", R"("model": "flow", )"}) {
    CHECK(bottleneck(R"("training": {"iterations": 4})", model,
                     R"("schedule": "single", "compression": {"method": "topk", "density": 0.001,
                        "costs": {"scatter_s": 1}})",
                     R"("latency_s": 1e-5, "bandwidth_Bps": 1e9)") == "compression");
  }
}

TEST_CASE("where exchanges wait for a tick most of the time, latency is the bottleneck") {
  CHECK(bottleneck(R"("training": {"iterations": 4})", R"("bandwidth_Bps": 1e12, )",
                   R"("schedule": "horovod", "cycle_s": 0.2)") == "latency");
  CHECK(bottleneck(R"("training": {"iterations": 4})", R"("bandwidth_Bps": 1e12, )",
                   R"("schedule": "horovod", "cycle_s": 0.001)") == "reduction");
}

TEST_CASE("a wait is the bottleneck where there is nothing to send, too") {
  for (const std::string training :
       {R"("algorithm": "sync_sgd")", R"("algorithm": "pipe_sgd")", R"("algorithm": "od_sgd")",
        R"("algorithm": "local_sgd", "local_steps": 2)", R"("algorithm": "parameter_server")"}) {
    CAPTURE(training);
    CHECK(study::testing::run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3,
              "backward_s": 2e-3, "gradient_bytes": 0}]}, "cluster": {"nodes": 2, "network": {
              "latency_s": 1e-5, "bandwidth_Bps": 1e9}}, "training": {"wait_s": 0.1, )" +
                                   training + "}}")
              .summary.bottleneck == "waiting");
  }
}

TEST_CASE("a switch that adds slowly is the bandwidth, one that starts late the latency") {
  const auto with = [](const std::string& nvls) {
    return study::testing::run_text(
               R"({"workload": {"layers": [
                     {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000}]},
                   "cluster": {"nodes": 8, "gpus_per_node": 4, )" +
               nvls + R"(,
                     "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e12},
                     "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e11}},
                   "communication": {"schedule": "single", "collective": "nvls_tree"}})")
        .summary.bottleneck;
  };
  CHECK(with(R"("nvls_Bps": 1e9)") == "bandwidth");
  CHECK(with(R"("nvls_Bps": 1e12, "nvls_startup_s": 1e-2)") == "latency");
}

// Exchanges are 6 of 10 ms of the path, of which 4 ms are exposed: by these alone computing would
// bound the step.
TEST_CASE("one iteration has the bottleneck of many") {
  for (const std::string model : {"", R"("model": "flow", )"}) {
    for (const std::string iterations : {"1", "10"}) {
      CHECK(bottleneck(R"("training": {"iterations": )" + iterations + "}",
                       model + R"("bandwidth_Bps": 2.45e9, )", R"("schedule": "wfbp")",
                       R"("latency_s": 1e-5)") == "bandwidth");
    }
  }
}
