// The preset gives the defaults of most keys, so that the object is read in two steps: the words
// that others follow from, then the rest.
#include "scenario/scenario_training.hpp"

#include "document/json_text.hpp"
#include "scenario/keys/training_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

using Limit = std::optional<std::int64_t>;

// Keys that are read and written as they are.
constexpr auto kShardingMembers =
    io::members<&Sharding::strategy, &Sharding::stored_bytes, &Sharding::optimizer_bytes,
                &Sharding::parameter_bytes, &Sharding::reduce_bytes, &Sharding::gather,
                io::unless_default<&Sharding::gather_by>, &Sharding::preset,
                &Sharding::backward_prefetch, &Sharding::forward_prefetch,
                &Sharding::limit_all_gathers, &Sharding::reshard_after_forward,
                &Sharding::communicators, &Sharding::shard_ranks, &Sharding::max_unit_parameters,
                &Sharding::label_limit>;
constexpr auto kUnitSizes = io::members<&layers::Wrapping::parameters, &layers::Wrapping::layers,
                                        &layers::Wrapping::blocks>;

// null stands for no limit, absence for the default.
Limit read_limit(io::Fields& fields, std::string_view key, Limit by_default) {
  if (const io::Json* given = fields.any(key); given != nullptr && given->is_null()) {
    return std::nullopt;
  }
  const Limit value = fields.optional_integer(key);
  return value ? value : by_default;
}

// Ascending numbers of layers, the last layer left out.
void read_cuts(io::Fields& fields, const ParseContext& context, std::size_t layers,
               layers::Wrapping& wrapping) {
  const auto most = static_cast<std::int64_t>(layers) - 1;
  for (const io::Json& entry : fields.list("cuts")) {
    const auto cut = io::checked_integer(entry, io::at_least(1), context.problems);
    if (!cut) {
      continue;
    }
    if (*cut > most) {
      context.problems.add(entry, most < 1 ? "one layer has no cuts"
                                           : fmt::format("must be in [1, {}], got {}", most, *cut));
    } else if (!wrapping.cuts.empty() && *cut <= wrapping.cuts.back()) {
      context.problems.refuse(entry, "{} is not after {}", *cut, wrapping.cuts.back());
    } else {
      wrapping.cuts.push_back(*cut);
    }
  }
}

layers::Wrapping read_wrapping(io::Fields& fields, const ParseContext& context,
                               const Scenario& scenario, layers::WrappingPolicy by_default) {
  layers::Wrapping wrapping{.policy = by_default};
  fields.object("wrapping", [&](io::Fields& part) {
    wrapping.policy = part.optional_word("policy", layers::kWrappingPolicies).value_or(by_default);
    io::read_members(kUnitSizes, part, wrapping);
    read_cuts(part, context, scenario.workload.layers.size(), wrapping);
    part.no_more();
    const std::string where = "policy " + std::string(layers::kWrappingPolicies[wrapping.policy]);
    context.needs_meaning(part, "parameters", wrapping.policy == layers::WrappingPolicy::size,
                          where);
    context.needs_meaning(part, "layers", wrapping.policy == layers::WrappingPolicy::count, where);
    context.needs_meaning(part, "blocks", wrapping.policy == layers::WrappingPolicy::block, where);
    context.needs_meaning(part, "cuts", wrapping.policy == layers::WrappingPolicy::list, where);
    part.refuse_if(wrapping.policy == layers::WrappingPolicy::list && !part.has("cuts"), "cuts",
                   "required (a list)");
  });
  return wrapping;
}

Sharding read_sharding(io::Fields& fields, const ParseContext& context, const Scenario& scenario) {
  Sharding out = io::read_members(kShardingMembers, fields);
  const bool fsdp1 = out.preset == ShardingPreset::fsdp1;
  out.wrapping =
      read_wrapping(fields, context, scenario,
                    fsdp1 ? layers::WrappingPolicy::size : layers::WrappingPolicy::block);
  const Limit ahead = fsdp1 ? Limit(1) : Limit(2);
  out.ahead_forward =
      read_limit(fields, "ahead_forward", out.limit_all_gathers ? ahead : std::nullopt);
  fields.refuse_if(!out.limit_all_gathers && out.ahead_forward, "limit_all_gathers",
                   "limit_all_gathers has no meaning next to ahead_forward");
  out.ahead_backward = read_limit(fields, "ahead_backward", 1);
  out.reduces_in_flight = read_limit(fields, "reduces_in_flight", fsdp1 ? std::nullopt : Limit(1));
  out.reshard_after_forward =
      out.reshard_after_forward && out.strategy != ShardingStrategy::shard_grad_op;
  out.keep_last = fields.has("keep_last") ? fields.boolean("keep_last", false)
                                          : out.preset == ShardingPreset::torchtitan;
  out.parameter_compression =
      parse_value_codec(fields, "parameter_compression", context, out.parameter_bytes);
  return out;
}

// Whether `ranks` ranks are whole nodes of `gpus`, or equal parts of one.
bool fits_nodes(std::int64_t ranks, std::int64_t gpus) {
  return ranks % gpus == 0 || gpus % ranks == 0;
}

// Of hybrid_shard, which `place` names.
void check_hybrid(const io::Json& place, io::Problems& problems, const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const JoinedNodes joined = joined_nodes(cluster);
  const auto& given = scenario.training.sharding.shard_ranks;
  if (!given && (joined.nodes < 2 || joined.gpus < 2)) {
    problems.refuse(place, "hybrid_shard needs at least 2 nodes and 2 ranks in each{}",
                    joined.nodes < cluster.nodes
                        ? "; nvlink_domain_nodes makes " + base::counted(joined.nodes, "node") +
                              " of the " + std::to_string(cluster.nodes) + " machines"
                        : std::string());
  } else if (!cluster.equal_nodes()) {
    require_equal_nodes(cluster, "hybrid_shard", place, problems);
  } else if (joined.gpus > 1 && !cluster.intra) {
    problems.add(place, "hybrid_shard needs /cluster/intra_network");
  } else if (given && !divides_into_groups(cluster, *given)) {
    problems.add(place, "shard_ranks",
                 "must divide the " + std::to_string(cluster.ranks()) +
                     " ranks into at least 2 groups, and be a multiple or a divisor of the " +
                     std::to_string(cluster.gpus_per_node) + " GPUs of a node" +
                     (joined.gpus > cluster.gpus_per_node
                          ? " and the " + std::to_string(joined.gpus) + " of an NVLink domain"
                          : std::string()) +
                     ", got " + std::to_string(*given));
  }
}

std::string word_of(const Sharding& sharding) {
  return std::string(kShardingStrategies[sharding.strategy]);
}

io::Json wrapping_tree(const layers::Wrapping& wrapping) {
  io::Json tree{io::Object{{"policy", layers::kWrappingPolicies[wrapping.policy]}}};
  if (wrapping.policy == layers::WrappingPolicy::size) {
    tree.set("parameters", wrapping.parameters);
  } else if (wrapping.policy == layers::WrappingPolicy::count) {
    tree.set("layers", wrapping.layers);
  } else if (wrapping.policy == layers::WrappingPolicy::block && wrapping.blocks > 1) {
    tree.set("blocks", wrapping.blocks);
  } else if (wrapping.policy == layers::WrappingPolicy::list) {
    tree.set("cuts", io::Array(wrapping.cuts.begin(), wrapping.cuts.end()));
  }
  return tree;
}

} // namespace

bool accumulates_or_shards(const Scenario& scenario) {
  return scenario.training.micro_batches > 1 || scenario.training.sharding.any();
}

double optimizer_bytes(const Scenario& scenario) {
  const Training& training = scenario.training;
  return training.sharding.optimizer_bytes.value_or(
      layers::optimizer_bytes_per_parameter(training.optimizer, scenario.workload));
}

bool may_free_gradients(const Scenario& scenario) {
  const Training& training = scenario.training;
  return training.algorithm == TrainingAlgorithm::sync_sgd && training.micro_batches == 1 &&
         !training.sharding.any() &&
         !scenario.communication.schedule_options.gradient_as_bucket_view;
}

bool divides_into_groups(const Cluster& cluster, std::int64_t shard_ranks) {
  return cluster.ranks() % shard_ranks == 0 && shard_ranks < cluster.ranks() &&
         fits_nodes(shard_ranks, cluster.gpus_per_node) &&
         fits_nodes(shard_ranks, joined_nodes(cluster).gpus);
}

std::int64_t shard_ranks(const Scenario& scenario) {
  return scenario.training.sharding.strategy == ShardingStrategy::hybrid_shard
             ? scenario.training.sharding.shard_ranks.value_or(joined_nodes(scenario.cluster).gpus)
             : scenario.cluster.ranks();
}

bool shards_span_nodes(const Scenario& scenario) {
  return scenario.training.sharding.any() &&
         shard_ranks(scenario) > joined_nodes(scenario.cluster).gpus;
}

std::vector<std::vector<std::uint32_t>> owned_tensors(const Scenario& scenario) {
  const auto& gradients = scenario.workload.gradients;
  std::vector<std::uint32_t> tensors;
  for (auto k = static_cast<std::uint32_t>(gradients.size()); k-- > 0;) { // in forward order
    if (gradients[k].bytes.value > 0) {
      tensors.push_back(k);
    }
  }
  const auto values = [&](std::uint32_t k) { return gradients[k].values(); };
  std::ranges::stable_sort(tensors, std::greater{}, values);
  std::vector<std::vector<std::uint32_t>> owned(static_cast<std::size_t>(shard_ranks(scenario)));
  std::vector<std::int64_t> sizes(owned.size());
  for (const std::uint32_t k : tensors) {
    const auto least = std::ranges::min_element(sizes);
    *least += values(k);
    owned[static_cast<std::size_t>(least - sizes.begin())].push_back(k);
  }
  return owned;
}

double shard_count(const Scenario& scenario) {
  const auto ranks = static_cast<double>(shard_ranks(scenario));
  if (!has_owners(scenario.training.sharding)) {
    return ranks;
  }
  std::int64_t most = 0;
  for (const std::vector<std::uint32_t>& tensors : owned_tensors(scenario)) {
    const std::int64_t sum = base::sum_of<std::int64_t>(
        tensors, [&](std::uint32_t k) { return scenario.workload.gradients[k].values(); });
    most = std::max(most, sum);
  }
  return most > 0 ? static_cast<double>(scenario.workload.values()) / static_cast<double>(most)
                  : ranks;
}

void parse_sharding(io::Fields& fields, const ParseContext& context, Scenario& scenario) {
  Training read;
  read.micro_batches = fields.integer(keys::kMicroBatches.name);
  fields.object("sharding", [&](io::Fields& part) {
    read.sharding = read_sharding(part, context, scenario);
    // Without resharding a gradient that is not exchanged leaves nothing to free.
    const auto given = part.has("reshard_after_backward")
                           ? std::optional(part.boolean("reshard_after_backward", true))
                           : std::nullopt;
    part.no_more();
    const auto exchange = fields.optional_word("accumulation_exchange", kAccumulationExchanges);
    const bool last = exchange == AccumulationExchange::last;
    read.sharding.reshard_after_backward =
        given.value_or(!(last && !read.sharding.reshard_after_forward));
  });
  const ShardingStrategy strategy = read.sharding.strategy;
  const bool each = has_units(strategy) || strategy == ShardingStrategy::zero2;
  read.accumulation_exchange =
      fields.optional_word("accumulation_exchange", kAccumulationExchanges)
          .value_or(each ? AccumulationExchange::each : AccumulationExchange::last);
  if (scenario.training.algorithm != TrainingAlgorithm::sync_sgd) {
    return;
  }
  scenario.training.micro_batches = read.micro_batches;
  scenario.training.accumulation_exchange = read.accumulation_exchange;
  scenario.training.sharding = read.sharding;
  if (has_units(strategy) && read.sharding.wrapping.policy == layers::WrappingPolicy::block &&
      !layers::names_blocks(scenario.workload)) {
    scenario.warnings.emplace_back("wrapping block: no name of a layer tells its block, as in "
                                   "layers.0.mlp; every layer is a unit");
  }
}

void add_sharding(const Scenario& scenario, io::Json& tree) {
  const Training& training = scenario.training;
  const Sharding& sharding = training.sharding;
  if (training.micro_batches > 1) {
    tree.set(keys::kMicroBatches.name, training.micro_batches);
    tree.set("accumulation_exchange", kAccumulationExchanges[training.accumulation_exchange]);
  }
  const bool shards = sharding.any();
  if (!shards && sharding.stored_bytes == Sharding().stored_bytes && !sharding.optimizer_bytes) {
    return;
  }
  io::Json part = io::write_members(kShardingMembers, keys::kShardingForms.back(), sharding);
  io::set_if(sharding.parameter_compression.method != CodecMethod::none, part,
             "parameter_compression", value_codec_tree(sharding.parameter_compression));
  part.set("wrapping", wrapping_tree(sharding.wrapping));
  io::set_members<&Sharding::ahead_forward, &Sharding::ahead_backward, &Sharding::reduces_in_flight,
                  &Sharding::reshard_after_backward, &Sharding::keep_last>(sharding, part);
  tree.set("sharding", std::move(part));
}

void check_sharding(const io::Json& tree, io::Problems& problems, const Scenario& scenario) {
  if (!accumulates_or_shards(scenario)) {
    return;
  }
  const Training& training = scenario.training;
  const Communication& communication = scenario.communication;
  const bool shards = training.sharding.any();
  const io::Json& place = *tree.find("training");
  const std::string_view key = shards ? "sharding" : keys::kMicroBatches.name;
  const std::string what = std::string(key) + (shards ? " " + word_of(training.sharding) : "");
  if (communication.reduce_broadcast) {
    problems.add(place, key, what + " is not defined for exchange reduce_broadcast");
  }
  const collectives::Compression& compression = communication.compression;
  if (!compression.density_warmup.empty()) {
    problems.add(place, key, what + " is not defined for a density_warmup");
  }
  if (compression.method == collectives::CompressionMethod::ok_topk &&
      compression.dense_warmup_iterations > 0) {
    problems.add(place, key, what + " is not defined for dense_warmup_iterations above 0");
  }
  // What a program holds at most (program_draft.hpp); an estimate, because nothing is planned yet.
  const double passes = 2.0 * static_cast<double>(training.micro_batches) *
                        static_cast<double>(scenario.workload.layers.size());
  if (passes > static_cast<double>(programs::kMaxOperations)) {
    problems.add(place, keys::kMicroBatches.name,
                 "forward and backward passes of " + std::to_string(training.micro_batches) +
                     " micro-batches are more than " + std::to_string(programs::kMaxOperations) +
                     " operations per iteration");
  }
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  if (planner.gathers_back() || (shards && !has_units(training.sharding) &&
                                 !planner.one_channel(communication.schedule_options))) {
    problems.add(place, key, what + " is not defined for schedule " + std::string(planner.name));
  }
  if (!shards) {
    return;
  }
  if (is_compressed(scenario)) {
    const collectives::CompressionRow& row = collectives::row(communication.compression.method);
    problems.add(place, key,
                 row.kind == collectives::CompressionKind::codec
                     ? "gradients of sharded training are not compressed; reduce_bytes is the size "
                       "of a reduced value"
                     : std::string(row.name) +
                           " is an all-reduce; sharding reduces by reduce_scatter");
  }
  if (communication.has_servers()) {
    problems.add(place, key, what + " is not defined for collective parameter_server");
  }
  if (training.exchange) {
    problems.add(place, "exchange_s",
                 "is not defined with " + what + ", whose gathers and reductions differ");
  }
  if (training.sharding.strategy == ShardingStrategy::hybrid_shard) {
    check_hybrid(*place.find(key), problems, scenario);
  }
}

} // namespace stepsim::study
