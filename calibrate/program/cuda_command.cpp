// stepsim-calibrate cuda -o CAL: collectives and kernels measured on the local GPUs (CAL 7). The
// records go through the same text form as those of gpu_bench, which another machine may have
// written: there is one reader and one fit for both, and what this command prints is what `fit`
// prints for the file.
#include "calibrate/program/cuda_command.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/measure.hpp"
#include "calibrate/program/gpu_output.hpp"
#include "calibrate/program/program.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/version.hpp"

namespace stepsim::calibrate {

namespace {

constexpr cli::CommandText kCudaText{
    "cuda",
    "-o CAL",
    "Measures collectives (mst, be, lp, ring) and the kernels of gradient compression on the GPUs\n"
    "of this machine, each checked against the library before it is timed. Ranks that share a GPU\n"
    "give times of class same-device, which no scenario takes as its network.",
    "stepsim-calibrate cuda --ranks 8 -o gpu.calibration.json\n"
    "stepsim-calibrate cuda --ranks 8 --only kernels --max-seconds 60 -o gpu.calibration.json\n"
    "stepsim-calibrate cuda --backend nccl -o nccl.calibration.json",
    "Without a GPU: exit 77. For a machine without the libraries of this program: "
    "calibrate/gpu_check.",
    cli::kJsonOnly,
    kProgram,
};

struct CudaFlags { // as typed
  std::string ranks, backend = "own", only, block = "optimal", max_seconds, seed;
  bool dense = false;
  bool strict = false;
};

void add_flags(CLI::App& app, CudaFlags& flags) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* text) {
    app.add_option(name, value, text)->type_name(type);
  };
  add("--ranks", flags.ranks, "P",
      "rank r lives on device r mod devices; default: one per device, 8 on one device");
  add("--backend", flags.backend, "WORD", "own or nccl (one rank per device); default own");
  add("--only", flags.only, "WORD", "collectives or kernels; default both");
  add("--block", flags.block, "SIZE",
      "of lp, or optimal for what one message takes; default optimal");
  app.add_flag("--dense-sizes", flags.dense, "twice as many sizes");
  app.add_flag("--strict", flags.strict, "fail where passes differ by more than 5 %");
  add("--max-seconds", flags.max_seconds, "N", "of timing; what is left over is said; default 300");
  add("--seed", flags.seed, "N", "of the order of measurements; default 1");
}

// The options of the measurement. Throws UsageError for a word, number or block size that is not
// allowed. Without --only both parts are measured; --ranks has no effect with --backend nccl, where
// every device is one rank.
gpu::MeasureOptions options_of(const CudaFlags& flags) {
  constexpr std::array<std::string_view, 2> kBackends{"own", "nccl"};
  constexpr std::array<std::string_view, 2> kParts{"collectives", "kernels"};
  constexpr double kMostRanks = 64;
  gpu::MeasureOptions options;
  cli::require_word("--backend", flags.backend, kBackends);
  options.nccl = flags.backend == "nccl";
  if (!flags.only.empty()) {
    cli::require_word("--only", flags.only, kParts);
    options.collectives = flags.only == "collectives";
    options.kernels = flags.only == "kernels";
  }
  if (!flags.ranks.empty()) {
    options.ranks =
        static_cast<std::uint32_t>(cli::count("--ranks", flags.ranks, io::between(1, kMostRanks)));
  }
  if (!flags.max_seconds.empty()) {
    options.max_seconds =
        static_cast<double>(cli::count("--max-seconds", flags.max_seconds, io::between(1, 1e6)));
  }
  if (!flags.seed.empty()) {
    options.seed =
        static_cast<std::uint64_t>(cli::count("--seed", flags.seed, io::between(0, 1e15)));
  }
  if (flags.block != "optimal") {
    const double block = cli::quantity("--block", flags.block, base::QuantityKind::size);
    if (!gpu::is_block(block)) {
      throw UsageError("--block " + base::shown_value(flags.block) +
                       ": must be a multiple of 4 bytes, at most 1 GB");
    }
    options.block_bytes = static_cast<std::int64_t>(block);
  }
  options.dense = flags.dense;
  options.strict = flags.strict;
  return options;
}

} // namespace

int cuda(const cli::Invocation& invocation) {
  CudaFlags flags;
  CLI::App app;
  add_flags(app, flags);
  cli::Common common;
  if (!cli::parse(app, kCudaText, invocation, common)) {
    return cli::kOk;
  }
  gpu::MeasureOptions options = options_of(flags);
  options.program = std::string(kProgram) + " " + std::string(cli::version());
  options.revision = std::string(cli::git_hash());
  options.command = invocation.command_line;
  // The CUDA runtime reads these variables at its first call, so they are set before it. EAGER
  // loads all kernels at once: the first call of a kernel would otherwise include the time to load
  // it. With 32 hardware queues streams do not wait for each other. A value that the user has set
  // stays.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  std::string records;
  try {
    gpu::measure(
        options, [&](const std::string& line) { records += line; },
        [&](const std::string& line) {
          if (!common.quiet) {
            cli::print_error_lines(line);
          }
        });
  } catch (const gpu::NotAvailable& error) {
    cli::print_error_lines(std::string(error.what()) + "\n");
    return kSkipped;
  }
  // The seed that orders the measurements also draws the resamples of the confidence intervals, so
  // that one number repeats the whole command on given times.
  FitOptions fit;
  fit.seed = options.seed;
  gpu::GpuSamples samples = gpu::parse_gpu_samples(records, "cuda");
  samples.source.format = "gpu_samples";
  return write_gpu_calibration(samples, fit, {}, common);
}

} // namespace stepsim::calibrate
