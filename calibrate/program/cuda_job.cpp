#include "calibrate/program/program.hpp"

#include "calibrate/mpi/runtime.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"

namespace stepsim::calibrate {

int measure_job(const gpu::MeasureOptions& options, double timeout_s, const gpu::Sink& records,
                const gpu::Sink& progress, const std::function<int()>& write) {
  const mpi::Runtime runtime;
  if (runtime.ranks() < 2) {
    throw UsageError("--mpi: needs at least 2 processes, got 1; start with mpirun -np P or srun");
  }
  const bool speaks = runtime.rank() == 0;
  const gpu::Sink nobody = [](const std::string&) {};
  const auto known_to_all = [&](const std::exception& error, int code) {
    return speaks ? cli::report_error(error.what(), code) : code;
  };
  try {
    mpi::Watchdog watchdog(runtime.rank(), timeout_s);
    gpu::measure(options, speaks ? records : nobody, speaks ? progress : nobody,
                 mpi::job_of(MPI_COMM_WORLD, watchdog));
    return speaks ? write() : cli::kOk;
  } catch (const gpu::NotAvailable& error) {
    return known_to_all(error, kSkipped);
  } catch (const UsageError& error) {
    return known_to_all(error, cli::kUsage);
  } catch (const gpu::JobError& error) {
    return known_to_all(error, cli::kSimulationError);
  } catch (const std::exception& error) {
    (void)cli::report_error("rank " + std::to_string(runtime.rank()) + ": " + error.what(),
                            cli::kSimulationError);
    mpi::Runtime::abort(cli::kSimulationError); // the others may wait for this rank
  }
}

} // namespace stepsim::calibrate
