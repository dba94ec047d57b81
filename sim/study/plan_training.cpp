#include "study/plan_training.hpp"

#include "buckets/unit_search.hpp"
#include "document/json_text.hpp"
#include "layers/layer_units.hpp"
#include "run/memory_figures.hpp"
#include "run/sharding_plan.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_training.hpp"
#include "study/step_changes.hpp"

namespace stepsim::study {

namespace {

struct Candidate {
  io::Json tree;
  std::vector<std::string> set; // POINTER=VALUE
  io::Object chosen;            // what a row says of it, by kPlanAxes
  std::int64_t batches{};       // of an update
  double memory{};              // least_memory()
  double seconds{};             // least time of an update divided by its samples, or by its batches
};

struct Question {
  const io::Json& tree;
  const Scenario& scenario; // of `tree`
  std::vector<std::int64_t> nodes;
};
using Choices = std::vector<io::Json>;

// One number or word that the search varies, and the key of a row that says it.
struct PlanAxis {
  std::string_view name, pointer;
  io::Json (*value)(const Scenario& scenario); // null where it has no meaning
  // After choices of the axes before, by name; null leaves the scenario as it is.
  Choices (*choices)(const Question& question, const io::Json& before);
  // Whether a choice other than null has a meaning in the scenario that has it.
  bool (*allowed)(const Scenario& scenario) = [](const Scenario&) { return true; };
};

bool has_units_in(const io::Json& chosen) {
  return has_units(*kShardingStrategies.find(chosen.find("strategy")->as_string()));
}

Choices words(auto&& all) {
  return base::collected<io::Json>(all, [](std::string_view word) { return io::Json(word); });
}

io::Json word_of(layers::WrappingPolicy policy) {
  return io::Json(layers::kWrappingPolicies[policy]);
}

// `all`, with null in place of `usual`, which is first if it is none of them.
Choices or_usual(Choices all, const io::Json& usual) {
  if (auto* place = base::found(all, usual)) {
    *place = io::Json();
  } else {
    all.insert(all.begin(), io::Json());
  }
  return all;
}

// Layers that a trace names without blocks are its operators.
bool has_blocks(const Scenario& scenario) {
  return scenario.workload_source.trace.empty() || layers::names_blocks(scenario.workload);
}

bool has_buckets(const Scenario& scenario) {
  return !has_units(scenario.training.sharding) &&
         scenario.communication.schedule == buckets::Schedule::ddp;
}

constexpr std::array kPlanAxes{
    PlanAxis{"nodes", "/cluster/nodes", [](const Scenario& s) { return io::Json(s.cluster.nodes); },
             [](const Question& question, const io::Json&) {
               return question.nodes.empty()
                          ? Choices(1)
                          : Choices(question.nodes.begin(), question.nodes.end());
             }},
    PlanAxis{"strategy", "/training/sharding/strategy",
             [](const Scenario& s) {
               return io::Json(kShardingStrategies[s.training.sharding.strategy]);
             },
             [](const Question&, const io::Json&) { return words(kShardingStrategies.all()); }},
    // Every size of the groups of hybrid_shard.
    PlanAxis{"shard_ranks", "/training/sharding/shard_ranks",
             [](const Scenario& s) {
               return s.training.sharding.strategy == ShardingStrategy::hybrid_shard
                          ? io::Json(shard_ranks(s))
                          : io::Json();
             },
             [](const Question& question, const io::Json& before) {
               if (before.find("strategy")->as_string() !=
                   kShardingStrategies[ShardingStrategy::hybrid_shard]) {
                 return Choices(1);
               }
               Cluster cluster = question.scenario.cluster;
               if (const io::Json& nodes = *before.find("nodes"); !nodes.is_null()) {
                 cluster.nodes = nodes.as_integer();
               }
               const bool given = question.scenario.training.sharding.shard_ranks.has_value();
               Choices choices;
               for (std::int64_t ranks = 2; ranks <= cluster.ranks() / 2; ++ranks) {
                 if (divides_into_groups(cluster, ranks)) {
                   const bool usual = ranks == joined_nodes(cluster).gpus && !given;
                   choices.push_back(usual ? io::Json() : io::Json(ranks));
                 }
               }
               return choices;
             }},
    // Only an estimate recomputes.
    PlanAxis{"recompute", "/workload/recompute",
             [](const Scenario& s) {
               const auto& estimate = s.workload_source.profile.estimate;
               return estimate ? io::Json(layers::kRecomputes[estimate->recompute]) : io::Json();
             },
             [](const Question& question, const io::Json&) {
               const layers::ProfileOptions& profile = question.scenario.workload_source.profile;
               return profile.estimate ? words(recomputations_of(profile)) : Choices(1);
             }},
    // Every way to divide the samples of an update, where their number is known.
    PlanAxis{"micro_batches", "/training/micro_batches",
             [](const Scenario& s) { return io::Json(s.training.micro_batches); },
             [](const Question& question, const io::Json&) {
               const Scenario& scenario = question.scenario;
               const auto& batch_size = scenario.workload.batch_size;
               if (scenario.workload_source.model.empty() || !batch_size) {
                 return Choices(1);
               }
               Choices choices;
               const std::int64_t samples = scenario.training.micro_batches * *batch_size;
               for (std::int64_t n = 1; n <= samples; ++n) {
                 if (samples % n == 0) {
                   choices.emplace_back(n);
                 }
               }
               return choices;
             }},
    PlanAxis{"batch_size", "/workload/batch_size",
             [](const Scenario& s) {
               return s.workload.batch_size ? io::Json(*s.workload.batch_size) : io::Json();
             },
             [](const Question& question, const io::Json& before) {
               const Scenario& scenario = question.scenario;
               const io::Json& parts = *before.find("micro_batches");
               return parts.is_null() ? Choices(1)
                                      : Choices{scenario.training.micro_batches *
                                                *scenario.workload.batch_size / parts.as_integer()};
             }},
    // The size of buckets as it is, and larger ones where it is that of PyTorch.
    PlanAxis{"bucket_bytes", "/communication/bucket_bytes",
             [](const Scenario& s) {
               return has_buckets(s) ? io::Json(s.communication.schedule_options.bucket_bytes.value)
                                     : io::Json();
             },
             [](const Question& question, const io::Json& before) {
               constexpr std::int64_t kUsual = buckets::kDefaultBucketBytes.value;
               const bool usual =
                   question.scenario.communication.schedule_options.bucket_bytes.value == kUsual;
               return has_units_in(before) || !usual ? Choices(1)
                                                     : Choices{io::Json(), 4 * kUsual, 16 * kUsual};
             },
             has_buckets},
    // Units of blocks, one unit, what the exact planner finds, and the units that the scenario has.
    PlanAxis{"wrapping", "/training/sharding/wrapping/policy",
             [](const Scenario& s) {
               const Sharding& sharding = s.training.sharding;
               return has_units(sharding) ? word_of(sharding.wrapping.policy) : io::Json();
             },
             [](const Question& question, const io::Json& before) {
               using layers::WrappingPolicy;
               if (!has_units_in(before)) {
                 return Choices(1);
               }
               Choices all{word_of(WrappingPolicy::all), word_of(WrappingPolicy::optimal)};
               if (has_blocks(question.scenario)) {
                 all.insert(all.begin(), word_of(WrappingPolicy::block));
               }
               return or_usual(std::move(all),
                               word_of(question.scenario.training.sharding.wrapping.policy));
             },
             [](const Scenario& s) {
               return s.training.sharding.wrapping.policy != layers::WrappingPolicy::optimal ||
                      (labels_apply(s) && unit_parts(s).size() <= buckets::kMostLayersLabelled);
             }},
    PlanAxis{"blocks", "/training/sharding/wrapping/blocks",
             [](const Scenario& s) {
               const layers::Wrapping& wrapping = s.training.sharding.wrapping;
               return has_units(s.training.sharding) &&
                              wrapping.policy == layers::WrappingPolicy::block
                          ? io::Json(wrapping.blocks)
                          : io::Json();
             },
             [](const Question& question, const io::Json& before) {
               const layers::Wrapping& given = question.scenario.training.sharding.wrapping;
               const io::Json block = word_of(layers::WrappingPolicy::block);
               const io::Json& chosen = *before.find("wrapping");
               if (!has_units_in(before) ||
                   !((chosen.is_null() ? word_of(given.policy) : chosen) == block)) {
                 return Choices(1);
               }
               if (!has_blocks(question.scenario)) {
                 return Choices(1); // of the layers that it has, none is a block of the model
               }
               const auto counts = layers::block_counts(question.scenario.workload);
               return or_usual(Choices(counts.begin(), counts.end()), given.blocks);
             }}};

// The least time of a sample, or of a batch.
double least_seconds(const Scenario& scenario) {
  const double computing = scenario.workload.forward().value + scenario.workload.backward().value;
  return scenario.variability.varies()
             ? 0
             : computing / static_cast<double>(scenario.cluster.ranks() *
                                               scenario.workload.batch_size.value_or(1));
}

// Empty if the scenario does not allow it.
std::optional<Candidate> candidate_of(const Question& question, const io::Json& chosen,
                                      Files& files) {
  Candidate candidate;
  candidate.tree = question.tree;
  std::vector<std::string_view> set;
  for (const PlanAxis& axis : kPlanAxes) {
    const io::Json& value = *chosen.find(axis.name);
    if (!value.is_null() && !(value == axis.value(question.scenario))) {
      io::assign(candidate.tree, axis.pointer, value);
      set.push_back(axis.pointer);
      candidate.set.push_back(std::string(axis.pointer) + "=" +
                              (value.is_string() ? value.as_string() : io::compact(value)));
    }
  }
  try {
    std::vector<MeaninglessKey> dropped;
    const Scenario scenario = without_leftovers(
        candidate.tree, files,
        [&](std::string_view pointer) { return std::ranges::find(set, pointer) == set.end(); },
        dropped);
    for (const PlanAxis& axis : kPlanAxes) {
      if (!chosen.find(axis.name)->is_null() && !axis.allowed(scenario)) {
        return std::nullopt;
      }
      candidate.chosen.emplace_back(std::string(axis.name), axis.value(scenario));
    }
    candidate.batches = scenario.cluster.ranks() * scenario.training.micro_batches;
    candidate.memory = least_memory(scenario);
    candidate.seconds = least_seconds(scenario);
    return candidate;
  } catch (const InputError&) { // a combination that has no meaning
    return std::nullopt;
  }
}

// Appends all candidates with these choices of the first axes.
void add_candidates(const Question& question, std::size_t axis, const io::Json& before,
                    Files& files, std::vector<Candidate>& out) {
  if (axis == kPlanAxes.size()) {
    if (auto candidate = candidate_of(question, before, files)) {
      out.push_back(*std::move(candidate));
    }
    return;
  }
  for (io::Json& choice : kPlanAxes[axis].choices(question, before)) {
    io::Json chosen = before;
    chosen.set(std::string(kPlanAxes[axis].name), std::move(choice));
    add_candidates(question, axis + 1, chosen, files, out);
  }
}

// The row of a candidate: what was chosen, and the record of its run.
io::Json row_of_candidate(const Candidate& candidate, const io::Json& record) {
  io::Json row{candidate.chosen};
  row.set("set", io::Array(candidate.set.begin(), candidate.set.end()));
  const io::Json found = without_place(record);
  for (const auto& [key, value] : found.as_object()) {
    if (key != "name" && row.find(key) == nullptr) {
      row.set(key, value);
    }
  }
  return row;
}

// Of an update, divided as Candidate::seconds is, at the high end of its interval.
double most_seconds(const io::Json& row, const Candidate& candidate) {
  const double seconds = number_in(row, "iteration_time_high_s")
                             .value_or(number_in(row, kIterationTime).value_or(HUGE_VAL));
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
  std::vector<Candidate> all;
  add_candidates({tree, scenario, options.nodes}, 0, io::Object{}, files, all);
  plan.combinations = std::ssize(all);
  const auto& capacity = scenario.cluster.gpu_memory_bytes;
  const double most = capacity ? static_cast<double>(*capacity) : HUGE_VAL;
  const auto is_large = [&](const Candidate& each) { return each.memory > most; };
  plan.too_large = std::ranges::count_if(all, is_large);
  // Where nothing can fit, memory is bounded and compared instead of time.
  const bool may_fit = plan.too_large < plan.combinations;
  const auto bound = may_fit ? &Candidate::seconds : &Candidate::memory;
  if (may_fit) {
    std::erase_if(all, is_large);
  }
  std::ranges::stable_sort(all, {}, bound);
  double best = std::numeric_limits<double>::infinity();
  Comparison& found = plan.found;
  std::string reason;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (options.progress) {
      options.progress(static_cast<std::int64_t>(i), std::ssize(all));
    }
    if (std::invoke(bound, all[i]) > best) {
      plan.too_slow = may_fit ? std::ssize(all) - static_cast<std::int64_t>(i) : 0;
      break;
    }
    try {
      const io::Json row =
          row_of_candidate(all[i], row_of(all[i].tree, files, options.max_seconds));
      const double memory = number_in(row, "memory_bytes").value_or(HUGE_VAL);
      if (!may_fit && memory < best) { // the row that needs least is shown alone
        found.rows.clear();
        found.batches.clear();
      } else if (!may_fit) {
        continue;
      }
      best = !may_fit              ? memory
             : exceeds_memory(row) ? best
                                   : std::min(best, most_seconds(row, all[i]));
      found.rows.push_back(row);
      found.batches.push_back(all[i].batches);
    } catch (const SimulationError& error) {
      reason = error.what();
    }
  }
  if (found.rows.empty()) {
    throw SimulationError("no combination runs: " + reason);
  }
  for (const PlanAxis& axis : kPlanAxes) {
    const std::string key(axis.name);
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
