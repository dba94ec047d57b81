// Why a grid first: two curves may cross more than once, as the time of a pipeline grows with the
// root of the bytes at first, so that bisection over the whole range would lose crossings. Between
// two sizes of the grid it finds the first of them to a relative error of 1e-9.
#include "collectives/crossovers.hpp"

#include <cassert>
#include <cmath>

#include "collectives/choose.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {
namespace {

constexpr double kGridStep = 1.189207115002721; // 2^(1/4)
constexpr double kTolerance = 1e-9;             // relative, of a crossover
constexpr double kSameCost = 1e-12;             // relative, of two costs

// Given sizes of ranks keep their ratios; only the whole grows.
Collective resized(const Collective& collective, double bytes) {
  Collective result = collective;
  const double whole = total_bytes(collective);
  for (double& size : result.sizes) {
    size *= whole > 0 ? bytes / whole : 0;
  }
  result.bytes = bytes;
  result.options.chunking = Chunking::real;
  return result;
}

AlgorithmId winner(const Collective& collective, std::span<const AlgorithmId> algorithms,
                   double bytes) {
  const Collective point = resized(collective, bytes);
  AlgorithmId best = algorithms.front();
  double least = candidate_cost(point, best);
  for (const AlgorithmId algorithm : algorithms.subspan(1)) {
    if (const double cost = candidate_cost(point, algorithm); cost < least * (1 - kSameCost)) {
      best = algorithm;
      least = cost;
    }
  }
  return best;
}

} // namespace

std::vector<Crossover> find_crossovers(const Collective& collective,
                                       std::span<const AlgorithmId> algorithms, double low_bytes,
                                       double high_bytes) {
  assert(!algorithms.empty() && low_bytes > 0 && low_bytes <= high_bytes);
  std::vector<Crossover> found;
  double at = low_bytes;
  AlgorithmId here = winner(collective, algorithms, at);
  while (at < high_bytes) {
    const double next = std::min(at * kGridStep, high_bytes);
    const AlgorithmId there = winner(collective, algorithms, next);
    // A pair of neighbours may hide several changes: take the first, go on from it.
    while (here != there) {
      double low = at;
      double high = next;
      AlgorithmId above = there;
      while (high - low > kTolerance * high) {
        const double middle = std::sqrt(low * high);
        const AlgorithmId between = winner(collective, algorithms, middle);
        (between == here ? low : high) = middle;
        above = between == here ? above : between;
      }
      found.push_back({here, above, high});
      at = high;
      here = above;
    }
    at = next;
  }
  return found;
}

} // namespace stepsim::collectives
