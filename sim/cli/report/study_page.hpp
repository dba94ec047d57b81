#pragma once
// The page of HTML that `stepsim study` writes.
#include <string>

#include "study/trace_study.hpp"

namespace stepsim::cli {

// The page asks for no other file. `footer`: version and command.
[[nodiscard]] std::string study_page(const study::TraceStudy& study, const std::string& footer);

} // namespace stepsim::cli
