#pragma once
// A sparse exchange with error feedback on given numbers (kind sparse_semantics, SPA 7): what is
// selected, every merge, the result, residuals under both masks, what is lost.
//   {"method", "ranks", "dims", "k", "residual_mask"?, "gradients": [iteration][rank],
//    "initial_residual"?: [rank], "expected"?}
// A vector is a list of `dims` numbers or {"index": [..], "value": [..]}. The algorithm is that of
// coll/operators/error_feedback.hpp; here it is only read, run and written.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coll/operators/error_feedback.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct SemanticsFile {
  std::string name;
  coll::SparseMethod method{};
  std::uint32_t ranks = 1;
  std::int64_t dims = 1;
  std::uint32_t k = 1;
  coll::ResidualMask mask = coll::ResidualMask::final;
  std::vector<std::vector<coll::SparseVector>> gradients; // [iteration][rank]
  std::vector<coll::SparseVector> initial_residual;       // [rank]
  io::Json expected;                                      // null: nothing to compare with
};

// Throws InputError with all problems (SPA 14).
[[nodiscard]] SemanticsFile parse_semantics(const io::Json& tree);

// One step per iteration, each from the residuals that the mask left in the one before. Throws
// SimulationError where a sum leaves the range of double.
[[nodiscard]] std::vector<coll::FeedbackStep> run_semantics(const SemanticsFile& file);

// {"name", "method", .., "iterations": [{"selected", "rounds", "final", "update",
// "residual_by_mask", "lost", "conservation_error_by_mask", "references"}]}; vectors are sparse.
[[nodiscard]] io::Json semantics_tree(const SemanticsFile& file,
                                      std::span<const coll::FeedbackStep> steps);

struct Difference {
  std::string pointer; // into the file: /expected/iterations/0/final/index/1
  std::string message; // "expected 1, got 2"
};
// The first place in the order of the file where `expected` and the output differ. `expected` holds
// any subset: keys may be missing, null stands for anything, `iterations` may end early; other
// lists are whole. Whole numbers are compared exactly, others within 1e-12 of the larger. Throws
// InputError for keys that no output has.
[[nodiscard]] std::optional<Difference> first_difference(const SemanticsFile& file,
                                                         const io::Json& output);

[[nodiscard]] std::vector<std::string> semantics_warnings(const SemanticsFile& file);

} // namespace stepsim::study
