// Every collective bit by bit, by every variant, plainly and as a captured graph, before anything
// is timed (CAL 7.2). A way that CUDA refuses, or that gives a wrong result, fails alone. Initial
// values are such that sums are exact in fp32 in any order, so that one expected vector serves all
// algorithms. Ranks and sizes include one rank, powers of two and others, no element, and fewer
// elements than ranks.
#include <algorithm>
#include <cstring>

#include "calibrate/cuda/collective_parts.cuh"
#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::uint32_t kVerifiedRanks[] = {1, 2, 3, 4, 5, 7, 8, 13, 16};

void check_rank(const RankSet& set, const PlanRequest& request, std::uint32_t rank,
                const std::vector<float>& expected, const std::string& what) {
  const std::int64_t n = request.elements;
  if (!set.guards_intact(rank, n)) {
    throw SimulationError(what + " rank=" + std::to_string(rank) +
                          ": words before or after the buffers were overwritten");
  }
  if (n == 0 || !has_result(request.op, rank)) {
    return;
  }
  const std::vector<float> got = set.read(rank, n);
  if (std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0) {
    return;
  }
  std::size_t index = 0;
  while (std::memcmp(&got[index], &expected[index], sizeof(float)) == 0) {
    ++index;
  }
  throw SimulationError(what + " rank=" + std::to_string(rank) + " index=" + std::to_string(index) +
                        ": got " + std::to_string(got[index]) + ", expected " +
                        std::to_string(expected[index]));
}

void verify(RankSet& set, const PlanRequest& request, Variant variant, bool graph,
            const std::vector<std::vector<float>>& x, const std::vector<float>& expected) {
  const CollectivePlan plan = make_plan(request);
  set.fill(x);
  if (graph && !plan.operations.empty()) {
    const Graph captured = set.capture(plan, variant, 0);
    captured.launch(set.main());
    set.main().synchronize();
  } else {
    set.enqueue(plan, variant, 0);
    set.main().synchronize();
  }
  const std::string what = text(request, variant, graph);
  for (std::uint32_t rank = 0; rank < request.ranks; ++rank) {
    check_rank(set, request, rank, expected, what);
  }
}

std::vector<std::vector<float>> initial_vectors(std::uint32_t ranks, std::int64_t n) {
  std::vector<std::vector<float>> x(ranks, std::vector<float>(static_cast<std::size_t>(n)));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::int64_t i = 0; i < n; ++i) {
      x[rank][static_cast<std::size_t>(i)] = initial_value(rank, i);
    }
  }
  return x;
}

std::vector<float> expected_vector(collectives::Op op, std::uint32_t ranks, std::int64_t n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = expected_value(op, ranks, i);
  }
  return values;
}

// Takes a way out of the ways that are used, and says why.
void refuse(Measurement& measurement, const Way& way, const std::string& reason, bool wrong) {
  measurement.refused.insert(way.text());
  measurement.say(way.text() + " cannot be used: " + reason);
  measurement.records(
      line(UnusableRecord{std::string(name(way.variant)), way.launch(), reason, wrong},
           measurement.same_device));
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
    std::vector<std::int64_t> sizes{0, 1, p - 1, p, capacity};
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    for (const std::int64_t n : sizes) {
      const std::vector<std::vector<float>> x = initial_vectors(ranks, n);
      for (const PlanKind& kind : plan_kinds()) {
        const std::vector<float> expected = expected_vector(kind.op, ranks, n);
        PlanRequest request;
        request.op = kind.op;
        request.algorithm = kind.algorithm;
        request.ranks = ranks;
        request.elements = n;
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
            verify(set, request, way.variant, way.graph, x, expected);
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
  measurement.records(line(VerifiedRecord{"collectives", cases}, measurement.same_device));
  return true;
}

} // namespace stepsim::calibrate::gpu
