#include "study/sweep/sweep.hpp"

#include "run/collective_record.hpp"
#include "study/sweep/sweep_point.hpp"

namespace stepsim::study {

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
    std::int64_t i = first;
    for (const PointOutcome& outcome : runner.run(options.shard, first, first + count)) {
      records.append(lines, options.shard.point(i++), outcome, numbers);
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

} // namespace stepsim::study
