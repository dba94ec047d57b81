#pragma once
// Files of kind overlap (TRN 3.5, keys in keys/overlap_keys.hpp), and the two keys that they share
// with /training/overlap of a scenario.

#include "document/reader.hpp"
#include "programs/training_program.hpp"

namespace stepsim::io {

// Factors >= 1 on times while computing and an exchange of one rank overlap; empty if not given.
struct Slowdowns {
  std::optional<std::array<double, programs::kKindCount>> compute; // [kind of operation]
  std::optional<double> exchange;
};
// Reads factors by kind of operation; `noun` is what a kind is called, `known` are those that may
// have one. A kind that is not named has the factor of `*`, else 1.
using KindFactors = std::array<double, programs::kKindCount>;
[[nodiscard]] KindFactors factors_by_kind(const Json& json, std::string_view noun,
                                          const std::vector<std::string_view>& known,
                                          Problems& problems);
// Reads `compute`, one factor or factors by kind of operation, and `exchange`. A kind that is not
// named has the factor of `*`, else 1.
[[nodiscard]] Slowdowns read_slowdowns(Fields& fields);
// Returns an object with both keys; `compute` is one number if all kinds have the same factor, else
// it has those of `kinds`.
[[nodiscard]] Object slowdown_tree(const programs::Interference& interference,
                                   std::span<const std::string_view> kinds);

struct OverlapQuality {
  std::int64_t rows{};
  double median_error{}, max_error{}; // |predicted / measured - 1|
};
struct OverlapConstants {
  double startup_s{}, per_byte_s{};
  double compute = 1; // slowdown, >= 1
};
struct OverlapFold {
  std::string left_out;
  OverlapConstants constants;
  OverlapQuality quality; // errors on the rows left out
};
struct OverlapStep {
  std::string schedule, left_out;     // left_out: the fold that the step belongs to
  double step_s{}, predicted_s{};     // measured; with the constants fitted to all rows
  std::optional<double> held_out_s{}; // with constants fitted without the fold of the step
};

// The output of `fit-overlap`.
struct OverlapFit {
  std::string name, source;
  OverlapConstants constants{};
  OverlapQuality quality{}; // errors on all rows, with constants fitted to all rows
  std::string leave_out{};  // pointer of the key that tells the folds apart; "": no folds
  std::vector<OverlapFold> folds{};
  std::vector<OverlapStep> steps{};
};
[[nodiscard]] Json to_json(const OverlapFit& fit);

// The part of a file of kind overlap that a scenario uses.
struct OverlapFile {
  std::string source;
  programs::Interference interference;
  std::optional<std::int64_t> rows; // number of measured steps of the fit; empty if not given
};
// Throws InputError with all problems.
[[nodiscard]] OverlapFile parse_overlap(const Json& json);

} // namespace stepsim::io
