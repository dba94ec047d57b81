#pragma once
// The fastest way to train a model in the memory of its GPUs: strategies of sharding, sizes of the
// groups of hybrid_shard, what backward computes again, how the samples of an update are divided
// into micro-batches, sizes of buckets, units of layers and numbers of nodes. The search is exact
// over these: a combination is left out only if memory that every run of it has exceeds that of a
// GPU, or if its computing alone takes longer than the best run, at the high end of its interval.

#include "scenario/scenario.hpp"
#include "study/compare.hpp"

#include <functional>

namespace stepsim::study {

struct TrainingPlanOptions {
  std::vector<std::int64_t> nodes; // empty: those of the scenario
  double max_seconds = kMaxSeconds;
  std::function<void(std::int64_t done, std::int64_t total)> progress{};
};

struct TrainingPlan {
  // What was run, best first. Beside the keys of a comparison a row has strategy, shard_ranks,
  // recompute, micro_batches, batch_size, bucket_bytes, wrapping, blocks (null where they have no
  // meaning), nodes, and `set`, POINTER=VALUE of each change to the scenario.
  Comparison found;
  std::int64_t combinations{}; // that the scenario allows
  std::int64_t too_large{};    // of them: need more memory than a GPU has, whatever the step
  std::int64_t too_slow{};     // of them: computing alone takes longer than the best
};

// `tree`: the scenario, short forms expanded; its algorithm must be sync_sgd. An update keeps its
// number of samples a worker. If nothing fits, what needs least is run. Throws InputError, and
// SimulationError if no combination runs.
[[nodiscard]] TrainingPlan plan_training(const io::Json& tree, Files& files,
                                         const TrainingPlanOptions& options);

// The settings that frameworks of today read, for the best row of plan-training.

struct TrainingSettings {
  std::string text;
  std::string note; // what the file cannot say; "" = nothing
};

// The names of the frameworks, and the file of one of them for the scenario `best`, whose
// `prediction` stands in its first comment. Throws UsageError for a scenario without a batch size,
// and for a strategy or precision that the framework lacks.
[[nodiscard]] std::vector<std::string_view> training_targets();
[[nodiscard]] TrainingSettings training_settings(std::string_view target, const Scenario& best,
                                                 std::string_view prediction);

} // namespace stepsim::study
