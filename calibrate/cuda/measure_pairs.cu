// Messages between the devices of every pair, one way, there and back, and both ways at once, and
// between all neighbours at once (CAL 7, 8.4): what the link between two devices is follows from
// these times (gpu_links.hpp). As graphs where CUDA takes them, so that calls of the host do not
// count as latency.
#include <algorithm>
#include <functional>
#include <memory>

#include "calibrate/cuda/collective_parts.cuh"
#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

namespace {

struct PairBlock {
  Measurement* measurement;
  RankSet* ranks;
  Way way;
  std::string kind;
  Direction direction;
  std::int64_t elements{};

  [[nodiscard]] CollectivePlan plan() const {
    const auto [src, dst] = direction;
    if (kind == "pingpong") {
      return ping_pong_plan(elements, kMessages, src, dst);
    }
    std::vector<Direction> directions{direction};
    if (kind == "exchange") {
      directions.push_back({dst, src});
    } else if (kind == "shift") {
      directions.clear();
      for (std::uint32_t rank = 0; rank < ranks->ranks(); ++rank) {
        directions.push_back({rank, (rank + 1) % ranks->ranks()});
      }
    }
    return traffic_plan(elements, kMessages, directions);
  }
  [[nodiscard]] std::function<void(std::int64_t)> open() const {
    if (way.graph) {
      auto graph = std::make_shared<Graph>(ranks->capture(plan(), way.variant, 0));
      return [graph, set = ranks](std::int64_t) { graph->launch(set->main()); };
    }
    return [of = plan(), set = ranks, variant = way.variant](std::int64_t) {
      set->enqueue(of, variant, 0);
    };
  }
  [[nodiscard]] std::string text() const {
    return kind + " " + way.text() + " " + std::to_string(direction.src) + " to " +
           std::to_string(direction.dst) + " n=" + std::to_string(elements);
  }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    record_messages(*measurement,
                    {kind, std::string(name(way.variant)), way.launch(), direction.src,
                     direction.dst, elements * kElement, pass, repeats},
                    kind == "pingpong" ? 2 : 1, seconds);
  }
};

} // namespace

void measure_pairs(Measurement& measurement, double seconds) {
  const auto devices = static_cast<std::uint32_t>(measurement.devices);
  if (devices < 2 || measurement.same_device) {
    return;
  }
  const std::int64_t large = std::min(kLargeMessage, fitting_capacity(measurement, devices));
  RankSet set(devices, measurement.devices, large, true);
  const std::vector<Way> ways = usable_ways(measurement, set);
  if (ways.empty()) {
    return;
  }
  const auto graph = std::ranges::find(ways, true, &Way::graph);
  const Way way = graph != ways.end() ? *graph : ways.front();
  set.zero();
  std::vector<PairBlock> blocks;
  const auto add = [&](const char* kind, Direction direction, std::int64_t elements) {
    blocks.push_back({&measurement, &set, way, kind, direction, elements});
  };
  for (std::uint32_t src = 0; src < devices; ++src) {
    for (std::uint32_t dst = 0; dst < devices; ++dst) {
      if (src == dst) {
        continue;
      }
      add("one_way", {src, dst}, large);
      if (src < dst) {
        add("pingpong", {src, dst}, 1);
        add("exchange", {src, dst}, large);
      }
    }
  }
  add("shift", {0, 0}, large);
  measurement.say("pairs of devices: " + std::to_string(blocks.size()) + " blocks to time by " +
                  way.text());
  time_blocks(measurement, set.main(), blocks, seconds, "pairs");
}

} // namespace stepsim::calibrate::gpu
