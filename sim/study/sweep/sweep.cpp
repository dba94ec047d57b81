#include "study/sweep/sweep.hpp"

#include "study/sweep/sweep_point.hpp"

namespace stepsim::study {

namespace {

// Tries the failed points of an earlier run again and cuts off an incomplete last record. False if
// interrupted; the file is then as before.
bool tidy_up(const Sweep& sweep, Files& files, const SweepOptions& options, const Records& records,
             const Existing& existing, io::OutputFile& file, SweepReport& report) {
  struct Interrupted {};
  PointRunner points(sweep, files, options.max_seconds);
  NumberTexts numbers;
  const auto again = [&](std::int64_t index) {
    if (options.interrupted && options.interrupted()) {
      throw Interrupted{};
    }
    const std::int64_t point = options.shard.point(index);
    const PointOutcome& outcome = points.run(options.shard, index, index + 1).front();
    if (!outcome.error.empty()) {
      ++report.failed;
      report.first_error = report.first_error.empty() ? outcome.error : report.first_error;
    }
    std::string line;
    records.append(line, point, outcome, numbers);
    return line;
  };
  try {
    if (existing.failed.empty() ||
        !replace_records(file, options.output, existing, options.format, again)) {
      file.cut(existing.end); // the incomplete last line
    }
  } catch (const Interrupted&) {
    return false;
  }
  report.warnings = points.warnings();
  return true;
}

[[noreturn]] void fail_exists(const SweepOptions& options) {
  throw UsageError(options.output + " exists: use --resume or --force");
}

std::string header_of(const Sweep& sweep, Files& files, const SweepOptions& options,
                      const Records& records) {
  return records.header(options.tool, grid_hash(sweep, files), options.shard,
                        header_of_base(sweep, options.output, files));
}

} // namespace

SweepReport run_sweep(const Sweep& sweep, Files& files, const SweepOptions& options) {
  if (options.if_exists == IfExists::refuse && io::is_regular(options.output)) {
    fail_exists(options); // before any work
  }
  const Records records(sweep, options.format, options.columns);
  check_some_point(sweep, files);
  const std::string header = header_of(sweep, files, options, records);
  SweepReport report;
  report.points = options.shard.points(records.points());
  io::OutputFile file(options.output, io::OutputFile::Mode::grow); // and nobody else's
  if (file.size() > 0 && options.if_exists == IfExists::refuse) {
    fail_exists(options); // another process was faster
  }
  Existing existing;
  if (file.size() > 0 && options.if_exists == IfExists::resume) {
    existing = scan_existing(options.output, header, options.shard, options.format);
    const auto failed = static_cast<std::int64_t>(existing.failed.size());
    report.resumed = existing.records - failed;
    if (!tidy_up(sweep, files, options, records, existing, file, report)) {
      report.interrupted = true;
      report.failed = failed;
      return report;
    }
  }
  SweepOutput output(file);
  if (existing.end == 0) {
    file.cut(0);
    output.write(header);
  }
  if (existing.records > 0) {
    output.set_safe(options.shard.point(existing.records - 1));
  }
  run_points(sweep, files, options, records, output, existing.records, report);
  file.commit();
  return report;
}

SweepReport run_sweep(const Sweep& sweep, Files& files, const SweepOptions& options,
                      std::string& text) {
  const Records records(sweep, options.format, options.columns);
  check_some_point(sweep, files);
  SweepOutput output(&text);
  output.write(header_of(sweep, files, options, records));
  SweepReport report;
  report.points = options.shard.points(records.points());
  run_points(sweep, files, options, records, output, 0, report);
  return report;
}

} // namespace stepsim::study
