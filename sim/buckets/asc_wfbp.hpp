#pragma once
// ASC-WFBP: merging for a channel that carries several messages at once (MER 6.1).
#include <string>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;
struct Sending;
struct SendInput;
struct SendTimes;

// Merges for `concurrency` messages at once; needs a linear cost. A local search, which can miss
// the best plan: each round evaluates one plan per item, and rounds continue while the plan
// improves.
[[nodiscard]] Plan plan_asc_wfbp(const Problem& problem, const ScheduleOptions& options);

// Sends at most `concurrency` messages at once, in launch order; while k messages move data, each
// takes 1 + contention (k - 1) times as long (MER 6.1).
void send_at_once(const Sending& sending, const SendInput& input, SendTimes& times);

// Returns, for example, "2 all-reduces at once move 1.33 times the bandwidth of one", or "2
// all-reduces at once share the bandwidth of one" if they gain nothing.
[[nodiscard]] std::string asc_wfbp_settings(const ScheduleOptions& options);

} // namespace stepsim::buckets
