// A trace numbers layers from 0 and lets units enclose each other; cuts number layers from 1 and
// divide them. Each layer belongs to the innermost unit around it, and a cut stands wherever the
// unit changes.
#include "scenario/scenario_training.hpp"

#include "document/json_text.hpp"
#include "scenario/keys/training_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/rules.hpp"

namespace stepsim::study {

namespace {

// Numbers of the layers after which the unit changes; empty if a unit has no layer.
std::optional<io::Array> cuts_of(const layers::Workload& workload) {
  const std::vector<layers::MeasuredUnit>& units = workload.units;
  std::vector<std::size_t> order(units.size());
  for (std::size_t u = 0; u < units.size(); ++u) {
    order[u] = u;
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return units[a].first_layer != units[b].first_layer
               ? units[a].first_layer < units[b].first_layer
               : units[a].last_layer > units[b].last_layer;
  });
  io::Array cuts;
  std::vector<std::size_t> open; // the innermost unit is the last
  std::vector<char> has_layer(units.size());
  std::optional<std::size_t> current;
  auto next = order.begin();
  const auto layers = static_cast<std::int64_t>(workload.layers.size());
  for (std::int64_t l = 0; l < layers; ++l) {
    for (; next != order.end() && units[*next].first_layer <= l; ++next) {
      open.push_back(*next);
    }
    while (!open.empty() && units[open.back()].last_layer < l) {
      open.pop_back();
    }
    if (open.empty()) {
      continue; // a layer outside all units stays with the unit before it
    }
    has_layer[open.back()] = 1;
    if (current && *current != open.back()) {
      cuts.emplace_back(l);
    }
    current = open.back();
  }
  return std::ranges::all_of(has_layer, [](char each) { return each != 0; }) ? std::optional(cuts)
                                                                             : std::nullopt;
}

// The bytes of a value, if all units name the same known type.
std::optional<std::int64_t> value_bytes(const std::vector<layers::MeasuredUnit>& units,
                                        std::string layers::MeasuredUnit::*dtype) {
  if (units.empty() || !std::ranges::all_of(units, [&](const layers::MeasuredUnit& each) {
        return each.*dtype == units.front().*dtype;
      })) {
    return std::nullopt;
  }
  const std::int64_t bytes = layers::dtype_bytes(units.front().*dtype);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

// Whether the unit that forward runs last was not gathered again, unlike the others.
bool kept_last(const std::vector<layers::MeasuredUnit>& units) {
  return units.size() > 1 && units.back().gathers_backward == 0 &&
         std::ranges::any_of(
             units, [](const layers::MeasuredUnit& each) { return each.gathers_backward > 0; });
}

void add_units(const layers::Workload& workload, io::Json& sharding, std::string& words) {
  const auto cuts = workload.units.empty() ? std::nullopt : cuts_of(workload);
  if (!cuts) {
    words += ", whose units the trace does not tell";
    return;
  }
  const std::size_t count = cuts->size() + 1;
  words += " in " + base::counted(static_cast<std::int64_t>(count), "unit");
  if (count != workload.units.size()) {
    words +=
        fmt::format(" ({} of the trace, cut where they enclose others)", workload.units.size());
  }
  sharding.set("wrapping", count == 1 ? io::Json(io::Object{{"policy", "all"}})
                                      : io::Json(io::Object{{"policy", "list"}, {"cuts", *cuts}}));
}

io::Json sharding_of(const layers::Workload& workload, const Cluster& cluster, std::string& words) {
  const layers::MeasuredSharding& recorded = *workload.sharding;
  const bool part = recorded.world_size && recorded.group_size < *recorded.world_size;
  const bool hybrid = part && cluster.equal_nodes() &&
                      divides_into_groups(cluster, recorded.group_size) &&
                      (joined_nodes(cluster).gpus == 1 || cluster.intra);
  const ShardingStrategy strategy = hybrid ? ShardingStrategy::hybrid_shard
                                    : recorded.reshard_after_forward
                                        ? ShardingStrategy::full_shard
                                        : ShardingStrategy::shard_grad_op;
  io::Json tree{io::Object{{"strategy", kShardingStrategies[strategy]}}};
  words = "sharding " + std::string(kShardingStrategies[strategy]);
  add_units(workload, tree, words);
  if (hybrid) {
    tree.set("shard_ranks", recorded.group_size);
    words += ", each copy over " + std::to_string(recorded.group_size) + " ranks";
  } else if (part) {
    words += ", over all ranks (in the trace over " + std::to_string(recorded.group_size) + " of " +
             std::to_string(*recorded.world_size) +
             ", which the nodes here cannot be divided into)";
  }
  io::set_if(hybrid && !recorded.reshard_after_forward, tree, "reshard_after_forward", false);
  io::set_if(recorded.reshard_after_forward && kept_last(workload.units), tree, "keep_last", true);
  if (const auto bytes = value_bytes(workload.units, &layers::MeasuredUnit::gather_dtype)) {
    tree.set("parameter_bytes", *bytes);
    words += ", gathered as " + workload.units.front().gather_dtype;
  }
  if (const auto bytes = value_bytes(workload.units, &layers::MeasuredUnit::reduce_dtype)) {
    tree.set("reduce_bytes", *bytes);
    words += ", reduced as " + workload.units.front().reduce_dtype;
  }
  return tree;
}

// The sentence about a job whose trace recorded what the scenario has no keys for; empty if it has.
std::string warning(const layers::Workload& workload, const io::Json& tree,
                    const Scenario& scenario) {
  std::string recorded;
  std::string remedy;
  const std::int64_t micro_batches = workload.accumulation.value_or(1);
  if (micro_batches > 1 && !is_given(tree, keys::pointer_of(keys::kMicroBatches))) {
    recorded = std::to_string(micro_batches) + " micro-batches per update";
    remedy = "\"micro_batches\": " + std::to_string(micro_batches);
  }
  if (workload.sharding && !is_given(tree, "/training/sharding")) {
    io::Json sharding = *recorded_training(workload, scenario.cluster).keys.find("sharding");
    const io::Json* group = sharding.find("shard_ranks");
    sharding = group == nullptr ? *sharding.find("strategy")
                                : io::Json(io::Object{{"shard_ranks", *group},
                                                      {"strategy", *sharding.find("strategy")}});
    recorded += (recorded.empty() ? "" : " and ") +
                ("parameters sharded over " + base::counted(workload.sharding->group_size, "rank"));
    remedy += (remedy.empty() ? "" : " and ") + ("\"sharding\": " + io::compact(sharding));
  }
  if (recorded.empty()) {
    return "";
  }
  return "the trace " + workload.name + " was recorded with " + recorded +
         ", the scenario has no key for that; " +
         (scenario.training.algorithm == TrainingAlgorithm::sync_sgd
              ? remedy + " under /training, as stepsim init writes it"
              : "only algorithm sync_sgd has such keys");
}

} // namespace

RecordedTraining recorded_training(const layers::Workload& workload, const Cluster& cluster) {
  RecordedTraining recorded;
  const std::int64_t micro_batches = workload.accumulation.value_or(1);
  if (micro_batches > 1) {
    recorded.keys.set(keys::kMicroBatches.name, micro_batches);
    recorded.taken.push_back("micro_batches " + std::to_string(micro_batches));
  }
  if (workload.sharding) {
    std::string words;
    recorded.keys.set("sharding", sharding_of(workload, cluster, words));
    recorded.taken.push_back(words);
  }
  if (micro_batches > 1 && (workload.sharding || workload.reduces_each)) {
    const auto exchange =
        workload.reduces_each ? AccumulationExchange::each : AccumulationExchange::last;
    recorded.keys.set("accumulation_exchange", kAccumulationExchanges[exchange]);
    recorded.taken.push_back("accumulation_exchange " +
                             std::string(kAccumulationExchanges[exchange]));
  }
  return recorded;
}

void warn_of_other_gpu(Scenario& scenario) {
  const auto& estimate = scenario.workload_source.profile.estimate;
  const std::string timed = estimate ? std::string(estimate->gpu->name) : scenario.workload.device;
  const auto& node = scenario.cluster.node;
  if (node && layers::may_be_other_gpu(timed, node->gpu)) {
    const bool unknown = layers::part_name(timed).part.empty();
    scenario.warnings.push_back("the times of layers are those of " + timed +
                                (unknown ? ", whose model is unknown, but " : ", but ") +
                                node->written + " has " + node->gpu);
  }
}

void warn_of_recorded_training(const io::Json& tree, Scenario& scenario) {
  const auto warn = [&](const layers::Workload& workload) {
    if (std::string text = warning(workload, tree, scenario);
        !text.empty() && std::ranges::find(scenario.warnings, text) == scenario.warnings.end()) {
      scenario.warnings.push_back(std::move(text));
    }
  };
  warn(scenario.workload);
  for (const OtherJob& job : scenario.other_jobs) {
    warn(job.workload);
  }
}

} // namespace stepsim::study
