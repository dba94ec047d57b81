// Stale synchronous parameter servers through whole scenarios (TRN 4.7, rows V in
// tests/programs/parameter_server_test.cpp).
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "run/summary.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

// Computing of 1 s, the last of four workers twice as slow; 0.25 s for a push and for a pull.
std::string servers(const std::string& mode, const std::string& more = "") {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": 0.25, "backward_s": 0.75,
            "gradient_bytes": 1000000}]}, "cluster": {"nodes": 4,
            "network": {"latency_s": 0, "bandwidth_Bps": 4e6}}, "allow_unusual": true,
            "training": {"algorithm": "parameter_server", "servers": 4, "iterations": 40,
            "mode": )" +
         mode + R"(}, "variability": {"stragglers": [{"worker": 3, "factor": 2}]})" + more + "}";
}

std::string without_scenario(const Result& result) {
  return io::compact(summary_tree(result.summary));
}

} // namespace

TEST_CASE("ssp: with a bound of 0 the slowest worker sets the pace, with none nobody waits") {
  const Summary barrier = run_text(servers(R"("ssp", "staleness_bound": 0)")).summary;
  CHECK(*barrier.iteration_time_s == within(2 + 0.25 + 0.25, 1e-12));
  // Three workers compute for 1 s and exchange for 0.5 s of the period of 2.5 s, one and two of
  // them after the others' 0.25 / 4 s at each of four servers.
  CHECK(*barrier.straggler_wait_s == within((3 * 1.0 - 3 * 0.25 / 4) / 4, 1e-12));
  CHECK(*barrier.compute_s + *barrier.exposed_communication_s ==
        within(*barrier.iteration_time_s, 1e-12));
  CHECK(!barrier.closed_form_s);
  const Result free = run_text(servers(R"("async")"));
  const Result unlimited = run_text(servers(R"("ssp", "staleness_bound": null)"));
  const Result loose = run_text(servers(R"("ssp", "staleness_bound": 1000)"));
  CHECK(without_scenario(unlimited) == without_scenario(free));
  CHECK(*loose.summary.iteration_time_s == *free.summary.iteration_time_s);
  CHECK(loose.summary.staleness_histogram == free.summary.staleness_histogram);
  CHECK(*free.summary.straggler_wait_s == 0);
  CHECK(*free.summary.iteration_time_s < *barrier.iteration_time_s);
}

TEST_CASE("ssp: a larger bound never makes training slower, and gradients older") {
  double before = 1e9;
  double age = 0;
  for (const std::string bound : {"0", "1", "2", "5", "20"}) {
    const Summary summary = run_text(servers(R"("ssp", "staleness_bound": )" + bound)).summary;
    CHECK(*summary.iteration_time_s <= before * (1 + 1e-12));
    CHECK(*summary.staleness_max >= age);
    before = *summary.iteration_time_s;
    age = *summary.staleness_max;
  }
}

TEST_CASE("ssp: keys, and the resolved scenario") {
  CHECK(problem_of(servers(R"("ssp")")) == "test.json: /training/mode: needs staleness_bound");
  CHECK(problem_of(servers(R"("ssp", "staleness_bound": -1)")) ==
        "test.json: /training/staleness_bound: must be an integer >= 0, got -1");
  CHECK(problem_of(servers(R"("async", "staleness_bound": 1)")) ==
        "test.json: /training/staleness_bound: staleness_bound has no meaning for mode async");
  CHECK(problem_of(servers(R"("ssp", "staleness_bound": 1)",
                           R"(, "communication": {"schedule": "wfbp"})")) ==
        "test.json: /communication/schedule: schedule wfbp is not defined for mode ssp");
  for (const std::string bound : {"2", "null"}) {
    const Result first = run_text(servers(R"("ssp", "staleness_bound": )" + bound));
    const Result second = run_text(io::compact(scenario_tree(*first.scenario)));
    CHECK(without_scenario(first) == without_scenario(second));
    CHECK(second.scenario->training.mode == ServerMode::ssp);
  }
}

TEST_CASE("whole tensors: asynchronous servers on a simulated network have layers in turn") {
  const auto bytes_into_servers = [](const std::string& more) {
    const Result result = run_text(
        R"({"workload": {"layers": [
            {"name": "a", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 1000000},
            {"name": "b", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 3000000},
            {"name": "c", "forward_s": 0.1, "backward_s": 0.2, "gradient_bytes": 500000}]},
            "cluster": {"nodes": 3, "network": {"model": "flow", "latency_s": 1e-5,
                                                "bandwidth_Bps": 1e9}},
            "training": {"algorithm": "parameter_server", "mode": "async", "iterations": 4,
                         "servers": )" +
        more + "}}");
    const links::Fabric& fabric = result.scenario->cluster.fabric->fabric();
    const auto& hosts = result.scenario->cluster.fabric->hosts;
    std::vector<double> bytes(hosts.size() - 3);
    for (std::size_t link = 0; link < result.links.size(); ++link) {
      for (std::size_t server = 0; server < bytes.size(); ++server) {
        bytes[server] += fabric.links[link].to == hosts[3 + server] ? result.links[link].bytes : 0;
      }
    }
    for (const std::string& warning : result.warnings) {
      bytes.push_back(warning.starts_with("server_split whole: ") ? -1 : 0);
    }
    return bytes;
  };
  const auto first = [](std::vector<double> bytes, std::size_t count) {
    bytes.resize(count);
    return bytes;
  };
  const double pushes = 3 * 4;
  // Gradients are in the order of the backward pass: c, b, a.
  CHECK(first(bytes_into_servers(R"(2, "server_split": "whole")"), 2) ==
        std::vector<double>{pushes * 1500000, pushes * 3000000});
  CHECK(first(bytes_into_servers("2"), 2) ==
        std::vector<double>{pushes * 2250000, pushes * 2250000});
  CHECK(std::ranges::count(bytes_into_servers(R"(5, "server_split": "whole")"), -1) == 1);
  CHECK(std::ranges::count(bytes_into_servers(R"(3, "server_split": "whole")"), -1) == 0);
}
