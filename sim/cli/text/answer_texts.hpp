#pragma once
// Writes the explanation of a program or scenario for the terminal: sentences first, then tables.

#include "cli/shell/document.hpp"
#include "run/flows_run.hpp"
#include "study/converge_scenario.hpp"
#include "study/trace_study.hpp"

namespace stepsim::cli {

// The output of `stepsim run` for a file of kind program: times, and how the period is spent by
// kind of operation and by link.
[[nodiscard]] std::string program_text(const study::Explained& explained);

// What the gain of a change is at 80 % of all sites, "9.1 % to 12 %"; "-" without a range.
[[nodiscard]] std::string gain_range_cell(const study::WhatIf& change);
// "not told apart" where the order of the two steps is not sure.
[[nodiscard]] std::string undecided_cell(const study::WhatIf& change);

// The output of `stepsim explain`.
[[nodiscard]] std::string explain_text(const study::Explained& explained);

// The text of `stepsim study`, at most 25 lines, and the sentences and tables that its page has,
// too.

// "mine: 76.90 ms a step, measured over 5 steps on 8 GPUs of one dgx_a100."
[[nodiscard]] std::string study_sentence(const study::TraceStudy& study);
// Parts below 0.5 % of the step are left out.
[[nodiscard]] Table gap_table(const study::TraceGap& gap);
// What is predicted of the trace's own machine with all that is carried, and of the half of the
// steps that the prediction has not seen.
[[nodiscard]] std::string carried_sentence(const study::TraceAnswer& answer);
// How well the library's model, fitted to logs, predicts what was left out of the fit.
[[nodiscard]] std::string library_sentence(const study::LibraryFromLogs& library);
[[nodiscard]] Table points_table(const study::TraceStudy& study);
// The best change of each effort, what the buckets would gain, and what to measure next.
[[nodiscard]] std::vector<std::string> help_sentences(const study::TraceStudy& study);

[[nodiscard]] std::string study_text(const study::TraceStudy& study);

// The output of `stepsim flows` for the terminal: summary, flows and links.

// Completion times (fct) are in ms, from the start of a flow to its last byte; starts are from time
// 0 of the simulation; loss and utilization are in percent. Long lists show only the 20 slowest
// flows and the 8 most used links; JSON has all of them.
[[nodiscard]] std::string flows_text(const study::FlowsFile& file,
                                     const study::FlowsResult& result);

// Writes the curves of `stepsim converge --problem logistic` as a table, JSON, JSON Lines (one
// curve per line) or CSV (one point per row).

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
