// This program is built from kernels that may use instructions which fuse a multiplication and an
// addition, where the processor has such (CMakeLists.txt).
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "document/json_text.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "study/sweep/sweep_point.hpp"

using namespace stepsim;

namespace {

// Numbers with long fractions, so that a product that is not rounded shows.
io::Json scenario_of_thirds() {
  io::Json scenario = test::scenario();
  io::Array layers;
  for (int l = 1; l <= 20; ++l) {
    layers.push_back(io::Object{{"name", "l" + std::to_string(l)},
                                {"forward_s", 1e-4 / (l + 2)},
                                {"backward_s", 2e-4 / (l % 7 + 3)},
                                {"gradient_bytes", std::int64_t{4} * (l * 7919 % 601) * 997 + 4}});
  }
  io::assign(scenario, "/workload/layers", std::move(layers));
  io::assign(scenario, "/training/update_s", 1e-3 / 3);
  io::assign(scenario, "/cluster/network/efficiency", 0.9);
  io::assign(scenario, "/cluster/network/reduction_Bps", 7e10 / 3);
  return scenario;
}

std::vector<study::Axis> networks_and_schedules() {
  study::Axis nodes{"/cluster/nodes", {}};
  study::Axis latency{"/cluster/network/latency_s", {}};
  study::Axis bandwidth{"/cluster/network/bandwidth_Bps", {}};
  const study::Axis delay{"/cluster/network/delay_s", {io::Json(0), io::Json(1e-4 / 7)}};
  study::Axis schedule{"/communication/schedule", {}};
  for (const std::int64_t count : {2, 3, 7, 24, 300}) {
    nodes.values.emplace_back(count);
  }
  for (const double share : {3, 7, 11}) {
    latency.values.emplace_back(1e-4 / share);
    bandwidth.values.emplace_back(1e10 / share);
  }
  for (const char* word : {"wfbp", "single", "ddp", "mg_wfbp", "optimal"}) {
    schedule.values.emplace_back(word);
  }
  return {nodes, latency, bandwidth, delay, schedule};
}

} // namespace

TEST_CASE("fused: a sweep gives every record of the runs of its points") {
  const study::Sweep sweep = study::sweep_over(scenario_of_thirds(), networks_and_schedules());
  const std::int64_t points = sweep.grid.points();
  study::Files files(STEPSIM_SOURCE_DIR);
  study::PointRunner short_way(sweep, files);
  study::PointRunner long_way(sweep, files);
  long_way.use_long_way();
  const study::Records records(sweep, study::RecordFormat::jsonl);
  study::NumberTexts numbers;
  std::int64_t different = 0;
  for (std::int64_t point = 0; point < points; ++point) {
    const study::PointOutcome& slow = long_way.run(point);
    CHECK(slow.error == "");
    std::string a;
    std::string b;
    records.append(a, point, short_way.run(point), numbers);
    records.append(b, point, slow, numbers);
    different += test::same_record(a, b) ? 0 : 1;
  }
  CHECK(short_way.quick_points() == points);
  CHECK(long_way.quick_points() == 0);
  CHECK(different == 0);
}
