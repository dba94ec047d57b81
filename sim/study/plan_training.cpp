#include "study/plan_training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "run/memory_figures.hpp"
#include "scenario/parse_context.hpp"
#include "scenario/scenario_sharding.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::study {

namespace {

constexpr std::string_view kStrategyKey = "/training/sharding/strategy";
constexpr std::string_view kRecomputeKey = "/workload/recompute";
constexpr std::string_view kMicroBatchesKey = "/training/micro_batches";
constexpr std::string_view kBatchSizeKey = "/workload/batch_size";
constexpr std::string_view kBucketBytesKey = "/communication/bucket_bytes";
constexpr std::string_view kNodesKey = "/cluster/nodes";

// Keys of a row, which are also the fields that may vary.
constexpr std::array<std::string_view, 6> kChosen{"nodes",         "strategy",   "recompute",
                                                  "micro_batches", "batch_size", "bucket_bytes"};

struct Candidate {
  io::Json tree;
  std::vector<std::string> set; // POINTER=VALUE
  io::Object chosen;            // what a row says of it, by kChosen
  std::int64_t batches{};       // of an update
  double memory{};              // least_memory()
  double seconds{};             // least time of an update divided by its samples, or by its batches
};

// Every way to divide the samples of an update; {1} if their number is not known.
std::vector<std::int64_t> divisions(const Scenario& scenario) {
  const std::int64_t micro_batches = scenario.training.micro_batches;
  if (scenario.workload_source.model.empty() || !scenario.workload.batch_size) {
    return {micro_batches};
  }
  const std::int64_t samples = micro_batches * *scenario.workload.batch_size;
  std::vector<std::int64_t> all;
  for (std::int64_t n = 1; n <= samples; ++n) {
    if (samples % n == 0) {
      all.push_back(n);
    }
  }
  return all;
}

class Candidates {
public:
  Candidates(const io::Json& tree, const Scenario& scenario, Files& files)
      : tree_(tree), scenario_(scenario), files_(files) {}

  [[nodiscard]] std::vector<Candidate> all(std::vector<std::int64_t> nodes) {
    if (nodes.empty()) {
      nodes.push_back(scenario_.cluster.nodes);
    }
    const auto& batch_size = scenario_.workload.batch_size;
    for (const std::int64_t count : nodes) {
      for (const std::string_view strategy : kShardingStrategies.all()) {
        for (const std::string_view recompute : layers::kRecomputes.all()) {
          if (!makes_a_difference(recompute)) {
            continue;
          }
          for (const std::int64_t parts : divisions(scenario_)) {
            Set set{{kStrategyKey, strategy}};
            if (count != scenario_.cluster.nodes) {
              set.emplace_back(kNodesKey, count);
            }
            if (const auto& estimate = scenario_.workload_source.profile.estimate;
                estimate && recompute != layers::kRecomputes[estimate->recompute]) {
              set.emplace_back(kRecomputeKey, recompute);
            }
            if (parts != scenario_.training.micro_batches) {
              set.emplace_back(kBatchSizeKey,
                               scenario_.training.micro_batches * *batch_size / parts);
              set.emplace_back(kMicroBatchesKey, parts);
            }
            add_buckets(std::move(set));
          }
        }
      }
    }
    return std::move(found_);
  }

private:
  using Set = std::vector<std::pair<std::string_view, io::Json>>;

  // Only an estimate recomputes, and only plain attention stores scores.
  [[nodiscard]] bool makes_a_difference(std::string_view recompute) const {
    const layers::ProfileOptions& profile = scenario_.workload_source.profile;
    return recompute == layers::kRecomputes[layers::Recompute::none] ||
           (profile.estimate && (recompute != layers::kRecomputes[layers::Recompute::selective] ||
                                 profile.attention == layers::Attention::plain));
  }

  // The size of buckets as it is, and larger ones where it is that of PyTorch.
  void add_buckets(Set set) {
    const std::optional<Scenario> plain = add(set);
    if (!plain || has_units(plain->training.sharding) ||
        plain->communication.schedule != buckets::Schedule::ddp ||
        plain->communication.schedule_options.bucket_bytes.value !=
            buckets::kDefaultBucketBytes.value) {
      return;
    }
    for (const std::int64_t factor : {4, 16}) {
      Set larger = set;
      larger.emplace_back(kBucketBytesKey, factor * buckets::kDefaultBucketBytes.value);
      (void)add(std::move(larger));
    }
  }

  // Empty if the scenario does not allow it.
  std::optional<Scenario> add(Set set) {
    io::Json tree = tree_;
    for (const auto& [pointer, value] : set) {
      io::assign(tree, pointer, value);
    }
    try {
      std::vector<MeaninglessKey> dropped;
      Scenario scenario = without_leftovers(
          tree, files_,
          [&](std::string_view pointer) {
            return std::ranges::none_of(set,
                                        [&](const auto& each) { return each.first == pointer; });
          },
          dropped);
      const double computing =
          static_cast<double>(scenario.training.micro_batches) *
          (scenario.workload.forward().value + scenario.workload.backward().value);
      const auto batches = scenario.cluster.ranks() * scenario.training.micro_batches;
      const double samples =
          static_cast<double>(batches * scenario.workload.batch_size.value_or(1));
      found_.push_back({.tree = std::move(tree),
                        .set = texts_of(set),
                        .chosen = chosen(scenario),
                        .batches = batches,
                        .memory = least_memory(scenario),
                        .seconds = scenario.variability.varies() ? 0 : computing / samples});
      return scenario;
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  static std::vector<std::string> texts_of(const Set& set) {
    std::vector<std::string> texts;
    for (const auto& [pointer, value] : set) {
      texts.push_back(std::string(pointer) + "=" +
                      (value.is_string() ? value.as_string() : io::compact(value)));
    }
    return texts;
  }

  static io::Object chosen(const Scenario& scenario) {
    const Training& training = scenario.training;
    const auto& estimate = scenario.workload_source.profile.estimate;
    const auto& batch_size = scenario.workload.batch_size;
    const bool buckets =
        !has_units(training.sharding) && scenario.communication.schedule == buckets::Schedule::ddp;
    const std::array<io::Json, kChosen.size()> values{
        scenario.cluster.nodes,
        kShardingStrategies[training.sharding.strategy],
        estimate ? io::Json(layers::kRecomputes[estimate->recompute]) : io::Json(),
        training.micro_batches,
        batch_size ? io::Json(*batch_size) : io::Json(),
        buckets ? io::Json(scenario.communication.schedule_options.bucket_bytes.value)
                : io::Json()};
    io::Object object;
    for (std::size_t i = 0; i < values.size(); ++i) {
      object.emplace_back(std::string(kChosen[i]), values[i]);
    }
    return object;
  }

  const io::Json& tree_;
  const Scenario& scenario_;
  Files& files_;
  std::vector<Candidate> found_;
};

// The row of a candidate: what was chosen, and the record of its run.
io::Json row_of_candidate(const Candidate& candidate, const io::Json& record) {
  io::Json row{candidate.chosen};
  row.set("set", io::Array(candidate.set.begin(), candidate.set.end()));
  for (const auto& [key, value] : record.as_object()) {
    if (key != "record" && key != "point" && key != "status" && key != "name" &&
        row.find(key) == nullptr) {
      row.set(key, value);
    }
  }
  return row;
}

// Of an update, divided as Candidate::seconds is, at the high end of its interval.
double most_seconds(const io::Json& row, const Candidate& candidate) {
  const double seconds = number_in(row, "iteration_time_high_s")
                             .value_or(number_in(row, "iteration_time_s").value_or(HUGE_VAL));
  return seconds /
         (static_cast<double>(candidate.batches) * number_in(row, "batch_size").value_or(1));
}

} // namespace

TrainingPlan plan_training(const io::Json& tree, Files& files, const TrainingPlanOptions& options) {
  const Scenario scenario = parse_scenario(tree, files);
  if (scenario.training.algorithm != TrainingAlgorithm::sync_sgd) {
    throw InputError(std::string(tree.file()), "/training/algorithm",
                     "must be sync_sgd: others do not shard");
  }
  TrainingPlan plan;
  std::vector<Candidate> all = Candidates(tree, scenario, files).all(options.nodes);
  plan.combinations = std::ssize(all);
  const auto& capacity = scenario.cluster.gpu_memory_bytes;
  const double most = capacity ? static_cast<double>(*capacity) : HUGE_VAL;
  if (std::ranges::none_of(all, [&](const Candidate& each) { return each.memory <= most; })) {
    all = {*std::ranges::min_element(all, {}, &Candidate::memory)};
  } else {
    std::erase_if(all, [&](const Candidate& each) { return each.memory > most; });
    plan.too_large = plan.combinations - std::ssize(all);
  }
  std::ranges::stable_sort(all, {}, &Candidate::seconds);
  double best = std::numeric_limits<double>::infinity();
  Comparison& found = plan.found;
  std::string reason;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (options.progress) {
      options.progress(static_cast<std::int64_t>(i), std::ssize(all));
    }
    if (all[i].seconds > best) {
      plan.too_slow = std::ssize(all) - static_cast<std::int64_t>(i);
      break;
    }
    try {
      const io::Json row =
          row_of_candidate(all[i], row_of(all[i].tree, files, options.max_seconds));
      best = exceeds_memory(row) ? best : std::min(best, most_seconds(row, all[i]));
      found.rows.push_back(row);
      found.batches.push_back(all[i].batches);
    } catch (const SimulationError& error) {
      reason = error.what();
    }
  }
  if (found.rows.empty()) {
    throw SimulationError("no combination runs: " + reason);
  }
  for (const std::string_view name : kChosen) {
    const std::string key(name);
    const bool varies = std::ranges::any_of(found.rows, [&](const io::Json& row) {
      return !(*row.find(key) == *found.rows.front().find(key));
    });
    if (varies) {
      found.varied.push_back(key);
    }
  }
  rank_and_sort(found);
  return plan;
}

} // namespace stepsim::study
