#include "collectives/operators/sparse_vector.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace stepsim::collectives {

namespace {

// Appends an entry unless it is zero.
void push(SparseVector& out, std::uint32_t index, double value) {
  if (!std::isfinite(value)) {
    throw SimulationError("the value at index " + std::to_string(index) + " is not finite");
  }
  if (value != 0) {
    out.indices.push_back(index);
    out.values.push_back(value);
  }
}

// What is smaller than the k-th largest magnitude is out, what is larger is in; of equal ones the
// first indices fill what is left. `magnitudes` (of non-zeros) is reordered.
struct Cut {
  double threshold = 0;
  std::size_t ties = std::numeric_limits<std::size_t>::max(); // at the threshold, that still fit

  [[nodiscard]] bool takes(double magnitude) {
    return magnitude > threshold || (magnitude == threshold && ties > 0 && ties-- > 0);
  }
};

Cut cut_at(std::vector<double>& magnitudes, std::uint32_t k) {
  if (magnitudes.size() <= k) {
    return {};
  }
  if (k == 0) {
    return {std::numeric_limits<double>::infinity(), 0};
  }
  const auto last = magnitudes.begin() + (std::int64_t{k} - 1);
  std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>());
  const auto larger =
      std::count_if(magnitudes.begin(), last, [&](double magnitude) { return magnitude > *last; });
  return {*last, k - static_cast<std::size_t>(larger)};
}

} // namespace

bool SparseVector::contains(std::uint32_t index) const {
  return std::binary_search(indices.begin(), indices.end(), index);
}

double SparseVector::at(std::uint32_t index) const {
  const auto found = std::lower_bound(indices.begin(), indices.end(), index);
  return found != indices.end() && *found == index
             ? values[static_cast<std::size_t>(found - indices.begin())]
             : 0.0;
}

std::vector<SparseProblem> sparse_problems(std::span<const std::int64_t> indices,
                                           std::span<const double> values, std::int64_t dims) {
  assert(indices.size() == values.size() && "as many values as indices");
  using Part = SparseProblem::Part;
  std::vector<SparseProblem> problems;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::string index = std::to_string(indices[i]);
    if (indices[i] < 0) {
      problems.push_back({Part::index, i, "index " + index + " is negative"});
    } else if (indices[i] >= dims) {
      problems.push_back(
          {Part::index, i, "index " + index + " is not below dims " + std::to_string(dims)});
    }
    if (!seen.insert(indices[i]).second) {
      problems.push_back({Part::index, i, "duplicate index " + index});
    } else if (i > 0 && indices[i] < indices[i - 1]) {
      problems.push_back({Part::index, i,
                          "index " + index + " after " + std::to_string(indices[i - 1]) +
                              "; indices must be ascending"});
    }
    if (!std::isfinite(values[i])) {
      problems.push_back({Part::value, i, "value must be finite"});
    }
  }
  return problems;
}

SparseVector make_sparse(std::span<const std::int64_t> indices, std::span<const double> values,
                         std::int64_t dims) {
  assert(dims <= std::int64_t{1} << 32 && "indices have 32 bits");
  const std::vector<SparseProblem> problems = sparse_problems(indices, values, dims);
  if (!problems.empty()) {
    throw SimulationError(problems.front().message);
  }
  SparseVector out;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    push(out, static_cast<std::uint32_t>(indices[i]), values[i]);
  }
  return out;
}

SparseVector to_sparse(std::span<const double> dense) {
  assert(dense.size() <= std::size_t{1} << 32 && "indices have 32 bits");
  SparseVector out;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    push(out, static_cast<std::uint32_t>(i), dense[i]);
  }
  return out;
}

std::vector<double> to_dense(const SparseVector& vector, std::size_t dims) {
  std::vector<double> out(dims, 0.0);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    assert(vector.indices[i] < dims && "an index lies outside the vector");
    out[vector.indices[i]] = vector.values[i];
  }
  return out;
}

SparseVector select_top_k(std::span<const double> dense, std::uint32_t k) {
  return select_top_k(to_sparse(dense), k);
}

SparseVector select_top_k(const SparseVector& vector, std::uint32_t k) {
  if (vector.size() <= k) {
    return vector;
  }
  std::vector<double> magnitudes(vector.size());
  std::transform(vector.values.begin(), vector.values.end(), magnitudes.begin(),
                 [](double value) { return std::abs(value); });
  Cut cut = cut_at(magnitudes, k);
  SparseVector out;
  out.indices.reserve(k);
  out.values.reserve(k);
  for (std::size_t i = 0; i < vector.size(); ++i) {
    if (cut.takes(std::abs(vector.values[i]))) {
      push(out, vector.indices[i], vector.values[i]);
    }
  }
  return out;
}

SparseVector merge_top_k(const SparseVector& a, const SparseVector& b, std::uint32_t k) {
  return select_top_k(sparse_sum(std::array{a, b}), k);
}

SparseVector sparse_sum(std::span<const SparseVector> vectors) {
  std::vector<std::pair<std::uint32_t, double>> entries; // index and value
  for (const SparseVector& vector : vectors) {
    for (std::size_t i = 0; i < vector.size(); ++i) {
      entries.emplace_back(vector.indices[i], vector.values[i]);
    }
  }
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.first; });
  SparseVector out;
  for (auto next = entries.begin(); next != entries.end();) {
    const std::uint32_t index = next->first;
    double sum = 0;
    for (; next != entries.end() && next->first == index; ++next) {
      sum += next->second;
    }
    push(out, index, sum);
  }
  return out;
}

SparseVector divided(const SparseVector& vector, double divisor) {
  SparseVector out;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    push(out, vector.indices[i], vector.values[i] / divisor);
  }
  return out;
}

} // namespace stepsim::collectives
