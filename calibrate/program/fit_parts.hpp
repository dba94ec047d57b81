#pragma once
// Flags, inputs and printed lines that the commands fit and fit-library have in common.

#include "calibrate/core/calibration_file.hpp"
#include "calibrate/cuda/gpu_calibration.hpp"
#include "cli/shell/app.hpp"
#include "import/nccl/import_nccl_tests.hpp"
#include "nccl/library_fit.hpp"

namespace stepsim::calibrate {

// The output of `fit-library` (CLU 8.4): parameters as physical quantities, residuals by operation
// and shape and by size, errors on points that were left out of the fit, and points for which the
// library seems to have chosen another algorithm than the model.

using nccl::ErrorNumbers;
using nccl::LibraryFit;

// Everything that is printed about one fit.
struct LibraryReport {
  struct Line {
    std::string name; // "allreduce 10x8", "below 64 KiB", "10x8", "all shapes"
    ErrorNumbers numbers;
  };
  // A point for which the model with the pair of algorithm and protocol that it chose (`chosen`)
  // is off by over 1.2 times the factor by which it is off with the best-fitting pair (`likely`).
  struct Disagreement {
    nccl::MeasuredPoint point;
    nccl::Pair chosen, likely;
  };
  std::vector<Line> residuals; // errors of the model without the correction by residuals
  std::vector<Line> sizes;     // the same errors by ranges of message size
  std::vector<Line> held_out;  // refits without one shape, or without every second size
  ErrorNumbers pooled;         // last line of held_out; 0 points if nothing can be left out
  std::vector<Disagreement> disagreements;
};

// `calibration` must belong to `fit`.
[[nodiscard]] LibraryReport report_library(const LibraryFit& fit,
                                           const nccl::Calibration& calibration);

[[nodiscard]] std::string library_text(const LibraryFit& fit, const nccl::Calibration& calibration,
                                       const LibraryReport& report);
// The report as JSON (--json); the parameters are in the calibration file only.
[[nodiscard]] io::Json report_json(const LibraryReport& report);

// Limits on errors that a user sets with flags such as --max-median 10%, the grade of a calibration
// among them, and the message for a limit that is missed.

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

// Flags of `fit` that say which further files to make from samples of GPUs, as typed.
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

// The output of `fit`: the table of residuals and the parameters of every group, then the link.

// The table of one group has a row per size: the measured median, the fitted time [us], its
// relative error, and the error if the size is left out of the fit. Below are the errors over all
// sizes and the grade, the single line with its 95 % intervals, and the curve if it is made of
// points or of more than one segment. With `ordinary`, one more line has the ordinary least squares
// fit of the same points.
[[nodiscard]] std::string fit_text(const GroupFit& fit, bool ordinary);
// One line with latency, bandwidth and adding speed of the link. `assume` is the value of --assume,
// which is named if it was used for a group of the fit.
[[nodiscard]] std::string link_text(const LinkFit& link, const std::string& assume);

// Reads the files of `fit`: samples (JSON, CSV) and logs of nccl-tests and OSU.

struct InputOptions {
  std::optional<std::string> op;     // reads only this operation; used for logs that name none
  std::optional<std::int64_t> ranks; // number of ranks, used for logs that do not give it
  io::NcclColumn column = io::NcclColumn::out_of_place;
  std::string importer; // program and version, for `source` of the samples
};

// Returns one value per path, in their order; "-" is standard input and must be samples. A log of
// nccl-tests has times out of place and in place: a set of another column than `options.column`
// remains only if its file has no set of that column with the same operation, algorithm and number
// of ranks. Throws InputError for a file that cannot be read or is of another kind, and if no file
// has a set of the operation `op`.
[[nodiscard]] std::vector<io::Samples> read_inputs(const std::vector<std::string>& paths,
                                                   const InputOptions& options);

} // namespace stepsim::calibrate
