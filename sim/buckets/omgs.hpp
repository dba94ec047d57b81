#pragma once
// Layer-wise sparsification during backward (LAGS), and OMGS, which merges layers for it. A message
// is selected on the stream that also computes (`compute`) or on a separate stream (`side`), then
// sent; one message is sent at a time (MER 6.4, SPA 5). Messages are in backward order; times count
// from the start of backward:
//     compute   |--b4--|-s4-|--b3--|-s3-|--b2--| ..      selection delays backward
//     side      |--b4--|--b3--|--b2--| ..
//                      |-s4-| |-s3-|                     selection runs next to backward
//     compute   selected(g) = backward end + select
//     side      selected(g) = max(selected(g-1), backward end) + select
//     both      start(g) = max(end(g-1), selected(g)); end(g) = start(g) + exchange

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct SparseItem { // backward order
  double backward_s{};
  double elements{};
};

// Seconds of a message as functions of its elements before selection; 0 for no elements. A planner
// calls them O(items) times per plan.
struct SparseCost {
  std::function<double(double elements)> select_s;
  std::function<double(double elements)> exchange_s;
};

enum class SelectStream { compute, side };

// Return groups as runs: the list holds the first item of each, ascending from 0. LAGS has one
// group per item (as `wfbp`). OMGS joins group g and the next item i iff their message would wait
// for less time than one exchange saves over two:
//     backward(i) + select(g, i) - select(g) - select(i) - (start(g) - selected(g))
//       < exchange(g) + exchange(i) - exchange(g, i)
// This is a heuristic, which can be slower than LAGS. Items without elements belong to the next
// group; such items at the end form a group. Source: SPA 5.
[[nodiscard]] std::vector<std::size_t> lags_groups(std::span<const SparseItem> items);
[[nodiscard]] std::vector<std::size_t> omgs_groups(std::span<const SparseItem> items,
                                                   const SparseCost& cost, SelectStream stream);

// Returns the plan of these groups. Items without bytes send nothing; a group of such items only is
// left out.
[[nodiscard]] Plan plan_of_runs(const Problem& problem, std::span<const std::size_t> firsts);

} // namespace stepsim::buckets
