#pragma once
// The output of `stepsim semantics --json`. One table of keys makes the writer, the JSON Schema of
// kind sparse_semantics_result, and the schema of `expected` in a file of kind sparse_semantics.

#include "collectives/operators/error_feedback.hpp"
#include "document/fields/schema.hpp"

namespace stepsim::study {

// A sparse exchange with error feedback on given gradients (a file of kind sparse_semantics,
// SPA 7), and its expected result:
//
//   {"method", "ranks", "dims", "k", "residual_mask"?, "gradients": [iteration][rank],
//    "initial_residual"?: [rank], "expected"?}
//
// A vector is a list of `dims` numbers or {"index": [..], "value": [..]}.

struct SemanticsFile {
  std::string name;
  collectives::SparseMethod method{};
  std::uint32_t ranks = 1;
  std::int64_t dims = 1; // length of a dense vector
  std::uint32_t k = 1;   // entries that a rank selects and a merge keeps, <= dims
  collectives::ResidualMask mask =
      collectives::ResidualMask::final; // entries that return to the residual
  std::vector<std::vector<collectives::SparseVector>> gradients; // [iteration][rank]
  std::vector<collectives::SparseVector> initial_residual; // [rank]; empty vectors if not given
  io::Json expected;                                       // null if not given
};

// Throws InputError with all problems (SPA 14).
[[nodiscard]] SemanticsFile parse_semantics(const io::Json& tree);

// Compares `expected` of a sparse_semantics file with the output of the run (SPA 7).
//
// `expected` may be any part of the output: keys may be missing, null matches anything, and the
// list `iterations` may end early. All other lists must be complete. A vector is given by all its
// values or by its entries. Whole numbers must be equal; other numbers may differ by 1e-12 of the
// larger one.

struct Difference {
  std::string pointer; // JSON pointer into the file: /expected/iterations/0/final/index/1
  std::string message; // "expected 1, got 2"
};

// The first difference in the order of the file; empty if there is none. Throws InputError if
// `expected` has a key that no output has.
[[nodiscard]] std::optional<Difference> first_difference(const SemanticsFile& file,
                                                         const io::Json& output);

namespace keys {

// The keys of the result, which are also the keys that `expected` may have.
extern const std::array<io::Key, 7> kSemanticsResult;

} // namespace keys

// The output for `file`. `steps` has one element per iteration of the file.
[[nodiscard]] io::Json semantics_tree(const SemanticsFile& file,
                                      std::span<const collectives::FeedbackStep> steps);

// Adds three keys to the output: `matches_expected` (null if the file has no `expected`),
// `difference` (null if there is none) and `warnings` (semantics_warnings()).
void add_comparison(io::Json& tree, const SemanticsFile& file,
                    const std::optional<Difference>& difference);

[[nodiscard]] io::FileKind semantics_result_kind();

// Runs the iterations of a sparse_semantics file with the simulator's own operators, so that the
// checked exchange is the one that simulations assume (collectives/operators/error_feedback.hpp,
// SPA 7).

// Returns one step per iteration of the file. The first step starts with the file's initial
// residuals, every other one with those that the residual mask left after the step before. Throws
// SimulationError if a sum overflows a double.
[[nodiscard]] std::vector<collectives::FeedbackStep> run_semantics(const SemanticsFile& file);

// Returns warnings about messages that the exchange needs on a cluster but no model counts.
[[nodiscard]] std::vector<std::string> semantics_warnings(const SemanticsFile& file);

} // namespace stepsim::study
