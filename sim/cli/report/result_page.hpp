#pragma once
// One run as an HTML page: the answer in a sentence, assumptions, the parts of a step, a timeline,
// the changes that would help most (REP 7), and the scenario, which can be run again.
#include <string>
#include <vector>

#include "document/json.hpp"
#include "run/result.hpp"
#include "study/explained.hpp"

namespace stepsim::cli {

struct ReportedRun {
  study::Result result;               // with defaults, files and warnings
  std::vector<study::WhatIf> what_if; // the largest gain first
  // As from `explain`; empty if there is no program to explain. The page has them above the table
  // of `what_if`, and not without it.
  std::vector<std::string> sentences;
  io::Json scenario; // resolved; file names relative to the page
};

// `footer` has the version, the command and, if requested, a date.
[[nodiscard]] std::string result_page(const ReportedRun& run, const std::string& footer);

} // namespace stepsim::cli
