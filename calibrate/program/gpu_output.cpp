// The file takes its name from the output, or from the samples where the output is standard output,
// so that a calibration that is kept can be told from others by its name.
#include "calibrate/program/gpu_output.hpp"

#include "calibrate/cuda/gpu_calibration.hpp"
#include "calibrate/program/program.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/version.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::calibrate {

int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                          const CurveTargets& targets, bool force, const cli::Common& common) {
  const gpu::GpuFit fit = gpu::fit_gpu(samples, options);
  cli::print_beside(gpu::gpu_text(samples, fit), common);
  cli::print_warnings(fit.warnings, common);
  if (fit.empty()) {
    return cli::report_error(samples.file + ": nothing to fit", cli::kTargetNotMet);
  }
  gpu::GpuNames names;
  names.importer = std::string(kProgram) + " " + std::string(cli::version());
  names.name = io::stem_of(common.output == "-" ? samples.file : common.output);
  cli::write_tree(common, gpu::gpu_calibration_tree(samples, fit, names));
  const bool failed = refused(links::kGrades[fit.grade], force);
  return missed(fit.curves, targets) || failed ? cli::kTargetNotMet : cli::kOk;
}

} // namespace stepsim::calibrate
