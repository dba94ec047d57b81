#include "collectives/operators/global_top_k.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>

namespace stepsim::collectives {

namespace {

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
