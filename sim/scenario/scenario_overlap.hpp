#pragma once
// Reads and writes /training/overlap of a scenario and its short form compute_slowdown (TRN 3).

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads both keys into `scenario.training.overlap`. Given numbers have priority, then those of the
// key `file`, then, for compute alone, that of the row of overlap_rows() which the key `table`
// names.
void parse_overlap(io::Fields& training, const ParseContext& context, Scenario& scenario);
// Reports settings that do not work with a slowdown, so that a result never ignores it silently.
void check_overlap(const io::Json& tree, const ParseContext& context, const Scenario& scenario);
// Adds the keys to the resolved training.
void add_overlap(const Scenario& scenario, io::Json& tree);

// The slowdown of compute, if it is the same for all kinds of compute and exchanges are not slowed;
// else empty.
[[nodiscard]] std::optional<double> one_slowdown(const programs::Interference& overlap);

// Shipped slowdowns of compute next to an exchange (TRN 3.3), by the device and the library that
// moves the data, with the source of each value.

struct OverlapRow {
  std::string_view name;   // DEVICE/LIBRARY
  double compute{};        // factor on compute times during an exchange, >= 1
  std::string_view label;  // "derived" or "measured"
  std::string_view source; // what it was derived from
};

[[nodiscard]] std::span<const OverlapRow> overlap_rows();
[[nodiscard]] std::vector<std::string_view> overlap_names();

} // namespace stepsim::study
