// Training on fabrics: the flow level on a star is alpha-beta, links carry what schedules send,
// contention costs what sharing says; packets stay above their bounds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "run/result_file.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

constexpr double kBytes = 6e6; // of both layers

struct Case {
  int nodes = 4;
  std::string network = R"("model": "flow")"; // keys, without a comma at the end
  std::string cluster{};                      // keys, each followed by a comma, as the next
  std::string training{};
  std::string communication{};
  std::string variability = "{}";
};

const std::string kLinks = R"("latency_s": 2e-5, "bandwidth_Bps": 1.25e9)";

std::string text_of(const Case& c) {
  return R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": 2000000},
      {"name": "b", "forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 4000000}]},
      "cluster": {)" +
         c.cluster + R"("nodes": )" + std::to_string(c.nodes) + R"(, "network": {)" + c.network +
         R"(}}, "training": {)" + c.training + R"("iterations": 3}, "communication": {)" +
         c.communication + R"("element_bytes": )" +
         (c.network.find("alpha_beta") == std::string::npos ? "4" : "null") +
         R"(}, "variability": )" + c.variability + "}";
}

study::Result run_case(const Case& c) { return study::testing::run_text(text_of(c)); }

std::string with_links(const std::string& model, const std::string& more = "") {
  return R"("model": ")" + model + R"(", )" + kLinks + more;
}

double period(const Case& c) { return *run_case(c).summary.iteration_time_s; }

// All bytes on the up and down links of the hosts.
double bytes_up(const study::Result& result) {
  double bytes = 0;
  const links::Fabric& fabric = result.scenario->cluster.fabric->fabric();
  for (std::size_t link = 0; link < result.links.size(); ++link) {
    bytes += fabric.is_host(fabric.links[link].from) ? result.links[link].bytes : 0;
  }
  return bytes;
}

const std::string kServer = R"("algorithm": "parameter_server", )";
const std::string kDctcp = R"(, "packet": {"transport": "dctcp"})";

} // namespace

TEST_CASE("network run: the flow level on the default star is alpha-beta") {
  for (const std::string schedule : {"wfbp", "single", "mg_wfbp", "optimal", "dear"}) {
    for (const std::string collective :
         {"ring", "recursive_doubling", "mst", "be", "double_binary_tree"}) {
      if (schedule == "dear" && collective != "ring") {
        continue;
      }
      CAPTURE(schedule);
      CAPTURE(collective);
      const std::string communication =
          R"("schedule": ")" + schedule + R"(", "collective": ")" + collective +
          R"(", "chunking": "integer", )" +
          (collective == "double_binary_tree" ? R"("block_bytes": 65536, )" : "");
      const double expected =
          period({.network = with_links("alpha_beta"), .communication = communication});
      const study::Result result =
          run_case({.network = with_links("flow"), .communication = communication});
      CHECK(*result.summary.iteration_time_s == within(expected, 1e-9));
      CHECK(result.method == "events");
      CHECK_FALSE(result.summary.closed_form_s.has_value());
    }
  }
}

TEST_CASE("network run: a step has a bound on every level, and a formula on alpha_beta alone") {
  for (const char* training : {R"("iterations": 6)", R"("algorithm": "pipe_sgd")"}) {
    for (const char* model : {R"("model": "alpha_beta")", R"("model": "flow")",
                              R"("model": "packet", "packet": {"transport": "dctcp"})"}) {
      CAPTURE(training);
      CAPTURE(model);
      const study::Summary summary =
          study::testing::run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3,
              "backward_s": 2e-3, "gradient_bytes": 4000000}]}, "cluster": {"nodes": 4,
              "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9, )" +
                                   std::string(model) + R"(}}, "training": {)" + training +
                                   R"(}, "communication": {"schedule": "single",
              "collective": "ring"}})")
              .summary;
      REQUIRE(summary.lower_bound_s);
      // 2 (P - 1) / P of the bytes pass every link
      const double bytes_s = 1.5 * 4e6 / 1.25e9;
      CHECK(*summary.lower_bound_s >= bytes_s);
      CHECK(*summary.lower_bound_s <= *summary.iteration_time_s);
      CHECK(summary.closed_form_s.has_value() ==
            (std::string(model).find("alpha") != std::string::npos));
    }
  }
}

TEST_CASE("network run: servers send sums to one worker while another one computes") {
  const study::Summary summary =
      study::testing::run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-3,
          "backward_s": 1e-4, "gradient_bytes": 1000000}]}, "cluster": {"nodes": 2,
          "gpus_per_node": 2, "intra_network": {"bandwidth_Bps": 2e10, "latency_s": 1e-6},
          "network": {"model": "packet", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9,
          "packet": {"transport": "dctcp"}}}, "training": {"algorithm": "parameter_server",
          "placement": "sharded"}})")
          .summary;
  const double port_s = 2e6 / 1.25e9; // pushes and pulls of a node's two workers
  CHECK(*summary.iteration_time_s < port_s + 1.1e-3);
  CHECK(*summary.lower_bound_s == within(port_s, 1e-9));
}

TEST_CASE("network run: compressed exchanges take on the default star what they take alone") {
  for (const std::string method :
       {R"("fp16")", R"({"method": "quantize8", "encode_Bps": 1e10, "decode_Bps": 1e10})",
        R"({"method": "gtopk_tree", "density": 0.001})", R"({"method": "topk", "density": 0.01})",
        R"({"method": "powersgd", "rank": 4})"}) {
    for (const std::string schedule : {"wfbp", "mg_wfbp", "optimal"}) {
      CAPTURE(method);
      CAPTURE(schedule);
      const std::string communication =
          R"("schedule": ")" + schedule + R"(", "compression": )" + method + ", ";
      const study::Summary flow =
          run_case({.network = with_links("flow"), .communication = communication}).summary;
      const study::Summary alone =
          run_case({.network = with_links("alpha_beta"), .communication = communication}).summary;
      CHECK(*flow.iteration_time_s == within(*alone.iteration_time_s, 1e-9));
      CHECK(*flow.wire_bytes == within(*alone.wire_bytes, 1e-9));
    }
  }
}

TEST_CASE("network run: links carry what the schedule sends, in all iterations") {
  const study::Result result = run_case({.nodes = 5, .network = with_links("flow")});
  REQUIRE(result.links.size() == 10);
  CHECK(bytes_up(result) == within(3 * 2 * 4 * kBytes, 1e-9)); // 2 (P - 1) M
  for (const study::LinkResult& link : result.links) {
    CHECK(link.bytes == within(3 * 2 * 4 * kBytes / 5, 1e-9));
    CHECK(link.utilization <= 1 + 1e-9);
    CHECK(link.busy_s <= *result.summary.makespan_s);
  }
}

TEST_CASE("network run: a topology gives alpha-beta its longest way and narrowest link") {
  const std::string topology = R"("topology": {"preset": "leaf_spine", "leaves": 2,
      "hosts_per_leaf": 2, "spines": 1, "bandwidth_Bps": 1.25e9, "uplink_bandwidth_Bps": 1e9,
      "latency_s": 1e-6}, )";
  const study::Result result =
      run_case({.network = R"("model": "alpha_beta")", .cluster = topology});
  CHECK(result.scenario->cluster.network.latency_s == within(4e-6, 1e-12));
  CHECK(result.scenario->cluster.network.bandwidth_Bps == within(1e9, 1e-12));
  CHECK(result.links.empty());
}

TEST_CASE(
    "network run: an oversubscribed leaf-spine slows what crosses it, placement decides how") {
  const auto leaf_spine = [](double uplink) {
    return R"("topology": {"preset": "leaf_spine", "leaves": 2, "hosts_per_leaf": 4, "spines": 1,
        "bandwidth_Bps": 1.25e9, "latency_s": 0, "uplink_bandwidth_Bps": )" +
           std::to_string(uplink) + "}, ";
  };
  const std::string doubling = R"("collective": "recursive_doubling", "schedule": "single", )";
  const auto time = [&](double uplink, const std::string& placement) {
    return *run_case({.nodes = 8,
                      .cluster = leaf_spine(uplink) + R"("rank_placement": )" + placement + ", ",
                      .communication = doubling})
                .summary.communication_s;
  };
  // Every rank sends the whole vector in each of 3 steps; one of them crosses the spine, where 4
  // ranks share the uplink.
  const double step = kBytes / 1.25e9;
  CHECK(time(5e9, R"("packed")") == within(3 * step, 1e-9));
  CHECK(time(2.5e9, R"("packed")") == within(4 * step, 1e-9));
  CHECK(time(1.25e9, R"("packed")") == within(6 * step, 1e-9));
  // Spread: hosts 0 4 1 5 2 6 3 7, so only neighbours are on different leaves.
  CHECK(time(1.25e9, R"("spread")") == within(6 * step, 1e-9));
  // By hand, so that ranks one and two apart are on different leaves.
  CHECK(time(1.25e9, "[0, 4, 5, 1, 2, 6, 7, 3]") == within(9 * step, 1e-9));
}

TEST_CASE("network run: one server on a star of flows takes what its link takes") {
  const auto server = [&](const std::string& model, const std::string& more) {
    return *run_case({.network = with_links(model, model == "packet" ? kDctcp : ""),
                      .training = kServer + more,
                      .communication = R"("schedule": "single", )"})
                .summary.iteration_time_s;
  };
  // 4 workers push 6 MB to one server, which sends as much back.
  const double compute = 0.009;
  const double one = kBytes / 1.25e9;
  const double both_ways = 2 * (4 * one + 2e-5);
  CHECK(server("flow", "") == within(compute + both_ways, 1e-9));
  // Packets are not shared evenly: a worker served early pushes while others still pull, but the
  // last one served computes and pushes alone.
  CHECK(server("packet", "") > compute + (4 + 1) * one + 4e-5);
  CHECK(server("packet", "") < compute + 1.1 * both_ways);
  // Two servers: every worker sends half to each; the workers' links are no bottleneck.
  CHECK(server("flow", R"("servers": 2, )") ==
        within(compute + 2 * (2 * kBytes / 1.25e9 + 2e-5), 1e-9));
}

namespace {

// Codecs at 2 and 4 GB/s, sums at 10 GB/s.
const std::string kCodec =
    R"("compression": {"method": "truncate16", "encode_Bps": 2e9, "decode_Bps": 4e9}, )";
const std::string kAdds = R"(, "reduction_Bps": 1e10)";

} // namespace

TEST_CASE("network run: a codec of servers is half the bytes, and time of workers and servers") {
  // The same run written down without a codec: layers that take longer by encoding and decoding
  // their own gradient, half the bytes, and a server that adds more slowly: it decodes 4 pushes,
  // adds them, and encodes the sum once.
  const double per_byte = 2 * (1e-10 + 1 / 4e9) + 2 * (1 / 2e9) / 4;
  for (const std::string model : {"flow", "packet"}) {
    for (const std::string next_forward : {"per_layer", "barrier"}) {
      for (const std::string overlap : {"true", "false"}) {
        CAPTURE(model);
        CAPTURE(next_forward);
        CAPTURE(overlap);
        const std::string more = model == "packet" ? kDctcp : "";
        const std::string how = R"("schedule": "wfbp", "next_forward": ")" + next_forward +
                                R"(", "overlap_backward": )" + overlap + ", ";
        const study::Result coded = run_case({.network = with_links(model, kAdds + more),
                                              .training = kServer,
                                              .communication = how + kCodec});
        CHECK(*coded.summary.codec_compute_s == within(6e6 / 2e9 + 6e6 / 4e9, 1e-12));
        CHECK(*coded.summary.wire_bytes == within(3e6, 1e-12)); // of a worker
        // With a barrier all decoding comes first; without overlap encoding delays the second
        // message alone.
        if (overlap == "true" && next_forward == "per_layer") {
          Case plain{.network = with_links(model, R"(, "reduction_Bps": )" +
                                                      std::to_string(1 / per_byte) + more),
                     .training = kServer,
                     .communication = how};
          std::string text = text_of(plain);
          const auto replace = [&](const std::string& from, const std::string& to) {
            REQUIRE(text.find(from) != std::string::npos);
            text.replace(text.find(from), from.size(), to);
          };
          replace(R"("forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": 2000000)",
                  R"("forward_s": 0.0015, "backward_s": 0.004, "gradient_bytes": 1000000)");
          replace(R"("forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 4000000)",
                  R"("forward_s": 0.003, "backward_s": 0.005, "gradient_bytes": 2000000)");
          CHECK(*coded.summary.iteration_time_s ==
                within(*study::testing::run_text(text).summary.iteration_time_s,
                       model == "flow" ? 1e-9 : 1e-6));
        }
      }
    }
  }
}

TEST_CASE("network run: a codec of one server on a star of flows is that of alpha-beta") {
  for (const std::string codec :
       {R"("compression": "fp16", )",
        R"("compression": {"method": "quantize8", "encode_Bps": 3e9, "decode_Bps": 5e9}, )",
        R"("compression": {"method": "custom_codec", "ratio": 3, "encode_Bps": 1e9}, )"}) {
    for (const std::string mode : {"sync", "async"}) {
      CAPTURE(codec);
      CAPTURE(mode);
      const auto time = [&](const std::string& model) {
        return period({.nodes = mode == "sync" ? 4 : 1,
                       .network = with_links(model, kAdds),
                       .training = kServer + R"("mode": ")" + mode + R"(", )",
                       .communication = R"("schedule": "single", )" + codec});
      };
      CHECK(time("flow") == within(time("alpha_beta"), 1e-9));
    }
  }
}

TEST_CASE("network run: packets are a little slower than flows, for the ring") {
  const Case flow{.network = with_links("flow")};
  const Case packet{.network = with_links("packet", R"(, "packet": {"transport": {"kind": "window",
      "window_packets": 64}, "buffer": {"scope": "unlimited"}})")};
  const study::Result result = run_case(packet);
  CHECK(*result.summary.iteration_time_s > period(flow));
  // Headers cost 1500 / 1460; a chunk passes two links.
  CHECK(*result.summary.communication_s < 1.06 * *run_case(flow).summary.communication_s);
  CHECK(result.packet_hops.value_or(0) > 0);
  CHECK(result.summary.loss_fraction == 0.0);
  CHECK(result.summary.fct_max_s.value_or(0) >= result.summary.fct_p50_s.value_or(1));
  CHECK(result.tensors.size() == 4); // gradients and parameters of two buckets
}

TEST_CASE("network run: bounded loss is reported, never above its bound, and priced in epochs") {
  const std::string dlcp = R"(, "packet": {"transport": {"kind": "dlcp", "loss_bound_push": 0.1,
      "rate_control": "none", "selective_drop": false}})";
  const study::Result result = run_case(
      {.network = with_links("packet", dlcp),
       .training = kServer + R"("convergence": {"epochs_lossless": 90, "iterations_per_epoch": 100,
           "x1": 0.02, "x2": 0.2, "beta": 0.5}, )",
       .communication = R"("schedule": "wfbp", )"});
  const study::Summary& summary = result.summary;
  REQUIRE(summary.loss_fraction.has_value());
  CHECK(*summary.loss_fraction > 0.02);
  CHECK(*summary.loss_fraction <= 0.1 + 1e-3);
  CHECK(*summary.stale_fraction == 0.0);
  CHECK(*summary.effective_loss == within(*summary.loss_fraction, 1e-9));
  const double epochs = 90 * (1 + 0.5 * (*summary.loss_fraction - 0.02) / 0.18);
  CHECK(*summary.epochs == within(epochs, 1e-12));
  CHECK(*summary.time_to_accuracy_s == within(epochs * 100 * *summary.iteration_time_s, 1e-12));
  CHECK(*summary.converges);
  for (const study::TensorResult& tensor : result.tensors) {
    CHECK(tensor.size_bytes ==
          tensor.delivered_bytes + tensor.lost_network_bytes + tensor.lost_stopped_bytes);
  }
  // Gathered parameters have no earlier values that could stand in for lost ones (PKT 5.6).
  const std::string loss = R"(, "packet": {"transport": {"kind": "dlcp", "loss_bound_push": 0.1}})";
  CHECK(
      *run_case({.network = with_links("flow", loss), .training = R"("sharding": "full_shard", )"})
           .summary.stale_fraction == 0);
}

TEST_CASE(
    "network run: timeouts and packets sent again are counted, for dlcp there are no timeouts") {
  const auto counted = [](const std::string& transport) {
    const study::Result result =
        run_case({.nodes = 8,
                  .network = with_links("packet", R"(, "packet": {"buffer": {"packets": 20},
             "drop_packets": {"droppable": null, "middle": null}, "transport": )" +
                                                      transport + "}"),
                  .training = kServer,
                  .communication = R"("schedule": "wfbp", )"});
    study::TensorResult sum;
    for (const study::TensorResult& tensor : result.tensors) {
      sum.timeouts += tensor.timeouts;
      sum.retransmissions += tensor.retransmissions;
      sum.probe_rounds += tensor.probe_rounds;
    }
    return sum;
  };
  const study::TensorResult reno = counted(R"({"kind": "reno"})");
  CHECK(reno.timeouts > 0); // eight first windows of 10 packets do not fit into 20
  CHECK(reno.retransmissions >= reno.timeouts);
  const study::TensorResult dlcp =
      counted(R"({"kind": "dlcp", "loss_bound_push": 0}, "mark_packets": 10)");
  CHECK(dlcp.timeouts == 0);
  CHECK(dlcp.probe_rounds > 0);
  CHECK(dlcp.retransmissions >= dlcp.probe_rounds); // each asks for one packet at least
}

TEST_CASE("network run: partitions of the first layer go first, on flows and packets") {
  // FIFO: the first layer's 2 MB are ready last and wait for the 4 MB before them, in the forward
  // that needs them first; a layer comes back only when all of it was pushed.
  for (const std::string& network :
       {with_links("flow"), with_links("packet", R"(, "packet": {"transport": "dctcp"})")}) {
    CAPTURE(network);
    const auto run = [&](const std::string& schedule) {
      return run_case(
          {.nodes = 2, .network = network, .training = kServer, .communication = schedule});
    };
    const study::Result fifo = run(R"("schedule": "wfbp", )");
    const study::Result first =
        run(R"("schedule": "priority", "partition_bytes": 100000, "credit_bytes": 400000, )");
    CHECK(first.buckets.size() == 60); // 6 MB in partitions of 100 kB
    CHECK(fifo.buckets.size() == 2);
    CHECK(*first.summary.iteration_time_s < *fifo.summary.iteration_time_s);
  }
}

TEST_CASE("network run: what a simulated network cannot run is an error that says so") {
  const auto says = [&](const Case& c, const std::string& words) {
    const std::string text = study::testing::problem_of(text_of(c));
    CAPTURE(text);
    CHECK(text.find(words) != std::string::npos);
  };
  says({.network = with_links("packet")}, "required at the packet level");
  says({.network = with_links("packet", kDctcp),
        .training = R"("overlap": {"compute": 1.5, "exchange": 1.5}, )"},
       "/training/overlap/exchange: must be 1 where every message is simulated");
  says({.network = with_links("packet", kDctcp),
        .training = kServer,
        .communication = R"("compression": {"method": "quantize8", "scale_agreement": true}, )"},
       "scale_agreement is not defined for servers on a simulated network");
  says({.network = with_links("flow"), .cluster = R"("gpus_per_node": 2, )"},
       "2 GPUs per node need the network inside the node");
  says({.network = with_links("alpha_beta", kDctcp)}, "packet has no meaning");
  says({.cluster = R"("topology": {"preset": "star", "hosts": 8, "bandwidth_Bps": 1e9,
            "latency_s": 1e-6}, )",
        .communication = R"("collective": "lp", "schedule": "priority", )"},
       "priority needs a linear cost");
  says({.nodes = 9, .cluster = R"("topology": {"preset": "star", "hosts": 8, "bandwidth_Bps": 1e9,
            "latency_s": 0}, )"},
       "9 nodes, but the topology has 8");
  says({.cluster = R"("rank_placement": ["a"], "topology": {"preset": "star", "hosts": 8,
            "bandwidth_Bps": 1e9, "latency_s": 0}, )"},
       "unknown host \"a\"");
  says({.network = with_links("flow"),
        .training = R"("convergence": {"epochs_lossless": 1, "iterations_per_epoch": 1, "x2": 0.001,
            "beta": 1}, )"},
       "must be above x1 (0.01)");
}

TEST_CASE("network run: raw packets that are lost end a training job with an error") {
  const Case lossy{.network = with_links("packet", R"(, "packet": {"transport": "raw"})"),
                   .training = kServer};
  CHECK_THROWS_AS((void)run_case(lossy), SimulationError);
}

TEST_CASE(
    "network run: a loss bound makes the ring shorter as fluid too, where receivers stop early") {
  // The half that is added carries need / n, the other half everything.
  const auto communication = [](const std::string& transport) {
    return *run_case({.nodes = 2,
                      .network = R"("model": "flow", "packet": {"transport": )" + transport + "}",
                      .cluster = R"("topology": {"preset": "star", "hosts": 2, "latency_s": 0,
                          "bandwidth_Bps": 1e9}, )",
                      .communication = R"("schedule": "single", )"})
                .summary.communication_s;
  };
  const double half = kBytes / 2 / 1e9;
  CHECK(communication(R"("dctcp")") == within(2 * half, 1e-9));
  // 3 MB are 2055 packets of 1460 bytes, of which 1439 are enough.
  CHECK(communication(R"({"kind": "dlcp", "loss_bound_push": 0.3})") ==
        within(half * 1439 / 2055 + half, 1e-9));
  CHECK(communication(R"({"kind": "dlcp", "loss_bound_push": 0.3, "early_stop": false})") ==
        within(2 * half, 1e-9));
}

TEST_CASE("network run: of two workers with servers on both it does not matter which is slow") {
  const auto slow = [](int worker) {
    return period({.nodes = 2,
                   .network = with_links("flow"),
                   .training = R"("algorithm": "parameter_server", "placement": "colocated",
                       "servers": 2, )",
                   .communication = R"("schedule": "single", )",
                   .variability = R"({"stragglers": [{"worker": )" + std::to_string(worker) +
                                  R"(, "factor": 1.1}]})"});
  };
  CHECK(slow(0) == within(slow(1), 1e-9));
}

TEST_CASE("network run: the resolved scenario gives the same result, also of parameter servers") {
  for (const std::string model : {"alpha_beta", "flow", "packet"}) {
    for (const std::string& training : {std::string(), kServer}) {
      CAPTURE(model);
      CAPTURE(training);
      const study::Result result = run_case(
          {.network = with_links(model, model == "packet" ? kDctcp : ""), .training = training});
      const study::Result again =
          study::testing::run_text(io::compact(study::scenario_tree(*result.scenario)));
      CHECK(io::compact(study::result_tree(result)) == io::compact(study::result_tree(again)));
    }
  }
}

TEST_CASE("network run: the resolved scenario has the split of every mode of parameter servers") {
  for (const std::string model : {"flow", "packet"}) {
    for (const std::string mode : {R"("sync")", R"("async")", R"("ssp", "staleness_bound": 2)"}) {
      CAPTURE(model);
      CAPTURE(mode);
      const study::Result result =
          run_case({.network = with_links(model, model == "packet" ? kDctcp : ""),
                    .training = kServer + R"("mode": )" + mode +
                                R"(, "servers": 2, "server_split": "whole", )"});
      const std::string resolved = io::compact(study::scenario_tree(*result.scenario));
      CHECK(resolved.find(R"("server_split":"whole")") != std::string::npos);
      const study::Result again = study::testing::run_text(resolved);
      CHECK(io::compact(study::result_tree(result)) == io::compact(study::result_tree(again)));
    }
  }
}

TEST_CASE("network run: a derived threshold that a port hides is not given when the scenario is "
          "resolved") {
  // 40 GB/s: thresholds in proportion to the bandwidth are above the 100 packets of a port.
  Case fast{.network = with_links("packet", R"(, "packet": {"transport": "pfabric"})")};
  const std::size_t rate = fast.network.find("1.25e9");
  REQUIRE(rate != std::string::npos);
  fast.network.replace(rate, 6, "4e10");
  const study::Result result = run_case(fast);
  const study::Result again =
      study::testing::run_text(io::compact(study::scenario_tree(*result.scenario)));
  CHECK(result.warnings == again.warnings);
  CHECK(io::compact(study::result_tree(result)) == io::compact(study::result_tree(again)));
}

TEST_CASE("network run: a limit of time beyond what packets can count is the longest they can") {
  for (const std::string limit : {"9e6", "1e7", "1e300"}) {
    CAPTURE(limit);
    std::string text = text_of({.network = with_links("packet", kDctcp)});
    text = text.substr(0, text.size() - 1) + R"(, "limits": {"simulated_s": )" + limit + "}}";
    CHECK(*study::testing::run_text(text).summary.iteration_time_s > 0);
  }
}
