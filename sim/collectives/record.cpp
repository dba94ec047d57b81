#include "collectives/record.hpp"

#include "base/quantity.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/evaluate/server_flows.hpp"
#include "collectives/schedule/two_level.hpp"

namespace stepsim::collectives {

namespace {

// Waiting is what is left of the time between entry and end when neither port nor reduction was
// busy.
PerRank per_rank(const Collective& collective, const RankTimes& times) {
  PerRank ranks;
  ranks.enter_s = collective.enter_s;
  ranks.enter_s.resize(collective.ranks, 0);
  ranks.finish_s = times.finish_s;
  ranks.finish_s.resize(collective.ranks); // without dedicated servers
  ranks.transfer_s = times.transfer_s;
  ranks.transfer_s.resize(collective.ranks);
  for (std::size_t rank = 0; rank < collective.ranks; ++rank) {
    ranks.wait_s.push_back(ranks.finish_s[rank] - ranks.enter_s[rank] - ranks.transfer_s[rank]);
  }
  return ranks;
}

void fill_forms(CollectiveRecord& record, const Collective& collective) {
  if (!collective.homogeneous()) {
    return;
  }
  const std::optional<ClosedForm> form = closed_form(collective);
  if (form) {
    record.closed_form_s = form->seconds;
    record.startup_s = form->startup_s;
    record.per_byte_s = form->per_byte_s;
    if (collective.options.cost_form == CostForm::exact) {
      check_bound(collective, Method::closed_form, form->seconds);
    }
  }
  Collective other = collective;
  const auto seconds_of = [&](CostForm cost_form) {
    other.options.cost_form = cost_form;
    const std::optional<ClosedForm> found = closed_form(other);
    return found ? std::optional(found->seconds) : std::nullopt;
  };
  const std::optional<double> exact = seconds_of(CostForm::exact);
  // A printed form that says the same as the exact one would only be read as news.
  const auto if_different = [&](std::optional<double> seconds) {
    const bool same = seconds && exact && std::abs(*seconds - *exact) <= 1e-12 * *exact;
    return same ? std::nullopt : seconds;
  };
  record.paper_form_s = if_different(seconds_of(CostForm::paper));
  record.ideal_form_s = if_different(seconds_of(CostForm::ideal));
  record.below_bound =
      record.paper_form_s && *record.paper_form_s < record.lower_bounds.seconds() * (1 - 1e-9);
}

void add_warnings(CollectiveRecord& record, const Collective& collective) {
  std::vector<std::string>& warnings = record.warnings;
  if (record.blocks && record.blocks->clamped && collective.options.block) {
    warnings.push_back(
        "block_bytes " + base::shortest(static_cast<double>(collective.options.block->value)) +
        " is more than there is to send, cut to " + base::shortest(record.blocks->block_bytes));
  }
  if (collective.options.cost_form != CostForm::exact) {
    const bool below =
        record.closed_form_s && *record.closed_form_s < record.lower_bounds.seconds() * (1 - 1e-9);
    warnings.push_back(std::string("closed_form_s is not the time of the schedule, as cost_form "
                                   "asks") +
                       (below ? "; it lies below the lower bound" : ""));
  }
  if (collective.options.ring_startup_2p && collective.algorithm == AlgorithmId::ring &&
      collective.op == Op::allreduce) {
    warnings.push_back("ring_startup 2P charges two start-ups more than the schedule has");
  }
  if (auto estimate = estimate_warning(collective, record.method)) {
    warnings.push_back(std::move(*estimate));
  }
  if (collective.links.measured && !takes_measured_steps(collective)) {
    warnings.push_back(std::string(name(collective.algorithm)).append(kLosesSteps));
  }
  const std::optional<TwoLevel>& two = collective.links.two_level;
  if (collective.algorithm == kCollnet && !(two && two->switch_latency_s)) {
    warnings.push_back("switch_latency_s is not given: " + base::shortest(kSwitchLatency) +
                       " s are assumed");
  }
  if (auto idle = idle_interfaces(collective); idle && !record.choice) {
    warnings.push_back(std::move(*idle));
  }
}

// The record of a compressed exchange (SPA 1, 11).

// Ends and busy times over all stages, the ranks of a stage starting together.
PerRank per_rank(const CompressedExchange& exchange, const Collective& base, bool by_events) {
  PerRank ranks;
  ranks.enter_s = base.enter_s;
  ranks.enter_s.resize(exchange.ranks, 0);
  ranks.finish_s = ranks.enter_s;
  ranks.transfer_s.resize(exchange.ranks, 0);
  double start = exchange.fixed_s; // all ranks end after it, whichever stage it is part of
  for (const ExchangeStage& stage : exchange.stages) {
    const Evaluation result =
        by_events ? events(stage.collective, true) : max_plus(stage.collective, true);
    for (std::uint32_t group = 0; group < stage.groups; ++group) {
      for (std::uint32_t local = 0; local < stage.collective.ranks; ++local) {
        const std::size_t rank = group * stage.group_stride + local * stage.rank_stride;
        ranks.transfer_s[rank] += result.ranks.transfer_s[local];
        ranks.finish_s[rank] = start + result.ranks.finish_s[local]; // no rank idles in a stage
      }
    }
    start += result.seconds;
  }
  for (std::size_t rank = 0; rank < exchange.ranks; ++rank) {
    ranks.wait_s.push_back(ranks.finish_s[rank] - ranks.enter_s[rank] - ranks.transfer_s[rank]);
  }
  return ranks;
}

CompressedRecord compressed_part(const Compression& compression,
                                 const CompressedExchange& exchange) {
  CompressedRecord part;
  part.method = compression.method;
  part.elements = exchange.elements;
  part.closed_form_range_s = exchange.formula_range_s;
  if (row(compression.method).kind == CompressionKind::sparse) {
    part.k = exchange.k;
    part.density = compression.density;
    if (!part.density && exchange.elements > 0) {
      part.density = static_cast<double>(*compression.k) / static_cast<double>(exchange.elements);
    }
  }
  return part;
}

void check_range(double seconds) {
  constexpr double kMicroseconds = 1e6; // as tables show times
  if (!std::isfinite(seconds * kMicroseconds)) {
    throw SimulationError("the times of the collective are beyond the range of numbers");
  }
}

// Fills link, bandwidth_Bps, reduction_Bps, reduction_mode, chunking and blocks of the record.
void fill_inputs(CollectiveRecord& record, const Collective& collective) {
  record.link = collective.links.all;
  double gamma = collective.reduction_s_per_byte;
  if (const std::optional<UniformCost> cost = uniform_cost(collective)) {
    record.link = cost->link;
    gamma = cost->reduction_s_per_byte;
  }
  if (record.link.per_byte_s > 0) {
    record.bandwidth_Bps = 1 / record.link.per_byte_s;
  }
  record.reduction_Bps = gamma > 0 ? 1 / gamma : 0;
  record.reduction_mode = collective.options.reduction_mode;
  record.chunking = collective.options.chunking;
  record.blocks = resolve_blocks(collective);
}

// Fills the difference between the times, the bandwidths and the ratio to the bound, from the
// times, ranks, bytes and bounds of the record. Throws SimulationError if a time is too large for a
// double.
// Bandwidths are those of nccl-tests: bytes over time, and times a factor that makes algorithms of
// one operation comparable with the rate of a link.
void fill_comparison(CollectiveRecord& record) {
  check_range(record.seconds);
  double least = record.seconds;
  double most = record.seconds;
  int present = 0;
  for (const auto& time : {record.closed_form_s, record.max_plus_s, record.events_s}) {
    if (time) {
      ++present;
      least = std::min(least, *time);
      most = std::max(most, *time);
    }
  }
  if (present > 1) {
    record.relative_difference = most > 0 ? (most - least) / most : 0;
  }
  if (record.ranks > 1 && record.seconds > 0) {
    record.algbw_Bps = record.bytes / record.seconds;
    record.busbw_Bps = *record.algbw_Bps * bus_factor(record.op, record.ranks);
  }
  if (const double bound = record.lower_bounds.seconds(); bound > 0) {
    record.gap_ratio = record.seconds / bound;
  }
}

} // namespace

bool wants(AskedMethod asked, Method method, Method automatic) {
  return asked == AskedMethod::all ||
         (asked == AskedMethod::automatic ? method == automatic
                                          : kAskedMethods[asked] == kMethods[method]);
}

double bus_factor(Op op, std::uint32_t ranks) { return nccl::bus_share(operation_of(op), ranks); }

// Forms and bounds first, which every record has, then the evaluators that were asked for or are
// needed for the times of ranks; the most faithful one gives `seconds`.
CollectiveRecord make_record(const Collective& asked_for, AskedMethod asked, bool with_ranks) {
  CollectiveRecord record;
  Collective collective = asked_for;
  if (collective.algorithm == AlgorithmId::automatic) {
    record.choice = choose_algorithm(collective);
    collective.algorithm = record.choice->chosen;
  }
  record.op = asked_for.op;
  record.algorithm = asked_for.algorithm;
  record.ranks = collective.ranks;
  record.bytes = total_bytes(collective);
  record.traffic = traffic(collective);
  record.lower_bounds = lower_bound(collective);
  if (!collective.links.pairs_only) {           // else evaluators name the link that is missing
    check_range(record.lower_bounds.seconds()); // they need times that can be compared
  }
  fill_inputs(record, collective);
  fill_forms(record, collective);

  const Method automatic = automatic_method(collective);
  if (asked == AskedMethod::closed_form && !record.closed_form_s) {
    (void)seconds(collective, Method::closed_form); // throws: there is none
  }
  const bool all = asked == AskedMethod::all; // that are defined (COL 14)
  const bool run_events =
      wants(asked, Method::events, automatic) && !(all && takes_measured_steps(collective));
  const bool run_max_plus =
      (wants(asked, Method::max_plus, automatic) && (!all || max_plus_defined(collective))) ||
      (with_ranks && !run_events);
  std::optional<Evaluation> last;
  record.method = Method::closed_form;
  if (run_max_plus && !with_ranks && asked == AskedMethod::automatic) {
    record.max_plus_s = seconds(collective, Method::max_plus); // without the times of ranks
    record.method = Method::max_plus;
  } else if (run_max_plus) {
    last = max_plus(collective, with_ranks);
    check_bound(collective, Method::max_plus, last->seconds);
    record.max_plus_s = last->seconds;
    record.method = Method::max_plus;
  }
  if (run_events) {
    last = events(collective, with_ranks);
    check_bound(collective, Method::events, last->seconds);
    record.events_s = last->seconds;
    record.method = Method::events;
  }
  record.seconds = last                ? last->seconds
                   : record.max_plus_s ? *record.max_plus_s
                                       : record.closed_form_s.value();
  if (with_ranks) {
    record.per_rank = per_rank(collective, last->ranks);
  }
  fill_comparison(record);
  add_warnings(record, collective);
  return record;
}

CollectiveRecord make_record(const Compression& compression, const GradientPart& gradient,
                             const Collective& base, AskedMethod asked, bool with_ranks) {
  const CompressedExchange exchange = compressed_exchange(compression, gradient, base);
  const CompressionRow& method = row(compression.method);
  CollectiveRecord record;
  record.op = Op::allreduce;
  record.algorithm = base.algorithm;
  record.ranks = base.ranks;
  record.bytes = base.bytes;
  record.traffic = exchange_traffic(exchange);
  record.compressed = compressed_part(compression, exchange);
  fill_inputs(record, base);

  record.closed_form_s = closed_form_seconds(exchange);
  const ExchangeTime cheapest = exchange_time(
      exchange, compression,
      asked == AskedMethod::closed_form ? std::optional(Method::closed_form) : std::nullopt);
  record.seconds = cheapest.seconds;
  record.method = cheapest.method;
  const auto run = [&](Method by) -> std::optional<double> {
    const bool undefined =
        !method.simulated || (by == Method::max_plus && base.links.fabric != nullptr);
    if ((asked == AskedMethod::all && undefined) || !wants(asked, by, cheapest.method)) {
      return std::nullopt;
    }
    record.method = by;
    record.seconds = exchange_time(exchange, compression, by).seconds;
    return record.seconds;
  };
  record.max_plus_s = run(Method::max_plus);
  record.events_s = run(Method::events);
  if (with_ranks && method.simulated) {
    record.per_rank = per_rank(exchange, base, record.method == Method::events);
  }
  fill_comparison(record);
  record.busbw_Bps = std::nullopt;
  if (method.kind == CompressionKind::sparse && base.ranks > 1 && exchange.elements > 0 &&
      !base.links.pairs_only && record.seconds >= dense_ring_seconds(compression, gradient, base)) {
    record.warnings.emplace_back("sparse exchange is slower than dense at this density");
  }
  return record;
}

} // namespace stepsim::collectives
