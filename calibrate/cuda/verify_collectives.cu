// Every collective bit by bit, by every variant, plainly and as a captured graph, before anything
// is timed (CAL 7.2). A way that CUDA refuses, or that gives a wrong result, fails alone. Initial
// values are such that sums are exact in fp32 in any order, so that one expected vector serves all
// algorithms. Ranks and sizes include one rank, powers of two and others, no element, and fewer
// elements than ranks.
#include "calibrate/cuda/collective_parts.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::uint32_t kVerifiedRanks[] = {1, 2, 3, 4, 5, 7, 8, 13, 16};

void verify(RankSet& set, const PlanRequest& request, const Way& way,
            const std::vector<std::vector<float>>& x, const std::vector<float>& expected) {
  const CollectivePlan plan = make_plan(request);
  set.fill(x);
  opened(set, plan, {way.variant, way.graph && !plan.operations.empty()})(0);
  set.main().synchronize();
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    std::string problem;
    if (!set.guards_intact(rank, request.elements)) {
      problem = ": words before or after the buffers were overwritten";
    } else if (has_result(request.op, rank)) {
      problem = first_difference(set.read(rank, request.elements), expected);
    }
    if (!problem.empty()) {
      throw SimulationError(text(request, way) + " rank=" + std::to_string(rank) + problem);
    }
  }
}

// Takes a way out of the ways that are used, and says why.
void refuse(Measurement& measurement, const Way& way, const std::string& reason, bool wrong) {
  measurement.refused.insert(way.text());
  measurement.say(way.text() + " cannot be used: " + reason);
  measurement.write(UnusableRecord{std::string(name(way.variant)), way.launch(), reason, wrong});
  if (wrong && measurement.failed.empty()) {
    measurement.failed = reason;
  }
}

} // namespace

bool verify_collectives(Measurement& measurement) {
  const std::int64_t capacity = std::min(kMostChecked, fitting_capacity(measurement, 16));
  if (capacity < kMostChecked) {
    measurement.say("verification cut to " + std::to_string(capacity) + " elements: little memory");
  }
  RankSet set(16, measurement.devices, capacity, true);
  if (!set.without_staging().empty()) {
    for (const bool graph : {false, true}) {
      refuse(measurement, {Variant::host_staged, graph}, set.without_staging(), false);
    }
  }
  if (const std::string text = set.text_of_unreached(); !text.empty()) {
    measurement.note(text);
  }
  const std::int64_t block = measurement.options.block_bytes / kElement;
  std::int64_t cases = 0;
  for (const std::uint32_t ranks : kVerifiedRanks) {
    const std::int64_t p = ranks;
    for (const std::int64_t n : std::set<std::int64_t>{0, 1, p - 1, p, capacity}) {
      std::vector<std::vector<float>> x;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        x.push_back(initial_vector(rank, n));
      }
      for (const Kind& kind : dense_kinds()) {
        const std::vector<float> expected = expected_vector(kind.op, ranks, n);
        PlanRequest request{kind.op, kind.algorithm, ranks, n};
        if (kind.algorithm == collectives::AlgorithmId::lp && has_few_blocks(n, block)) {
          request.block_elements = block;
        }
        for (const Way& way : usable_ways(measurement, set)) {
          if (measurement.is_over()) {
            measurement.note("collectives: time was up after " + std::to_string(cases) +
                             " verified cases; not timed");
            return false;
          }
          try {
            verify(set, request, way, x, expected);
            ++cases;
          } catch (const CudaError& error) {
            refuse(measurement, way, error.what(), false);
          } catch (const DeviceLost&) {
            throw;
          } catch (const SimulationError& error) {
            refuse(measurement, way, error.what(), true);
          }
        }
      }
    }
  }
  if (usable_ways(measurement, set).empty()) {
    throw SimulationError("collectives: no way of copying can be used");
  }
  measurement.say("collectives: " + std::to_string(cases) + " cases verified bit by bit");
  measurement.write(VerifiedRecord{"collectives", cases});
  return true;
}

} // namespace stepsim::calibrate::gpu
