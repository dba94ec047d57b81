#pragma once
// Runs the points of a sweep. The long way sets the varied fields of the scenario or collective,
// parses it, runs it and keeps the summary. An error becomes the error text of the point. Points
// that differ only in nodes, latency and bandwidth take a short way if they can: QuickRun
// (sweep_quick.hpp), else SharedRun. The grid and the point alone say which.
// SharedRun gives the bits of the long way, QuickRun the same numbers but for rounding (1e-12).

#include "run/program_memory.hpp"
#include "run/work_estimate.hpp"
#include "study/sweep/sweep_quick.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::study {

// Runs the points of a sweep that differ only in nodes, latency and bandwidth and that QuickRun
// does not support. The scenario is parsed once, and what does not depend on the network is
// computed once. Each point is then planned and timed as by run(), with bit-identical results.

// Not thread-safe.
class SharedRun {
public:
  // Null if shares_scenario() is false or `first` has a single node. `first` may have the network
  // of any point. `latency_is_block_latency` means that the scenario gives no block latency, which
  // then follows the latency of the point. A point with more estimated CPU seconds than
  // `max_seconds` fails.
  [[nodiscard]] static std::unique_ptr<SharedRun>
  make(const Scenario& first, bool latency_is_block_latency, double max_seconds);

  // Runs a point. Empty for a point that must be parsed and run by itself: a point with one node,
  // too many or too few ranks or a latency below the given block latency, a point that fails, or
  // one whose cost is not linear though its planner needs that.
  [[nodiscard]] std::optional<Result> run(const QuickPoint& point, std::int64_t replication);
  // The cluster of the last point, not under its conditions.
  [[nodiscard]] const Cluster& cluster() const {
    return scenario_.nominal ? scenario_.nominal->cluster : scenario_.cluster;
  }

private:
  SharedRun(const Scenario& scenario, bool block_follows, double max_seconds);
  [[nodiscard]] bool set_point(const QuickPoint& point, std::int64_t replication);

  Scenario scenario_; // its network and seeds are set point by point
  ProgramMemory memory_;
  bool block_follows_;
  double max_seconds_;
  double messages_;                  // different_messages() of the scenario
  std::int64_t estimated_nodes_ = 0; // the last number whose work was estimated
  std::int64_t seed_;
  std::int64_t least_ranks_ = 1; // every straggler is a worker
};

// One object per thread: the class is not thread-safe, but several objects may share `files`, which
// is guarded by a mutex.
class PointRunner {
public:
  // `sweep` and `files` must outlive the object. A point with more estimated CPU seconds than
  // `max_seconds` fails.
  PointRunner(const Sweep& sweep, Files& files, double max_seconds = kMaxSeconds);
  PointRunner(const PointRunner&) = delete;
  PointRunner& operator=(const PointRunner&) = delete;
  ~PointRunner();

  // Runs a point. The outcome is valid until the next call.
  [[nodiscard]] const PointOutcome& run(std::int64_t point);
  // From now on every point takes the long way. Tests compare the short ways with it.
  void use_long_way() { quick_fields_.clear(); }
  // The numbers of points so far that QuickRun and SharedRun evaluated.
  [[nodiscard]] std::int64_t quick_points() const { return quick_points_; }
  [[nodiscard]] std::int64_t shared_points() const { return shared_points_; }
  // Warnings of all points so far: text -> number of points.
  [[nodiscard]] const std::map<std::string, std::int64_t>& warnings() const { return warnings_; }

private:
  // A field that the short ways can vary, with the values of its axis. NaN marks a value that may
  // be invalid: its points take the long way.
  struct QuickField {
    std::size_t axis{};
    std::vector<double> values;
  };
  // What points share that differ only in the quick fields.
  struct Context;

  [[nodiscard]] bool shares_enough(const std::vector<QuickField>& fields) const;
  void run_long(std::int64_t point);
  [[nodiscard]] double quick_value(std::size_t field, std::int64_t point, double otherwise) const;
  Context* context_of(std::int64_t point);
  [[nodiscard]] QuickPoint quick_point(const Cluster& cluster, std::int64_t point) const;
  [[nodiscard]] bool run_quick(QuickRun& quick, std::int64_t point);
  [[nodiscard]] bool run_shared(SharedRun& shared, std::int64_t point);
  void take(Result&& result);
  void count(std::span<const std::string> warnings);

  const Sweep& sweep_;
  Files& files_;
  double max_seconds_;
  bool library_keys_; // Sweep::has_library_keys()
  std::vector<std::int64_t> strides_;
  std::vector<QuickField> quick_fields_; // nodes, latency, bandwidth; empty = always the long way
  std::map<std::int64_t, Context> contexts_; // key: values of all other axes
  std::int64_t held_ = 0; // contexts, those that keep runs with moved factors several times
  std::int64_t quick_points_ = 0, shared_points_ = 0;
  PointOutcome outcome_;
  std::map<std::string, std::int64_t> warnings_;
};

// Parses the scenario or collective of a point, without running it. Throws InputError with all
// problems.
void check_point(const io::Json& tree, Files& files);
// Parses up to 16 points that are spread over the grid. If none can be parsed, the scenario itself
// is probably wrong: throws the InputError of the first point.
void check_some_point(const Sweep& sweep, Files& files);

} // namespace stepsim::study
