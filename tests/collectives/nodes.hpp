#pragma once
// Clusters of nodes for tests: N x G ranks with R cards, and the links of CLU 16.3.
#include "collectives/point.hpp"

namespace stepsim::collectives::test {

struct Shape {
  std::uint32_t nodes{}, gpus{}, cards{};
  [[nodiscard]] std::uint32_t ranks() const { return nodes * gpus; }
};

inline constexpr double kAlphaInside = 2e-6;
inline constexpr double kBetaInside = 1 / 300e9;
inline constexpr double kAlphaAcross = 8e-6;
inline constexpr double kBetaAcross = 1 / 25e9;

inline Collective on_nodes(Op op, AlgorithmId algorithm, const Shape& shape, double bytes,
                           double gamma = 0) {
  Collective collective =
      point(op, algorithm, shape.ranks(), bytes, {kAlphaAcross, kBetaAcross, gamma});
  collective.links.two_level =
      TwoLevel{shape.gpus, shape.cards, {kAlphaInside, kAlphaInside, kBetaInside}};
  return collective;
}

} // namespace stepsim::collectives::test
