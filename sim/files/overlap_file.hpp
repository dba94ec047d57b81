#pragma once
// Files of kind overlap (TRN 3.5), whose rows are in keys/overlap_keys.hpp, and the two keys that
// they share with /training/overlap of a scenario.
#include <optional>
#include <string>
#include <vector>

#include "program/training_program.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

// Slowdowns as far as they are given.
struct Slowdowns {
  std::optional<std::array<double, program::kKindCount>> compute; // by kind of operation
  std::optional<double> exchange;
};
// Reads `compute`, one number or numbers by kind, and `exchange`.
[[nodiscard]] Slowdowns read_slowdowns(Fields& fields);
// The two keys, `compute` as one number where all kinds have the same.
[[nodiscard]] Object slowdown_tree(const program::Interference& interference);

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
  OverlapQuality quality; // of the rows left out
};
struct OverlapStep {
  std::string schedule, left_out;
  double step_s{}, predicted_s{};
  std::optional<double> held_out_s;
};

// What `fit-overlap` writes.
struct OverlapFit {
  std::string name, source;
  OverlapConstants constants{};
  OverlapQuality quality{}; // of all rows, which the constants are fitted to
  std::string leave_out{};
  std::vector<OverlapFold> folds{};
  std::vector<OverlapStep> steps{};
};
[[nodiscard]] Json to_json(const OverlapFit& fit);

// What a scenario takes from a file of kind overlap. Throws InputError with all problems found.
struct OverlapFile {
  std::string source;
  program::Interference interference;
  std::optional<std::int64_t> rows;
};
[[nodiscard]] OverlapFile parse_overlap(const Json& json);

} // namespace stepsim::io
