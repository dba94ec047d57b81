#pragma once
// Limits on errors that a user sets with flags such as --max-median 10%, the grade of a calibration
// among them, and the message for a limit that is missed.

#include "calibrate/cuda/gpu_calibration.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

// The value of a flag as a ratio: 0.1 for "10%" and for "0.1", 10 for "1000%"; empty if the flag
// was not given. Throws UsageError for anything but a number >= 0, and for a number above 1 without
// a percent sign.
[[nodiscard]] std::optional<double> largest_allowed(std::string_view flag, const std::string& text);

// Whether `value` is above `limit`; if so, prints "--max-p90: 90th percentile 12 %, target 10 %:
// missed" to standard error. An empty `limit` is never missed. A limit without a value is always
// missed, because an empty table must not pass a check.
[[nodiscard]] bool missed(std::string_view flag, std::string_view name,
                          const std::optional<double>& limit, const std::optional<double>& value);

// Largest allowed leave-one-out errors of every curve (GroupFit::left_out); empty = no limit.
struct CurveTargets {
  std::optional<double> median, p90;
};
// Whether the worst curve misses a limit; if so, prints the message above with the name of the
// curve. A curve without leave-one-out errors is the worst; without curves every limit is missed.
[[nodiscard]] bool missed(std::span<const GroupFit> fits, const CurveTargets& targets);

// Whether a calibration of this grade is refused, as `fail` is unless `force` accepts it; if so,
// prints a line of reason.
[[nodiscard]] bool refused(std::string_view grade, bool force);

// Fits GPU samples, prints the tables and writes the calibration: the last part of both `cuda` and
// `fit` on a file of gpu_bench.

// What is made of GPU samples beside their fit, as typed.
struct GpuFlags {
  std::string reduction = std::string(gpu::kAddedTypes.front().name); // type of gradients
  std::string overlap; // files of kind overlap: STEM.gpu0.overlap.json and so on; "" = none
};
void add_gpu_flags(CLI::App& app, GpuFlags& flags);
void check(const GpuFlags& flags); // throws UsageError for a word that is not allowed

// Prints tables and warnings and writes the calibration to the output of `common`. Returns kOk, or
// kTargetNotMet if a target is missed, if the grade is `fail` without `force`, or if there is
// neither a curve nor a kernel; in the last case no file is written.
[[nodiscard]] int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                                        const CurveTargets& targets, bool force,
                                        const GpuFlags& flags, const cli::Common& common);

} // namespace stepsim::calibrate
