// Local SGD and DiLoCo through whole scenarios: rows L1 to L17 of TRN 11.5.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "document/json_text.hpp"
#include "run/period_figures.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

// Of a round.
Figures figures_of(const std::string& text) {
  const Summary summary = run_text(text).summary;
  CHECK(*summary.iteration_time_s == within(*summary.period_s / *summary.steps, 1e-12));
  CHECK(*summary.compute_s + *summary.exposed_communication_s ==
        within(*summary.iteration_time_s, 1e-9));
  return {*summary.period_s, *summary.exposed_communication_s * *summary.steps};
}

const std::string kG3 = R"({"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4},
  {"name": "b", "forward_s": 2, "backward_s": 2, "gradient_bytes": 8},
  {"name": "c", "forward_s": 1, "backward_s": 2, "gradient_bytes": 12},
  {"name": "d", "forward_s": 1, "backward_s": 2, "gradient_bytes": 16})";
// A network that exchange_s replaces.
const std::string kPlain = R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9})";
// T(m) = 0.5 + 0.25 m: 10.5 s for all of G3.
const std::string kLine = R"("network": {"cost": {"startup_s": 0.5, "per_byte_s": 0.25}})";

std::string scenario_of(const std::string& layers, const std::string& given,
                        const std::string& training, const std::string& more = "") {
  const bool replaced = training.find("exchange_s") != std::string::npos;
  const std::string network = replaced ? kPlain : given;
  return R"({"workload": {"layers": [)" + layers + R"(]}, "cluster": {"nodes": 4, )" + network +
         R"(}, "limits": {"simulated_s": 1e9}, "training": {)" + training + "}" + more + "}";
}

std::string diloco(const std::string& keys) { return R"("algorithm": "diloco", )" + keys; }

// A layer of c seconds for each time of an exchange, which takes a second a byte.
std::string layers_with(double c, const std::vector<double>& exchanges) {
  std::string text;
  for (std::size_t l = 0; l < exchanges.size(); ++l) {
    const auto share = c / static_cast<double>(exchanges.size());
    text += (text.empty() ? "" : ", ") + (R"({"name": "l)" + std::to_string(l)) +
            R"(", "forward_s": )" + base::shortest(share / 2) + R"(, "backward_s": )" +
            base::shortest(share / 2) + R"(, "gradient_bytes": )" +
            std::to_string(static_cast<int>(4 * exchanges[l] * 2)) + "}";
  }
  return text;
}

// Exchanges of whole and half seconds, a fragment for each.
Figures streaming(double c, int steps, const std::vector<double>& exchanges, int overlap,
                  const std::string& keys = "") {
  return figures_of(scenario_of(layers_with(c, exchanges),
                                R"("network": {"cost": {"startup_s": 0, "per_byte_s": 0.125}})",
                                diloco(R"("local_steps": )" + std::to_string(steps) +
                                       R"(, "fragments": )" + std::to_string(exchanges.size()) +
                                       R"(, "overlap_steps": )" + std::to_string(overlap) + keys)));
}

} // namespace

TEST_CASE("diloco: every fragment has an equal part of the outer update") {
  for (const char* pattern : {"strided", "sequential"}) {
    const Result result =
        run_text(scenario_of(kG3, kLine,
                             diloco(R"("local_steps": 4, "fragments": 2, "overlap_steps": 1,
                                       "outer_update_s": 1, "fragment_pattern": ")" +
                                    std::string(pattern) + "\"")));
    int merges = 0;
    for (const programs::Operation& each : result.program->program.operations) {
      if (each.kind == programs::Kind::outer_update) {
        CHECK(each.seconds.value == within(0.5, 1e-12));
        ++merges;
      }
    }
    CHECK(merges == 3); // one of them behind the last round
  }
}

TEST_CASE("rounds: one exchange per round, rows L1 to L6") {
  const auto g3 = [](const std::string& keys) {
    return figures_of(scenario_of(kG3, kLine, diloco(keys)));
  };
  CHECK(g3(R"("local_steps": 1)") == Figures{23.5, 10.5});
  CHECK(g3(R"("local_steps": 4, "outer_update_s": 1)") == Figures{63.5, 10.5});
  CHECK(g3(R"("local_steps": 4, "outer_update_s": 1, "overlap_steps": 1)") == Figures{53, 0});
  CHECK(g3(R"("local_steps": 4, "overlap_steps": 1, "exchange_s": 20)") == Figures{59, 7});
  CHECK(g3(R"("local_steps": 4, "overlap_steps": 2, "exchange_s": 60)") == Figures{86, 34});
  CHECK(g3(R"("local_steps": 4, "overlap_steps": 3, "exchange_s": 60)") == Figures{73, 21});
  // Averaging parameters takes the same exchange.
  CHECK(figures_of(scenario_of(kG3, kLine, R"("algorithm": "local_sgd", "local_steps": 4)")) ==
        Figures{4 * 13 + 10.5, 10.5});
}

TEST_CASE("rounds: streaming fragments, rows L7 to L13") {
  const std::vector<double> half(3, 0.5);
  const std::vector<double> long_ones(3, 2.5);
  CHECK(streaming(1, 6, half, 0) == Figures{7.5, 1.5});
  CHECK(streaming(1, 6, half, 1) == Figures{6, 0});
  CHECK(streaming(1, 6, long_ones, 1) == Figures{10.5, 4.5});
  CHECK(streaming(1, 6, long_ones, 2) == Figures{7.5, 1.5});
  CHECK(streaming(1, 10, {1, 2, 3, 4}, 2) == Figures{13, 3});
  CHECK(streaming(2, 8, {1, 1, 1, 9}, 1) == Figures{23, 7});
  CHECK(streaming(1, 6, half, 1, R"(, "outer_update_s": 0.75)") == Figures{6.75, 0});
}

TEST_CASE("rounds: steps that are synchronous inside an island, rows L14 and L15") {
  // Two islands of two ranks: a ring of two takes 2 (latency + bytes / 2 / bandwidth).
  const auto islands = [](double latency_s, double inner_Bps, const std::string& keys) {
    return figures_of(R"({"workload": {"layers": [)" + kG3 +
                      R"(]}, "cluster": {"nodes": 2, "gpus_per_node": 2,
                       "intra_network": {"latency_s": )" +
                      std::to_string(latency_s) + R"(, "bandwidth_Bps": )" +
                      std::to_string(inner_Bps) +
                      R"(}, "network": {"latency_s": 0, "bandwidth_Bps": 1}},
                       "limits": {"simulated_s": 1e9}, "allow_unusual": true,
                       "communication": {"schedule": "wfbp", "collective": "ring"},
                       "training": {)" +
                      diloco(R"("inner": "sync_sgd", )" + keys) + "}}");
  };
  // 30 s between the islands: 3 bytes of each parameter over a byte/s, or 40 bytes over 4/3.
  for (const std::string outer :
       {R"("outer_value_bytes": 3)", R"("outer_network": {"latency_s": 5, "bandwidth_Bps": 2})"}) {
    CAPTURE(outer);
    CHECK(islands(0.05, 20, R"("local_steps": 4, )" + outer) == Figures{83.2, 31.2});
    CHECK(islands(0.05, 20,
                  R"("local_steps": 4, "outer_update_s": 1, "overlap_steps": 1, )" + outer) ==
          Figures{70.9, 17.9});
    CHECK(islands(0.25, 4,
                  R"("local_steps": 2, "outer_update_s": 1, "overlap_steps": 1, )" + outer) ==
          Figures{50, 23});
  }
}

TEST_CASE("rounds: layers that wait for their own messages, rows L16 and L17") {
  const auto gated = [](const std::string& keys) {
    return figures_of(scenario_of(kG3, kLine, diloco(R"("outer_gate": "layer", )" + keys)));
  };
  const std::string strided = R"("local_steps": 4, "fragments": 2, "exchange_s": 3)";
  CHECK(gated(strided) == Figures{55, 3});
  CHECK(gated(strided + R"(, "overlap_steps": 1)") == Figures{52, 0});
  CHECK(gated(R"("local_steps": 3, "fragments": 3, "exchange_s": 9, "overlap_steps": 1,
                 "fragment_pattern": "sequential")") == Figures{39, 0});
}

TEST_CASE("rounds: a layer without bytes has no message to wait for") {
  const std::string layers =
      R"({"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 0},
         {"name": "b", "forward_s": 1, "backward_s": 2, "gradient_bytes": 40})";
  // Backward and forward of a pass beside the 6 s of the message of b.
  const Result result =
      run_text(scenario_of(layers, kPlain, R"("algorithm": "local_sgd", "outer_gate": "layer",
                                               "exchange_s": 6)"));
  CHECK(*result.summary.period_s == within(2 + 6 + 1, 1e-12));
  CHECK(result.buckets.size() == 1);
  // A fragment of it is merged without a message, too.
  const Result fragments =
      run_text(scenario_of(layers, kPlain, diloco(R"("fragments": 2, "local_steps": 2,
                                                     "exchange_s": 6, "outer_update_s": 1)")));
  CHECK(*fragments.summary.period_s == within(2 * 6 + 6 + 0.5 + 0.5, 1e-12));
  CHECK(fragments.buckets.size() == 1);
}

TEST_CASE("rounds: figures of a run") {
  const Result result = run_text(
      scenario_of(kG3, kLine, diloco(R"("local_steps": 4, "overlap_steps": 2, "exchange_s": 60)")));
  const Summary& summary = result.summary;
  CHECK(*summary.period_s == 86);
  CHECK(*summary.steps == 4);
  CHECK(*summary.iteration_time_s == 86.0 / 4);
  CHECK(*summary.utilization == within(52.0 / 86, 1e-12));
  CHECK(*summary.outer_communication_s == within(60, 1e-12));
  CHECK(*summary.communication_s == within(60.0 / 4, 1e-12));
  CHECK(*summary.local_steps == 4);
  CHECK(*summary.overlap_steps == 2);
  CHECK(*summary.outer_staleness_steps == 2);
  CHECK(*summary.forward_s == 5);
  CHECK(*summary.backward_s == 8);
  CHECK(*summary.speedup == within(4 * 52.0 / 86, 1e-12));
  CHECK(result.iterations.size() == 10);
  CHECK(result.iterations.back().iteration_time_s == within(86, 1e-12));
  CHECK(result.buckets.size() == 1);
  CHECK(result.buckets[0].bytes.value == 40);
  CHECK(result.method == "closed_form");
  CHECK(result.program.has_value());
}

TEST_CASE("rounds: bytes follow from values, their size and the codec") {
  const auto wire = [](const std::string& keys) {
    return run_text(scenario_of(kG3, R"("network": {"latency_s": 0, "bandwidth_Bps": 1e6})",
                                diloco(R"("local_steps": 2, )" + keys),
                                R"(, "communication": {"collective": "ring"})"))
        .summary;
  };
  // Ten values in a ring of four ranks: every rank sends 2 x 3/4 of them, in one of two steps.
  const double part = 2.0 * 3 / 4 / 2;
  CHECK(*wire(R"("outer_value_bytes": 4)").wire_bytes == within(40 * part, 1e-9));
  CHECK(*wire(R"("outer_value_bytes": 2)").wire_bytes == within(20 * part, 1e-9));
  CHECK(*wire(R"("outer_compression": "int8")").wire_bytes == within(10 * part, 1e-9));
  CHECK(*wire(R"("outer_compression": "fp4")").wire_bytes == within(5 * part, 1e-9));
  CHECK(*wire(R"("outer_compression": {"method": "custom_codec", "ratio": 8})").wire_bytes ==
        within(5 * part, 1e-9));
  // Coding takes time on the compute stream, once a round.
  const Summary coded =
      wire(R"("outer_compression": {"method": "int8", "encode_Bps": 80, "decode_Bps": 160})");
  CHECK(*coded.codec_compute_s == within((0.5 + 0.25) / 2, 1e-12));
  CHECK(*coded.compute_s == within(13 + (0.5 + 0.25) / 2, 1e-12));
}

TEST_CASE("rounds: an outer network of its own") {
  const auto time = [](const std::string& network) {
    return *run_text(scenario_of(kG3, R"("network": {"latency_s": 1, "bandwidth_Bps": 10})",
                                 diloco(R"("local_steps": 2, "outer_network": )" + network),
                                 R"(, "allow_unusual": true,
                                    "communication": {"collective": "ring"})"))
                .summary.outer_communication_s;
  };
  // A ring of P ranks: 2 (P - 1) (latency + 40 / P / bandwidth).
  CHECK(time("{}") == within(6 * (1 + 10.0 / 10), 1e-12));
  CHECK(time(R"({"ranks": 2})") == within(2 * (1 + 20.0 / 10), 1e-12));
  CHECK(time(R"({"bandwidth_Bps": 5})") == within(6 * (1 + 10.0 / 5), 1e-12));
  CHECK(time(R"({"latency_s": 3, "bandwidth_Bps": 5, "ranks": 2})") ==
        within(2 * (3 + 20.0 / 5), 1e-12));
}

TEST_CASE("rounds: H = 1 without overlap is a single message behind a barrier") {
  for (const std::string update : {"0", "0.5"}) {
    const std::string keys = R"("update_s": )" + update;
    const Summary synchronous =
        run_text(scenario_of(kG3, kLine, R"("algorithm": "sync_sgd", )" + keys,
                             R"(, "communication": {"schedule": "single",
                                  "next_forward": "barrier"})"))
            .summary;
    const Summary local =
        run_text(scenario_of(kG3, kLine, R"("algorithm": "local_sgd", )" + keys)).summary;
    for (const auto figure :
         {&Summary::iteration_time_s, &Summary::exposed_communication_s, &Summary::communication_s,
          &Summary::speedup, &Summary::makespan_s, &Summary::wire_bytes, &Summary::update_s}) {
      CHECK(*(local.*figure) == within(*(synchronous.*figure), 1e-12));
    }
  }
}

TEST_CASE("rounds: outer messages are decoded, added and coded again on every hop, as gradients") {
  const std::string layers =
      R"({"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 40000},
         {"name": "b", "forward_s": 1, "backward_s": 2, "gradient_bytes": 80000})";
  for (const std::string model : {"alpha_beta", "flow"}) {
    for (const std::string collective : {"ring", "bruck"}) {
      CAPTURE(model);
      CAPTURE(collective);
      const auto run = [&](const std::string& training, const std::string& communication) {
        return run_text(
                   scenario_of(layers,
                               R"("network": {"model": ")" + model +
                                   R"(", "latency_s": 0.01, "bandwidth_Bps": 1e4,
                                                    "reduction_Bps": 3e4})",
                               training,
                               R"(, "allow_unusual": true, "communication": {"collective": ")" +
                                   collective + "\"" + communication + "}"))
            .summary;
      };
      const std::string codec = R"({"method": "truncate16", "encode_Bps": 1e4, "decode_Bps": 2e4})";
      const Summary synchronous = run("", R"(, "schedule": "single", "next_forward": "barrier",
                                             "compression": )" +
                                              codec);
      const Summary local = run(diloco(R"("outer_compression": )" + codec), "");
      for (const auto figure :
           {&Summary::iteration_time_s, &Summary::exposed_communication_s,
            &Summary::communication_s, &Summary::makespan_s, &Summary::wire_bytes,
            &Summary::compute_s, &Summary::codec_hops, &Summary::codec_compute_s}) {
        REQUIRE((local.*figure).has_value());
        CHECK(*(local.*figure) == within(*(synchronous.*figure), 1e-9));
      }
      CHECK(local.bottleneck == synchronous.bottleneck);
      // c + n (kc + kd) + 2 (p-1) alpha + 2 (p-1)/p n/r beta + (p-1)/p n (gamma + kc + kd)
      if (collective == "ring") {
        CHECK(*local.iteration_time_s ==
              within(6 + 12 + 6 + 6 * 0.01 + 1.5 * 6 + 0.75 * (4 + 12 + 6), 1e-9));
      }
    }
  }
}

TEST_CASE("rounds: ranks that differ wait for each other once a round") {
  const std::string straggler = R"(, "variability": {"stragglers": [{"worker": 1, "factor": 2}]})";
  const Result result =
      run_text(scenario_of(kG3, kLine, diloco(R"("local_steps": 4, "exchange_s": 60)"), straggler));
  CHECK(*result.summary.period_s == within(4 * 2 * 13 + 60, 1e-12));
  CHECK(result.workers.size() == 4);
  CHECK(result.workers[0].compute_s == within(13, 1e-12));
  CHECK(result.workers[1].compute_s == within(26, 1e-12));
  CHECK(*result.summary.straggler_wait_s == within(13 * 3.0 / 4, 1e-12));
  // A factor of 1 changes nothing.
  const std::string equal = R"(, "variability": {"stragglers": [{"worker": 1, "factor": 1}]})";
  for (const std::string inner : {"step", "sync_sgd"}) {
    const auto summary = [&](const std::string& more) {
      return run_text(R"({"workload": {"layers": [)" + kG3 +
                      R"(]}, "cluster": {"nodes": 2, "gpus_per_node": 2,
                       "intra_network": {"latency_s": 1, "bandwidth_Bps": 10},
                       "network": {"latency_s": 2, "bandwidth_Bps": 5}}, "allow_unusual": true,
                       "limits": {"simulated_s": 1e9},
                       "training": {"update_s": 1, )" +
                      diloco(R"("local_steps": 3, "overlap_steps": 1, "outer_update_s": 1,
                                "inner": ")" +
                             inner + "\"") +
                      "}" + more + "}")
          .summary;
    };
    const Summary one = summary("");
    const Summary other = summary(equal);
    CHECK(*one.period_s == within(*other.period_s, 1e-9));
    CHECK(*one.exposed_communication_s == within(*other.exposed_communication_s, 1e-9));
    CHECK(*one.makespan_s == within(*other.makespan_s, 1e-9));
  }
}

TEST_CASE("rounds: factors of inner step n do not depend on the number of steps of a round") {
  const auto busy = [](int steps) {
    const Result result = run_text(
        scenario_of(kG3, kLine,
                    diloco(R"("exchange_s": 0, "iterations": )" + std::to_string(24 / steps - 1) +
                           R"(, "discard_iterations": )" + std::to_string(12 / steps - 1) +
                           R"(, "local_steps": )" + std::to_string(steps)),
                    R"(, "variability": {"compute_cv": 0.3})"));
    return result.workers[2].compute_s;
  };
  CHECK(busy(1) == within(busy(4), 1e-12));
  CHECK(busy(1) == within(busy(12), 1e-12));
}

TEST_CASE("rounds: computing that an exchange slows") {
  const auto period = [](const std::string& keys) {
    return *run_text(
                scenario_of(kG3, kLine, diloco(R"("local_steps": 4, "exchange_s": 26)" + keys)))
                .summary.period_s;
  };
  // Nothing overlaps; then two steps and a slowdown by half while 26 s pass.
  CHECK(period(R"(, "compute_slowdown": 1.5)") == within(4 * 13 + 26, 1e-9));
  CHECK(period(R"(, "overlap_steps": 3, "compute_slowdown": 1.5)") ==
        within(4 * 13 + 26 - 26 / 1.5, 1e-9));
}

TEST_CASE("rounds: elastic averaging pushes and pulls the parameters after local_steps steps") {
  // G3 has 4 + 8 + 12 + 16 bytes in values of 4 bytes; a step takes 13 s. 4 workers push to one
  // server and pull from it over links of 1 B/s without latency: 2 x 4 x 40 s.
  const auto text = [&](const std::string& keys, const std::string& network) {
    return R"({"workload": {"layers": [)" + kG3 + R"(]}, "cluster": {"nodes": 4, "network": {)" +
           network + R"("latency_s": 0, "bandwidth_Bps": 1}}, "limits": {"simulated_s": 1e9},
      "allow_unusual": true, "training": {"algorithm": "easgd", "iterations": 4, )" +
           keys + "}}";
  };
  for (const std::string network : {"", R"("model": "flow", )"}) {
    CAPTURE(network);
    for (const int steps : {1, 5}) {
      const std::string local = R"("local_steps": )" + std::to_string(steps);
      const Summary one = run_text(text(local, network)).summary;
      CHECK(*one.period_s == within(13 * steps + 2 * 4 * 40, 1e-9));
      CHECK(*one.iteration_time_s == within(*one.period_s / steps, 1e-9));
      CHECK(*one.outer_communication_s == within(2 * 4 * 40, 1e-9));
      CHECK(*one.wire_bytes == within(40.0 / steps, 1e-9)); // a worker's own, per step
      CHECK(*one.local_steps == steps);
      if (!network.empty()) { // pushed and pulled over two links each, in every round
        double bytes = 0;
        for (const LinkResult& link : run_text(text(local, network)).links) {
          bytes += link.bytes;
        }
        CHECK(bytes == within(4.0 * 2 * 2 * 4 * 40, 1e-9));
      }
      // Two servers have half of it each; the links of the workers carry all of it.
      const Summary two = run_text(text(local + R"(, "servers": 2)", network)).summary;
      CHECK(*two.period_s == within(13 * steps + 2 * 2 * 40, 1e-9));
    }
  }
  for (const std::string key : {R"("fragments": 2)", R"("overlap_steps": 1)",
                                R"("inner": "sync_sgd")", R"("outer_update_s": 1)"}) {
    CAPTURE(key);
    const std::string found = problem_of(text(R"("local_steps": 3, )" + std::string(key), ""));
    CHECK(found.find("has no meaning for easgd") != std::string::npos);
  }
}

TEST_CASE("rounds: a job of fewer layers than fragments sends those that it has") {
  const std::string text = R"({"workload": [
      {"nodes": 2, "layers": [
        {"name": "a", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 400000},
        {"name": "b", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 400000}]},
      {"nodes": 2, "layers": [
        {"name": "a", "forward_s": 2e-3, "backward_s": 2e-3, "gradient_bytes": 400000}]}],
    "cluster": {"nodes": 4, "network": {"model": "flow"},
                "topology": {"preset": "star", "hosts": 4, "bandwidth_Bps": 1e9, "latency_s": 0}},
    "training": {"algorithm": "diloco", "iterations": 3, "local_steps": 4, "fragments": 2}})";
  const Result result = run_text(text);
  CHECK(*result.summary.outer_communication_s == within(8e-4, 1e-9)); // 800 kB a round
  CHECK(result.jobs.size() == 2);
}

TEST_CASE("rounds: what goes wrong is said where it stands") {
  const auto problem = [](const std::string& keys, const std::string& more = "") {
    return problem_of(scenario_of(kG3, kLine, diloco(keys), more));
  };
  CHECK(problem(R"("local_steps": 0)") ==
        "test.json: /training/local_steps: must be an integer >= 1, got 0");
  CHECK(problem(R"("fragments": 0)") ==
        "test.json: /training/fragments: must be an integer >= 1, got 0");
  CHECK(problem(R"("local_steps": 10, "fragments": 12)") ==
        "test.json: /training/fragments: 12 fragments need at least 12 local_steps, got 10");
  CHECK(problem(R"("local_steps": 10, "fragments": 5)") ==
        "test.json: /training/fragments: 5 fragments need at least 5 layers, got 4");
  CHECK(problem(R"("local_steps": 10, "overlap_steps": 10)") ==
        "test.json: /training/overlap_steps: must be less than local_steps (10), got 10");
  CHECK(problem(R"("local_steps": 600000, "outer_gate": "layer")") ==
        "test.json: /training/local_steps: the program has 4800002 operations per iteration; at "
        "most 1000000. Lower local_steps or use outer_gate step");
  CHECK(problem(R"("local_steps": 4, "sharding": "zero1")") ==
        "test.json: /training/sharding: sharding has no meaning for diloco");
  CHECK(problem(R"("micro_batches": 2)") ==
        "test.json: /training/micro_batches: micro_batches has no meaning for diloco");
  CHECK(problem(R"("fragment_pattern": "strided")") ==
        "test.json: /training/fragment_pattern: fragment_pattern has no meaning for one fragment");
  CHECK(problem(R"("inner": "sync_sgd")") ==
        "test.json: /training/inner: sync_sgd needs at least 2 nodes and 2 ranks in each");
  CHECK(problem(R"("local_steps": 2)", R"(, "communication": {"schedule": "ddp"})") ==
        "test.json: /communication/schedule: schedule has no meaning for diloco with inner step");
  CHECK(problem(R"("local_steps": 2)", R"(, "communication": {"compression": "quantize8"})") ==
        "test.json: /communication/compression: compression has no meaning for diloco; "
        "/training/outer_compression is that of outer exchanges");
  CHECK(problem(R"("outer_compression": "custom_codec")") ==
        "test.json: /training/outer_compression/ratio: required (a number)");
  CHECK(problem(R"("outer_network": {"latency_s": 1})") ==
        "test.json: /training/outer_network: needs latency_s and bandwidth_Bps: the network of the "
        "cluster has no single latency and bandwidth");
  CHECK(problem(R"("outer_network": {"ranks": 5})").find("must be in [1, 4], got 5") !=
        std::string::npos);
  CHECK(problem_of(scenario_of(kG3, kLine, R"("local_steps": 4)")) ==
        "test.json: /training/local_steps: local_steps has no meaning for sync_sgd");
  CHECK(problem_of(scenario_of(kG3, kLine, R"("algorithm": "local_sgd", "outer_update_s": 1)")) ==
        "test.json: /training/outer_update_s: outer_update_s has no meaning for local_sgd");
}

TEST_CASE("rounds: the resolved scenario is the same run") {
  const std::vector<std::string> texts{
      scenario_of(kG3, kLine, diloco(R"("local_steps": 4, "fragments": 2, "overlap_steps": 1,
                                        "outer_compression": "fp4", "outer_gate": "layer")")),
      scenario_of(kG3, R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9})",
                  R"("algorithm": "local_sgd", "local_steps": 3,
                     "outer_network": {"bandwidth_Bps": 1e6, "ranks": 2})"),
      R"({"workload": {"layers": [)" + kG3 + R"(]}, "cluster": {"nodes": 2, "gpus_per_node": 2,
          "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e9},
          "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e8}},
          "training": {"algorithm": "diloco", "local_steps": 3, "inner": "sync_sgd",
                       "outer_network": {"latency_s": 0.1}}})"};
  for (const std::string& text : texts) {
    const Result first = run_text(text);
    const std::string resolved = io::compact(scenario_tree(*first.scenario));
    CAPTURE(resolved);
    const Result second = run_text(resolved);
    CHECK(io::compact(summary_tree(first.summary)) == io::compact(summary_tree(second.summary)));
    CHECK(io::compact(scenario_tree(*second.scenario)) == resolved);
  }
}

TEST_CASE("rounds: with random times the communication is the mean of the counted exchanges") {
  const Result result = run_text(
      scenario_of(layers_with(3, {0.5}), R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 10})",
                  diloco(R"("local_steps": 2, "iterations": 7, "discard_iterations": 1)"),
                  R"(, "variability": {"exchange_cv": 0.3, "compute_cv": 0.1}, "seed": 3,
         "allow_unusual": true)"));
  // A round has one exchange, and the first round is discarded.
  double seconds = 0;
  for (std::size_t k = 1; k < result.iterations.size(); ++k) {
    const Iteration& each = result.iterations[k];
    seconds += (each.exchange_end_s - each.exchange_start_s) / 6;
  }
  const Summary& summary = result.summary;
  CHECK(*summary.outer_communication_s == within(seconds, 1e-12));
  CHECK(*summary.communication_s == within(seconds / 2, 1e-12));
  CHECK(*summary.communication_s >= *summary.exposed_communication_s);
  // Servers are asked once a round, too: nothing hides that of equal workers.
  const Summary elastic =
      run_text(scenario_of(layers_with(3, {0.5}),
                           R"("network": {"latency_s": 1e-5, "bandwidth_Bps": 10})",
                           R"("algorithm": "easgd", "local_steps": 2, "iterations": 7)",
                           R"(, "variability": {"exchange_cv": 0.3}, "allow_unusual": true)"))
          .summary;
  CHECK(*elastic.communication_s == within(*elastic.exposed_communication_s, 1e-12));
}
