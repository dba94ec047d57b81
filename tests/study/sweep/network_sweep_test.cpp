// Simulated networks in sweeps and timelines.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "document/json_text.hpp"
#include "run/network_result.hpp"
#include "run/run.hpp"
#include "run/run_timeline.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "testing/paths.hpp"

using namespace stepsim;

namespace {

io::Json on_network(std::string_view model) {
  io::Json scenario = test::scenario();
  io::assign(scenario, "/cluster/network/model", std::string(model));
  io::assign(scenario, "/training/iterations", std::int64_t{3});
  if (model == "packet") {
    io::assign(scenario, "/cluster/network/packet",
               io::parse_json(R"({"transport": {"kind": "dctcp"}, "mtu_wire_bytes": 9000})",
                              "packet.json"));
  }
  return scenario;
}

study::Result run_of(const io::Json& tree) {
  study::Files files(STEPSIM_SOURCE_DIR);
  return study::run(study::parse_scenario(tree, files));
}

} // namespace

TEST_CASE("network sweep: one job and three write the same lines, at both levels") {
  const study::Sweep sweep = study::sweep_over(
      on_network("packet"),
      {study::Axis{"/cluster/network/model", {io::Json("flow"), io::Json("packet")}},
       study::Axis{"/cluster/nodes", {io::Json(2), io::Json(3), io::Json(5)}},
       study::Axis{"/training/algorithm", {io::Json("sync_sgd"), io::Json("parameter_server")}}});
  const std::string one = test::sweep_text(sweep, study::RecordFormat::jsonl);
  const std::vector<std::string> lines = test::lines_of(one);
  CHECK(std::ranges::count_if(lines, [](const std::string& line) {
          return line.find("\"error\":null") != std::string::npos;
        }) == 12);
  CHECK(one == test::sweep_text(sweep, study::RecordFormat::jsonl, {}, 3));
}

TEST_CASE("network timeline: counters of the busiest links begin and end at nothing") {
  for (const std::string model : {"flow", "packet"}) {
    for (const std::string algorithm : {"sync_sgd", "parameter_server"}) {
      CAPTURE(model);
      CAPTURE(algorithm);
      io::Json scenario = on_network(model);
      io::assign(scenario, "/training/algorithm", algorithm);
      const study::Result result = run_of(scenario);
      const events::Timeline timeline = study::timeline(result, {});
      std::map<std::string, std::vector<double>> counters;
      for (const events::CounterPoint& point : timeline.counters) {
        CHECK(timeline.node_names.at(point.node) == "network");
        CHECK(point.value >= 0);
        counters[point.name].push_back(point.value);
      }
      CHECK(counters.size() == study::kHotLinks);
      for (const auto& [name, values] : counters) {
        CAPTURE(name);
        CHECK(*std::ranges::max_element(values) > 0);
        CHECK(values.back() == 0);
        if (name.starts_with("use of ")) {
          CHECK(*std::ranges::max_element(values) <= 100 * (1 + 1e-9));
        }
      }
    }
  }
}

TEST_CASE("network timeline: without a topology there are no counters") {
  CHECK(study::timeline(run_of(test::scenario()), {}).counters.empty());
}

TEST_CASE("busiest links: by utilization, none that carried nothing") {
  std::vector<study::LinkResult> links(4);
  links[0] = {.bytes = 1, .busy_s = 1, .utilization = 0.2, .queue = {}};
  links[2] = {.bytes = 1, .busy_s = 1, .utilization = 0.9, .queue = {}};
  links[3] = {.bytes = 1, .busy_s = 1, .utilization = 0.9, .queue = {}};
  CHECK(study::busiest_links(links, 8) == std::vector<links::LinkId>{2, 3, 0});
  CHECK(study::busiest_links(links, 1) == std::vector<links::LinkId>{2});
}
