#pragma once
// Layer-wise sparsification behind backward (LAGS), and OMGS, which merges layers for it. A message
// is selected on the stream that also computes (or on a stream of its own), then sent; one at a
// time (MER 6.4, SPA 5). Messages in backward order, times from the start of backward:
//     compute   |--b4--|-s4-|--b3--|-s3-|--b2--| ..      selection delays backward
//     side      |--b4--|--b3--|--b2--| ..
//                      |-s4-| |-s3-|                     or does not
//     compute   selected(g) = backward end + select
//     side      selected(g) = max(selected(g-1), backward end) + select
//     both      start(g) = max(end(g-1), selected(g)); end(g) = start(g) + exchange
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct SparseItem { // backward order
  double backward_s{};
  double elements{};
};

// Seconds by elements (before selection); 0 for none. Called O(items) times per plan.
struct SparseCost {
  std::function<double(double elements)> select_s;
  std::function<double(double elements)> exchange_s;
};

enum class SelectStream { compute, side };

// Groups are runs: the lists hold the first item of each, ascending from 0. LAGS: one group per
// item (`wfbp`). OMGS joins group g to the next item i iff its message would wait less than one
// exchange saves over two:
//     backward(i) + select(g, i) - select(g) - select(i) - (start(g) - selected(g))
//       < exchange(g) + exchange(i) - exchange(g, i)
// A heuristic: it can lose to LAGS. Items without elements belong to the next group; the last ones
// are a group of their own. Source: SPA 5.
[[nodiscard]] std::vector<std::size_t> lags_groups(std::span<const SparseItem> items);
[[nodiscard]] std::vector<std::size_t> omgs_groups(std::span<const SparseItem> items,
                                                   const SparseCost& cost, SelectStream stream);

// The plan of these groups. Items without bytes send nothing; a group of them alone is left out.
[[nodiscard]] Plan plan_of_runs(const Problem& problem, std::span<const std::size_t> firsts);

} // namespace stepsim::plan
