#pragma once
// Rows of `compare` and `sweep` as a table for the terminal: varied fields in handy units, times,
// efficiency, bottleneck; the best row is marked by a word, a failed one by its error.
#include <span>
#include <string>
#include <string_view>

#include "io/json.hpp"

namespace stepsim::cli {

// `varied`: names of the varied fields. Rows are flat records; a ratio is shown where they have
// one.
[[nodiscard]] std::string record_table(std::span<const io::Json> rows,
                                       std::span<const std::string> varied);

// Columns of `compare --algorithms` and what they mean, for help.
struct AlgorithmColumn {
  std::string_view heading;
  std::string_view meaning;
};
[[nodiscard]] std::span<const AlgorithmColumn> algorithm_columns();

// Rows of `compare --algorithms`: a block per combination of the varied fields, what each algorithm
// takes, sends and assumes.
[[nodiscard]] std::string algorithm_table(std::span<const io::Json> rows,
                                          std::span<const std::string> varied);

} // namespace stepsim::cli
