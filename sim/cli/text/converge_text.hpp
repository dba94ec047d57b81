#pragma once
// Writes the curves of `stepsim converge --problem logistic` as a table, JSON, JSON Lines (one
// curve per line) or CSV (one point per row).
#include <string>
#include <vector>

#include "cli/shell/document.hpp"
#include "document/json.hpp"
#include "study/converge_scenario.hpp"

namespace stepsim::cli {

struct NamedCurve {
  io::Object varied;                     // field name, value
  std::vector<std::string> varied_cells; // values of `varied` as text
  study::Curve curve;
  std::string error; // reason for a missing curve; "" if there is one
};

struct Curves {
  std::vector<std::string> varied; // names of the varied fields
  std::vector<NamedCurve> curves;  // at least one
};

// Sorts by the time to the target, with curves that do not reach it behind the others, then by the
// loss at the time when the shortest curve ends; failed curves come last.
void sort_best_first(Curves& found);

// The curves as a document; JSON has the warnings of all curves, too. Without varied fields, JSON
// is the one curve, without a list. Both arguments must outlive the document.
[[nodiscard]] Document curves_document(const Curves& found, const study::CurveOptions& options);

} // namespace stepsim::cli
