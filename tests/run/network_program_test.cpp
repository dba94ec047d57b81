// Training programs whose messages go through a simulated network one by one.
#include "run/evaluated_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "layers/variability.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

struct Case {
  int nodes = 4;
  int gpus = 1;
  std::string network = "flow"; // model
  std::string training{};       // keys, each followed by a comma, as the next
  std::string communication{};
  std::string cluster{};
  std::string variability = "{}";
  std::string layers =
      R"({"name": "a", "forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": 240000},
    {"name": "b", "forward_s": 0.002, "backward_s": 0.003, "gradient_bytes": 480000},
    {"name": "c", "forward_s": 0.002, "backward_s": 0.004, "gradient_bytes": 480000})";
};

std::string text_of(const Case& c) {
  const std::string packet =
      c.network == "packet"
          ? R"(, "packet": {"mtu_wire_bytes": 9000, "buffer": {"scope": "unlimited"}, "transport": {"kind": "window", "window_packets": 64}})"
          : "";
  const std::string link = c.cluster.find("topology") == std::string::npos
                               ? R"(, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9)"
                               : "";
  const std::string intra =
      c.gpus > 1 ? R"("intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11}, )" : "";
  const std::string workload =
      c.layers.starts_with("[") ? c.layers : R"({"layers": [)" + c.layers + "]}";
  return R"({"workload": )" + workload + R"(, "cluster": {)" + c.cluster + intra + R"("nodes": )" +
         std::to_string(c.nodes) + R"(, "gpus_per_node": )" + std::to_string(c.gpus) +
         R"(, "network": {"model": ")" + c.network + "\"" + link + packet + R"(}}, "training": {)" +
         c.training + R"("iterations": 4}, "communication": {)" + c.communication +
         R"("element_bytes": )" + (c.network != "alpha_beta" ? "4" : "null") +
         R"(}, "variability": )" + c.variability + "}";
}

Result run_case(const Case& c) { return run_text(text_of(c)); }
double period(const Case& c) { return *run_case(c).summary.iteration_time_s; }

std::string sharded(const std::string& strategy, const std::string& more = "") {
  return R"("sharding": {"strategy": ")" + strategy + R"(", "wrapping": {"policy": "layer"})" +
         more + "}, ";
}

struct Algorithm {
  std::string name;
  std::string training{};
  std::string communication{};
  int gpus = 1;
};
const std::vector<Algorithm> kAlgorithms{
    {"wfbp", "", R"("schedule": "wfbp", )"},
    {"dear", "", R"("schedule": "dear", )"},
    {"priority", "", R"("schedule": "priority", )"},
    {"asc_wfbp", "", R"("schedule": "asc_wfbp", )"},
    {"two messages at once", "", R"("schedule": "wfbp", "concurrency": 2, )"},
    {"horovod", "", R"("schedule": "horovod", )"},
    {"reduce and broadcast", "", R"("exchange": "reduce_broadcast", "collective": "mst", )"},
    {"micro-batches", R"("micro_batches": 2, )", R"("schedule": "wfbp", )"},
    {"micro-batches by priority", R"("micro_batches": 2, )", R"("schedule": "priority", )"},
    {"zero1", R"("sharding": "zero1", )"},
    {"zero1 by broadcasts of tensors",
     R"("sharding": {"strategy": "zero1", "gather_by": "broadcast_tensors"}, )"},
    {"zero1 by broadcasts of views",
     R"("sharding": {"strategy": "zero1", "gather_by": "broadcast_view"}, )",
     R"("collective": "mst", )"},
    {"zero2", R"("sharding": "zero2", "micro_batches": 2, )"},
    {"full_shard", sharded("full_shard")},
    {"full_shard, two communicators", sharded("full_shard", R"(, "communicators": 2)")},
    {"shard_grad_op", sharded("shard_grad_op")},
    {"hybrid_shard", sharded("hybrid_shard"), "", 2},
    {"hybrid_shard, groups of two nodes", sharded("hybrid_shard", R"(, "shard_ranks": 4)"), "", 2},
    {"hybrid_shard, groups of half a node", sharded("hybrid_shard", R"(, "shard_ranks": 2)"), "",
     4},
    {"pipe_sgd", R"("algorithm": "pipe_sgd", "pipeline_width": 2, )"},
    {"pipe_sgd by layers", R"("algorithm": "pipe_sgd", "pipeline_width": 3, )",
     R"("schedule": "wfbp", )"},
    {"pipe_sgd, warm-up",
     R"("algorithm": "pipe_sgd", "pipeline_width": 2, "warmup_iterations": 1, "drain": true, )"},
    {"pipe_sgd, long warm-up by layers",
     R"("algorithm": "pipe_sgd", "pipeline_width": 2, "warmup_iterations": 3,
        "warmup_switch": "block", "drain": true, )",
     R"("schedule": "wfbp", )"},
    {"pipe_sgd, best width",
     R"("algorithm": "pipe_sgd", "pipeline_width": "optimal", "max_width": 3, )"},
    {"input", R"("input_s": 0.02, "update_s": 1e-3, )", R"("schedule": "wfbp", )"},
    {"input that is not read ahead", R"("input_s": 0.002, "input_pipelined": false, )",
     R"("schedule": "wfbp", )"},
    {"input, dear", R"("input_s": 0.012, "input_pipelined": false, )", R"("schedule": "dear", )"},
    {"input, micro-batches", R"("input_s": 0.02, "micro_batches": 2, )"},
    {"input, full_shard", R"("input_s": 0.01, "sharding": "full_shard", )"},
    {"input, pipe_sgd", R"("input_s": 0.02, "algorithm": "pipe_sgd", )"},
    {"input, od_sgd", R"("input_s": 0.01, "input_pipelined": false, "algorithm": "od_sgd", )"},
    {"input, parameter_server", R"("input_s": 0.05, "algorithm": "parameter_server", )"},
    {"wait", R"("wait_s": 0.002, )", R"("schedule": "wfbp", )"},
    {"wait, pipe_sgd", R"("wait_s": 0.002, "algorithm": "pipe_sgd", )"},
    {"wait, local_sgd", R"("wait_s": 0.002, "algorithm": "local_sgd", "local_steps": 2, )"},
    {"islands",
     R"("algorithm": "diloco", "inner": "sync_sgd", "local_steps": 2, "overlap_steps": 1, )",
     R"("schedule": "wfbp", )", 2},
    {"parameter_server", R"("algorithm": "parameter_server", )"},
    {"elastic averaging with servers", R"("algorithm": "easgd", "local_steps": 2, )"},
    {"asynchronous servers", R"("algorithm": "parameter_server", "mode": "async", )"},
    {"stale synchronous servers",
     R"("algorithm": "parameter_server", "mode": "ssp", "staleness_bound": 1, )"},
    {"od_sgd", R"("algorithm": "od_sgd", )"},
    {"local_sgd", R"("algorithm": "local_sgd", "local_steps": 2, )"},
    {"diloco", R"("algorithm": "diloco", "local_steps": 3, "outer_update_s": 1e-4, )"},
    {"streaming diloco",
     R"("algorithm": "diloco", "local_steps": 4, "fragments": 2, "overlap_steps": 1, )"},
    {"streaming diloco by layers",
     R"("algorithm": "diloco", "local_steps": 2, "outer_gate": "layer", "overlap_steps": 1, )"},
    {"slowed computing", R"("overlap": {"compute": 1.5}, )", R"("schedule": "wfbp", )"},
    {"copies", R"("sync_s": 1e-4, "host_copy_Bps": 1e10, )", R"("copy_bandwidth_Bps": 1e10, )"},
    {"fp16", "", R"("compression": {"method": "fp16"}, )"},
    {"quantize8, dear", "", R"("compression": {"method": "quantize8"}, "schedule": "dear", )"},
    {"topk", "", R"("compression": {"method": "topk", "density": 0.01}, )"},
    {"pipe_sgd, topk", R"("algorithm": "pipe_sgd", )",
     R"("compression": {"method": "topk", "density": 0.01}, )"},
    {"od_sgd, powersgd", R"("algorithm": "od_sgd", )",
     R"("compression": {"method": "powersgd", "rank": 2}, )"},
    {"gtopk", "", R"("compression": {"method": "gtopk_tree", "density": 0.01}, )"}};

} // namespace

TEST_CASE("network programs: every algorithm on every network, with workers that differ or not") {
  for (const Algorithm& algorithm : kAlgorithms) {
    for (const std::string network : {"alpha_beta", "flow", "packet"}) {
      for (const std::string variability : {R"({})", R"({"compute_cv": 0.1, "exchange_cv": 0.1})",
                                            R"({"stragglers": [{"worker": 1, "factor": 2}]})"}) {
        const bool async = algorithm.name == "asynchronous servers" ||
                           algorithm.name == "stale synchronous servers";
        const bool jitter = variability.find("cv") != std::string::npos;
        CAPTURE(algorithm.name);
        CAPTURE(network);
        CAPTURE(variability);
        const Case c{.gpus = algorithm.gpus,
                     .network = network,
                     .training = algorithm.training,
                     .communication = algorithm.communication,
                     .variability = async && jitter ? R"({"compute_cv": 0.1})" : variability};
        const Result result = run_case(c);
        const Summary& summary = result.summary;
        CHECK(*summary.iteration_time_s >= 0.99 * 0.015 * (jitter ? 0.8 : 1));
        CHECK(*summary.iteration_time_s < 0.2);
        CHECK(*summary.exposed_communication_s >= 0);
        CHECK((async || result.iterations.size() == 4));
        if (variability.find("stragglers") != std::string::npos && !async) {
          CHECK(*summary.iteration_time_s >= 2 * 0.015 * 0.999);
        }
      }
    }
  }
}

// Of the same run by formulas and on a network.
void check_equal(const Summary& formula, const Summary& simulated) {
  const auto same = [](const std::optional<double>& one, const std::optional<double>& other) {
    CHECK(one.value_or(0) == within(other.value_or(0), 1e-9));
  };
  same(simulated.iteration_time_s, formula.iteration_time_s);
  same(simulated.makespan_drained_s, formula.makespan_drained_s);
  same(simulated.pipeline_width, formula.pipeline_width);
  same(simulated.staleness_mean, formula.staleness_mean);
  same(simulated.in_flight_gradients, formula.in_flight_gradients);
  const double period = *formula.iteration_time_s;
  // A network has no exact steady state: its exposed communication is that of the mean.
  const double steady = *formula.period_s / *formula.steps;
  CHECK(*simulated.exposed_communication_s ==
        plus_minus(*formula.exposed_communication_s + period - steady, 1e-9 * period));
  CHECK(simulated.input_wait_s.value_or(0) ==
        plus_minus(formula.input_wait_s.value_or(0), 1e-9 * period));
}

// Two equal jobs on a star have no link in common, and their messages are simulated.
TEST_CASE("network programs: on a crossbar a program takes what its formulas give") {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name.find("server") != std::string::npos || algorithm.name == "asc_wfbp" ||
        algorithm.name == "two messages at once" || algorithm.name == "priority" ||
        algorithm.name == "micro-batches by priority" || algorithm.name == "horovod" ||
        algorithm.gpus > 1 || algorithm.name == "full_shard, two communicators") {
      continue; // other orders, or exchanges that meet
    }
    CAPTURE(algorithm.name);
    const Case alone{.nodes = 2,
                     .network = "alpha_beta",
                     .training = algorithm.training,
                     .communication = algorithm.communication};
    Case jobs = alone;
    jobs.network = "flow";
    jobs.nodes = 4;
    const std::string job = R"({"nodes": 2, "layers": [)" + alone.layers + "]}";
    jobs.layers = "[" + job + ", " + job + "]";
    const Result formula = run_case(alone);
    const Result simulated = run_case(jobs);
    CHECK(simulated.method == "events");
    // A star has the latency of two links.
    check_equal(formula.summary, simulated.summary);
    if (algorithm.name.starts_with("input") &&
        algorithm.training.find("pipelined") == std::string::npos) {
      CHECK(*simulated.summary.makespan_s == within(*formula.summary.makespan_s, 1e-9));
    }
    REQUIRE(simulated.jobs.size() == 2);
    CHECK(simulated.jobs[1].alone_s == within(*formula.summary.iteration_time_s, 1e-9));
  }
}

// One message after the other: pushes, then pulls share the port of the server.
TEST_CASE("network programs: one server on a star takes what its formula gives") {
  for (const std::string& training :
       {std::string(), std::string(R"("micro_batches": 2, )"),
        std::string(R"("micro_batches": 2, "accumulation_exchange": "each", )"),
        std::string(R"("sync_s": 1e-3, )"), std::string(R"("input_s": 0.03, )"),
        std::string(R"("overlap": {"compute": {"forward": 1.5, "backward": 1.2}}, )")}) {
    for (const std::string& communication :
         {std::string(), std::string(R"("copy_bandwidth_Bps": 1e10, )"),
          std::string(R"("compression": "fp16", )"),
          std::string(R"("compression": {"method": "truncate16", "encode_Bps": 2e9,
                         "decode_Bps": 4e9}, )")}) {
      CAPTURE(training);
      CAPTURE(communication);
      Case c{.network = "alpha_beta",
             .training = training,
             .communication =
                 R"("collective": "parameter_server", "schedule": "single", )" + communication};
      const Summary formula = run_case(c).summary;
      c.network = "flow";
      const Summary simulated = run_case(c).summary;
      check_equal(formula, simulated);
      CHECK(*simulated.communication_s == within(*formula.communication_s, 1e-9));
      CHECK(*simulated.wire_bytes == within(*formula.wire_bytes, 1e-9));
    }
  }
}

// TRN 2.2: an exchange begins when its last rank enters, and takes x (startup + data).
TEST_CASE("network programs: workers and exchanges that vary do so on flows as in formulas") {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name.find("server") != std::string::npos || algorithm.name == "asc_wfbp" ||
        algorithm.name == "two messages at once" || algorithm.name == "priority" ||
        algorithm.name == "micro-batches by priority" || algorithm.name == "horovod" ||
        algorithm.gpus > 1 || algorithm.name == "full_shard, two communicators" ||
        algorithm.name == "pipe_sgd, best width") {
      continue; // other orders, or exchanges that meet
    }
    CAPTURE(algorithm.name);
    Case alone{.nodes = 3,
               .network = "alpha_beta",
               .training = algorithm.training,
               .communication = algorithm.communication,
               .variability = R"({"compute_cv": 0.3, "exchange_cv": 0.5})"};
    const Result formula = run_case(alone);
    const std::string job = R"({"nodes": 3, "layers": [)" + alone.layers + "]}";
    alone.layers = "[" + job + ", " + job + "]";
    alone.nodes = 6;
    alone.network = "flow";
    const Result simulated = run_case(alone);
    CHECK(*simulated.summary.iteration_time_s == within(*formula.summary.iteration_time_s, 1e-9));
    CHECK(*simulated.summary.wire_bytes == within(*formula.summary.wire_bytes, 1e-9));
  }
}

TEST_CASE("network programs: all ranks begin an exchange together on every road") {
  for (const char* collective : {"ring", "be", "mst", "recursive_doubling"}) {
    CAPTURE(collective);
    Case c{.nodes = 3,
           .communication =
               R"("schedule": "single", "collective": ")" + std::string(collective) + R"(", )",
           .variability = R"({"stragglers": [{"worker": 1, "factor": 2}]})"};
    const double flows = period(c);
    Case jobs = c;
    const std::string job = R"({"nodes": 3, "layers": [)" + c.layers + "]}";
    jobs.layers = "[" + job + ", " + job + "]";
    jobs.nodes = 6;
    CHECK(period(jobs) == within(flows, 1e-9));
    c.network = "packet";
    CHECK(period(c) > flows * (1 - 1e-9));
    CHECK(period(c) < flows * 1.05);
  }
}

// A push and a pull over two links each, whatever the factor of their time.
TEST_CASE("network programs: exchanges that vary send the bytes of those that do not") {
  const auto same = [](const Case& varied) {
    Case steady = varied;
    steady.variability = "{}";
    const Result one = run_case(steady);
    const Result other = run_case(varied);
    for (std::size_t link = 0; link < one.links.size(); ++link) {
      CHECK(other.links[link].bytes == within(one.links[link].bytes, 1e-9));
    }
    const layers::Jitter jitter(other.scenario->variability, 4);
    double factors = 0;
    for (std::int64_t n = 1; n <= 4; ++n) {
      factors += jitter.exchange(n);
    }
    // Forward and backward of 15 ms; the rest is as long as the factors say. Packets of servers
    // meet a little differently after a slow iteration.
    const double tolerance = varied.network == "packet" ? 2e-3 : 1e-7;
    const double compute = 0.015;
    CHECK((*other.summary.makespan_s - 4 * compute) / factors ==
          within((*one.summary.makespan_s - 4 * compute) / 4, tolerance));
  };
  for (const char* network : {"flow", "packet"}) {
    for (const char* training : {"", R"("algorithm": "parameter_server", )"}) {
      CAPTURE(network);
      CAPTURE(training);
      same({.network = network,
            .training = training,
            .communication = R"("schedule": "single", )",
            .variability = R"({"exchange_cv": 0.2})"});
    }
  }
}

TEST_CASE("network programs: one worker and a server of its own exchange over the network") {
  for (const char* algorithm : {"easgd", "parameter_server"}) {
    CAPTURE(algorithm);
    Case c{.nodes = 1,
           .network = "alpha_beta",
           .training = R"("servers": 1, "algorithm": ")" + std::string(algorithm) + R"(", )",
           .communication = std::string(algorithm) == "easgd" ? "" : R"("schedule": "single", )"};
    const Summary formula = run_case(c).summary;
    CHECK(*formula.communication_s == within(2 * (1e-5 + 1.2e6 / 1.25e9), 1e-9)); // COL 5.10
    c.network = "flow";
    check_equal(formula, run_case(c).summary);
    c.network = "packet";
    CHECK(period(c) == within(*formula.iteration_time_s, 0.02));
  }
}

// The replicas of a node share its link as its ranks do in the formula.
TEST_CASE("network programs: islands on a crossbar take what their formulas give") {
  for (const std::string keys :
       {R"("local_steps": 3, )", R"("local_steps": 2, "overlap_steps": 1, )",
        R"("local_steps": 4, "fragments": 2, "outer_update_s": 1e-3, )",
        R"("local_steps": 2, "outer_network": {"latency_s": 1e-3, "bandwidth_Bps": 1e8}, )"}) {
    CAPTURE(keys);
    Case c{.nodes = 3,
           .gpus = 4,
           .network = "alpha_beta",
           .training = R"("algorithm": "diloco", "inner": "sync_sgd", )" + keys,
           .communication = R"("schedule": "wfbp", "collective": "ring", )"};
    const Result formula = run_case(c);
    c.network = "flow";
    const Result simulated = run_case(c);
    check_equal(formula.summary, simulated.summary);
    CHECK(*simulated.summary.wire_bytes == within(*formula.summary.wire_bytes, 1e-9));
    CHECK(*simulated.summary.makespan_s == within(*formula.summary.makespan_s, 1e-9));
  }
}

TEST_CASE("network programs: gathers and reductions of full_shard share an oversubscribed uplink") {
  // Two leaves with four hosts each, and one uplink of the rate of a host: 4 to 1.
  const std::string leaf_spine = R"("topology": {"preset": "leaf_spine", "leaves": 2,
    "hosts_per_leaf": 4, "spines": 1, "bandwidth_Bps": 1.25e9, "latency_s": 1e-6,
    "uplink_bandwidth_Bps": 1.25e9}, )";
  for (const std::string network : {"flow", "packet"}) {
    for (const std::string communicators : {"1", "2"}) {
      CAPTURE(network);
      CAPTURE(communicators);
      const Case c{.nodes = 8,
                   .network = network,
                   .training = sharded("full_shard", R"(, "communicators": )" + communicators),
                   .communication = R"("collective": "ring", )",
                   .cluster = leaf_spine};
      const Result result = run_case(c);
      const Summary& summary = result.summary;
      // Each unit is gathered twice at 2 bytes and reduced at 4; of a ring, one rank of each leaf
      // sends over the uplink.
      const double sent = 300'000 * 7.0 / 8 * (2 * 2 + 4);
      CHECK(*summary.wire_bytes == within(sent, 1e-9));
      CHECK(*summary.period_s >= sent / 1.25e9);
      CHECK(*summary.period_s < 0.015 + 2 * sent / 1.25e9);
      if (network == "flow" && communicators == "2") {
        const links::Fabric& fabric = result.scenario->cluster.fabric->fabric();
        for (std::size_t link = 0; link < result.links.size(); ++link) {
          const bool host = fabric.is_host(fabric.links[link].from);
          const bool spine = !host && !fabric.is_host(fabric.links[link].to);
          if (host || spine) {
            CHECK(result.links[link].bytes == within(4 * sent, 1e-9));
          }
        }
      }
    }
  }
}

TEST_CASE("network programs: packets are a little slower than flows") {
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.name.find("server") != std::string::npos) {
      continue;
    }
    CAPTURE(algorithm.name);
    Case c{.gpus = algorithm.gpus,
           .training = algorithm.training,
           .communication = algorithm.communication};
    const double flows = period(c);
    c.network = "packet";
    const double packets = period(c);
    CHECK(packets > flows * 0.99); // exchanges that meet take turns, which is a little better
    CHECK(packets < flows * 1.1);
  }
}

TEST_CASE("network programs: a job of one worker next to others sends nothing") {
  const std::string layers = R"("layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.001,
    "gradient_bytes": 4000000}]})";
  const Result result =
      run_case({.nodes = 3,
                .training = R"("algorithm": "pipe_sgd", )",
                .layers = R"([{"nodes": 1, )" + layers + R"(, {"nodes": 2, )" + layers + "]"});
  REQUIRE(result.jobs.size() == 2);
  CHECK(result.jobs[0].alone_s == within(0.002, 1e-9));
  CHECK(*result.summary.iteration_time_s == within(0.002, 1e-9));
  CHECK(*result.summary.communication_s == 0);
}

TEST_CASE("network programs: more workers that share a link are never faster") {
  const auto two = [](const std::string& placement) {
    const std::string job = R"({"nodes": 2, "layers": [{"name": "a", "forward_s": 0.001,
      "backward_s": 0.001, "gradient_bytes": 4000000}]})";
    return Case{.training = R"("sharding": "full_shard", )",
                .cluster = R"("rank_placement": )" + placement + R"(, "topology": {"preset":
                  "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1, "bandwidth_Bps": 1.25e9,
                  "latency_s": 1e-6, "uplink_bandwidth_Bps": 1.25e9}, )",
                .layers = "[" + job + ", " + job + "]"};
  };
  const Result apart = run_case(two(R"("packed")"));
  const Result across = run_case(two("[0, 2, 1, 3]"));
  CHECK(*apart.jobs[0].together_s == within(apart.jobs[0].alone_s, 1e-9));
  CHECK(*across.summary.communication_s == within(2 * *apart.summary.communication_s, 0.01));
  CHECK(*across.jobs[0].together_s > 1.5 * *apart.jobs[0].together_s);
}

TEST_CASE("network program: synchronisation beside the messages is never a negative time") {
  // Times whose sums are rounded: what is beside the messages was a difference of them.
  for (const int bytes : {4000, 40'000, 400'000, 12'345'676, 2'147'483'644}) {
    CAPTURE(bytes);
    Case c;
    c.gpus = 2;
    c.layers = R"({"name": "a", "forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": )" +
               std::to_string(bytes) + "}";
    c.training = R"("algorithm": "local_sgd", "inner": "sync_sgd", )";
    const double alone = period(c);
    c.training += R"("sync_s": 0.0009726, )";
    // One exchange inside the nodes and one between them.
    CHECK(period(c) == within(alone + 2 * 0.0009726, 1e-9));
  }
}

TEST_CASE("network program: sparse compression in two halves is refused where all is simulated") {
  Case c;
  c.nodes = 4;
  const std::string job = R"({"nodes": 2, "layers": [{"name": "a", "forward_s": 0.001,
      "backward_s": 0.001, "gradient_bytes": 4000000}]})";
  c.cluster = R"("topology": {"preset": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1,
      "bandwidth_Bps": 1.25e9, "latency_s": 1e-6}, )";
  c.layers = "[" + job + ", " + job + "]";
  for (const char* halves : {R"("exchange": "reduce_broadcast", "collective": "lp")",
                             R"("schedule": "dear", "collective": "ring")"}) {
    CAPTURE(halves);
    c.communication = std::string(halves) +
                      R"(, "compression": {"method": "gtopk_butterfly", "density": 0.001}, )";
    CHECK_THROWS_WITH_AS(run_case(c), doctest::Contains("has no two halves"), InputError);
  }
}
