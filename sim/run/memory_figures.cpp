// The parts that only depend on the scenario are sums over parameters; those that come and go have
// the peak of the step: of its layers in turn, or of the spans of units in the program.
#include "run/memory_figures.hpp"

#include "run/network_figures.hpp"
#include "run/sharding_plan.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using collectives::CompressionKind;
using collectives::CompressionMethod;

constexpr double kStored = 4; // bytes of a parameter, a residual or a moment
constexpr double kHalf = 2;   // bytes of a parameter that is computed with in 16 bits

// All of them, those of sharding units rounded up, and the most of one unit.
double parameters_of_units(const Scenario& scenario, const ScenarioProgram& made) {
  return made.sharded ? made.parameters : static_cast<double>(scenario.workload.values());
}

double largest_of_units(const ScenarioProgram& made) {
  const auto largest = std::ranges::max_element(made.units, {}, &ProgramUnit::parameters);
  return largest == made.units.end() ? 0 : static_cast<double>(largest->parameters);
}

// Whether parameters of 4 bytes are computed with in 16 bits, each where it is used.
bool casts(const Scenario& scenario) {
  return !scenario.training.sharding.any() && scenario.training.sharding.stored_bytes > kHalf &&
         scenario.workload.bytes_per_value() > kHalf &&
         reduced_precision(scenario.training, scenario.workload_source);
}

// Activations of each layer; one layer has all where their number is given.
std::vector<layers::LayerActivations> activations_of(const Scenario& scenario) {
  const layers::Workload& workload = scenario.workload;
  if (const auto& given = scenario.training.activation_bytes) {
    std::vector<layers::LayerActivations> all(workload.layers.size());
    all.back().kept = *given;
    return all;
  }
  return casts(scenario) && !workload.autocast_activations.empty() ? workload.autocast_activations
                                                                   : workload.activations;
}

layers::Workload::ActivationRange activation_range(const Scenario& scenario) {
  const layers::Workload& workload = scenario.workload;
  return scenario.training.activation_bytes ? layers::Workload::ActivationRange{}
         : casts(scenario)                  ? workload.autocast_range
                                            : workload.activation_range;
}

bool knows_activations(const Scenario& scenario) {
  return scenario.training.activation_bytes || !scenario.workload.activations.empty();
}

// Whether gradients stay where they are from step to step.
bool keeps_gradients(const Scenario& scenario) {
  return scenario.training.gradient_lifetime == GradientLifetime::always ||
         !may_free_gradients(scenario);
}

// Whether the update of a layer frees its gradients inside the backward pass.
bool frees_at_once(const Scenario& scenario) {
  return scenario.training.gradient_lifetime == GradientLifetime::layer &&
         may_free_gradients(scenario);
}

// Copies of the algorithm beside the state of a step of one worker.
double copies_of(const Scenario& scenario, const Summary& summary, double parameters,
                 double gradient_bytes) {
  const Training& training = scenario.training;
  const collectives::Options& options = scenario.communication.options;
  const LocalTraining& local = training.local;
  double copies = 0;
  switch (training.algorithm) {
  case TrainingAlgorithm::sync_sgd:
    break;
  case TrainingAlgorithm::pipe_sgd: // gradients of the iterations under way
    copies =
        (summary.pipeline_width.value_or(static_cast<double>(training.pipeline_width.value_or(1))) -
         1) *
        gradient_bytes;
    break;
  case TrainingAlgorithm::od_sgd: // gradients under way, and weights of the local update
    copies = gradient_bytes + kStored * parameters;
    break;
  case TrainingAlgorithm::parameter_server: // a server next to a worker has a part of the weights
    copies = options.placement == collectives::Placement::dedicated
                 ? 0
                 : kStored * parameters / options.servers;
    break;
  case TrainingAlgorithm::diloco: // parameters of the last round, and the outer momentum
    copies = 2 * kStored * parameters;
    [[fallthrough]];
  case TrainingAlgorithm::local_sgd:
  case TrainingAlgorithm::easgd: // a fragment that is exchanged
    copies += local.outer_value_bytes * parameters / static_cast<double>(local.fragments);
    break;
  }
  const CompressionMethod method = scenario.communication.compression.method;
  if (collectives::row(method).kind == CompressionKind::sparse ||
      method == CompressionMethod::powersgd) { // error feedback; dgc corrects its momentum, too
    copies += (method == CompressionMethod::dgc ? 2 : 1) * kStored * parameters;
  }
  return copies;
}

// Messages of several gradients are copies of them: a buffer for each, or the one of Horovod.
double buckets_of(const Scenario& scenario, std::int64_t ranks) {
  const Communication& communication = scenario.communication;
  const auto all = static_cast<double>(scenario.workload.bytes().value);
  if (ranks == 1 || communication.schedule_options.gradient_as_bucket_view) {
    return 0;
  }
  const buckets::Schedule schedule = communication.schedule;
  if (schedule == buckets::Schedule::wfbp || schedule == buckets::Schedule::priority) {
    return 0;
  }
  const Bytes fusion = communication.schedule_options.fusion_bytes;
  return schedule == buckets::Schedule::horovod ? std::min(all, static_cast<double>(fusion.value))
                                                : all;
}

void add_unsharded(const Scenario& scenario, double all, MemoryParts& parts) {
  const double stored = scenario.training.sharding.stored_bytes;
  const bool half = scenario.workload.bytes_per_value() <= kHalf;
  const bool has_copy =
      stored > kHalf && (half || reduced_precision(scenario.training, scenario.workload_source));
  parts.parameters = (half && has_copy ? kHalf : stored + (has_copy ? kHalf : 0)) * all;
  parts.master = half && has_copy ? stored * all : 0;
  const bool at_servers = scenario.training.algorithm == TrainingAlgorithm::parameter_server;
  const auto& options = scenario.communication.options;
  const double share = !at_servers ? 1
                       : options.placement == collectives::Placement::dedicated
                           ? 0
                           : 1.0 / options.servers;
  parts.optimizer = share * all * optimizer_bytes(scenario);
}

// At the update there are no activations and no gathered units, but all gradients.
void use_update(const Scenario& scenario, double gradients, double updated, MemoryParts& parts) {
  const Training& training = scenario.training;
  const double temporary =
      layers::update_copies(training.optimizer) * updated * training.sharding.stored_bytes;
  const double activations = parts.activations.value_or(0);
  const double now = parts.units + activations + parts.gradients;
  const double update = gradients + temporary;
  const auto [less, more] = activation_range(scenario);
  // Gradients that stay from step to step lie beside all activations.
  const double staying = parts.units + known_activations(scenario).value_or(0) * more + gradients;
  const double most =
      std::max(now + activations * (more - 1), has_units(training.sharding) ? 0 : staying);
  parts.spared = std::max(now, update) - std::max(now - activations * (1 - less), update);
  parts.further = std::max(most, update) - std::max(now, update);
  if (update > now) {
    parts.gradients = gradients;
    parts.update = temporary;
    parts.units = 0;
    parts.activations = parts.activations ? std::optional(0.0) : std::nullopt;
  }
}

// What is there at the least when the backward of a unit that takes time begins. No units are
// smaller than layers.
programs::LivePeak least_peak(const Scenario& scenario) {
  layers::Wrapping wrapping = scenario.training.sharding.wrapping;
  if (wrapping.policy == layers::WrappingPolicy::optimal) {
    wrapping.policy = layers::WrappingPolicy::layer;
  }
  const std::vector<ProgramUnit> units = units_of(scenario, wrapping);
  const programs::LiveBytes bytes = unit_bytes(scenario, units);
  programs::LivePeak now, most;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const double stays = scenario.training.sharding.reshard_after_forward ? 0 : now.of_kind[0];
    now.of_kind = {stays + bytes[0][u], bytes[1][u], now.of_kind[2] + bytes[2][u], bytes[3][u]};
    now.bytes = std::accumulate(now.of_kind.begin(), now.of_kind.end(), 0.0);
    const bool lasts = std::ranges::any_of(units[u].layers, [&](std::uint32_t layer) {
      return scenario.workload.layers[layer].backward.value > 0;
    });
    most = lasts && now.bytes > most.bytes ? now : most;
  }
  return most;
}

void add_peak(const Scenario& scenario, const programs::LivePeak& peak, MemoryParts& parts) {
  parts.units = peak.of_kind[0] + peak.of_kind[1];
  if (knows_activations(scenario)) {
    parts.activations = peak.of_kind[2] + peak.of_kind[3];
  }
}

// Activations and gradients where backward goes through all layers, and then the update.
void add_step(const Scenario& scenario, double updated, MemoryParts& parts) {
  const double all_gradients = parts.gradients;
  const bool keeps = keeps_gradients(scenario) || frees_at_once(scenario);
  const std::vector<double> gradients =
      keeps ? std::vector<double>(scenario.workload.layers.size()) : layer_bytes(scenario);
  const layers::StepPeak peak = layers::step_peak(activations_of(scenario), gradients);
  if (knows_activations(scenario)) {
    parts.activations = peak.activations;
  }
  parts.gradients = keeps ? parts.gradients : peak.gradients;
  use_update(scenario, all_gradients, updated, parts);
}

// Of a parameter that a rank of zero1 or zero2 updates. The owner of a tensor updates the one that
// is computed with, unless that has fewer bytes.
double master_bytes(const Sharding& sharding) {
  const bool copies = !has_owners(sharding) || sharding.stored_bytes > sharding.parameter_bytes;
  return copies ? sharding.stored_bytes : 0;
}

// What a rank keeps of `all` parameters between two steps, which zero1 and zero2 compute with
// whole. With zero2 the gradients of `reduced` parameters are there until they are reduced.
MemoryParts kept_shards(const Scenario& scenario, double all, double reduced) {
  const Sharding& sharding = scenario.training.sharding;
  const double share = all / shard_count(scenario);
  MemoryParts parts = memory_before_training(scenario);
  parts.optimizer = optimizer_bytes(scenario) * share;
  parts.parameters =
      has_units(sharding) ? sharding.stored_bytes * share : sharding.parameter_bytes * all;
  parts.master = has_units(sharding) ? 0 : master_bytes(sharding) * share;
  parts.gradients =
      sharding.reduce_bytes * (sharding.strategy == ShardingStrategy::zero1   ? all
                               : sharding.strategy == ShardingStrategy::zero2 ? share + reduced
                                                                              : share);
  return parts;
}

MemoryParts sharded_memory(const Scenario& scenario, ScenarioProgram& made,
                           const programs::OperationTimes& times) {
  const double all = parameters_of_units(scenario, made);
  const double share = all / shard_count(scenario);
  const bool reduces_some = scenario.training.sharding.strategy == ShardingStrategy::zero2;
  MemoryParts parts = kept_shards(scenario, all, reduces_some ? largest_of_units(made) : 0);
  if (has_units(scenario.training.sharding)) {
    add_peak(scenario, made.live_changes.peak(times, times.iterations - 1), parts);
    use_update(scenario, parts.gradients, share, parts);
  } else {
    add_step(scenario, share, parts);
  }
  return parts;
}

} // namespace

programs::LiveBytes unit_bytes(const Scenario& scenario, const std::vector<ProgramUnit>& units) {
  const Sharding& sharding = scenario.training.sharding;
  const std::vector<layers::LayerActivations> activations = activations_of(scenario);
  programs::LiveBytes bytes;
  bytes.fill(std::vector<double>(units.size()));
  for (std::size_t u = 0; u < units.size(); ++u) {
    const auto count = static_cast<double>(units[u].parameters);
    bytes[0][u] = sharding.parameter_bytes * count;
    bytes[1][u] = sharding.reduce_bytes * count;
    for (std::size_t l = 0; !activations.empty() && l < units[u].layers.size(); ++l) {
      bytes[2][u] += activations[units[u].layers[l]].kept;
      bytes[3][u] = std::max(bytes[3][u], activations[units[u].layers[l]].again);
    }
  }
  return bytes;
}

MemoryParts memory_before_training(const Scenario& scenario) {
  MemoryParts parts;
  if (const Sharding& sharding = scenario.training.sharding; has_units(sharding)) {
    parts.kept = sharding.preset == ShardingPreset::fsdp1 ? kKeptByFsdp1 : kAllocatorShare;
  }
  if (const auto& given = scenario.training.context_bytes) {
    parts.context = parts.least_context = parts.most_context = *given;
  } else if (const auto& capacity = scenario.cluster.gpu_memory_bytes;
             capacity && scenario.workload_source.profile.kernels == layers::Kernels::tensorflow) {
    const double reserved = kReservedShare * static_cast<double>(*capacity);
    parts.context += reserved;
    parts.least_context += std::min(reserved, kLeastReservedBytes);
    parts.most_context += std::max(reserved, kMostReservedBytes);
  }
  return parts;
}

MemoryParts unsharded_memory(const Scenario& scenario, std::int64_t ranks, const Summary& summary) {
  const auto all = static_cast<double>(scenario.workload.values());
  MemoryParts parts = memory_before_training(scenario);
  add_unsharded(scenario, all, parts);
  parts.gradients = static_cast<double>(scenario.workload.bytes().value);
  double updated = all; // parameters at a time
  if (frees_at_once(scenario)) {
    const std::vector<double> gradients = layer_bytes(scenario);
    parts.gradients = *std::ranges::max_element(gradients);
    updated = parts.gradients / scenario.workload.bytes_per_value();
  }
  parts.buckets = buckets_of(scenario, ranks);
  parts.copies = copies_of(scenario, summary, all, parts.gradients);
  const bool elsewhere = scenario.training.algorithm == TrainingAlgorithm::parameter_server;
  add_step(scenario, elsewhere ? 0 : updated, parts);
  return parts;
}

void fill_memory(const MemoryParts& parts, const Cluster& cluster, Summary& summary) {
  const double lost = kAllocatorShare * parts.come_and_go();
  summary.memory_parts_parameters_bytes = parts.parameters;
  summary.memory_parts_master_bytes = parts.master;
  summary.memory_parts_gradients_bytes = parts.gradients;
  summary.memory_parts_optimizer_bytes = parts.optimizer;
  summary.memory_parts_buckets_bytes = parts.buckets;
  summary.memory_parts_copies_bytes = parts.copies;
  summary.memory_parts_units_bytes = parts.units;
  summary.memory_parts_activations_bytes = parts.activations;
  summary.memory_parts_update_bytes = parts.update;
  summary.memory_parts_allocator_bytes = lost;
  summary.memory_parts_context_bytes = parts.context;
  summary.memory_bytes = parts.all() + lost;
  summary.memory_low_bytes = parts.all() - parts.spared + parts.least_context - parts.context;
  summary.memory_high_bytes = parts.all() + parts.further + parts.most_context - parts.context +
                              kMostAllocatorShare * (parts.come_and_go() + parts.further);
  summary.memory_reserved_bytes = parts.all() + parts.kept * parts.come_and_go();
  if (cluster.gpu_memory_bytes) {
    summary.memory_capacity_bytes = static_cast<double>(*cluster.gpu_memory_bytes);
    summary.memory_reserved_bytes =
        std::max(*summary.memory_bytes,
                 std::min(*summary.memory_reserved_bytes, *summary.memory_capacity_bytes));
    const bool exceeds = *summary.memory_bytes > *summary.memory_capacity_bytes;
    const bool surely =
        parts.activations && *summary.memory_high_bytes <= *summary.memory_capacity_bytes;
    if (exceeds || surely) {
      summary.memory_fits = surely;
    }
  }
}

void fill_memory(const Scenario& scenario, ScenarioProgram& made,
                 const programs::OperationTimes& times, std::optional<MemoryParts>& known,
                 Summary& summary) {
  if (!known || made.sharded) { // whose units overlap in time
    known = !scenario.training.sharding.any()
                ? unsharded_memory(scenario, scenario.cluster.ranks(), summary)
                : sharded_memory(scenario, made, times);
  }
  fill_memory(*known, scenario.cluster, summary);
}

double least_memory(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  MemoryParts parts;
  if (!sharding.any()) {
    parts = unsharded_memory(scenario, scenario.cluster.ranks(), {});
  } else {
    parts = kept_shards(scenario, static_cast<double>(scenario.workload.values()), 0);
    parts.activations = known_activations(scenario);
    if (has_units(sharding)) {
      add_peak(scenario, least_peak(scenario), parts);
    }
  }
  return parts.all() + kAllocatorShare * parts.come_and_go();
}

std::optional<double> known_activations(const Scenario& scenario) {
  if (!knows_activations(scenario)) {
    return std::nullopt;
  }
  const std::vector<double> none(scenario.workload.layers.size());
  return layers::step_peak(activations_of(scenario), none).activations;
}

std::string exceeds_text(const Summary& summary) {
  return summary.memory_fits.value_or(true)
             ? ""
             : memory_verdict(summary.memory_bytes, {}, summary.memory_capacity_bytes, false);
}

std::string memory_verdict(std::optional<double> bytes, std::optional<double> high,
                           std::optional<double> capacity, std::optional<bool> fits) {
  if (!capacity || !bytes) {
    return "";
  }
  const auto gigabytes = [](double value) { return base::significant(value / 1e9, 3); };
  return "memory " + gigabytes(*bytes) + " of " + gigabytes(*capacity) + " GB: " +
         (fits                                ? *fits ? "fits" : "does not fit"
          : high.value_or(*bytes) > *capacity ? "may not fit, up to " + gigabytes(*high) + " GB"
                                              : "activations are not known");
}

} // namespace stepsim::study
