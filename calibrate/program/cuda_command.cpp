// stepsim-calibrate cuda -o CAL: collectives and kernels measured on the local GPUs (CAL 7). The
// records go through the same text form as those of gpu_bench, which another machine may have
// written: there is one reader and one fit for both, and what this command prints is what `fit`
// prints for the file.
#include "calibrate/program/program.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/nccl_calls.hpp"
#include "calibrate/program/fit_parts.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"

namespace stepsim::calibrate {

namespace {

constexpr cli::CommandText kCudaText{
    "cuda",
    "-o CAL [--mpi|--torchrun] [--records FILE]",
    "Measures collectives (mst, be, lp, ring) and the kernels of gradient compression on the GPUs\n"
    "of this machine, each checked against the library before it is timed. Ranks that share a GPU\n"
    "give times of class same-device, which no scenario takes as its network. With --backend nccl\n"
    "and --mpi or --torchrun the operations of NCCL on several hosts: one process per GPU, started "
    "by\n"
    "mpirun, srun or torchrun; times are those of the slowest rank.",
    "stepsim-calibrate cuda --ranks 8 -o gpu.calibration.json\n"
    "stepsim-calibrate cuda --ranks 8 --only kernels --max-seconds 60 -o gpu.calibration.json\n"
    "stepsim-calibrate cuda --backend nccl -o nccl.calibration.json\n"
    "mpirun -np 16 --map-by ppr:8:node stepsim-calibrate cuda --mpi --backend nccl -o "
    "nccl.calibration.json\n"
    "srun -N 2 --ntasks-per-node 8 --mpi=pmix stepsim-calibrate cuda --mpi --backend nccl -o "
    "nccl.calibration.json\n"
    "torchrun --no_python --nproc_per_node 8 stepsim-calibrate cuda --torchrun --backend nccl -o "
    "nccl.calibration.json",
    "Without a GPU: exit 77. For a machine without the libraries of this program: "
    "calibrate/gpu_check.",
    cli::kJsonOnly,
    kProgram,
};

struct CudaFlags { // as typed
  std::string ranks, backend = "own", only, dtype = "all", block = "optimal", max_seconds, seed;
  std::string records, timeout = "120s";
  GpuFlags gpu;
  bool mpi = false;
  bool torchrun = false;
  bool dense = false;
  bool strict = false;
};

void add_flags(CLI::App& app, CudaFlags& flags) {
  add_texts(
      app,
      {{"--ranks", flags.ranks, "P",
        "rank r lives on device r mod devices; default: one per device, 8 on one device"},
       {"--backend", flags.backend, "WORD", "own or nccl (one rank per device); default own"},
       {"--dtype", flags.dtype, "WORD", "of NCCL: float, bfloat16, half or all; default all"},
       {"--only", flags.only, "WORD", "collectives or kernels; default both"},
       {"--block", flags.block, "SIZE",
        "of lp, or optimal for what one message takes; default optimal"},
       {"--max-seconds", flags.max_seconds, "N",
        "of timing; what is left over is said; default 300"},
       {"--seed", flags.seed, "N", "of the order of measurements; default 1"},
       {"--timeout", flags.timeout, "TIME",
        "with --mpi and --torchrun: longest operation before all processes end; default 120s"},
       {"--records", flags.records, "FILE",
        "also writes every time as JSON Lines, which fit and fit-library take; default none"}});
  add_gpu_flags(app, flags.gpu);
  app.add_flag("--dense-sizes", flags.dense, "twice as many sizes");
  app.add_flag("--strict", flags.strict, "fail where passes differ by more than 5 %");
  app.add_flag("--mpi", flags.mpi,
               "one rank per process and GPU, started by mpirun or srun; with --backend nccl");
  app.add_flag("--torchrun", flags.torchrun,
               "the same by the variables RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT");
}

// The options of the measurement. Throws UsageError for a word, number or block size that is not
// allowed. Without --only both parts are measured. --ranks has no effect with --backend nccl, where
// every device is one rank, and is refused where every process is one.
gpu::MeasureOptions options_of(const CudaFlags& flags) {
  constexpr std::array<std::string_view, 2> kBackends{"own", "nccl"};
  constexpr std::array<std::string_view, 2> kParts{"collectives", "kernels"};
  constexpr double kMostRanks = 64;
  gpu::MeasureOptions options;
  cli::require_word("--backend", flags.backend, kBackends);
  check(flags.gpu);
  options.nccl = flags.backend == "nccl";
  const std::string job = flags.mpi ? "--mpi" : flags.torchrun ? "--torchrun" : "";
  if (flags.mpi && flags.torchrun) {
    throw UsageError("--torchrun: not with --mpi: processes meet in one way");
  }
  if (!job.empty() && !options.nccl) {
    throw UsageError(job + ": processes exchange vectors by NCCL only: add --backend nccl. Without "
                           "NCCL, `cuda` on one host measures kernels, `mpi` the network");
  }
  auto types = base::collected<std::string_view>(gpu::kNcclTypes, &gpu::NcclType::name);
  types.insert(types.begin(), "all");
  cli::require_word("--dtype", flags.dtype, types);
  options.dtype = flags.dtype;
  if (!flags.only.empty()) {
    cli::require_word("--only", flags.only, kParts);
    options.collectives = flags.only == "collectives";
    options.kernels = flags.only == "kernels";
  }
  if (!flags.ranks.empty()) {
    if (!job.empty()) {
      throw UsageError("--ranks: not with " + job + ", where every process is one rank");
    }
    options.ranks =
        static_cast<std::uint32_t>(cli::count("--ranks", flags.ranks, io::between(1, kMostRanks)));
  }
  if (const auto most =
          cli::optional_count("--max-seconds", flags.max_seconds, io::between(1, 1e6))) {
    options.max_seconds = static_cast<double>(*most);
  }
  if (const auto seed = cli::optional_count("--seed", flags.seed, io::between(0, 1e15))) {
    options.seed = static_cast<std::uint64_t>(*seed);
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

// The calibration, and the records where they are asked for. The seed that orders the measurements
// also draws the resamples of the confidence intervals, so that one number repeats the whole
// command on given times.
int write_files(const std::string& records, const CudaFlags& flags,
                const gpu::MeasureOptions& options, const cli::Common& common) {
  if (!flags.records.empty()) {
    cli::write_named(flags.records, records);
  }
  FitOptions fit;
  fit.seed = options.seed;
  gpu::GpuSamples samples = gpu::parse_gpu_samples(records, "cuda");
  samples.source.format = "gpu_samples";
  return write_gpu_calibration(samples, fit, {}, true, flags.gpu, common); // whatever its grade
}

// One process drives all GPUs: several processes that do not know of each other would measure each
// other.
void refuse_copies_of_itself() {
  constexpr std::array<std::array<const char*, 2>, 3> kLaunchers{
      {{"OMPI_COMM_WORLD_SIZE", "--mpi"}, {"PMI_SIZE", "--mpi"}, {"WORLD_SIZE", "--torchrun"}}};
  for (const auto& [name, flag] : kLaunchers) {
    const char* size = std::getenv(name);
    if (size != nullptr && std::atoi(size) > 1) {
      throw UsageError("cuda: started as one of " + std::string(size) + " processes; " + flag +
                       " measures with one GPU per process");
    }
  }
}

// The discarded branch needs no definition of the function that it names.
int measured_by_mpi(const gpu::MeasureOptions& options, double timeout_s, const JobOutputs& out) {
  if constexpr (STEPSIM_CALIBRATE_MPI != 0) {
    return measure_mpi_job(options, timeout_s, out);
  } else {
    return cli::report_error("--mpi: built without MPI", cli::kSkipped);
  }
}

} // namespace

int cuda(const cli::Invocation& invocation) {
  CudaFlags flags;
  CLI::App app;
  add_flags(app, flags);
  cli::Common common(app, kCudaText, invocation);
  gpu::MeasureOptions options = options_of(flags);
  options.program = program_and_version();
  options.revision = std::string(cli::git_hash());
  options.command = invocation.command_line;
  // The CUDA runtime reads these variables at its first call, so they are set before it. EAGER
  // loads all kernels at once: the first call of a kernel would otherwise include the time to load
  // it. With 32 hardware queues streams do not wait for each other. A value that the user has set
  // stays.
  (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  const double timeout_s =
      cli::quantity("--timeout", flags.timeout, base::QuantityKind::time, io::above(0));
  std::string records;
  const std::function<int()> write = [&] { return write_files(records, flags, options, common); };
  const gpu::Sink keep = [&](const std::string& line) { records += line; };
  const gpu::Sink say = [&](const std::string& line) {
    if (!common.quiet) {
      cli::print_error_lines(line);
    }
  };
  const JobOutputs out{keep, say, write};
  if (flags.mpi) {
    return measured_by_mpi(options, timeout_s, out);
  }
  if (flags.torchrun) {
    return measure_torchrun_job(options, timeout_s, out);
  }
  refuse_copies_of_itself();
  try {
    gpu::measure(options, keep, say);
  } catch (const gpu::NotAvailable& error) {
    cli::print_error_lines(std::string(error.what()) + "\n");
    return cli::kSkipped;
  }
  return write();
}

} // namespace stepsim::calibrate
