// From a plan to the messages of a step.
#include "run/planned_messages.hpp"

#include "buckets/omgs.hpp"
#include "run/group_exchange.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Where nothing is sent nothing waits for its turn: groups are ready when their gradients are.
void wait_for_gradients_only(const buckets::Problem& problem, buckets::Plan& plan) {
  for (buckets::Group& group : plan.groups) {
    group.ready = {};
    for (const std::uint32_t item : group.items) {
      group.ready = std::max(group.ready, problem.items[item].ready);
    }
  }
}

// OMGS counts selection, too, so its groups come from more than the cost of messages. Sizes are
// bytes here: both costs are functions of them.
buckets::Plan omgs_plan(const Scenario& scenario, const buckets::Problem& problem) {
  const collectives::Compression& compression = scenario.communication.compression;
  const collectives::Collective base = exchange_of(scenario);
  const buckets::SparseCost cost{
      .select_s =
          [&](double bytes) {
            buckets::Group group;
            group.bytes = Bytes{static_cast<std::int64_t>(bytes)};
            const collectives::CompressedExchange exchange =
                collectives::compressed_exchange(compression, gradient_part(scenario, group), base);
            return collectives::compress_times(compression, exchange, base.ranks).compress_s();
          },
      .exchange_s = [&](double bytes) { return problem.cost.seconds(bytes, 1); }};
  std::vector<buckets::SparseItem> items;
  double ready = 0;
  for (const buckets::Item& item : problem.items) {
    items.push_back({item.ready.value - ready, static_cast<double>(item.bytes.value)});
    ready = item.ready.value;
  }
  const auto stream = compression.select_stream == collectives::SelectStream::side
                          ? buckets::SelectStream::side
                          : buckets::SelectStream::compute;
  return buckets::plan_of_runs(problem, buckets::omgs_groups(items, cost, stream));
}

// Whether more than one gradient of the group has bytes.
bool is_merged(const Scenario& scenario, const buckets::Group& group) {
  return std::ranges::count_if(group.items, [&](std::uint32_t item) {
           return scenario.workload.gradients[item].bytes.value > 0;
         }) > 1;
}

} // namespace

std::vector<std::uint32_t> alike(const Scenario& scenario, const buckets::Plan& plan) {
  std::vector<std::uint32_t> result(plan.groups.size());
  std::iota(result.begin(), result.end(), 0U);
  std::map<std::pair<std::int64_t, bool>, std::uint32_t> firsts;
  for (std::uint32_t g = 0; !is_compressed(scenario) && g < result.size(); ++g) {
    const buckets::Group& group = plan.groups[g];
    const std::pair key(group.bytes.value, is_merged(scenario, group));
    result[g] = firsts.try_emplace(key, g).first->second;
  }
  return result;
}

// Every byte is read and written on its way in and on its way out: four passes over memory. A
// message with one gradient is sent from where it lies.
double copy_seconds(const Scenario& scenario, const buckets::Group& group) {
  const double rate = scenario.communication.copy_bandwidth_Bps;
  return rate > 0 && is_merged(scenario, group) && exchanges(scenario)
             ? 4 * static_cast<double>(group.bytes.value) / rate
             : 0.0;
}

// The worst case of any planner: every gradient in a message of its own, one after the other.
void check_range(const buckets::Problem& problem) {
  const auto* linear = std::get_if<buckets::LinearCost>(&problem.cost.base);
  const double ready = problem.items.empty() ? 0 : problem.items.back().ready.value;
  constexpr double kNear = 1e250; // no sum of bytes is beyond numbers then
  if (ready < kNear &&
      (linear == nullptr || (linear->startup_s < kNear && linear->per_byte_s < kNear))) {
    return;
  }
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  for (const buckets::Item& item : problem.items) {
    bytes += item.bytes.value;
    messages += item.bytes.value > 0 ? 1 : 0;
  }
  const double sent = linear == nullptr ? 0
                                        : linear->startup_s * static_cast<double>(messages) +
                                              linear->per_byte_s * static_cast<double>(bytes);
  if (!std::isfinite(problem.items.empty() ? 0 : ready + sent)) {
    throw SimulationError(std::string(kBeyondNumbers));
  }
}

// The loop of Horovod that waits for a message of gradients that become shards wakes when its
// reduce-scatter has ended, not when an all-reduce would have.
buckets::Cost planned_cost(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  const Sharding& sharding = scenario.training.sharding;
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  if (communication.schedule == buckets::Schedule::horovod &&
      communication.schedule_options.blocking && sharding.any() && !has_owners(sharding)) {
    const auto own = std::make_shared<const Scenario>(scenario);
    const auto reduces =
        std::make_shared<GroupExchanges>(*own, RankGroup::all, collectives::Op::reduce_scatter);
    const double ratio = sharding.reduce_bytes / scenario.workload.bytes_per_value();
    return {.base = buckets::CurveCost{[own, reduces, ratio](double bytes) {
              return reduces->times(ratio * bytes).seconds();
            }}};
  }
  buckets::Cost cost = merge_cost(scenario);
  return is_simulated(scenario) && planner.needs_linear_cost() && !cost.is_linear()
             ? buckets::Cost{.base = tangent(cost, mean_message(scenario))}
             : cost;
}

buckets::Problem planned_problem(const Scenario& scenario) {
  return {.items = merge_items(scenario), .cost = planned_cost(scenario)};
}

buckets::Plan plan_of(const Scenario& scenario, const buckets::Problem& problem) {
  check_range(problem); // planners compare times
  const Communication& communication = scenario.communication;
  std::optional<buckets::Problem> other; // not copied where planners see the cost of the run
  if (communication.plan_cost) {
    other = as_planned(scenario, problem);
    check_range(*other);
  }
  const buckets::Problem& planned = other ? *other : problem;
  const buckets::Schedule merge = searches_merge(scenario)
                                      ? fastest_merge(scenario).merge
                                      : communication.merge_of.value_or(communication.schedule);
  buckets::Plan plan = merge == buckets::Schedule::omgs
                           ? omgs_plan(scenario, planned)
                           : buckets::make_plan(planned, merge, communication.schedule_options);
  if (communication.schedule == buckets::Schedule::optimal && merge != communication.schedule) {
    plan.warnings.push_back("optimal takes the merge of " +
                            std::string(buckets::planner(merge).name) +
                            ", which is faster in this run than the one with the earliest finish");
  }
  if (!exchanges(scenario)) {
    wait_for_gradients_only(problem, plan);
  }
  return plan;
}

bool has_all_gathers(const Scenario& scenario) {
  return buckets::planner(scenario.communication.schedule).gathers_back();
}

// The reduce-scatter and the all-gather of a ring are collectives that evaluators know, and their
// times add up to that of its all-reduce. Measured curves and printed forms only know the whole.
bool splits_exchange(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return has_all_gathers(scenario) && !is_compressed(scenario) && !scenario.cluster.network.curve &&
         !communication.calibrated && communication.collective == collectives::AlgorithmId::ring &&
         communication.options.cost_form == collectives::CostForm::exact &&
         !communication.options.ring_startup_2p;
}

// Never more than the whole message, which may be cheaper than a + b m where it has no bytes. A
// broadcast behind a reduce starts as the reduce does; a reduce-scatter and an all-gather have the
// hops of an all-reduce in common.
std::pair<double, double> line_startups(const Scenario& scenario, const buckets::Cost& cost,
                                        double seconds) {
  const auto* linear = std::get_if<buckets::LinearCost>(&cost.base);
  const double extra = extra_cost(scenario).startup_s;
  const double startup = std::min(linear != nullptr ? linear->startup_s : extra, seconds);
  if (scenario.communication.reduce_broadcast) {
    return {startup, startup - extra};
  }
  const double apart = splits_exchange(scenario) ? extra : 0;
  const double half = has_all_gathers(scenario) ? (startup - apart) / 2 : 0;
  return {startup - half, half};
}

std::vector<std::uint32_t> waiting_layers(const Scenario& scenario, const buckets::Group& group) {
  std::vector<std::uint32_t> waiting;
  for (const std::uint32_t item : group.items) {
    const layers::Gradient& gradient = scenario.workload.gradients[item];
    if (gradient.bytes.value > 0 && (waiting.empty() || waiting.back() != gradient.layer)) {
      waiting.push_back(gradient.layer);
    }
  }
  return waiting;
}

void move_items(const Scenario& scenario, std::span<const Seconds> ends,
                std::vector<buckets::Item>& items) {
  for (buckets::Item& item : items) {
    item.ready = ends[scenario.communication.overlap_backward ? item.layer : 0];
  }
}

MessageSeconds with_copies(const Scenario& scenario, const buckets::Group& group,
                           MessageSeconds seconds, bool all_gathers) {
  const double copies = copy_seconds(scenario, group);
  const double second = all_gathers ? copies / 2 : 0;
  seconds.exchange += copies - second;
  seconds.broadcast += second;
  return seconds;
}

} // namespace stepsim::study
