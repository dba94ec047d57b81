#pragma once
// One run as a page: the answer in a sentence, what was assumed, where the time goes, what happens
// when, what would help most (REP 7), and the scenario, which runs again.
#include <string>
#include <vector>

#include "programs/explained.hpp"
#include "run/result.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

struct ReportedRun {
  study::Result result;               // with defaults, files and warnings
  std::vector<study::WhatIf> what_if; // the largest gain first
  std::vector<std::string> sentences; // of `explain`; empty where it has none
  io::Json scenario;                  // resolved; file names relative to the page
};

// `footer`: version, command and, where asked for, a date.
[[nodiscard]] std::string result_page(const ReportedRun& run, const std::string& footer);

} // namespace stepsim::cli
