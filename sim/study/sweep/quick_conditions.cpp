// Every condition is one that QuickRun relies on. It is asked of the scenario of a point and not of
// the grid, so that a sweep may go both ways.
#include "study/sweep/sweep_quick.hpp"

#include "collectives/algorithms.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Schedules whose buckets depend on bytes alone, those whose buckets are runs of gradients, which
// Horovod's are if all gradients are of one type, and those whose messages their planners send at
// once.
bool is_known_schedule(const Scenario& scenario) {
  using buckets::Schedule;
  static constexpr std::array kPlannedByCost{Schedule::mg_wfbp,  Schedule::mg_wfbp_small_tensors,
                                             Schedule::optimal,  Schedule::eager,
                                             Schedule::asc_wfbp, Schedule::horovod};
  const Schedule schedule = scenario.communication.schedule;
  const buckets::Planner& planner = buckets::planner(schedule);
  const bool one_channel = planner.one_channel(scenario.communication.schedule_options);
  const auto& gradients = scenario.workload.gradients;
  const bool one_type = std::ranges::adjacent_find(gradients, std::ranges::not_equal_to{},
                                                   &layers::Gradient::dtype) == gradients.end();
  if (!planner.reads_cost) {
    return planner.run != nullptr && (one_channel || schedule == Schedule::priority);
  }
  return std::ranges::find(kPlannedByCost, schedule) != kPlannedByCost.end() &&
         (schedule != Schedule::horovod || one_type);
}

// Whether the formula is a + b bytes on these links; on links of one level it always is.
bool has_line(collectives::Collective exchange) {
  exchange.bytes = 1;
  const auto form = exchange.links.two_level && exchange.homogeneous()
                        ? collectives::closed_form(exchange)
                        : std::nullopt;
  return !exchange.links.two_level || (form && form->startup_s && !form->upper_bound);
}

// Formulas whose parts are exactly n / k; QuickRun asks them at every point. A library has no curve
// at one rank, but at other points of the same sweep.
bool has_formula(const Communication& communication) {
  const collectives::Options& options = communication.options;
  return options.chunking == collectives::Chunking::real &&
         options.cost_form == collectives::CostForm::exact && !options.ring_startup_2p &&
         !communication.library;
}

// The formula may be a + b bytes.
bool may_be_linear(const Scenario& scenario) {
  const collectives::AlgorithmId algorithm = scenario.communication.collective;
  return algorithm == collectives::AlgorithmId::ring ||
         (algorithm != collectives::AlgorithmId::automatic &&
          algorithm != collectives::AlgorithmId::parameter_server &&
          collectives::algorithm(algorithm).block_streams == 0 && has_line(exchange_of(scenario)));
}

// The exchange may have a closed form of blocks, or be the cheapest of several forms. Only if the
// run asks for closed forms does it take those that are upper bounds, as that of the tree always
// is. All schedules but those that need a start-up may follow.
bool may_be_curve(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const collectives::AlgorithmId algorithm = communication.collective;
  return !communication.options.block &&
         buckets::planner(communication.schedule).one_channel(communication.schedule_options) &&
         (algorithm == collectives::AlgorithmId::automatic ||
          algorithm == collectives::AlgorithmId::lp ||
          (algorithm == collectives::AlgorithmId::double_binary_tree && scenario.method)) &&
         !exchange_of(scenario).links.two_level;
}

// NVLink domains of several nodes, whose number would follow that of the nodes.
bool has_domains(const Cluster& cluster) {
  return cluster.nvlink_domain_nodes > 1 || (cluster.node && cluster.node->type.domain_nodes > 1);
}

// Equal workers in step that send gradients as they are, with nothing beside the network on the
// channel; times alone are asked for.
bool is_plain_training(const Scenario& scenario) {
  const buckets::LinearCost extra = extra_cost(scenario);
  return scenario.training.algorithm == TrainingAlgorithm::sync_sgd &&
         !accumulates_or_shards(scenario) && !scenario.training.exchange &&
         scenario.training.wait.value == 0 && !scenario.training.overlap.any() &&
         !scenario.training.convergence && extra.startup_s == 0 && extra.per_byte_s == 0 &&
         !is_compressed(scenario) && !scenario.variability.varies();
}

// Whether the collective is allowed may depend on the number of ranks; so does the number of
// servers on ranks.
bool any_ranks(collectives::AlgorithmId id, collectives::Placement servers) {
  if (id == collectives::AlgorithmId::parameter_server) {
    return servers == collectives::Placement::dedicated;
  }
  return id == collectives::AlgorithmId::automatic ||
         (!collectives::algorithm(id).in_switch && !collectives::algorithm(id).needs_even_ranks);
}

// Whether what a calibration says is the same for any number of ranks: its link, but no curve,
// range or factor of numbers of ranks.
bool has_fixed_link(const Network& network) {
  return network.calibration.empty() ||
         (network.profile && network.profile->collectives.empty() && !network.steps &&
          !network.profile->valid_ranks && network.profile->dense_inflation.ranks.empty());
}

} // namespace

bool shares_scenario(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const collectives::Compression& compression = communication.compression;
  const Network& network = scenario.cluster.network;
  const auto& outer = scenario.training.local.outer_network;
  return network.model == NetworkModel::alpha_beta && scenario.cluster.topology.is_null() &&
         !network.curve && !network.planned_curve && has_fixed_link(network) &&
         !communication.calibrated && !communication.library && !communication.plan_cost &&
         any_ranks(communication.collective, communication.options.placement) &&
         std::ranges::all_of(
             communication.options.candidates,
             [&](auto id) { return any_ranks(id, communication.options.placement); }) &&
         scenario.cluster.equal_nodes() && !has_domains(scenario.cluster) &&
         scenario.other_jobs.empty() &&
         compression.method != collectives::CompressionMethod::custom &&
         compression.allgather != collectives::SparseAllgather::recursive_doubling &&
         !(outer && outer->ranks);
}

// Gradients have to be in backward order, and none of them may be empty: planners leave those out.
bool takes_quick_way(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const Network& network = scenario.cluster.network;
  const bool method_fits = !scenario.method || *scenario.method == collectives::Method::closed_form;
  const bool gradients_fit =
      !scenario.workload.gradients.empty() &&
      std::ranges::all_of(scenario.workload.gradients,
                          [](const layers::Gradient& g) { return g.bytes.value > 0; }) &&
      std::ranges::is_sorted(scenario.workload.gradients, std::greater<>(),
                             &layers::Gradient::layer);
  return !is_typical(scenario) && network.model == NetworkModel::alpha_beta &&
         scenario.cluster.equal_nodes() && scenario.cluster.topology.is_null() && method_fits &&
         gradients_fit && !network.curve && has_fixed_link(network) && !communication.calibrated &&
         !communication.reduce_broadcast && communication.copy_bandwidth_Bps <= 0 &&
         !communication.plan_cost && is_known_schedule(scenario) && has_formula(communication) &&
         (may_be_linear(scenario) || may_be_curve(scenario)) && !has_domains(scenario.cluster) &&
         is_plain_training(scenario);
}

} // namespace stepsim::study
