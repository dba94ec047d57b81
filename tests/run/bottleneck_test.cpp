// One rule names what bounds a step on every road that a run can take.
#include <doctest/doctest.h>

#include <string>

#include "scenario/scenario_text.hpp"

using namespace stepsim;

namespace {

std::string bottleneck(const std::string& keys, const std::string& network,
                       const std::string& communication = R"("schedule": "wfbp")") {
  return study::testing::run_text(
             R"({"workload": {"layers": [
                   {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000},
                   {"name": "b", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000}]},
                 "cluster": {"nodes": 8, "network": {)" +
             network + R"("latency_s": 1e-5, "reduction_Bps": 2e8}}, "communication": {)" +
             communication + "}, " + keys + "}")
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

TEST_CASE("where exchanges wait for a tick most of the time, latency is the bottleneck") {
  CHECK(bottleneck(R"("training": {"iterations": 4})", R"("bandwidth_Bps": 1e12, )",
                   R"("schedule": "horovod", "cycle_s": 0.2)") == "latency");
  CHECK(bottleneck(R"("training": {"iterations": 4})", R"("bandwidth_Bps": 1e12, )",
                   R"("schedule": "horovod", "cycle_s": 0.001)") == "reduction");
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
