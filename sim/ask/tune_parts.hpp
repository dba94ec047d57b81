#pragma once
// The pieces of `tune`. Internal to study.
#include <cstdint>
#include <vector>

#include "ask/tune.hpp"
#include "plan/planner_options.hpp"
#include "plan/planners.hpp"
#include "plan/problem.hpp"

namespace stepsim::study {

// Values of bucket_bytes or of Horovod's fusion_bytes, one for every plan that any value
// makes. A rule compares sums of neighbouring gradients with the value; from one value on, the plan
// stays until the value passes the next of the sums that the rule compared.
[[nodiscard]] std::vector<std::int64_t> plan_changes(const plan::Problem& problem,
                                                     plan::Schedule schedule,
                                                     const plan::ScheduleOptions& options);

// The scenario with each value in turn; warnings are added, each once.
[[nodiscard]] std::vector<TunePoint> run_points(const io::Json& scenario,
                                                const std::string& pointer,
                                                const std::vector<io::Json>& values, Files& files,
                                                const RowsOptions& options,
                                                std::vector<std::string>& warnings);

[[nodiscard]] Tuning tune_density(const TuneProblem& problem, const TuneValues& values,
                                  Files& files, const RowsOptions& options);

} // namespace stepsim::study
