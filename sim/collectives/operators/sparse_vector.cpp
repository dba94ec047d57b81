#include "collectives/operators/sparse_vector.hpp"

#include "base/error.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <set>

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

// Clears the entries whose index `list` lacks.
void keep_present(const SparseVector& selected, const SparseVector& list,
                  std::vector<bool>& survived) {
  for (std::size_t e = 0; e < selected.size(); ++e) {
    survived[e] = survived[e] && list.contains(selected.indices[e]);
  }
}

// The lists of all ranks, and what has become of their selections.
class TopKFold {
public:
  TopKFold(std::span<const SparseVector> selected, std::uint32_t k)
      : selected_(selected), k_(k), lists_(selected.begin(), selected.end()) {
    for (const SparseVector& each : selected) {
      out_.survived.emplace_back(each.size(), true);
    }
  }

  struct Pair {
    std::uint32_t rank{};
    std::uint32_t from{};
  };
  // All merges of a round read the lists of before it. `holder(p)` merges what p has contributed,
  // or has done so before and does nothing now.
  template <typename Holder> void round(std::span<const Pair> pairs, Holder holder) {
    std::vector<Merge>& merges = out_.rounds.emplace_back();
    for (const Pair& pair : pairs) {
      merges.push_back(
          {pair.rank, pair.from, merge_top_k(lists_[pair.rank], lists_[pair.from], k_)});
    }
    for (const Merge& merge : merges) {
      lists_[merge.rank] = merge.result;
    }
    for (std::uint32_t rank = 0; rank < selected_.size(); ++rank) {
      keep_present(selected_[rank], lists_[holder(rank)], out_.survived[rank]);
    }
  }

  GlobalTopK finish() {
    out_.result = std::move(lists_.front());
    return std::move(out_);
  }

private:
  std::span<const SparseVector> selected_;
  std::uint32_t k_;
  std::vector<SparseVector> lists_;
  GlobalTopK out_;
};

GlobalTopK tree(std::span<const SparseVector> selected, std::uint32_t k) {
  TopKFold fold(selected, k);
  const std::uint64_t ranks = selected.size();
  std::vector<TopKFold::Pair> pairs;
  for (std::uint64_t step = 1; step < ranks; step *= 2) {
    pairs.clear();
    for (std::uint64_t rank = 0; rank + step < ranks; rank += 2 * step) {
      pairs.push_back({static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(rank + step)});
    }
    fold.round(pairs, [&](std::uint32_t rank) { return rank - rank % (2 * step); });
  }
  return fold.finish();
}

GlobalTopK butterfly(std::span<const SparseVector> selected, std::uint32_t k) {
  TopKFold fold(selected, k);
  const auto ranks = static_cast<std::uint32_t>(selected.size());
  const std::uint32_t inner = std::bit_floor(ranks);
  const auto holder = [&](std::uint32_t rank) { return rank < inner ? rank : rank - inner; };
  std::vector<TopKFold::Pair> pairs;
  if (inner < ranks) {
    for (std::uint32_t rank = inner; rank < ranks; ++rank) {
      pairs.push_back({rank - inner, rank});
    }
    fold.round(pairs, holder);
  }
  for (std::uint32_t step = 1; step < inner; step *= 2) {
    pairs.clear();
    for (std::uint32_t rank = 0; rank < inner; ++rank) {
      pairs.push_back({rank, rank ^ step});
    }
    fold.round(pairs, holder);
  }
  return fold.finish();
}

GlobalTopK gathered(std::span<const SparseVector> selected) {
  GlobalTopK out;
  out.result = sparse_sum(selected);
  for (const SparseVector& each : selected) {
    out.survived.emplace_back(each.size(), true);
  }
  return out;
}

GlobalTopK exact(std::span<const SparseVector> selected, std::uint32_t k) {
  GlobalTopK out = gathered(selected);
  out.result = select_top_k(out.result, k);
  for (std::size_t rank = 0; rank < selected.size(); ++rank) {
    keep_present(selected[rank], out.result, out.survived[rank]);
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

GlobalTopK gtopk(SparseMethod method, std::span<const SparseVector> selected, std::uint32_t k) {
  assert(!selected.empty() && "at least one rank");
  assert(std::all_of(selected.begin(), selected.end(),
                     [&](const SparseVector& each) { return each.size() <= k; }) &&
         "a selection has at most k entries");
  switch (method) {
  case SparseMethod::topk:
    return gathered(selected);
  case SparseMethod::gtopk_tree:
    return tree(selected, k);
  case SparseMethod::gtopk_butterfly:
    return butterfly(selected, k);
  case SparseMethod::gtopk_exact:
    return exact(selected, k);
  }
  return {};
}

double gaussian_threshold(double density) {
  assert(density > 0 && density <= 1 && "a density");
  // By halving [0, 40]: erfc of its end is below every positive double.
  double low = 0;
  double high = 40;
  for (double middle = 20; low < middle && middle < high; middle = (low + high) / 2) {
    (std::erfc(middle / std::numbers::sqrt2) > density ? low : high) = middle;
  }
  return low;
}

} // namespace stepsim::collectives
