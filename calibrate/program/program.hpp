#pragma once
// The commands of stepsim-calibrate and what they share. A command returns the exit codes of
// stepsim (cli/shell/app.hpp), or cli::kSkipped if this machine cannot do what was requested. It
// throws UsageError for wrong flags and InputError for wrong files. Results go to the outputs of
// the common options, progress and warnings to standard error.
#include <initializer_list>

#include "calibrate/cuda/measure.hpp"
#include "cli/shell/app.hpp"

namespace stepsim::calibrate {

namespace mpi {
class Runtime;
}

inline constexpr std::string_view kProgram = "stepsim-calibrate";

// The program and its version, for the `source` of files.
[[nodiscard]] std::string program_and_version();

// An option whose value is kept as typed.
struct TextFlag {
  const char* name;
  std::string& value;
  const char* type;
  const char* text;
};
void add_texts(CLI::App& app, std::initializer_list<TextFlag> flags);

// fit SAMPLES... -o CAL: network parameters and curves from measured times (CAL 4.2, 4.3, 4.5).
// Prints the tables of residuals and writes the calibration to -o, whatever its grade. A single
// file written by gpu_bench gives a GPU calibration instead (gpu_output.hpp). kTargetNotMet if a
// curve misses --max-median or --max-p90, or for the grade fail without --force. Throws UsageError
// also for an algorithm of --assume that is used for no measured operation.
[[nodiscard]] int fit(const cli::Invocation& invocation);

// fit-library LOG|FOLDER|CSV... --preset NAME -o CAL: the library model from measured times of
// several shapes (CLU 8). Writes a file of kind library_calibration. kTargetNotMet, after the file
// is written, if --max-median or --max-p90 is exceeded by the errors on shapes that were left out
// of the fit (with one shape: on every second size), or if one of the two is given and nothing
// could be left out. InputError also for fewer than 6 points or a shape that the node type cannot
// have.
[[nodiscard]] int fit_library_model(const cli::Invocation& invocation);

// report ERRORS.jsonl...: the errors of predictions (CAL 11). kTargetNotMet if an error is above
// --max-median, --max-p90 or --max-error, or if one of these is given and none of the rows counts
// (ErrorRow::counts() in core/error_table.hpp). Rows below --min-bytes are left out before;
// UsageError if none is left. With -o FILE the report is Markdown (or JSON, if requested), and a
// plot of measured over predicted time is written next to it as SVG.
[[nodiscard]] int report(const cli::Invocation& invocation);

// show FILE: what a calibration contains, of kind network_calibration, library_calibration or
// overlap, and what is still assumed: one row of text each.
[[nodiscard]] int show(const cli::Invocation& invocation);

// cuda -o CAL, in builds with CUDA: collectives and kernels measured on the local GPUs (CAL 7).
// cli::kSkipped without a GPU, driver or library, kTargetNotMet if nothing can be fitted. Throws
// SimulationError if a result is wrong (all are checked before they are timed) or, with --strict,
// if passes differ by more than 5 %.
[[nodiscard]] int cuda(const cli::Invocation& invocation);
// The measurement of cuda --mpi, in builds with both back ends, and of cuda --torchrun: with all
// processes of the job, one GPU each; returns the exit code. On rank 0 `records` and `progress` get
// the lines. After a measurement that did not fail, rank 0 calls `write` and returns its result;
// other ranks return kOk, even if `write` fails. If all ranks know of a failure, rank 0 reports it,
// and all return the same exit code. If only one rank knows of it, that rank reports it and ends
// the job. A rank also ends the job if one operation takes longer than `timeout_s`. Both throw
// UsageError for fewer than two processes, the second one for the environment variables that
// gpu::place_of_process() reads, and SimulationError if the processes do not meet.
struct JobOutputs {
  const gpu::Sink& records;
  const gpu::Sink& progress;
  const std::function<int()>& write;
};
[[nodiscard]] int measure_mpi_job(const gpu::MeasureOptions& options, double timeout_s,
                                  const JobOutputs& out);
[[nodiscard]] int measure_torchrun_job(const gpu::MeasureOptions& options, double timeout_s,
                                       const JobOutputs& out);
// What both do as one rank of the job that `join` gives; `end_all` ends all processes.
[[nodiscard]] int measure_as_rank(const gpu::MeasureOptions& options, const JobOutputs& out,
                                  std::uint32_t rank, const std::function<gpu::Job()>& join,
                                  const std::function<void(int)>& end_all);

// mpi -o CAL [--table ERRORS.jsonl] and replay SCENARIO --calibration CAL, in builds with MPI. All
// processes must call them; rank 0 writes the output. on_all_ranks() initialises MPI, throws
// UsageError for fewer than 2 processes, and runs the rest: any later error is printed and ends all
// processes, because other ranks may wait for the one that failed.
//   mpi      makes a calibration from the times of messages between two processes alone and between
//            all at once (exchange, shift), then predicts and measures every collective (CAL 8).
//            kTargetNotMet if passes differ by more than 15 % with --strict, and, on rank 0 only,
//            if the grade is fail without --force
//   replay   executes training steps with real messages and compares their times with the
//            prediction of the simulator (CAL 9)
[[nodiscard]] int run_mpi(const cli::Invocation& invocation);
[[nodiscard]] int on_all_ranks(std::string_view command,
                               const std::function<int(const mpi::Runtime&)>& run);
[[nodiscard]] int replay(const cli::Invocation& invocation);

} // namespace stepsim::calibrate
