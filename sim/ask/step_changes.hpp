#pragma once
// What a step would take with one change to the scenario, and what may explain that a measured step
// takes longer (TRN 7.4, 8.3). A change is a list of POINTER=VALUE as --set takes them; every one
// is a run of its own, so that its time is that of `stepsim run --set`, to the last digit.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "programs/explained.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Iteration time of the scenario in `tree` with the changes, s; empty where the scenario does not
// take them or their run fails.
[[nodiscard]] std::optional<double>
changed_step_s(const io::Json& tree, const std::vector<std::string>& set, Files& files);

// Every change that the scenario takes and that gains or loses something, the largest gain first.
// `step_s`: of the unchanged run. `progress` is called before every run; may be empty.
[[nodiscard]] std::vector<WhatIf>
what_if_lines(const io::Json& tree, const Scenario& scenario, double step_s, Files& files,
              const std::function<void(std::int64_t done, std::int64_t total)>& progress = {});

// Causes of a step of `measured_s`, the one that explains most first; none if it is not longer than
// `step_s`. Causes that change nothing are left out.
[[nodiscard]] Measured measured_causes(const io::Json& tree, const Scenario& scenario,
                                       double step_s, double measured_s, Files& files);

} // namespace stepsim::study
