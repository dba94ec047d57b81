// Messages between the ranks of every pair, one way, there and back, and both ways at once, and
// between all neighbours at once (CAL 7, 8.4): what the link between two devices is follows from
// these times (gpu_links.hpp). As graphs where CUDA takes them, so that calls of the host do not
// count as latency.
#include <algorithm>

#include "calibrate/cuda/collective_parts.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::size_t kMostPairs = 120; // of 16 ranks

struct PairBlock {
  Measurement* measurement;
  const Traffic* traffic;
  std::string kind;
  Direction direction;
  std::int64_t elements{};

  [[nodiscard]] std::vector<Traffic::Round> rounds() const {
    const Direction back{direction.dst, direction.src};
    if (kind == "pingpong") {
      return {{direction}, {back}};
    }
    if (kind == "exchange") {
      return {{direction, back}};
    }
    if (kind == "one_way") {
      return {{direction}};
    }
    Traffic::Round shift;
    for (std::uint32_t rank = 0; rank < traffic->ranks; ++rank) {
      shift.push_back({rank, (rank + 1) % traffic->ranks});
    }
    return {shift};
  }
  [[nodiscard]] Traffic::Call open() const { return traffic->open(rounds(), elements); }
  [[nodiscard]] std::string text() const {
    return kind + " " + traffic->variant + " " + traffic->launch + " " +
           std::to_string(direction.src) + " to " + std::to_string(direction.dst) +
           " n=" + std::to_string(elements);
  }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    measurement->write_times(PairRecord{kind, traffic->variant, traffic->launch, direction.src,
                                        direction.dst, elements * kElement},
                             pass, repeats, seconds,
                             kMessages * static_cast<double>(rounds().size()));
  }
};

} // namespace

void measure_traffic(Measurement& measurement, const Traffic& traffic, double seconds) {
  std::vector<PairBlock> blocks;
  const auto add = [&](const char* kind, Direction direction, std::int64_t elements) {
    blocks.push_back({&measurement, &traffic, kind, direction, elements});
  };
  for (const auto& [a, b] : sampled_pairs(traffic.ranks, kMostPairs, measurement.options.seed)) {
    add("one_way", {a, b}, traffic.elements);
    add("one_way", {b, a}, traffic.elements);
    add("pingpong", {a, b}, 1);
    add("exchange", {a, b}, traffic.elements);
  }
  add("shift", {0, 0}, traffic.elements);
  measurement.say("pairs: " + std::to_string(blocks.size()) + " blocks to time by " +
                  traffic.variant + " " + traffic.launch);
  time_blocks(measurement, *traffic.stream, blocks, seconds, "pairs");
}

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
  const auto found = std::ranges::find(ways, true, &Way::graph);
  const Way way = found != ways.end() ? *found : ways.front();
  set.zero();
  const auto open = [&set, way](const std::vector<Traffic::Round>& rounds, std::int64_t n) {
    const auto [src, dst] = rounds.front().front();
    CollectivePlan plan = rounds.size() == 2 ? ping_pong_plan(n, kMessages, src, dst)
                                             : traffic_plan(n, kMessages, rounds.front());
    if (way.graph) {
      auto graph = std::make_shared<Graph>(set.capture(plan, way.variant, 0));
      return Traffic::Call([graph, &set](std::int64_t) { graph->launch(set.main()); });
    }
    return Traffic::Call(
        [plan = std::move(plan), &set, way](std::int64_t) { set.enqueue(plan, way.variant, 0); });
  };
  measure_traffic(measurement,
                  {std::string(name(way.variant)), way.launch(), devices, &set.main(), large, open},
                  seconds);
}

} // namespace stepsim::calibrate::gpu
