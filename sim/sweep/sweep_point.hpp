#pragma once
// One point of a sweep: fields of the scenario or collective set, parsed, run, summarised. What
// goes wrong becomes the point's error text. Points that differ in nodes, latency and bandwidth
// only take the short way of sweep_quick.hpp, or share what shared_run.hpp can. One object per
// thread.
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "run/work_estimate.hpp"
#include "scenario/files.hpp"
#include "sweep/shard.hpp"
#include "sweep/sweep_file.hpp"
#include "sweep/sweep_quick.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

// Not thread-safe, but several objects may share `files`, which guards itself.
class PointRunner {
public:
  // Both must outlive the object.
  // `max_seconds`: estimated CPU time above which a point fails.
  PointRunner(const Sweep& sweep, Files& files, double max_seconds = kMaxSeconds);
  PointRunner(const PointRunner&) = delete;
  PointRunner& operator=(const PointRunner&) = delete;
  ~PointRunner();

  // The points of the shard with indices begin..end-1. Valid until the next call.
  [[nodiscard]] std::span<const PointOutcome> run(const Shard& shard, std::int64_t begin,
                                                  std::int64_t end);
  // The long way for every point: what the short one is held to.
  void use_long_way() { quick_fields_.clear(); }
  // So far, by QuickRun and by SharedRun.
  [[nodiscard]] std::int64_t quick_points() const { return quick_points_; }
  [[nodiscard]] std::int64_t shared_points() const { return shared_points_; }
  // Warnings of all points so far: text -> number of points.
  [[nodiscard]] std::map<std::string, std::int64_t> warnings() const;

private:
  // A field that the short way can vary, with the values of its axis; not a number: the long way.
  struct QuickField {
    std::size_t axis{};
    std::vector<double> values;
  };
  // Points that share everything else.
  struct Context;

  void run_long(std::int64_t point, PointOutcome& outcome);
  [[nodiscard]] double quick_value(std::size_t field, std::int64_t point, double otherwise) const;
  Context* context_of(std::int64_t point);
  [[nodiscard]] QuickPoint quick_point(const Cluster& cluster, std::int64_t point) const;
  void run_quick(Context& context, std::span<const std::int64_t> points);
  [[nodiscard]] bool run_shared(Context& context, std::int64_t point, PointOutcome& outcome);
  void forget_contexts();

  const Sweep& sweep_;
  Files& files_;
  double max_seconds_;
  bool library_keys_; // in records of collectives
  std::vector<std::int64_t> strides_;
  std::vector<QuickField> quick_fields_; // nodes, latency, bandwidth; empty: none is varied
  std::map<std::int64_t, std::unique_ptr<Context>> contexts_; // by the values of all other axes
  std::int64_t quick_points_ = 0, shared_points_ = 0, contexts_built_ = 0;
  std::vector<std::int64_t> points_; // of the current call
  std::vector<Context*> context_of_; // [point]
  std::vector<bool> finished_;       // [point]
  std::vector<PointOutcome> outcomes_;
  std::map<std::string, std::int64_t> warnings_;
};

// Reads the scenario or collective of a point. Throws InputError with all problems.
void check_point(const io::Json& tree, Files& files);
// Throws the InputError of the first point if none of up to 16 points spread over the grid can be
// parsed: then the scenario is wrong, not some of its points.
void check_some_point(const Sweep& sweep, Files& files);

} // namespace stepsim::study
