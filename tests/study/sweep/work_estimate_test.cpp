#include "run/work_estimate.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "run/collective_file.hpp"
#include "run/collective_record.hpp"
#include "scenario/scenario.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "study/sweep/sweep_point.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;

TEST_CASE("work: a run that would take hours is refused before it starts, by a point alone") {
  CHECK_NOTHROW(study::refuse_long_work(600, 600));
  CHECK_THROWS_WITH_AS(study::refuse_long_work(9000, 600),
                       "this takes about 2.5 h of CPU time, more than --max-seconds 600",
                       SimulationError);
  io::Json tree = test::scenario();
  io::assign(tree, "/method", "events");
  io::assign(tree, "/communication/chunking",
             "integer"); // parts that differ: no rank stands for all
  study::Files files(STEPSIM_SOURCE_DIR);
  const study::Sweep sweep =
      study::sweep_over(tree, {study::Axis{"/cluster/nodes", {io::Json(4), io::Json(1 << 20)}}});
  study::PointRunner points(sweep, files);
  CHECK(points.run(0).error.empty());
  CHECK(points.run(1).error.find("more than --max-seconds 600") != std::string::npos);
  // 2^20 ranks: 2 messages of 2 (P - 1) P transfers, 30 ns each
  const double transfers = 2 * 2 * 0x1p20 * (0x1p20 - 1);
  const auto scenario = study::parse_scenario(study::scenario_at(sweep.base, sweep.grid, 1), files);
  CHECK(study::estimated_seconds(scenario) == testing::within(transfers * 30e-9, 1e-2));
}

TEST_CASE("work: a compressed run counts its messages and those it is compared with") {
  io::Json tree = test::scenario(); // two messages; dense ones again, and all of them in one
  io::assign(tree, "/method", "events");
  io::assign(tree, "/cluster/nodes", 65'536);
  io::assign(tree, "/communication/chunking", "integer");
  io::assign(tree, "/communication/compression/method", "fp16");
  study::Files files(STEPSIM_SOURCE_DIR);
  const double transfers = 2 * 0x1p16 * (0x1p16 - 1);
  CHECK(study::estimated_seconds(study::parse_scenario(tree, files)) ==
        testing::within((2 + 2 + 1) * transfers * 30e-9, 1e-2));
}

TEST_CASE("work: a compressed collective counts the messages of its stages") {
  const auto seconds = [](const char* algorithm, const char* method) {
    io::Json tree = io::parse_json(
        R"({"kind": "collective", "op": "allreduce", "ranks": 65536, "bytes": 1e8,
            "network": {"latency_s": 5e-6, "bandwidth_Bps": 1.25e9}})",
        "c.json");
    io::assign(tree, "/algorithm", algorithm);
    io::assign(tree, "/method", method);
    study::Files files(STEPSIM_SOURCE_DIR);
    return study::estimated_seconds(study::parse_collective(tree, files));
  };
  CHECK(seconds("fp16", "events") ==
        testing::within(2 * 0x1p16 * (0x1p16 - 1) * 30e-9, 1e-2)); // a ring whose parts differ
  CHECK(seconds("signsgd", "events") < 1);                         // equal parts
  CHECK(seconds("fp16", "auto") < seconds("fp16", "events"));
  CHECK(seconds("fp16", "all") > seconds("fp16", "events"));
}

TEST_CASE("work: memory grows with the messages that are kept") {
  const auto bytes = [](int hosts, const char* model) {
    io::Json tree = io::parse_json(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1,
            "gradient_bytes": 6000}]}, "cluster": {"nodes": 2, "topology": {"preset": "star",
            "hosts": 2, "latency_s": 0, "bandwidth_Bps": 1.5e9}, "network": {}},
            "training": {"iterations": 5}, "communication": {"collective": "ring"}})",
        "s.json");
    io::assign(tree, "/cluster/nodes", hosts);
    io::assign(tree, "/cluster/topology/hosts", hosts);
    io::assign(tree, "/cluster/network/model", model);
    io::assign(tree, "/cluster/network/packet",
               io::parse_json(R"({"transport": {"kind": "raw"}})", "s.json"));
    study::Files files(STEPSIM_SOURCE_DIR);
    return study::estimated_bytes(study::parse_scenario(tree, files));
  };
  // 2 (P - 1) P messages per iteration
  CHECK(bytes(64, "packet") / bytes(8, "packet") ==
        testing::within(2.0 * 63 * 64 / (2.0 * 7 * 8), 1e-12));
  CHECK(bytes(8, "packet") > 5 * 2 * 7 * 8 * 150);
  CHECK(bytes(8, "packet") < 5 * 2 * 7 * 8 * 500);
}

TEST_CASE("work: packets of the background count, and packets of small flows one by one") {
  const auto seconds = [](double load, int bytes, const char* variability = "{}",
                          double input_s = 0) {
    io::Json tree = io::parse_json(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 1,
            "gradient_bytes": 6000}]}, "cluster": {"nodes": 2, "topology": {"preset": "star",
            "hosts": 2, "latency_s": 0, "bandwidth_Bps": 1.5e9}, "network": {"model": "packet",
            "packet": {"transport": "dctcp"}}}, "training": {"iterations": 5}})",
        "s.json");
    if (load > 0) {
      io::assign(
          tree, "/cluster/network/packet/background",
          io::Object{{"load", load}, {"cdf", io::Array{io::Array{bytes, 0}, io::Array{bytes, 1}}}});
    }
    io::assign(tree, "/variability", io::parse_json(variability, "v.json"));
    io::assign(tree, "/training/input_s", input_s);
    study::Files files(STEPSIM_SOURCE_DIR);
    return study::estimated_seconds(study::parse_scenario(tree, files));
  };
  // 10 s at half of 1.5 GB/s from two hosts in packets of 1,500 bytes, over 2 links and back
  CHECK(seconds(0.5, 15000) - seconds(0, 0) == testing::within(1e7 * 4 * 2e-7, 1e-3));
  CHECK(seconds(0.5, 750) - seconds(0, 0) == testing::within(2e7 * 4 * 2e-7, 1e-3));
  CHECK(seconds(0, 0) < 1e-3);
  // A slow worker holds the job up, and flows go on.
  CHECK(seconds(0.5, 15000, R"({"stragglers": [{"worker": 1, "factor": 10}]})") - seconds(0, 0) ==
        testing::within(1e8 * 4 * 2e-7, 1e-3));
  // So does reading batches of 20 s.
  CHECK(seconds(0.5, 15000, "{}", 20) - seconds(0, 0) == testing::within(1e8 * 4 * 2e-7, 1e-3));
}

TEST_CASE(
    "work: a search for units of sharding grows with micro-batches and the cube of the layers") {
  const auto seconds = [](int layers, int micro_batches, const char* policy,
                          const char* strategy = "full_shard", const char* conditions = "ideal") {
    io::Json tree = io::parse_json(
        R"({"cluster": {"nodes": 2, "gpus_per_node": 2,
            "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}})",
        "s.json");
    io::Array rows;
    for (int l = 0; l < layers; ++l) {
      rows.push_back(io::Object{{"name", std::to_string(l)},
                                {"forward_s", 1},
                                {"backward_s", 1},
                                {"gradient_bytes", 4000}});
    }
    tree.set("workload", io::Object{{"layers", rows}});
    io::assign(tree, "/training/micro_batches", micro_batches);
    io::assign(tree, "/training/sharding/strategy", strategy);
    io::assign(tree, "/conditions", conditions);
    if (std::string(conditions) == "typical") {
      io::assign(tree, "/cluster/network/transport", "rdma");
      io::assign(tree, "/cluster/intra_network/bus", "nvlink");
    }
    io::assign(tree, "/training/sharding/wrapping/policy", policy);
    study::Files files(STEPSIM_SOURCE_DIR);
    return study::estimated_seconds(study::parse_scenario(tree, files));
  };
  const double without = seconds(100, 4, "layer");
  CHECK(without < 0.01);
  CHECK(seconds(100, 1, "optimal") < 0.01); // labels plan it exactly
  CHECK(seconds(100, 4, "optimal") - without == testing::within(4.0, 1e-2));
  CHECK(seconds(100, 8, "optimal") - without == testing::within(8.0, 1e-2));
  CHECK(seconds(50, 4, "optimal") - seconds(50, 4, "layer") == testing::within(0.5, 1e-2));
  // Hybrid shards are searched with one micro-batch too, and once whatever the conditions move.
  const auto searched = [&](const char* conditions) {
    return seconds(100, 1, "optimal", "hybrid_shard", conditions) -
           seconds(100, 1, "layer", "hybrid_shard", conditions);
  };
  CHECK(searched("ideal") == testing::within(1.0, 1e-2));
  CHECK(searched("typical") == testing::within(1.0, 1e-2));
}
