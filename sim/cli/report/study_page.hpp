#pragma once
// The page of HTML that `stepsim study` writes.
#include <string>

#include "plot/figure.hpp"
#include "study/trace_study.hpp"

namespace stepsim::cli {

// The step by the number of GPUs with its band, and the measured one.
[[nodiscard]] plot::Figure step_curve(const study::TraceStudy& study);

// The page asks for no other file. `footer`: version and command.
[[nodiscard]] std::string study_page(const study::TraceStudy& study, const std::string& footer);

} // namespace stepsim::cli
