#include "run/verdict.hpp"

#include "programs/rank_loops.hpp"
#include "run/network_figures.hpp"
#include "run/planned_messages.hpp"
#include "run/summary_fields.hpp"

namespace stepsim::study {

namespace {

struct Subject {
  std::string_view word, subject;
};
constexpr std::array kSubjects{Subject{"compute", "Computing"},
                               Subject{"latency", "The start-up of messages"},
                               Subject{"bandwidth", "The bandwidth of the links"},
                               Subject{"reduction", "Adding gradients"},
                               Subject{"straggler", "The slowest worker"},
                               Subject{"compression", "Compression"},
                               Subject{"input", "Reading batches"},
                               Subject{"waiting", "Waiting that no operation explains"},
                               Subject{"server", "The parameter server"}};

// Lower bounds of a step's period (MER 3): what no order and no partition of messages can beat. A
// message takes a + b m where that is exactly what the run takes for it, else at least the bound of
// its collective (COL 6); never a closed form that is an upper bound itself.

// The closed form of every message is that of the schedule, parts and all.
bool runs_as_formula(const Scenario& scenario, const collectives::Collective& collective) {
  const collectives::Options& options = collective.options;
  const bool doubled =
      options.ring_startup_2p && collective.algorithm == collectives::AlgorithmId::ring;
  // A printed form, or free pipelining, is what the run takes only if it asks for the formula.
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
  const bool apart = scenario.communication.has_servers() && is_simulated(scenario);
  return MessageBounds{.first_layer_s = apart ? 0 : least_seconds(sums.first_layer_bytes),
                       .all_s = least_seconds(sums.bytes),
                       .apart = apart};
}

// Seconds of all messages.
double seconds_of(const buckets::Plan& plan, const buckets::Cost& cost) {
  return base::sum_of<double>(plan.groups, [&](const buckets::Group& group) {
    return cost.seconds(static_cast<double>(group.bytes.value), 1);
  });
}

// Wire time without latency and without bytes tells the parts of a compressed exchange; the rest is
// the work of compressing.
ExchangeShares compressed_parts(const Scenario& scenario, const buckets::Plan& plan,
                                std::span<const ProgramUnit> units, const buckets::Cost* planned) {
  // Latency and bandwidth of a topology or of a measured cost are no two numbers.
  if (scenario.cluster.fabric || scenario.cluster.network.curve) {
    double wire = 0, work = 0;
    for (const ProgramUnit& unit : units) {
      const BucketCost& cost = unit.cost;
      wire += cost.wire_s;
      work += cost.compress_s() + cost.encode_s + cost.decode_s + cost.merge_s + cost.scatter_s;
    }
    return {.bandwidth_s = wire, .compression_s = work};
  }
  collectives::Collective part = exchange_of(scenario);
  const auto total = [&, whole = part.links.all](double latency, double per_byte) {
    part.links.all = whole;
    part.links.all.scale(latency, per_byte);
    return seconds_of(plan, compressed_cost(scenario, part, scenario.workload.bytes_per_value()));
  };
  constexpr double kNothing = 1e-12; // of the time of a byte
  const double all = planned != nullptr ? seconds_of(plan, *planned) : total(1, 1);
  // Without latency a code has no start-up but what comes on top; factors of powersgd are no code.
  const auto* line =
      part.links.two_level || planned == nullptr ||
              scenario.communication.compression.method == collectives::CompressionMethod::powersgd
          ? nullptr
          : std::get_if<buckets::LinearCost>(&planned->base);
  const double latency = line != nullptr ? static_cast<double>(plan.groups.size()) *
                                               (line->startup_s - extra_cost(scenario).startup_s)
                                         : all - total(0, 1);
  const double bandwidth = all - total(1, kNothing);
  double work = all - latency - bandwidth;
  for (const ProgramUnit& unit : units) {
    work += unit.cost.compress_s() + unit.cost.encode_s + unit.cost.decode_s;
  }
  return {.latency_s = latency, .bandwidth_s = bandwidth, .compression_s = work};
}

// The collectives of a message: one, or a reduce and a broadcast.
std::vector<collectives::Collective> collectives_of_message(const Scenario& scenario) {
  std::vector<collectives::Collective> all{exchange_of(scenario)};
  if (scenario.communication.reduce_broadcast) {
    all.push_back(all.front());
    all.back().op = collectives::Op::broadcast;
  }
  return all;
}

// On a topology: messages of one byte take the latency, all others more by what their bytes cost,
// and what adding costs is a difference. The times of the messages are those of the run.
ExchangeShares fabric_parts(const Scenario& scenario, const buckets::Plan& plan,
                            std::span<const ProgramUnit> units) {
  const bool rooted = scenario.communication.reduce_broadcast;
  const double all = base::sum_of<double>(
      units, [](const ProgramUnit& unit) { return unit.cost.wire_s + unit.cost.broadcast_s; });
  double latency = 0, reduction = 0;
  for (const collectives::Collective& collective : collectives_of_message(scenario)) {
    programs::ExchangeSplit parts(collective, scenario.method);
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
      const BucketCost& cost = units[g].cost;
      const Bytes bytes = plan.groups[g].bytes;
      latency += parts.startup(bytes);
      reduction += parts.reduction(bytes, cost.on_wire_s + (rooted ? 0 : cost.back_on_wire_s));
    }
  }
  return {.latency_s = latency, .bandwidth_s = all - reduction - latency, .reduction_s = reduction};
}

// Latency and transfer as the model of the library has them.
ExchangeShares library_parts(const nccl::LibraryQuestion& asked, const buckets::Plan& plan) {
  nccl::LibraryQuestion question = asked;
  double latency = 0, transfer = 0;
  for (const buckets::Group& group : plan.groups) {
    question.bytes = static_cast<double>(group.bytes.value);
    const nccl::LibraryRecord record = nccl::predict(question);
    latency += record.latency_part_s;
    transfer += record.transfer_part_s;
  }
  return {.latency_s = latency, .bandwidth_s = transfer};
}

// The algorithm and the block are those of the first message.
ExchangeShares exchange_parts(const Scenario& scenario, const buckets::Plan& plan,
                              std::span<const ProgramUnit> units, const buckets::Cost* planned) {
  if (is_compressed(scenario)) {
    return compressed_parts(scenario, plan, units, planned);
  }
  if (const auto& question = scenario.communication.question) {
    return library_parts(*question, plan);
  }
  if (scenario.cluster.network.curve) {
    double all = units.empty() ? 1 : 0; // a measured curve has no parts
    for (const ProgramUnit& unit : units) {
      all += unit.cost.on_wire_s;
    }
    return {.bandwidth_s = all};
  }
  if (scenario.cluster.fabric) {
    return fabric_parts(scenario, plan, units);
  }
  ExchangeShares shares;
  for (collectives::Collective collective : collectives_of_message(scenario)) {
    collective.bytes = static_cast<double>(plan.groups.front().bytes.value);
    // Without this, `auto` could choose another algorithm, and an optimal block another size, once
    // a part is taken away, so that the parts would be those of different exchanges.
    collective = collectives::with_chosen_algorithm(std::move(collective));
    if (const auto blocks = collectives::resolve_blocks(collective)) {
      collective.options.block = Bytes{static_cast<std::int64_t>(blocks->block_bytes)};
    }
    const auto total = [&](double latency, double per_byte, double reduction) { // each 1 or 0
      collectives::Collective part = collective;
      part.links.all.scale(latency, per_byte);
      if (part.links.two_level) {
        part.links.two_level->intra.scale(latency, per_byte);
        if (auto& nvls = part.links.two_level->nvls) {
          nvls->startup_s *= latency;
          nvls->per_byte_s *= per_byte;
        }
      }
      part.reduction_s_per_byte *= reduction;
      return seconds_of(plan, programs::planner_cost(std::move(part)));
    };
    shares.latency_s += total(1, 0, 0);
    shares.bandwidth_s += total(0, 1, 0);
    shares.reduction_s += collective.reduction_s_per_byte > 0 ? total(0, 0, 1) : 0.0;
  }
  return shares;
}

} // namespace

std::string_view largest_of(const ExchangeShares& parts) {
  struct Part {
    double seconds;
    std::string_view word;
  };
  const std::array all{Part{parts.latency_s, "latency"}, Part{parts.bandwidth_s, "bandwidth"},
                       Part{parts.reduction_s, "reduction"},
                       Part{parts.compression_s, "compression"}};
  return std::ranges::max_element(all, {}, &Part::seconds)->word;
}

std::string_view subject_of(std::string_view bottleneck) {
  const auto* found = std::ranges::find(kSubjects, bottleneck, &Subject::word);
  return found == kSubjects.end() ? std::string_view() : found->subject;
}

// Each part is found from the planner's cost of the messages with the other parts set to zero or,
// where a cost cannot be taken apart so, from differences. The parts need not add up exactly: only
// their order matters.

std::string_view largest_part(const Scenario& scenario, const buckets::Plan& plan,
                              std::span<const ProgramUnit> units, const buckets::Cost* planned) {
  if (is_star(scenario)) {
    return largest_part(on_alpha_beta(scenario), plan, units);
  }
  if (plan.groups.empty()) { // waits alone are exposed
    return largest_of({});
  }
  ExchangeShares parts = exchange_parts(scenario, plan, units, planned);
  // What every message and its copies through the host take beside the network. Times of compressed
  // exchanges and those of a fabric hold it.
  const buckets::LinearCost extra = extra_cost(scenario);
  const bool fabric = scenario.cluster.fabric != nullptr;
  const double startup = extra.startup_s * static_cast<double>(plan.groups.size());
  const double copies = seconds_of(plan, {.base = buckets::LinearCost{0, extra.per_byte_s}});
  parts.latency_s += startup;
  parts.bandwidth_s += copies - (fabric ? startup : 0);
  parts.compression_s -= is_compressed(scenario) ? copies + (fabric ? 0 : startup) : 0;
  return largest_of(parts);
}

WorkSums::WorkSums(const Scenario& scenario)
    : forward_s(scenario.workload.forward().value), backward_s(scenario.workload.backward().value),
      bytes(static_cast<double>(scenario.workload.bytes().value)),
      first_layer_bytes(layer_bytes(scenario).front()) {}

PeriodBounds::PeriodBounds(const Scenario& scenario, const buckets::Problem& problem,
                           const WorkSums& sums)
    : PeriodBounds(scenario, problem, sums, message_bounds(scenario, problem, sums)) {}

PeriodBounds::PeriodBounds(const Scenario& scenario, const buckets::Problem& problem,
                           const WorkSums& sums, std::optional<MessageBounds> messages)
    : scenario_(scenario), messages_(messages), forward_(sums.forward_s),
      backward_(sums.backward_s), last_layer_(scenario.workload.layers.back().forward.value),
      first_ready_(backward_) {
  if (const auto* first = base::found_if(
          problem.items, [](const buckets::Item& item) { return item.bytes.value > 0; })) {
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
  if (applies_late(scenario_.training.algorithm) || messages_->apart) {
    return std::max(forward + backward + slowest * earlier_s(), messages_->all_s);
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
                                                 const ScenarioProgram& made) const {
  const auto& [window, factors] = std::tie(made.window, made.factors);
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
