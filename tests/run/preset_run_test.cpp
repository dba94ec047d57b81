// What the preset of a node type fills beyond links and cards (CLU 9, 10): the switch that adds,
// and NVLink domains.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "document/json_text.hpp"
#include "nccl/calibration.hpp"
#include "nccl/library_record.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

constexpr double kBytes = 36'000'000;
constexpr double kCompute = 0.03;

std::string text(const std::string& cluster, const std::string& communication = "") {
  return R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
      "gradient_bytes": 36000000}]}, "cluster": {)" +
         cluster + "}" +
         (communication.empty() ? "" : R"(, "communication": {)" + communication + "}") + "}";
}

double seconds_of(const std::string& scenario_text) {
  return *run_text(scenario_text).summary.iteration_time_s;
}

// The value and the reason of a default, "" where it is none.
std::string default_of(const std::string& scenario_text, std::string_view pointer) {
  const io::Json written = io::parse_json(scenario_text, "test.json");
  for (const DefaultValue& each : defaults_that_decide(written, scenario(scenario_text))) {
    if (each.pointer == pointer) {
      return io::compact(each.value) + ", " + each.reason;
    }
  }
  return "";
}

const std::string kNvls = R"("collective": "nvls")";
const std::string kLibrary = R"("collective": "library")";

} // namespace

TEST_CASE("preset: its switch adds, at NCCL's part of the ring's rate") {
  const std::string node = R"("nodes": 1, "preset": "dgx_h100")";
  const double rate = 0.85 * 370.8e9;
  CHECK(seconds_of(text(node, kNvls)) ==
        within(kCompute + 25e-6 + kBytes * (1 + 1.0 / 8) / rate, 1e-9));
  CHECK(default_of(text(node, kNvls), "/cluster/nvls_Bps") == "3.1518e+11, node type dgx_h100");
  CHECK(default_of(text(node, kLibrary), "/cluster/nvls_Bps") == ""); // reads no such key
  const Scenario one = scenario(text(node, kNvls));
  const Scenario again = scenario(io::pretty(scenario_tree(one)));
  CHECK(io::pretty(scenario_tree(again)) == io::pretty(scenario_tree(one)));
  CHECK(problem_of(text(R"("nodes": 1, "preset": "dgx_a100")", kNvls)).find("give nvls_Bps") !=
        std::string::npos);
}

TEST_CASE("preset: every number of the node type that decides a time is shown") {
  for (const std::string& collective : {kLibrary, std::string(R"("collective": "two_level")")}) {
    const std::string own = text(R"("nodes": 4, "preset": "dgx_h100")", collective);
    CHECK(default_of(own, "/cluster/nics_per_node") == "8, node type dgx_h100");
    CHECK(default_of(own, "/cluster/gpus_per_node") == "8, node type dgx_h100");
    CHECK(default_of(own, "/cluster/network").find(R"("bandwidth_Bps":)") != std::string::npos);
    const io::Json written = io::parse_json(own, "test.json");
    const std::string shown = defaults_text(defaults_that_decide(written, scenario(own)));
    for (const char* part : {"nics_per_node 8", "gpus_per_node 8", "intra_network of node type",
                             "network of node type dgx_h100"}) {
      CAPTURE(part);
      CHECK(shown.find(part) != std::string::npos);
    }
    // The interfaces multiply another network, too.
    const std::string slow = text(
        R"("nodes": 4, "preset": "dgx_h100", "network": {"calibration": "25g-tcp"})", collective);
    CHECK(default_of(slow, "/cluster/nics_per_node") == "8, node type dgx_h100");
    CHECK(default_of(slow, "/cluster/network") == "");
    const std::string shared = text(
        R"("nodes": 4, "preset": "dgx_h100", "nics_per_node": 1, "network": {"calibration": "25g-tcp"})",
        collective);
    CHECK(seconds_of(slow) - kCompute < 0.5 * (seconds_of(shared) - kCompute));
  }
  // One node crosses no interface.
  const std::string one = text(R"("nodes": 1, "preset": "dgx_h100")", kLibrary);
  CHECK(default_of(one, "/cluster/nics_per_node") == "");
  CHECK(default_of(one, "/cluster/network") == "");
}

TEST_CASE("preset: a rate of the switch beside it wins and is listed") {
  const std::string node = R"("nodes": 1, "preset": "dgx_h100", "nvls_Bps": 3e11)";
  CHECK(seconds_of(text(node, kNvls)) ==
        within(kCompute + 25e-6 + kBytes * (1 + 1.0 / 8) / 3e11, 1e-9));
  const auto overrides = scenario(text(node, kNvls)).cluster.overrides;
  CHECK(std::ranges::find(overrides, "/cluster/nvls_Bps", &Override::pointer) != overrides.end());
}

TEST_CASE("preset: NVLink domains join its machines") {
  const auto domain = [](std::int64_t nodes, const std::string& more = "") {
    return exchange_of(
               scenario(text(R"("preset": "gb200_nvl72", "nodes": )" + std::to_string(nodes) + more,
                             R"("collective": "two_level")")))
        .links.two_level->gpus_per_node;
  };
  CHECK(domain(36) == 18 * 4);
  CHECK(domain(6) == 6 * 4);
  CHECK(domain(20) == 4); // no whole domains
  CHECK(domain(36, R"(, "nvlink_domain_nodes": 2)") == 2 * 4);
  const std::string racks =
      text(R"("preset": "gb200_nvl72", "nodes": 36)", R"("collective": "two_level")");
  CHECK(default_of(racks, "/cluster/nvlink_domain_nodes") == "18, node type gb200_nvl72");
}

TEST_CASE("preset: the library takes domains that are given") {
  const auto gpus = [](const std::string& more) {
    const Scenario one = scenario(text(R"("preset": "gb200_nvl72", "nodes": 36)" + more, kLibrary));
    const nccl::LibraryQuestion& question = *one.communication.question;
    return nccl::layout_of(question.node, question.shape).gpus;
  };
  CHECK(gpus("") == 72);
  CHECK(gpus(R"(, "nvlink_domain_nodes": 1)") == 4);
}

TEST_CASE("preset: on a simulated network the topology has the cables, and no domains") {
  const Scenario one =
      scenario(text(R"("preset": "gb200_nvl72", "nodes": 36, "network": {"model": "flow"})",
                    R"("collective": "ring")"));
  CHECK(one.cluster.nvlink_domain_nodes == 1);
  CHECK(exchange_of(one).links.two_level->gpus_per_node == 4);
}

// One bucket: all that differs is the time of its exchange, whose logarithm is moved by its
// standard deviation; 1.2816 such moves of the step are the interval.
TEST_CASE("library: the iteration time has the interval of its exchanges") {
  const Result result = run_text(text(R"("preset": "dgx_h100", "nodes": 4)", kLibrary));
  nccl::LibraryQuestion question = *result.scenario->communication.question;
  question.bytes = kBytes;
  const nccl::LibraryRecord record = nccl::predict(question);
  CHECK(*result.summary.iteration_time_s == within(kCompute + record.seconds, 1e-9));
  const double deviation = std::log(record.interval.high / record.seconds) / 1.96;
  const double step_s = kCompute + record.seconds;
  const auto end = [&](double sign) {
    const double moved_s = std::max(record.bound_s, record.seconds * std::exp(sign * deviation));
    return step_s * std::pow((kCompute + moved_s) / step_s, 1.2816);
  };
  CHECK(*result.summary.iteration_time_low_s == within(end(-1), 1e-9));
  CHECK(*result.summary.iteration_time_high_s == within(end(1), 1e-9));
  CHECK(*result.summary.interval_level == 0.8);
  CHECK(result.summary.interval_parts.size() == 1);
  CHECK(result.summary.interval_parts.front().factor == kLibraryOfInterval);
  CHECK(result.summary.interval_parts.front().share == within(1, 1e-12));
}

// 1.2816 deviations of the logarithm to each side hold what lies between low and high; a rate of
// the scenario is known.
TEST_CASE(
    "library: a rate that differs between machines of a node type is a part of the interval") {
  const auto run = [](const std::string& more) {
    return run_text(text(R"("preset": "rtx4090x4", "nodes": 1)" + more, kLibrary)).summary;
  };
  const Summary summary = run("");
  const auto ring = std::ranges::find(summary.interval_parts, "ring_Bps", &IntervalPart::factor);
  REQUIRE(ring != summary.interval_parts.end());
  const double deviation = std::log(24.5e9 / 8.26e9) / 2.5631;
  for (const auto& [sign, moved] : {std::pair{1, ring->at_high}, std::pair{-1, ring->at_low}}) {
    const double rate = 10.4e9 * std::exp(sign * deviation);
    const Summary known =
        run(R"(, "intra_network": {"bandwidth_Bps": )" + std::to_string(rate) + "}");
    CHECK(moved == within(std::log(*known.iteration_time_s / *summary.iteration_time_s), 1e-3));
    CHECK(known.interval_parts.size() + 1 == summary.interval_parts.size());
  }
}

// The estimate of computing is a part of its own, whose squares add up with those of the library.
TEST_CASE("library: under ideal conditions the interval has exchanges and computing as parts") {
  const std::string estimated =
      R"({"workload": {"model": "bert_large", "gpu": "h100", "batch_size": 8},
          "cluster": {"preset": "dgx_h100", "nodes": 4}})";
  const Summary summary = run_text(estimated).summary;
  CHECK(summary.interval_parts.size() == 2);
  double up = 0;
  double down = 0;
  for (const IntervalPart& part : summary.interval_parts) {
    up += std::pow(std::max({0.0, part.at_high, part.at_low}), 2);
    down += std::pow(std::min({0.0, part.at_high, part.at_low}), 2);
  }
  CHECK(std::log(*summary.iteration_time_high_s / *summary.iteration_time_s) ==
        within(1.2816 * std::sqrt(up), 1e-9));
  CHECK(std::log(*summary.iteration_time_s / *summary.iteration_time_low_s) ==
        within(1.2816 * std::sqrt(down), 1e-9));
}

TEST_CASE("library: a planner that takes start-up and data apart says that the cost is no line") {
  const auto linear = [](const std::string& collective, const std::string& schedule) {
    return run_text(text(R"("preset": "dgx_h100", "nodes": 4)",
                         collective + R"(, "schedule": ")" + schedule + "\""))
        .summary.merge_linear;
  };
  CHECK((linear(kLibrary, "asc_wfbp") == std::optional(false)));
  CHECK((linear(R"("collective": "two_level")", "asc_wfbp") == std::optional(true)));
  CHECK((linear(kLibrary, "optimal") == std::nullopt)); // takes any cost
}
