#include "calibrate/cuda/job_pairs.cuh"

#include <algorithm>

#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::size_t kMostPairs = 120; // of 16 ranks

// Timed messages of one pair of ranks in the form that time_blocks() takes.
struct JobPairBlock {
  using OneCall = void;

  Measurement* measurement;
  const Traffic* traffic;
  std::string kind;
  Direction direction;
  std::int64_t elements{};

  // The directions that are used at once, one list after the other.
  [[nodiscard]] std::vector<std::vector<Direction>> rounds() const {
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
    std::vector<Direction> shift;
    const std::uint32_t ranks = measurement->job.ranks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      shift.push_back({rank, (rank + 1) % ranks});
    }
    return {shift};
  }
  [[nodiscard]] auto open() const {
    return [of = rounds(), traffic = traffic, n = elements](std::int64_t) {
      for (int i = 0; i < kMessages; ++i) {
        for (const std::vector<Direction>& directions : of) {
          traffic->messages(directions, n);
        }
      }
    };
  }
  [[nodiscard]] std::string text() const {
    return kind + " " + traffic->variant + " " + std::to_string(direction.src) + " to " +
           std::to_string(direction.dst) + " n=" + std::to_string(elements);
  }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    record_messages(*measurement,
                    {kind, traffic->variant, "plain", direction.src, direction.dst,
                     elements * kElement, pass, repeats},
                    rounds().size(), seconds);
  }
};

std::vector<Direction> pairs_of(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<Direction> all;
  for (std::uint32_t src = 0; src < ranks; ++src) {
    for (std::uint32_t dst = src + 1; dst < ranks; ++dst) {
      all.push_back({src, dst});
    }
  }
  if (all.size() <= kMostPairs) {
    return all;
  }
  std::vector<Direction> sample;
  const std::vector<std::size_t> order = visit_order(all.size(), 0, seed);
  for (std::size_t i = 0; i < kMostPairs; ++i) {
    sample.push_back(all[order[i]]);
  }
  return sample;
}

} // namespace

void measure_job_pairs(Measurement& measurement, const Traffic& traffic, double seconds) {
  const std::int64_t large = std::min(kLargeMessage, traffic.capacity);
  std::vector<JobPairBlock> blocks;
  const auto add = [&](const char* kind, Direction direction, std::int64_t elements) {
    blocks.push_back({&measurement, &traffic, kind, direction, elements});
  };
  for (const Direction& pair : pairs_of(measurement.job.ranks, measurement.options.seed)) {
    add("one_way", pair, large);
    add("one_way", {pair.dst, pair.src}, large);
    add("pingpong", pair, 1);
    add("exchange", pair, large);
  }
  add("shift", {0, 0}, large);
  measurement.say("pairs of ranks: " + std::to_string(blocks.size()) + " blocks to time by " +
                  traffic.variant);
  time_blocks(measurement, *traffic.stream, blocks, seconds, "pairs");
}

} // namespace stepsim::calibrate::gpu
