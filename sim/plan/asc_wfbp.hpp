#pragma once
// ASC-WFBP: merging for a channel that carries several messages at once (MER 6.1).
#include <string>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;
struct Sending;
struct SendInput;
struct SendTimes;

// Groups for `concurrency` messages at once; a linear cost. A local search: it can miss the best
// plan. Each round evaluates a plan per item; rounds go on while one gains.
[[nodiscard]] Plan plan_asc_wfbp(const Problem& problem, const ScheduleOptions& options);

// At most `concurrency` messages at once, started in launch order; while k of them move data each
// takes 1 + contention (k - 1) times as long (MER 6.1).
void send_at_once(const Sending& sending, const SendInput& input, SendTimes& times);

// "2 all-reduces at once move 1.33 times the bandwidth of one".
[[nodiscard]] std::string asc_wfbp_settings(const ScheduleOptions& options);

} // namespace stepsim::plan
