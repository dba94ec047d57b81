#include "collectives/operators/sparse_vector.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <set>

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

SparseVector added(const SparseVector& a, const SparseVector& b) {
  SparseVector out;
  out.indices.reserve(a.size() + b.size());
  out.values.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool from_a = j == b.size() || (i < a.size() && a.indices[i] <= b.indices[j]);
    const bool from_b = i == a.size() || (j < b.size() && b.indices[j] <= a.indices[i]);
    const std::uint32_t index = from_a ? a.indices[i] : b.indices[j];
    const double value_a = from_a ? a.values[i++] : 0.0;
    const double value_b = from_b ? b.values[j++] : 0.0;
    push(out, index, value_a + value_b);
  }
  return out;
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
  assert(dense.size() <= std::size_t{1} << 32 && "indices have 32 bits");
  std::vector<double> magnitudes;
  magnitudes.reserve(dense.size());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (!std::isfinite(dense[i])) {
      throw SimulationError("the value at index " + std::to_string(i) + " is not finite");
    }
    if (dense[i] != 0) {
      magnitudes.push_back(std::abs(dense[i]));
    }
  }
  Cut cut = cut_at(magnitudes, k);
  SparseVector out;
  out.indices.reserve(std::min<std::size_t>(k, magnitudes.size()));
  out.values.reserve(out.indices.capacity());
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (dense[i] != 0 && cut.takes(std::abs(dense[i]))) {
      push(out, static_cast<std::uint32_t>(i), dense[i]);
    }
  }
  return out;
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
  return select_top_k(added(a, b), k);
}

SparseVector sparse_sum(std::span<const SparseVector> vectors) {
  if (vectors.size() == 2) {
    return added(vectors[0], vectors[1]);
  }
  // The next entry of each vector: by index, then by vector.
  struct Next {
    std::uint32_t index;
    std::size_t vector;
    bool operator>(const Next& other) const {
      return index != other.index ? index > other.index : vector > other.vector;
    }
  };
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::vector<std::size_t> position(vectors.size(), 0);
  const auto enqueue = [&](std::size_t v) {
    if (position[v] < vectors[v].size()) {
      queue.push({vectors[v].indices[position[v]], v});
    }
  };
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    enqueue(v);
  }
  SparseVector out;
  while (!queue.empty()) {
    const std::uint32_t index = queue.top().index;
    double sum = 0;
    while (!queue.empty() && queue.top().index == index) {
      const std::size_t v = queue.top().vector;
      queue.pop();
      sum += vectors[v].values[position[v]++];
      enqueue(v);
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
