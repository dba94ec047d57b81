#pragma once
// Targets of errors that a user sets by flags such as --max-median 10%, and what is said where one
// is missed.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "calibrate/core/group_fit.hpp"

namespace stepsim::calibrate {

// The ratio of a flag: 0.1 for "10%" and for "0.1", 10 for "10"; empty where it was not given.
// Throws UsageError for anything but a number >= 0, with or without a percent sign.
[[nodiscard]] std::optional<double> largest_allowed(std::string_view flag, const std::string& text);

// Whether a target was missed, said on standard error: "--max-p90: 90th percentile 12 %, target
// 10 %: missed". An empty `limit` is never missed. A target without any value is missed too: an
// empty table must not pass a check.
[[nodiscard]] bool missed(std::string_view flag, std::string_view name,
                          const std::optional<double>& limit, const std::optional<double>& value);

// Largest errors that are allowed of every curve on sizes left out of its fit; empty: any.
struct CurveTargets {
  std::optional<double> median, p90;
};
// Whether the worst curve misses a target, said as above with the name of that curve. A curve whose
// errors are unknown is the worst; without a curve every target is missed.
[[nodiscard]] bool missed(std::span<const GroupFit> fits, const CurveTargets& targets);

} // namespace stepsim::calibrate
