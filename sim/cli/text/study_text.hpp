#pragma once
// The text of `stepsim study`, at most 25 lines, and the sentences and tables that its page has,
// too.
#include <string>
#include <vector>

#include "cli/shell/document.hpp"
#include "study/trace_study.hpp"

namespace stepsim::cli {

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

} // namespace stepsim::cli
