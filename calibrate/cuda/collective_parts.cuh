#pragma once
// Functions for both the verification and the timing of collectives: the ways of copying, the names
// of cases and the length of vectors.

#include "calibrate/cuda/measurement.cuh"
#include "calibrate/cuda/run_plan.cuh"

namespace stepsim::calibrate::gpu {

// How data are copied, and whether as plain launches or as one captured graph.
struct Way {
  Variant variant = Variant::copy_engine;
  bool graph = false;
  [[nodiscard]] std::string launch() const { return graph ? "graph" : "plain"; }
  [[nodiscard]] std::string text() const { return std::string(name(variant)) + " " + launch(); }
};

// The ways that this machine can use, without the ways in measurement.refused; plain before graph.
[[nodiscard]] inline std::vector<Way> usable_ways(const Measurement& measurement,
                                                  const RankSet& set) {
  std::vector<Way> ways;
  for (const Variant variant : kVariants) {
    for (const bool graph : {false, true}) {
      const Way way{variant, graph};
      if (set.can(variant) && !measurement.refused.contains(way.text())) {
        ways.push_back(way);
      }
    }
  }
  return ways;
}

// A graph where there is one, so that calls of the host do not count as latency. Needs a way.
[[nodiscard]] inline Way preferred(const std::vector<Way>& ways) {
  const auto graph = std::ranges::find(ways, true, &Way::graph);
  return graph != ways.end() ? *graph : ways.front();
}

// Where repetitions find their buffers: `count` places in each vector, far enough apart.
struct Sets {
  std::int64_t count = 1;
  std::int64_t stride{}; // elements
  bool cold = false;     // twice the cache is touched between two uses of one
  [[nodiscard]] std::int64_t offset(std::int64_t repetition) const {
    return repetition % count * stride;
  }
};

// The plan as a call on the main stream of `set`. A graph has its addresses built in, so that one
// is captured here for each place.
[[nodiscard]] inline Call opened(RankSet& set, const CollectivePlan& plan, const Way& way,
                                 const Sets& sets = {}) {
  if (!way.graph) {
    return [=, &set](std::int64_t repetition) {
      set.enqueue(plan, way.variant, sets.offset(repetition));
    };
  }
  auto graphs = std::make_shared<std::vector<Graph>>();
  for (std::int64_t i = 0; i < sets.count; ++i) {
    graphs->push_back(set.capture(plan, way.variant, sets.offset(i)));
  }
  return [=, &set](std::int64_t repetition) {
    (*graphs)[static_cast<std::size_t>(repetition % sets.count)].launch(set.main());
  };
}

// "allreduce ring copy_engine plain P=8 n=1000": names a case in errors and notes.
[[nodiscard]] inline std::string text(const PlanRequest& request, const Way& way) {
  return std::string(collectives::name(request.op)) + " " +
         std::string(collectives::name(request.algorithm)) + " " + way.text() +
         " P=" + std::to_string(request.ranks) + " n=" + std::to_string(request.elements);
}

// The greatest length at which the vectors of all ranks fit in half of the free device memory
// [floats per vector]. Every rank has two vectors, x and temp, and a device holds at most
// ceil(ranks / devices) ranks.
[[nodiscard]] inline std::int64_t fitting_capacity(const Measurement& measurement,
                                                   std::uint32_t ranks) {
  const std::int64_t per_device = (ranks + measurement.devices - 1) / measurement.devices;
  return measurement.free_bytes / 2 / (2 * per_device) / static_cast<std::int64_t>(sizeof(float));
}

// Messages between ranks by one way of sending them.
struct Traffic {
  std::string variant, launch;    // of the records
  std::uint32_t ranks{};          // of the messages
  const Stream* stream = nullptr; // of the current device
  std::int64_t elements{};        // of a large message
  // What enqueues kMessages times one or two rounds on `stream`, one round after the other, with
  // messages of so many elements. In a job all ranks call both functions with the same arguments.
  std::function<Call(const std::vector<Round>&, std::int64_t elements)> open;
};
// Times and records the messages of pairs of ranks (one_way in each direction, pingpong, exchange;
// see PairRecord) and the shift of all ranks: all pairs of up to 16 ranks, 120 random pairs of
// more. `seconds` limits the timing.
void measure_traffic(Measurement& measurement, const Traffic& traffic, double seconds);

} // namespace stepsim::calibrate::gpu
