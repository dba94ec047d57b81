#include "calibrate/program/program.hpp"

#include "calibrate/cuda/socket_job.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"

namespace stepsim::calibrate {

int measure_as_rank(const gpu::MeasureOptions& options, const JobOutputs& out, std::uint32_t rank,
                    const std::function<gpu::Job()>& join,
                    const std::function<void(int)>& end_all) {
  const bool speaks = rank == 0;
  const gpu::Sink nobody = [](const std::string&) {};
  const auto known_to_all = [&](const std::exception& error, int code) {
    return speaks ? cli::report_error(error.what(), code) : code;
  };
  try {
    gpu::measure(options, speaks ? out.records : nobody, speaks ? out.progress : nobody, join());
    return speaks ? out.write() : cli::kOk;
  } catch (const gpu::NotAvailable& error) {
    return known_to_all(error, cli::kSkipped);
  } catch (const UsageError& error) {
    return known_to_all(error, cli::kUsage);
  } catch (const gpu::JobError& error) {
    return known_to_all(error, cli::kSimulationError);
  } catch (const std::exception& error) {
    (void)cli::report_error("rank " + std::to_string(rank) + ": " + error.what(),
                            cli::kSimulationError);
    end_all(cli::kSimulationError); // the others may wait for this rank
    return cli::kSimulationError;
  }
}

int measure_torchrun_job(const gpu::MeasureOptions& options, double timeout_s,
                         const JobOutputs& out) {
  const gpu::ProcessPlace place = gpu::place_of_process();
  gpu::SocketGroup group(place, timeout_s);
  Watchdog watchdog(place.rank, timeout_s);
  return measure_as_rank(
      options, out, place.rank, [&] { return job_of(group, place.local_rank, watchdog); },
      [&](int code) { group.fail(code); });
}

} // namespace stepsim::calibrate
