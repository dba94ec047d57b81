#pragma once
// One iteration of sparsified SGD with error feedback on all ranks (SPA 7):
//
//   acc_p = gradient_p + residual_p            what rank p still has to send
//   S_p = top k of acc_p                       what it sends
//   update = result / P                        `result` of the exchange of all S_p
//   residual_p = acc_p without the entries of S_p that were included in the result
//
// The mask decides which entries were "included". It matters for gtopk_tree and gtopk_butterfly
// only:
//   final      the index is in the result. Some entries are lost: an entry that was cut on the way,
//              while its index enters the result from other ranks, is neither applied nor returned.
//   per_round  the entry was in the merged list of every merge that it took part in. Then
//              sum_p acc_p = result + sum_p residual_p at every index.
// Both outcomes are computed from the same acc; the next iteration starts from the chosen one.

#include "collectives/compress/compression.hpp"
#include "collectives/operators/sparse_vector.hpp"

namespace stepsim::collectives {

struct LostEntry {
  std::uint32_t rank{};
  std::uint32_t index{};
  double value{};
  [[nodiscard]] bool operator==(const LostEntry&) const = default;
};

struct MaskOutcome {
  std::vector<SparseVector> residuals; // [rank]
  // max over indices of |sum of acc - result - sum of residuals|; exact for integers.
  double conservation_error{};
};

struct FeedbackStep {
  std::vector<SparseVector> accumulated; // acc, [rank]
  std::vector<SparseVector> selected;    // S, [rank]
  GlobalTopK global;
  SparseVector update;
  MaskOutcome final;
  MaskOutcome per_round;
  // Entries that `final` neither applies nor returns, by (rank, index). At every index they add up
  // to sum of acc - result - sum of residuals.
  std::vector<LostEntry> lost;
  ResidualMask mask{};

  [[nodiscard]] const MaskOutcome& outcome() const {
    return mask == ResidualMask::final ? final : per_round;
  }
};

// Runs one iteration with one gradient and one residual per rank, at least one rank (asserted).
// Throws SimulationError if a sum exceeds the range of double.
[[nodiscard]] FeedbackStep error_feedback_step(std::span<const SparseVector> gradients,
                                               std::span<const SparseVector> residuals,
                                               SparseMethod method, std::uint32_t k,
                                               ResidualMask mask);

} // namespace stepsim::collectives
