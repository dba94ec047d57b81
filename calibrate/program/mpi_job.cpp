#include "calibrate/program/program.hpp"

#include "calibrate/mpi/runtime.hpp"

namespace stepsim::calibrate {

int measure_mpi_job(const gpu::MeasureOptions& options, double timeout_s, const JobOutputs& out) {
  const mpi::Runtime runtime;
  if (runtime.ranks() < 2) {
    throw UsageError("--mpi: needs at least 2 processes, got 1; start with mpirun -np P or srun");
  }
  Watchdog watchdog(runtime.rank(), timeout_s);
  return measure_as_rank(
      options, out, runtime.rank(), [&] { return mpi::job_of(MPI_COMM_WORLD, watchdog); },
      mpi::Runtime::abort);
}

} // namespace stepsim::calibrate
