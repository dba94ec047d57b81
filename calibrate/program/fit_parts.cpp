// Tables in microseconds and percent, one block of text per group. The errors are those of the
// curve that the calibration holds, on what it was fitted to and on each size when it is left out.
// The single line below the table only serves to compare links with each other.
#include "calibrate/program/fit_parts.hpp"

#include "cli/shell/document.hpp"
#include "import/import_detect.hpp"
#include "import/import_osu.hpp"

namespace stepsim::calibrate {

namespace {

std::string microseconds(double seconds) { return base::significant(seconds * 1e6); }

// "latency 5 us [4 us, 6 us]"; the interval is left out where the fit has none.
std::string latency_text(double value, const std::optional<base::Interval>& interval) {
  std::string text = "latency " + base::readable_seconds(value);
  if (interval) {
    text += " [" + base::readable_seconds(interval->low) + ", " +
            base::readable_seconds(interval->high) + "]";
  }
  return text;
}

// The inverse of seconds per byte, as a rate. A fit that holds this value at 0, its bound, has
// found no bandwidth. The interval turns round: the low end of seconds per byte is the high end of
// the rate, and a low end of 0 has no rate at all.
std::string bandwidth_text(double per_byte, const std::optional<base::Interval>& interval) {
  if (per_byte <= 0) {
    return "bandwidth unknown";
  }
  std::string text = base::readable_rate(1 / per_byte);
  if (interval && interval->low > 0) {
    text += " [" + base::readable_rate(1 / interval->high) + ", " +
            base::readable_rate(1 / interval->low) + "]";
  }
  return text;
}

// What most tools would say: large sizes decide, and small ones may be far off. Ordinary least
// squares weigh absolute errors, so that 1 % of a large message counts as much as a small message
// that is off by a factor.
std::string ordinary_text(const GroupFit& fit) {
  const std::vector<Datum> data = fit.group.data();
  const base::LineFit fitted = base::fit_line(base::collected<double>(data, &Datum::bytes),
                                              base::collected<double>(data, &Datum::seconds));
  const Line line{.startup_s = fitted.intercept, .per_byte_s = fitted.slope};
  double most = 0;
  for (const Datum& datum : data) {
    most = std::max(most, std::abs(relative_error(line, datum)));
  }
  return "  ordinary least squares: latency " + microseconds(line.startup_s) + " us, " +
         bandwidth_text(line.per_byte_s, std::nullopt) + ", max error " + base::percent(most) +
         "\n";
}

// Reads one file by the importer of its kind. The ranks of the options are only used where a log
// does not tell them.
io::Samples read_input(const std::string& path, const InputOptions& options) {
  if (path == "-") {
    return io::read_samples(path, options.importer); // cannot be looked at first
  }
  const std::string text = io::read_text(path);
  if (io::looks_like_samples(text)) {
    return io::read_samples(path, options.importer);
  }
  io::ImportOptions common;
  common.importer = options.importer;
  const io::DetectedFormat detected = io::detect_format(text);
  if (detected.format == io::ImportFormat::nccl_tests) {
    return io::import_nccl_tests(path, {common, options.op, options.ranks, options.column});
  }
  if (detected.format == io::ImportFormat::osu) {
    io::OsuOptions osu;
    osu.common = common;
    osu.ranks = options.ranks;
    // A log with one title keeps the operation of that title. If that is not the one asked for,
    // `select` drops the log, as it drops such logs of nccl-tests.
    constexpr std::string_view kTitle = "# OSU ";
    const std::size_t title = text.find(kTitle);
    if (title == std::string::npos || title != text.rfind(kTitle)) {
      osu.op = options.op;
    }
    return io::samples_of(io::import_osu(path, osu));
  }
  if (detected.format == io::ImportFormat::nccl_inspector) { // several files make one set
    throw InputError(path, "", io::import_first(*detected.format));
  }
  throw InputError(path, "",
                   detected.advice.empty()
                       ? "neither samples (JSON, CSV) nor a log of nccl-tests or OSU"
                       : detected.advice);
}

// Removes the sets of other operations. Of two sets that differ in their column alone, the one that
// was asked for stays: both in one group would mix two experiments.
// Returns whether times of one rank were removed, too.
bool select(io::Samples& file, const InputOptions& options) {
  auto& sets = file.sets;
  std::erase_if(sets,
                [&](const io::SampleSet& set) { return options.op && set.op != *options.op; });
  const auto one_rank = [](const io::SampleSet& set) { return set.ranks == 1; };
  const bool alone = std::erase_if(sets, one_rank) > 0;
  if (alone) {
    file.warnings.push_back(file.file + ": " + io::kOneRank + ", its times are left out");
  }
  const std::vector<io::SampleSet> all = sets;
  std::erase_if(sets, [&](const io::SampleSet& set) {
    return set.column != io::kNcclColumns[options.column] &&
           std::ranges::any_of(all, [&](const io::SampleSet& other) {
             return other.op == set.op && other.algorithm == set.algorithm &&
                    other.ranks == set.ranks && other.column == io::kNcclColumns[options.column];
           });
  });
  return alone;
}

} // namespace

std::string fit_text(const GroupFit& fit, bool ordinary) {
  const Group& group = fit.group;
  std::string out = group.text();
  out += group.column.empty() ? "" : ", " + group.column;
  out += group.device.empty() ? "" : ", " + group.device;
  out += "\n";
  cli::Table table{{"bytes", "measured [us]", "fitted [us]", "error", "left out"}, {}};
  for (const Point& point : group.empty) {
    table.rows.push_back({"0", microseconds(point.time_s), "-", "-", "-"});
  }
  for (const Residual& row : fit.residuals) {
    table.rows.push_back(
        {std::to_string(std::llround(row.bytes)), microseconds(row.measured_s),
         microseconds(row.fitted_s), base::percent(row.relative_error()),
         row.left_out_s ? base::percent(*row.left_out_s / row.measured_s - 1) : "-"});
  }
  out += cli::table_text(table);
  out += "  median error " + base::percent(fit.median_error) + ", max " +
         base::percent(fit.max_error) + "\n";
  if (fit.left_out) {
    out += "  sizes left out: median " + base::percent(fit.left_out->median) +
           ", 90th percentile " + base::percent(fit.left_out->p90) + ", max " +
           base::percent(fit.left_out->most) + "\n";
  }
  out += "  grade " + std::string(links::kGrades[fit.grade]) + "\n";
  out += "  one line: " + latency_text(fit.line.startup_s, fit.intervals.startup_s) + ", " +
         bandwidth_text(fit.line.per_byte_s, fit.intervals.per_byte_s) +
         (fit.robust == Robust::huber ? ", Huber weights\n" : "\n");
  if (!fit.points.empty()) {
    out += "  chosen: the " + std::to_string(fit.points.size()) +
           " points themselves, straight lines between them\n";
  } else if (fit.curve.size() > 1) {
    out += "  chosen: " + std::to_string(fit.curve.size()) + " segments\n";
    for (const links::CurveSegment& segment : fit.curve) {
      out += "    " + base::readable_bytes(segment.from_bytes) + " to " +
             base::readable_bytes(segment.to_bytes) + ": " + latency_text(segment.startup_s, {}) +
             ", " + bandwidth_text(segment.per_byte_s, {}) + "\n";
    }
  }
  return ordinary ? out + ordinary_text(fit) : out;
}

// The speed of adding has three cases: the data cannot separate it from the bandwidth, they do and
// it is 0 (adding hides behind the transfer), or it is a number.
std::string link_text(const LinkFit& link, const std::string& assume) {
  const JointFit& fit = link.fit;
  std::string out = "link";
  out += link.assumed.empty() ? ": " : " (" + assume + " assumed): ";
  out += latency_text(fit.values[0], fit.intervals[0]) + ", " +
         bandwidth_text(fit.values[1], fit.intervals[1]);
  out += !fit.identifiable[2] ? ", speed of adding unknown"
         : fit.values[2] > 0  ? ", adding " + bandwidth_text(fit.values[2], fit.intervals[2])
                              : ", adding is free";
  return out + ", max error " + base::percent(fit.max_error) + "\n";
}

// The kind of a file follows from its content and not from its name. Logs are often saved under any
// name, and a name that lies would be found only by a reader that fails in the middle.
std::vector<io::Samples> read_inputs(const std::vector<std::string>& paths,
                                     const InputOptions& options) {
  std::vector<io::Samples> files;
  bool any = false;
  bool alone = false;
  for (const std::string& path : paths) {
    files.push_back(read_input(path, options));
    alone = select(files.back(), options) || alone;
    any = any || !files.back().sets.empty();
  }
  if (!any) {
    throw InputError(files.front().file, "",
                     alone ? io::kOneRank : "no samples of " + options.op.value_or("anything"));
  }
  return files;
}

} // namespace stepsim::calibrate
