// Lower bounds of a step's period (MER 3): what no order and no partition of messages can beat. A
// message takes a + b m where that is exactly what the run takes for it, else at least the bound of
// its collective (COL 6); never a closed form that is an upper bound itself.
#include "run/period_bound.hpp"

#include "buckets/bounds.hpp"
#include "programs/rank_loops.hpp"
#include "run/figure_key.hpp"
#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"

namespace stepsim::study {

namespace {

// The closed form of every message is that of the schedule, parts and all.
bool runs_as_formula(const Scenario& scenario, const collectives::Collective& collective) {
  const collectives::Options& options = collective.options;
  const bool doubled =
      options.ring_startup_2p && collective.algorithm == collectives::AlgorithmId::ring;
  // A printed form, or free pipelining, is what the run takes only if the run asks for the formula;
  // events would follow the schedule.
  const bool printed = options.cost_form != collectives::CostForm::exact || doubled;
  if (printed) {
    return !scenario.method || *scenario.method == collectives::Method::closed_form;
  }
  // The largest chunk of a ring passes every step, so that whole elements can only make it slower
  // than its formula, which stays a bound.
  return options.chunking == collectives::Chunking::real ||
         collective.algorithm == collectives::AlgorithmId::ring;
}

// a + b m where that is what a message takes.
std::optional<buckets::LinearCost> exact_linear_cost(const Scenario& scenario,
                                                     const buckets::Problem& problem) {
  const auto* linear = std::get_if<buckets::LinearCost>(&problem.cost.base);
  if (is_simulated(scenario)) { // start-ups of messages may overlap, links may be shared
    return std::nullopt;
  }
  if (linear == nullptr || scenario.cluster.network.curve || !exchanges(scenario)) {
    return linear != nullptr ? std::optional(*linear) : std::nullopt;
  }
  collectives::Collective probe = exchange_of(scenario);
  probe.bytes = 1;
  const bool exact =
      !collectives::closed_form(probe)->upper_bound && runs_as_formula(scenario, probe);
  return exact ? std::optional(*linear) : std::nullopt;
}

// No bound is known where the exchange is in two parts, where the cost is a table or the model of a
// library (planners may see its tangent), where receivers leave out a part of what is sent, and
// with `auto`, whose algorithm depends on the sizes of the messages, which are not known here.
std::optional<MessageBounds> message_bounds(const Scenario& scenario,
                                            const buckets::Problem& problem, const WorkSums& sums) {
  const Communication& communication = scenario.communication;
  const bool curved = scenario.cluster.network.curve &&
                      !std::holds_alternative<buckets::LinearCost>(problem.cost.base);
  if (problem.items.empty() || communication.reduce_broadcast || curved || communication.question ||
      may_lose(scenario) || communication.collective == collectives::AlgorithmId::automatic) {
    return std::nullopt;
  }
  // Several messages at once may move data faster than one.
  const double slowdown = buckets::least_slowdown(communication.schedule_options);
  const std::optional<buckets::LinearCost> linear = exact_linear_cost(scenario, problem);
  // A single message with all bytes: splitting it would only add start-ups.
  const auto least_seconds = [&](double bytes) {
    if (bytes == 0 || !exchanges(scenario)) {
      return 0.0;
    }
    if (linear) {
      return linear->startup_s + linear->per_byte_s * bytes * slowdown;
    }
    collectives::Collective all = exchange_of(scenario);
    all.bytes = bytes;
    const collectives::LowerBound bound = collectives::lower_bound(all);
    const buckets::LinearCost extra = extra_cost(scenario);
    // Latency and bytes may overlap in a pipelined collective, so that the larger of them and not
    // the sum is the bound.
    return std::max(bound.latency_s, slowdown * std::max(bound.bandwidth_s, bound.reduction_s)) +
           slowdown * (extra.startup_s + extra.per_byte_s * bytes);
  };
  return MessageBounds{.first_layer_s = least_seconds(sums.first_layer_bytes),
                       .all_s = least_seconds(sums.bytes)};
}

} // namespace

WorkSums::WorkSums(const Scenario& scenario)
    : forward_s(scenario.workload.forward().value), backward_s(scenario.workload.backward().value),
      bytes(static_cast<double>(scenario.workload.bytes().value)),
      first_layer_bytes(layer_bytes(scenario).front()) {}

PeriodBounds::PeriodBounds(const Scenario& scenario, const buckets::Problem& problem,
                           const WorkSums& sums)
    : scenario_(scenario), messages_(message_bounds(scenario, problem, sums)),
      forward_(sums.forward_s), backward_(sums.backward_s),
      last_layer_(scenario.workload.layers.back().forward.value), first_ready_(backward_) {
  const auto first = std::ranges::find_if(
      problem.items, [](const buckets::Item& item) { return item.bytes.value > 0; });
  if (first != problem.items.end()) {
    first_ready_ = first->ready.value;
  }
}

// The micro-batches before the last one.
double PeriodBounds::earlier_s() const {
  return static_cast<double>(scenario_.training.micro_batches - 1) * (forward_ + backward_);
}

// Three chains that every iteration contains: computing alone; backward, the message of the first
// layer and the forward pass that waits for it; the first gradient, all messages one after the
// other, and the forward of the last layer, with which every forward pass ends.
std::optional<double> PeriodBounds::with_slowest(double slowest) const {
  if (!messages_) {
    return std::nullopt;
  }
  const double forward = slowest * forward_;
  const double backward = slowest * backward_;
  if (applies_late(scenario_.training.algorithm)) {
    return std::max(forward + backward, messages_->all_s);
  }
  double bound = forward + backward;
  if (messages_->first_layer_s > 0) {
    bound = std::max(bound, backward + messages_->first_layer_s + forward);
  }
  if (messages_->all_s > 0) {
    bound = std::max(bound, slowest * first_ready_ + messages_->all_s + slowest * last_layer_);
  }
  return bound + slowest * earlier_s();
}

std::optional<double> PeriodBounds::with_factors(const programs::OperationTimes& times,
                                                 const programs::Factors& factors,
                                                 const Window& window) const {
  const bool follows = window.to == scenario_.training.iterations && window.from >= 0;
  // Gathers of an iteration that run in the next one have other factors than what is sent there.
  const bool gathers_later = scenario_.variability.exchange_cv > 0 &&
                             buckets::planner(scenario_.communication.schedule).gathers_back();
  if (!messages_ || !follows || gathers_later || applies_late(scenario_.training.algorithm)) {
    return std::nullopt;
  }
  const double computing = forward_ + backward_ + earlier_s();
  // From the first gradient to the end of its backward, which exchanges may slow down.
  const double behind_first =
      (backward_ - first_ready_) * *std::ranges::max_element(scenario_.training.overlap.compute);
  double sum = 0;
  for (std::int64_t t = window.from; t < window.to; ++t) {
    const auto place = static_cast<std::size_t>(t) * times.ranks;
    const auto ends = std::span(times.marker_end).subspan(place, times.ranks);
    const auto of = [&](std::size_t begin) {
      return std::span(factors.compute).subspan(begin, times.ranks);
    };
    const auto last = static_cast<std::size_t>(
        std::ranges::find(ends, programs::latest_marker_end(times, t)) - ends.begin());
    const auto next = of(place + times.ranks);
    const double slowest = programs::least_and_largest(next).second;
    const double exchange = factors.exchange[static_cast<std::size_t>(t)];
    double bound = next[last] * computing;
    if (messages_->first_layer_s > 0) {
      bound = std::max(bound, exchange * messages_->first_layer_s + slowest * computing);
    }
    if (messages_->all_s > 0) {
      bound = std::max(bound, exchange * messages_->all_s - of(place)[last] * behind_first +
                                  slowest * (last_layer_ + backward_ + earlier_s()));
    }
    sum += bound;
  }
  return sum / static_cast<double>(window.to - window.from);
}

// A bound that equals the time exactly comes out of other sums and may be above it in the last
// bits.
double bound_of(double bound_s, double time_s) {
  constexpr double kRounding = 1e-12;
  return bound_s <= time_s * (1 + kRounding) ? std::min(bound_s, time_s) : bound_s;
}

void warn_below_bound(const Scenario& scenario, double bound_s, Result& result) {
  constexpr double kRounding = 1e-9;
  const layers::Variability& variability = scenario.variability;
  if (!variability.varies() || step_of(result.summary) >= bound_s * (1 - kRounding)) {
    return;
  }
  const bool random = variability.random();
  result.warnings.push_back(
      std::string(kIterationTime) + " is shorter than mean times allow (" +
      base::significant(bound_s) + " s): " +
      (random ? std::string(layers::kJitterLaws[variability.law]) +
                    " factors below 1 were drawn (/variability), which shorten computing and "
                    "transfers below bytes / bandwidth"
              : std::string("/variability/stragglers has factors below 1")) +
      (result.summary.lower_bound_s ? "; lower_bound_s counts the factors" : ""));
}

} // namespace stepsim::study
