// What QuickRun computes once per scenario, and the cost of a message per network.
#include <algorithm>
#include <functional>
#include <numeric>

#include "coll/formula/closed_form.hpp"
#include "plan/planners.hpp"
#include "run/bucket_cost.hpp"
#include "run/run.hpp"
#include "run/run_parts.hpp"
#include "sweep/sweep_quick.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

namespace {

bool is_static_schedule(plan::Schedule schedule) {
  return schedule == plan::Schedule::wfbp || schedule == plan::Schedule::single ||
         schedule == plan::Schedule::ddp || schedule == plan::Schedule::trace;
}

bool is_known_schedule(plan::Schedule schedule) {
  return is_static_schedule(schedule) || schedule == plan::Schedule::mg_wfbp ||
         schedule == plan::Schedule::optimal;
}

// The exchange is a flat ring whose parts are exactly n / P.
bool is_plain_ring(const Scenario& scenario) {
  const coll::Options& options = scenario.communication.options;
  return scenario.communication.collective == coll::AlgorithmId::ring &&
         options.chunking == coll::Chunking::real && options.cost_form == coll::CostForm::exact &&
         !options.ring_startup_2p;
}

// Equal workers in step that send gradients as they are, with nothing beside the network on the
// channel; times alone are asked for.
bool is_plain_training(const Scenario& scenario) {
  const plan::LinearCost extra = extra_cost(scenario);
  return scenario.training.algorithm == TrainingAlgorithm::sync_sgd &&
         !scenario.training.exchange && !scenario.training.convergence && extra.startup_s == 0 &&
         extra.per_byte_s == 0 && !is_compressed(scenario) && !scenario.variability.varies();
}

} // namespace

std::unique_ptr<QuickRun> QuickRun::make(const Scenario& first, bool latency_is_block_latency) {
  Scenario scenario = first;
  if (scenario.cluster.ranks() == 1) { // what is sent with every message is nothing for one worker
    scenario.cluster.nodes = 2;
  }
  const Communication& communication = scenario.communication;
  const Network& network = scenario.cluster.network;
  const bool method_fits = !scenario.method || *scenario.method == coll::Method::closed_form;
  const bool gradients_fit =
      !scenario.workload.gradients.empty() &&
      std::ranges::all_of(scenario.workload.gradients,
                          [](const train::Gradient& g) { return g.bytes.value > 0; }) &&
      std::ranges::is_sorted(scenario.workload.gradients, std::greater<>(),
                             &train::Gradient::layer);
  if (network.model != NetworkModel::alpha_beta || !scenario.cluster.topology.is_null() ||
      !method_fits || !gradients_fit || network.curve || !network.calibration.empty() ||
      communication.calibrated || communication.reduce_broadcast ||
      communication.copy_bandwidth_Bps > 0 || !is_known_schedule(communication.schedule) ||
      !is_plain_ring(scenario) || !is_plain_training(scenario)) {
    return nullptr;
  }
  std::unique_ptr<QuickRun> quick(std::make_unique<QuickRun>(QuickRun(scenario)));
  quick->block_follows_ = latency_is_block_latency;
  return quick->set_up() ? std::move(quick) : nullptr;
}

bool QuickRun::set_up() {
  const train::Workload& workload = scenario_.workload;
  problem_ = merge_problem(scenario_);
  items_ = plan::batch_items(problem_);

  const train::StepInput input = step_input(scenario_);
  const train::StepTimes alone = train::run_step(input);
  alone_period_s_ = alone.period_s;
  forward_total_s_ = alone.forward_s;
  backward_s_ = alone.backward_s;
  update_s_ = input.update_s;
  input_s_ = input.input_s;
  input_pipelined_ = input.input_pipelined;
  barrier_ = input.next_forward == train::NextForward::barrier;
  forward_work_s_ = workload.forward().value;
  backward_work_s_ = workload.backward().value;
  forward_s_ = input.forward_s;
  const double bytes =
      std::accumulate(input.gradient_bytes.begin(), input.gradient_bytes.end(), 0.0);
  update_first_ = bytes == 0;
  for (const double share : input.gradient_bytes) {
    update_share_s_.push_back(bytes > 0 ? update_s_ * (share / bytes) : 0.0);
  }
  last_item_.assign(workload.layers.size(), -1);
  for (std::size_t i = 0; i < workload.gradients.size(); ++i) {
    const train::Gradient& gradient = workload.gradients[i];
    last_item_[gradient.layer] = static_cast<std::int32_t>(i);
    total_bytes_ += static_cast<double>(gradient.bytes.value);
    first_layer_bytes_ += gradient.layer == 0 ? static_cast<double>(gradient.bytes.value) : 0;
  }

  warnings_ = workload.warnings;
  warnings_.insert(warnings_.end(), scenario_.warnings.begin(), scenario_.warnings.end());
  const Communication& communication = scenario_.communication;
  is_static_ = is_static_schedule(communication.schedule);
  if (is_static_) {
    const plan::Plan plan =
        plan::make_plan(problem_, communication.schedule, communication.schedule_options);
    warnings_.insert(warnings_.end(), plan.warnings.begin(), plan.warnings.end());
    last_group_.assign(workload.layers.size(), -1);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      group_ready_s_.push_back(plan.groups[g].ready.value);
      group_bytes_.push_back(static_cast<double>(plan.groups[g].bytes.value));
      for (const std::uint32_t item : plan.groups[g].items) {
        last_group_[workload.gradients[item].layer] = static_cast<std::int32_t>(g);
      }
    }
  }
  warnings_alone_ = warnings_;
  warnings_alone_.emplace_back("one worker: no communication");
  group_end_.resize(group_ready_s_.size());
  layer_done_.resize(workload.layers.size());
  best_done_.resize(workload.layers.size());
  finish_.resize(items_.size() + 1);
  back_.resize(items_.size() + 1);
  return true;
}

// False where the exchange is not a + b bytes here.
bool QuickRun::fill_costs(const QuickPoint& point, std::size_t k, Costs& costs) {
  constexpr std::int64_t kMaxRanks = 1 << 20;
  Cluster& cluster = scenario_.cluster;
  if (point.nodes * cluster.gpus_per_node > kMaxRanks) {
    return false;
  }
  cluster.nodes = point.nodes;
  cluster.network.latency_s = point.latency_s;
  cluster.network.bandwidth_Bps = point.bandwidth_Bps;
  if (block_follows_) {
    cluster.network.block_latency_s = point.latency_s;
  } else if (cluster.network.block_latency_s > point.latency_s) {
    return false;
  }
  costs.ranks[k] = static_cast<double>(cluster.ranks());
  costs.startup[k] = costs.per_byte[k] = 0;
  costs.latency[k] = costs.bandwidth[k] = costs.reduction[k] = 0;
  if (cluster.ranks() == 1) {
    return true;
  }
  coll::Collective probe = exchange_of(scenario_);
  probe.bytes = 1;
  if (!probe.homogeneous()) {
    return false;
  }
  const auto form = [&] { return coll::closed_form(probe); };
  const auto whole = form();
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  costs.startup[k] = *whole->startup_s;
  costs.per_byte[k] = *whole->per_byte_s;
  // The parts, as in largest_part of summary.cpp: a ring's startup is all latency, and bandwidth
  // and reduction have no startup.
  const coll::Links links = probe.links;
  const double reduction = probe.reduction_s_per_byte;
  const auto without = [](coll::LinkCost& cost, bool latency) {
    (latency ? cost.latency_s : cost.per_byte_s) = 0;
    cost.block_latency_s *= latency ? 0 : 1;
  };
  const auto strip = [&](bool latency) {
    without(probe.links.all, latency);
    if (probe.links.two_level) {
      without(probe.links.two_level->intra, latency);
    }
  };
  strip(false);
  probe.reduction_s_per_byte = 0;
  costs.latency[k] = *form()->startup_s;
  probe.links = links;
  strip(true);
  costs.bandwidth[k] = *form()->per_byte_s;
  strip(false);
  probe.reduction_s_per_byte = reduction;
  costs.reduction[k] = *form()->per_byte_s;
  return true;
}

} // namespace stepsim::study
