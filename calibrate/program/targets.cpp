#include "calibrate/program/fit_parts.hpp"

#include <CLI/CLI.hpp>

#include "calibrate/program/program.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"

namespace stepsim::calibrate {

std::string program_and_version() {
  return std::string(kProgram) + " " + std::string(cli::version());
}

void add_texts(CLI::App& app, std::initializer_list<TextFlag> flags) {
  for (const TextFlag& flag : flags) {
    app.add_option(flag.name, flag.value, flag.text)->type_name(flag.type);
  }
}

std::optional<double> largest_allowed(std::string_view flag, const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const double limit = cli::quantity(flag, text, base::QuantityKind::ratio, io::at_least(0));
  if (limit > 1 && !text.ends_with('%')) { // 10 would be 1000 %, which no fit misses
    throw UsageError(std::string(flag) + " " + base::shown_value(text) +
                     ": write an error above 1 with a % sign, such as 10%");
  }
  return limit;
}

bool missed(std::string_view flag, std::string_view name, const std::optional<double>& limit,
            const std::optional<double>& value) {
  if (!limit || (value && *value <= *limit)) {
    return false;
  }
  cli::print_error_lines(
      std::string(flag) + ": " + std::string(name) + " " +
      (value ? base::percent(*value) + ", target " + base::percent(*limit) + ": missed"
             : "unknown: no row counts") +
      "\n");
  return true;
}

// A curve whose errors are unknown is the worst.
bool missed(std::span<const GroupFit> fits, const CurveTargets& targets) {
  const auto worst = [&](std::string_view flag, std::string_view name, double ErrorSpread::*error,
                         const std::optional<double>& limit) {
    const auto value = [&](const GroupFit& fit) {
      return part_of(fit.left_out, error).value_or(std::numeric_limits<double>::infinity());
    };
    if (fits.empty()) {
      return missed(flag, name, limit, std::nullopt);
    }
    const GroupFit& fit = *std::ranges::max_element(fits, {}, value);
    return missed(flag, fit.group.text() + ": " + std::string(name) + " on sizes left out", limit,
                  part_of(fit.left_out, error));
  };
  const bool median = worst("--max-median", "median error", &ErrorSpread::median, targets.median);
  const bool p90 = worst("--max-p90", "90th percentile", &ErrorSpread::p90, targets.p90);
  return median || p90;
}

bool refused(std::string_view grade, bool force) {
  if (grade != links::kGrades[links::Grade::fail] || force) {
    return false;
  }
  cli::print_error_lines("the calibration is graded fail: its predictions are off by 25 % or more, "
                         "or do not grow with size; --force to accept it\n");
  return true;
}

// The file takes its name from the output, or from the samples where the output is standard output,
// so that a calibration that is kept can be told from others by its name.

void add_gpu_flags(CLI::App& app, GpuFlags& flags) {
  add_texts(app,
            {{"--reduction", flags.reduction, "TYPE",
              "of the gradients whose speed of adding the file has: float32 or bfloat16; "
              "default float32"},
             {"--overlap", flags.overlap, "STEM",
              "also writes STEM.gpu0.overlap.json and so on: how much a product of matrices and "
              "an all-reduce slow each other down on each GPU; default none"}});
}

void check(const GpuFlags& flags) {
  constexpr std::array kWords{gpu::kAddedTypes[0].name, gpu::kAddedTypes[1].name};
  cli::require_word("--reduction", flags.reduction, kWords);
}

int write_gpu_calibration(const gpu::GpuSamples& samples, const FitOptions& options,
                          const CurveTargets& targets, bool force, const GpuFlags& flags,
                          const cli::Common& common) {
  const auto added = std::ranges::find(gpu::kAddedTypes, flags.reduction, &gpu::AddedType::name);
  const gpu::GpuFit fit = gpu::fit_gpu(samples, options);
  cli::print_beside(gpu::gpu_text(samples, fit), common);
  cli::print_warnings(fit.warnings, common);
  if (fit.empty()) {
    return cli::report_error(samples.file + ": nothing to fit", cli::kTargetNotMet);
  }
  gpu::GpuNames names{io::stem_of(common.output == "-" ? samples.file : common.output),
                      program_and_version(), *added};
  cli::write_tree(common, gpu::gpu_calibration_tree(samples, fit, names));
  if (!flags.overlap.empty() && samples.overlaps.empty()) {
    return cli::report_error("--overlap: " + samples.file +
                                 " has no times of a product next to a collective",
                             cli::kTargetNotMet);
  }
  for (const gpu::OverlapRecord& record : samples.overlaps) {
    if (!flags.overlap.empty()) {
      const std::string file = flags.overlap + ".gpu" + std::to_string(record.device);
      names.name = io::stem_of(file);
      cli::write_named(file + ".overlap.json",
                       io::pretty(gpu::gpu_overlap_tree(samples, record, names)));
    }
  }
  const bool failed = refused(links::kGrades[fit.grade], force);
  return missed(fit.curves, targets) || failed ? cli::kTargetNotMet : cli::kOk;
}

} // namespace stepsim::calibrate
