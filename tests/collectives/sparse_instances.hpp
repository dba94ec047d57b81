#pragma once
// Random sparse vectors for tests: small integers with many ties and zeros (sums are exact), or
// doubles.
#include <map>
#include <vector>

#include "base/random.hpp"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::collectives {

inline std::vector<double> random_dense(base::RandomStream& random, std::size_t dims,
                                        bool integers) {
  std::vector<double> dense(dims);
  for (double& value : dense) {
    value = integers ? static_cast<double>(random.integer(-6, 6))
                     : (random.integer(0, 3) == 0 ? 0.0 : random.uniform(-1, 1));
  }
  return dense;
}

inline SparseVector sparse_of(const std::map<std::uint32_t, double>& entries) {
  SparseVector out;
  for (const auto& [index, value] : entries) {
    if (value != 0) {
      out.indices.push_back(index);
      out.values.push_back(value);
    }
  }
  return out;
}

inline std::map<std::uint32_t, double> map_of(const SparseVector& vector) {
  std::map<std::uint32_t, double> out;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    out[vector.indices[i]] = vector.values[i];
  }
  return out;
}

} // namespace stepsim::collectives
