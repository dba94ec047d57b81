#pragma once
// A sparse exchange with error feedback on given gradients (a file of kind sparse_semantics,
// SPA 7), and its expected result:
//
//   {"method", "ranks", "dims", "k", "residual_mask"?, "gradients": [iteration][rank],
//    "initial_residual"?: [rank], "expected"?}
//
// A vector is a list of `dims` numbers or {"index": [..], "value": [..]}.
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/operators/error_feedback.hpp"
#include "document/json.hpp"

namespace stepsim::study {

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

} // namespace stepsim::study
