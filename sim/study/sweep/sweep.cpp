#include "study/sweep/sweep.hpp"

#include "document/json_text.hpp"
#include "run/collective_keys.hpp"
#include "run/collective_record.hpp"
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
    const PointOutcome& outcome = points.run(point);
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

constexpr int kHashVersion = 1; // of the scenario schema

// `json` stands at `pointer` of a scenario: file names become contents, or stay where a file cannot
// be read, which the points that use it will tell. 1.25e9 and 1250000000 are one number.
// `$schema` at the root is for editors and changes no result.
io::Json canonical(io::Json json, const std::string& pointer, Files& files) {
  if (pointer.empty() && json.is_object()) {
    std::erase_if(json.as_object(), [](const auto& member) { return member.first == "$schema"; });
  }
  io::for_each_leaf(json, pointer, [&](io::Json& leaf, const std::string& place) {
    if (leaf.is_string() && names_file(place)) {
      try {
        leaf = "content " + files.digest(leaf, place);
      } catch (const InputError&) {}
    } else if (leaf.is_number() && !leaf.is_integer()) {
      const double value = leaf.as_double();
      if (value == std::floor(value) && std::abs(value) < 0x1p53) {
        leaf = static_cast<std::int64_t>(value);
      }
    }
  });
  return json;
}

// Keys of `under` that `over` does not have, in objects at every depth.
// What is written wins over the default.
void fill_in(io::Json& over, const io::Json& under) {
  if (!over.is_object() || !under.is_object()) {
    return;
  }
  for (const auto& [key, value] : under.as_object()) {
    if (io::Json* own = over.find(key)) {
      fill_in(*own, value);
    } else {
      over.set(key, value);
    }
  }
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

SweepEstimate estimate(const Sweep& sweep, Files& files, const SweepOptions& options) {
  constexpr std::int64_t kTogether = 256; // points of which a formula is timed
  constexpr std::int64_t kSharing = 16;   // points of which those that share a workload are timed
  const Records records(sweep, options.format, options.columns);
  const std::int64_t points = options.shard.points(records.points());
  check_some_point(sweep, files);
  SweepEstimate result;
  if (points == 0) {
    return result;
  }
  PointRunner runner(sweep, files, options.max_seconds);
  NumberTexts numbers;
  std::string lines;
  const auto seconds_each = [&](std::int64_t first, std::int64_t count) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = first; i < first + count; ++i) {
      const std::int64_t point = options.shard.point(i);
      records.append(lines, point, runner.run(point), numbers);
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return passed.count() / static_cast<double>(count);
  };
  (void)seconds_each(0, 1); // reads the files
  double sum = 0;
  for (const std::int64_t i : {std::int64_t{0}, points / 2, points - 1}) {
    const std::int64_t by_formula = runner.quick_points();
    const std::int64_t sharing = runner.shared_points();
    double seconds = seconds_each(i, 1);
    const bool quick = runner.quick_points() > by_formula;
    const bool shares = runner.shared_points() > sharing;
    if (quick || shares) {
      const std::int64_t count = std::min(points, quick ? kTogether : kSharing);
      seconds = seconds_each(std::min(i, points - count), count);
    }
    result.by_formula += quick ? 1 : 0;
    result.sharing += shares ? 1 : 0;
    sum += seconds;
    ++result.timed;
  }
  result.seconds = sum / static_cast<double>(result.timed) * static_cast<double>(points) /
                   std::max(1, options.jobs);
  return result;
}

double expected_seconds(const Sweep& sweep, Files& files, std::int64_t points) {
  const std::int64_t all = sweep.grid.points();
  if (all == 0) {
    return 0;
  }
  double sum = 0;
  for (const std::int64_t point : {std::int64_t{0}, all / 2, all - 1}) {
    try {
      const io::Json tree = scenario_at(sweep.base, sweep.grid, point);
      sum += is_collective(tree)
                 ? estimated_seconds(parse_collective(tree, files, Leftovers::ignore))
                 : estimated_seconds(parse_scenario(tree, files, Leftovers::ignore));
    } catch (const InputError&) { // its record will say so
    } catch (const SimulationError&) {
    } catch (const UsageError&) {}
  }
  return sum / 3 * static_cast<double>(points);
}

// The hash is of a canonical text of the work: contents of files instead of names, numbers in one
// form, keys sorted, defaults filled in. But for collisions two sweeps with one hash have the same
// points with the same results.

std::string grid_hash(const Sweep& sweep, Files& files) {
  const io::Json first = scenario_at(sweep.base, sweep.grid, 0);
  // The scenario as written, because a key that the first point ignores may matter to another, and
  // under it the defaults, so that writing a default does not make another sweep.
  io::Json scenario = canonical(first, "", files);
  try {
    const io::Json defaults = is_collective(first)
                                  ? io::defaults_of(keys::kCollectiveFile)
                                  : scenario_tree(parse_scenario(first, files, Leftovers::ignore));
    fill_in(scenario, canonical(defaults, "", files));
  } catch (const InputError&) { // the first point is one that fails
  } catch (const SimulationError&) {}
  io::Array axes = io::write_each(sweep.grid.axes, [&](const Axis& axis) {
    return io::Object{{"field", axis.pointer},
                      {"values", io::write_each(axis.values, [&](const io::Json& value) {
                         return canonical(value, axis.pointer, files);
                       })}};
  });
  return fnv1a(io::compact(io::Json(io::Object{{"schema_version", kHashVersion},
                                               {"scenario", std::move(scenario)},
                                               {"axes", std::move(axes)},
                                               {"zip", io::list_of(sweep.grid.zips)},
                                               {"replications", sweep.grid.replications}})));
}

} // namespace stepsim::study
