// Messages between the ranks of every pair, one way, there and back, and both ways at once, and
// between all neighbours at once (CAL 7, 8.4): what the link between two devices is follows from
// these times (gpu_links.hpp). As graphs where CUDA takes them, so that calls of the host do not
// count as latency.
#include "calibrate/cuda/collective_parts.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::size_t kMostPairs = 120; // of 16 ranks

} // namespace

void measure_traffic(Measurement& measurement, const Traffic& traffic, double seconds) {
  std::vector<Block<PairRecord>> blocks;
  const auto add = [&](const std::string& kind, const std::vector<Round>& rounds,
                       std::int64_t elements) {
    const auto [src, dst] = kind == "shift" ? Direction{} : rounds.front().front();
    blocks.push_back({kind + " " + traffic.variant + " " + traffic.launch + " " +
                          std::to_string(src) + " to " + std::to_string(dst) +
                          " n=" + std::to_string(elements),
                      {kind, traffic.variant, traffic.launch, src, dst, elements * kElement},
                      [=, &traffic] { return traffic.open(rounds, elements); },
                      kMessages * static_cast<double>(rounds.size())});
  };
  for (const auto& [a, b] : sampled_pairs(traffic.ranks, kMostPairs, measurement.options.seed)) {
    add("one_way", {{{a, b}}}, traffic.elements);
    add("one_way", {{{b, a}}}, traffic.elements);
    add("pingpong", {{{a, b}}, {{b, a}}}, 1);
    add("exchange", {{{a, b}, {b, a}}}, traffic.elements);
  }
  Round shift;
  for (std::uint32_t rank = 0; rank < traffic.ranks; ++rank) {
    shift.push_back({rank, (rank + 1) % traffic.ranks});
  }
  add("shift", {shift}, traffic.elements);
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
  const Way way = preferred(ways);
  set.zero();
  const auto open = [&set, way](const std::vector<Round>& rounds, std::int64_t n) {
    return opened(set, traffic_plan(n, kMessages, rounds), way);
  };
  measure_traffic(measurement,
                  {std::string(name(way.variant)), way.launch(), devices, &set.main(), large, open},
                  seconds);
}

} // namespace stepsim::calibrate::gpu
