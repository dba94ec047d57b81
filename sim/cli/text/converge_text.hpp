#pragma once
// The curves of `stepsim converge --problem logistic` as a table, JSON, JSON Lines (one curve per
// line) and CSV (one point per row).
#include <string>
#include <vector>

#include "cli/shell/app.hpp"
#include "lab/converge_scenario.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

struct NamedCurve {
  io::Object varied;                     // field name, value
  std::vector<std::string> varied_cells; // in the same order
  study::Curve curve;
  std::string error; // why there is no curve; "" if there is one
};

struct Curves {
  std::vector<std::string> varied; // names of the varied fields
  std::vector<NamedCurve> curves;  // at least one
};

// Sorts by the time to the target, then by the loss when the first of the curves ends; curves that
// failed come last.
void sort_best_first(Curves& found);

// The curves in the asked format; `warnings` are part of JSON only. JSON without varied fields is
// the one curve, with no list around it.
[[nodiscard]] std::string curves_text(Format format, const Curves& found,
                                      const study::CurveOptions& options,
                                      const std::vector<std::string>& warnings);

} // namespace stepsim::cli
