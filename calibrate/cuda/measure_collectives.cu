// Collectives, timed by every variant that works, launched plainly and as one captured graph (CAL
// 7.1, 7.2).
#include "calibrate/cuda/collective_parts.cuh"
#include "calibrate/cuda/kernels.cuh"
#include "collectives/record.hpp"

namespace stepsim::calibrate::gpu {

namespace {

// Buffers that repetitions go round: a graph is captured for each of them.
constexpr std::int64_t kMostSets = std::int64_t{1} << 16;
constexpr std::int64_t kMostGraphSets = 8;

// As many places as it takes to touch twice the cache between two uses of one, at most kMostSets
// or kMostGraphSets and as far as the vectors go. With one place, repetitions of small collectives
// read what the last one left in the cache. Strides are multiples of 64 elements, so that every
// place is aligned and has lines of the cache for itself.
Sets sets_for(const Measurement& measurement, const RankSet& ranks, std::int64_t elements,
              bool graph) {
  Sets sets;
  sets.stride = (elements + 63) / 64 * 64;
  if (elements > 0) {
    const std::int64_t touched = 2 * ranks.ranks() * sets.stride *
                                 static_cast<std::int64_t>(sizeof(float)) / measurement.devices;
    const std::int64_t wanted = 2 * measurement.l2_bytes / touched + 1;
    const std::int64_t room = (ranks.capacity() - elements) / sets.stride + 1;
    sets.count =
        std::clamp<std::int64_t>(std::min(wanted, room), 1, graph ? kMostGraphSets : kMostSets);
    sets.cold = sets.count * touched >= 2 * measurement.l2_bytes;
  }
  return sets;
}

CollectivePlan ping_pong_plan(std::int64_t elements) {
  return traffic_plan(elements, kMessages, std::vector<Round>{{{0, 1}}, {{1, 0}}});
}

// The collective, or messages between two of the ranks in its place.
Block<CollectiveRecord> block_of(const Measurement& measurement, RankSet& ranks,
                                 const PlanRequest& request, const Way& way, bool ping_pong) {
  const Sets sets = sets_for(measurement, ranks, request.elements, way.graph);
  const bool lp = request.algorithm == collectives::AlgorithmId::lp;
  return {(ping_pong ? "pingpong " : "") + text(request, way),
          {.op = ping_pong ? "pingpong" : std::string(collectives::name(request.op)),
           .algorithm = ping_pong ? "" : std::string(collectives::name(request.algorithm)),
           .variant = std::string(name(way.variant)),
           .launch = way.launch(),
           .ranks = ping_pong ? 2 : request.ranks,
           .bytes = request.elements * kElement,
           .block_bytes = lp ? request.block_elements * kElement : 0,
           .sets = static_cast<std::uint32_t>(sets.count),
           .cache = sets.cold ? kCold : kWarm},
          [=, &ranks] {
            return opened(ranks, ping_pong ? ping_pong_plan(request.elements) : make_plan(request),
                          way, sets);
          },
          ping_pong ? 2.0 * kMessages : 1.0};
}

// Latency, seconds per byte and seconds per added byte from one small message, one large message
// and one addition. Only the block size of `lp` hangs on it, so that one sample after a warm-up is
// enough. The difference of both messages is kept above 0 if noise hides it.
void estimate_link(Measurement& measurement, RankSet& ranks, Variant variant,
                   PlanRequest& request) {
  const std::int64_t large = std::min<std::int64_t>(ranks.capacity(), std::int64_t{1} << 24);
  const auto message = [&](std::int64_t elements) {
    const CollectivePlan plan = ping_pong_plan(elements);
    return seconds_of(ranks.main(), [&](std::int64_t) { ranks.enqueue(plan, variant, 0); }) /
           (2.0 * kMessages);
  };
  const double bytes = static_cast<double>(large) * sizeof(float);
  const double least = message(1);
  const double most = message(large);
  const double adding = seconds_of(
      ranks.main(), [&](std::int64_t) { add(ranks.x(0), ranks.temp(0), large, ranks.main()); });
  request.link.latency_s = request.link.block_latency_s = least;
  request.link.per_byte_s = std::max(most - least, 0.01 * most) / bytes;
  request.reduction_s_per_byte = adding / bytes;
  measurement.say("two ranks: " + base::significant(1e6 * least, 3) + " us per message, " +
                  base::significant(1e-9 / request.link.per_byte_s, 3) + " GB/s; adding " +
                  base::significant(1e-9 / request.reduction_s_per_byte, 3) + " GB/s");
}

} // namespace

void measure_collectives(Measurement& measurement, double seconds) {
  const std::uint32_t ranks = measurement.ranks;
  if (ranks < 2) {
    measurement.say("collectives of one rank do nothing: not timed");
    return;
  }
  const std::int64_t capacity = std::min({kMostCollectiveBytes / 4, measurement.free_bytes / 8 / 4,
                                          fitting_capacity(measurement, ranks)});
  if (capacity < kMostCollectiveBytes / 4) {
    measurement.say("sizes cut to " + std::to_string(4 * capacity) + " B, to fit the memory");
  }
  const bool staging = measurement.devices > 1;
  RankSet set(ranks, measurement.devices, capacity, staging);
  set.zero();
  PlanRequest base;
  base.ranks = ranks;
  warm_up(set.main(),
          [&](std::int64_t) { add(set.x(0), set.temp(0), set.capacity(), set.main()); });
  const std::vector<Way> ways = usable_ways(measurement, set);
  if (ways.empty()) {
    measurement.note("collectives: only copies through the host can be used: not timed");
    return;
  }
  if (!set.without_staging().empty()) {
    measurement.note("host_staged is not timed: " + set.without_staging());
  } else if (std::ranges::find(ways, Variant::host_staged, &Way::variant) != ways.end()) {
    measurement.note("host_staged: both copies of a message run on the stream of its sender, so "
                     "that a sender's next message waits until the last one has arrived");
  }
  estimate_link(measurement, set, ways.front().variant, base);
  const std::int64_t given = measurement.options.block_bytes / kElement;
  std::int64_t left_out = 0; // sizes
  std::vector<Block<CollectiveRecord>> blocks;
  for (const std::int64_t size :
       collective_sizes(4 * capacity, ranks, measurement.options.dense, measurement.options.seed)) {
    base.elements = size / 4;
    const bool with_lp = given == 0 || has_few_blocks(base.elements, given);
    left_out += with_lp ? 0 : 1;
    for (const Way& way : ways) {
      if (size == 0 && way.graph) {
        continue; // no nodes
      }
      if (size > 0) {
        blocks.push_back(block_of(measurement, set, base, way, true));
      }
      for (const Kind& kind : dense_kinds()) {
        const bool lp = kind.algorithm == collectives::AlgorithmId::lp;
        if (lp && !with_lp) {
          continue;
        }
        PlanRequest request = base;
        request.op = kind.op;
        request.algorithm = kind.algorithm;
        if (lp && size > 0) {
          request.block_elements = given > 0 ? given : best_block(request);
        }
        blocks.push_back(block_of(measurement, set, request, way, false));
      }
    }
  }
  if (left_out > 0) {
    const std::string note = "lp: " + std::to_string(left_out) + " sizes of more than " +
                             std::to_string(kMostBlocks) + " blocks of " +
                             std::to_string(measurement.options.block_bytes) + " B left out";
    measurement.note(note);
  }
  measurement.say("collectives: " + std::to_string(blocks.size()) +
                  " blocks to time, P=" + std::to_string(ranks) + " on " +
                  std::to_string(measurement.devices) + " device(s)");
  time_blocks(measurement, set.main(), blocks, seconds, "collectives");
}

} // namespace stepsim::calibrate::gpu
