// Figures of a program that follow from its operations and the scenario.

#include "run/run_program.hpp"

#include "programs/explain/binding_path.hpp"
#include "run/run_figures.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

using programs::Kind;
using programs::OperationType;
using programs::Program;

// Sets codec_hops of the summary for codecs, select_s .. k for other compression, and nothing for
// dense exchanges.
void fill_compression(const Scenario& scenario, std::span<const ProgramUnit> units,
                      Summary& summary) {
  if (!is_compressed(scenario)) {
    return;
  }
  const collectives::Compression& compression = scenario.communication.compression;
  const auto total = [&](auto member) {
    return base::sum_of<double>(units, [&](const ProgramUnit& unit) { return unit.cost.*member; });
  };
  const collectives::CompressionKind kind = collectives::row(compression.method).kind;
  // A gradient is coded again on every hop of a ring, P - 1 times, which is where its errors add
  // up.
  if (kind == collectives::CompressionKind::codec) {
    summary.codec_hops = static_cast<double>(scenario.cluster.ranks() - 1);
    return;
  }
  summary.select_s = total(&BucketCost::select_s);
  summary.residual_s = total(&BucketCost::residual_s);
  summary.compress_s = *summary.select_s + *summary.residual_s;
  summary.staging_s = total(&BucketCost::staging_s);
  summary.wire_s = total(&BucketCost::wire_s);
  summary.merge_s = total(&BucketCost::merge_s);
  summary.scatter_s = total(&BucketCost::scatter_s);
  if (kind == collectives::CompressionKind::sparse) {
    double k = 0;
    double elements = 0;
    for (const ProgramUnit& unit : units) {
      k += static_cast<double>(unit.cost.k);
      elements += static_cast<double>(unit.cost.elements);
    }
    summary.k = k;
    summary.density = compression.density ? compression.density
                      : elements > 0      ? std::optional(k / elements)
                                          : std::nullopt;
  }
}

// Seconds of exchanges on the binding path, per step. Where too few iterations were run to follow
// the path, and their program has no cycle, only the exposed communication is known.
double exchanges_on_path(const Scenario& scenario, const ScenarioProgram& made,
                         const EvaluatedProgram& found, const Summary& summary) {
  if (found.network) { // a program whose exchanges last as long as their messages did
    ScenarioProgram measured = made;
    measured.program.interference.exchange = 1; // is in what was measured
    for (std::uint32_t o = 0; o < made.program.iteration_size(); ++o) {
      programs::Operation& each = measured.program.operations[o];
      if (each.type == OperationType::exchange) {
        each.startup = {};
        each.data = Seconds{last_seconds(found.times, o)};
      }
    }
    EvaluatedProgram timed;
    timed.times = recorded_times(scenario, measured);
    return exchanges_on_path(scenario, measured, timed, summary);
  }
  const bool varies = scenario.variability.varies();
  const Program& program = made.program;
  const bool by_recurrence = !varies && programs::recurrence_applies(program);
  if (by_recurrence && found.times.period_s && found.times.repeats_from < found.times.iterations) {
    return programs::cycle_exchange_s(program, made.layout, found.times) / program.steps;
  }
  const std::int64_t discard = std::max<std::int64_t>(1, discarded_iterations(scenario));
  programs::BindingPath path;
  if (by_recurrence) { // which has not settled yet
    path = programs::critical_cycle(program, programs::steady_state(program));
  } else if (discard >= found.times.iterations) {
    return *summary.exposed_communication_s;
  } else {
    std::optional<programs::OperationTimes> own;
    if (varies && found.times.columns > 0) {
      own = recorded_times(scenario, made);
    } else if (found.times.period_s) { // what the recorded iterations wait for, all others do
      own = first_iterations(found.times, found.times.repeats_from);
    }
    const programs::OperationTimes& times = own ? *own : found.times;
    path = programs::binding_path(varies ? program : programs::one_rank(program), times,
                                  made.factors, std::min(discard, times.iterations - 1));
  }
  double seconds = 0;
  for (const programs::PathStep& step : path.steps) {
    const bool exchange = program.operations[step.operation].type == OperationType::exchange;
    seconds += exchange ? step.seconds() : 0;
  }
  return seconds / path.iterations / program.steps;
}

// The parts of all exchanges of shards and outer messages. Those that are coded are decoded, added
// and encoded on every hop.
ExchangeShares parts_of(const Scenario& scenario, const ScenarioProgram& made) {
  ExchangeShares parts;
  for (const CountedExchange& each : made.counted) {
    const UnitExchange& exchange = made.units[each.unit].*each.member;
    parts.latency_s += each.count * exchange.startup_s;
    parts.reduction_s += each.count * exchange.reduction_s;
    parts.bandwidth_s +=
        each.count * std::max(0.0, exchange.seconds - exchange.startup_s - exchange.reduction_s);
  }
  if (scenario.training.local.outer_compression.method != CodecMethod::none) {
    parts.compression_s = std::exchange(parts.reduction_s, 0);
    for (const ProgramUnit& unit : made.units) {
      parts.compression_s += unit.cost.encode_s + unit.cost.decode_s;
    }
  }
  return parts;
}

} // namespace

double exchange_seconds(const ScenarioProgram& made, const programs::OperationTimes& times,
                        std::int64_t first, double from_s, double to_s, std::string_view stream,
                        std::size_t ranks) {
  const Program& program = made.program;
  const auto stream_of = [&](std::uint32_t o) { return program.operations[o].stream; };
  std::vector<std::uint32_t> named;
  if (!stream.empty()) {
    const auto found = std::ranges::find(program.streams, stream, &programs::Stream::name);
    if (found == program.streams.end()) {
      return 0;
    }
    const auto place = static_cast<std::uint32_t>(found - program.streams.begin());
    std::ranges::copy_if(made.layout.exchanges, std::back_inserter(named),
                         [&](std::uint32_t o) { return stream_of(o) == place; });
  }
  const std::span<const std::uint32_t> exchanges = stream.empty() ? made.layout.exchanges : named;
  double busy = 0;
  double until = from_s;
  const auto add = [&](double start, double end) {
    const double begin = std::max(start, until);
    busy += std::max(0.0, std::min(end, to_s) - begin);
    until = std::max(until, end);
  };
  if ((made.layout.one_channel || !stream.empty()) && ranks == 1 && program.only_fifo()) {
    for (std::int64_t t = first; t < times.iterations && !exchanges.empty(); ++t) {
      const std::size_t row = times.at(times.row(t), 0, 0);
      const std::size_t width = times.width();
      const double* const starts = times.start.data() + row;
      const double* const ends = times.end.data() + row;
      const double later = times.later_s(t);
      if (starts[exchanges.front() * width] + later >= to_s) {
        break;
      }
      if (ends[exchanges.back() * width] + later <= from_s) {
        continue;
      }
      const double last = ends[exchanges.back() * width] + later;
      const bool inside = starts[exchanges.front() * width] + later >= until && last <= to_s;
      for (const std::uint32_t o : inside ? exchanges : std::span<const std::uint32_t>()) {
        busy += (ends[o * width] + later) - (starts[o * width] + later);
      }
      for (const std::uint32_t o : inside ? std::span<const std::uint32_t>() : exchanges) {
        add(starts[o * width] + later, ends[o * width] + later); // in order of time
      }
      until = std::max(until, last);
    }
    return busy;
  }
  std::vector<std::pair<double, double>> spans;
  for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
    const auto before = std::ssize(spans);
    for (std::int64_t t = first; t < times.iterations; ++t) {
      const double later = times.later_s(t);
      for (const std::uint32_t o : exchanges) {
        const std::size_t at = times.at(times.row(t), o, 0);
        for (std::size_t each = at; stream_of(o) == s && each < at + ranks; ++each) {
          spans.emplace_back(times.start[each] + later, times.end[each] + later);
        }
      }
    }
    const auto middle = spans.begin() + before;
    const auto is_before = [](const auto& a, const auto& b) { // by more than rounding
      return a.first < b.first * (1 - 1e-12);
    };
    if (!std::is_sorted(middle, spans.end(), is_before)) { // those of a rank on a fifo stream are
      std::sort(middle, spans.end());
    }
    std::inplace_merge(spans.begin(), middle, spans.end(), is_before);
  }
  for (const auto& [start, end] : spans) {
    add(start, end);
  }
  return busy;
}

double bytes_sent(const ScenarioProgram& made) {
  double sum = 0;
  for (const CountedExchange& each : made.counted) {
    sum += each.count * (made.units[each.unit].*each.member).bytes_sent;
  }
  return sum / made.program.steps;
}

void fill_computing(const Scenario& scenario, const ScenarioProgram& made, const WorkSums& sums,
                    const AloneTimes& alone, double alone_s, double unselected_s,
                    Summary& summary) {
  fill_compression(scenario, made.units, summary);
  const Training& training = scenario.training;
  const bool rounds = trains_in_rounds(training);
  const double batches = static_cast<double>(training.micro_batches);
  // The digits are those of the workload where a sum over operations differs by rounding.
  constexpr double kRounding = 1e-12;
  const auto named = [](double sum, double value) {
    return std::abs(sum - value) <= kRounding * value ? value : sum;
  };
  const double forward = sums.forward_s;
  const double backward = sums.backward_s;
  const auto seconds_of = [&](Kind kind) {
    return alone.computing[static_cast<std::size_t>(kind)];
  };
  summary.forward_s = rounds ? forward : named(seconds_of(Kind::forward), batches * forward);
  summary.backward_s = rounds ? backward : named(seconds_of(Kind::backward), batches * backward);
  const double select = seconds_of(Kind::select);
  const double encode = seconds_of(Kind::encode);
  double decode = 0; // done where the update happens
  for (std::size_t u = 0; is_compressed(scenario) && u < made.units.size(); ++u) {
    decode += made.units[u].cost.decode_s;
  }
  const bool each = training.accumulation_exchange == AccumulationExchange::each;
  const double exchanges = each ? static_cast<double>(training.micro_batches) : 1;
  summary.codec_compute_s = encode + seconds_of(Kind::decode) + exchanges * decode;
  const double updates = seconds_of(Kind::update) - exchanges * decode;
  summary.update_s = rounds ? training.update.value + seconds_of(Kind::outer_update)
                            : std::max(0.0, named(updates, training.update.value));
  if (summary.compress_s) {
    for (const SummaryNumber part :
         {&Summary::select_s, &Summary::residual_s, &Summary::compress_s, &Summary::staging_s,
          &Summary::wire_s, &Summary::merge_s, &Summary::scatter_s}) {
      *(summary.*part) *= exchanges;
    }
  }
  const double nominal =
      *summary.forward_s + *summary.backward_s + *summary.update_s + *summary.codec_compute_s;
  const bool side = summary.compress_s && scenario.communication.compression.select_stream ==
                                              collectives::SelectStream::side;
  const double computing = side ? nominal : nominal + select;
  const double slowest = computing > 0 ? unselected_s / computing : 1;
  summary.compute_s = nominal;
  stretch_computing(slowest, summary);
  if (side) { // what lasts longer than computing
    const double beyond = alone_s - *summary.compute_s;
    summary.compress_s = beyond > kRounding * alone_s ? beyond : 0;
  }
}

std::vector<double> mean_compute_s(const ScenarioProgram& made) {
  const Program& program = made.program;
  const auto steps = static_cast<std::size_t>(program.steps);
  std::vector<double> nominal(steps);
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const programs::Operation& each = program.operations[o];
    if (computes(program, each)) {
      nominal[static_cast<std::size_t>(each.step)] += each.seconds.value;
    }
  }
  const auto first = static_cast<std::size_t>(made.window.from + 1) * steps;
  const auto end = static_cast<std::size_t>(made.window.to + 1) * steps;
  const std::size_t ranks = program.ranks;
  std::vector<double> means(ranks);
  for (std::size_t n = first; n < end; ++n) {
    const auto of_ranks = std::span(made.factors.compute).subspan(n * ranks, ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      means[rank] += nominal[n % steps] * of_ranks[rank];
    }
  }
  for (double& each : means) {
    each /= static_cast<double>(end - first);
  }
  return means;
}

void fill_workers(std::span<const double> compute_s, double alone_s, bool lists, Result& result) {
  constexpr double kRounding = 1e-12;
  double waits = 0;
  for (std::uint32_t rank = 0; rank < compute_s.size(); ++rank) {
    const double wait = alone_s - compute_s[rank];
    const double waited = wait > kRounding * alone_s ? wait : 0;
    waits += waited;
    if (lists) {
      result.workers.push_back({.worker = rank,
                                .compute_s = compute_s[rank],
                                .straggler_wait_s = waited,
                                .transfer_s = *result.summary.communication_s});
    }
  }
  result.summary.straggler_wait_s = waits / static_cast<double>(compute_s.size());
}

void fill_delays(const Program& made, std::int64_t iterations, Result& result) {
  if (made.applies.empty()) {
    return;
  }
  const programs::Applied& applied = made.applies.front();
  layers::StalenessCounts counts;
  for (std::int64_t t = applied.distance; t < iterations; ++t) {
    counts.add(applied.staleness());
  }
  for (Iteration& each : result.iterations) {
    const std::int64_t gradient = each.index - applied.distance;
    each.applied_gradient = gradient >= 0 ? std::optional(gradient) : std::nullopt;
  }
  fill_staleness(counts, result.summary);
}

void fill_bound(const Scenario& scenario, const ScenarioProgram& made, const WorkSums& sums,
                const EvaluatedProgram& found, Result& result) {
  const bool known = !is_compressed(scenario) && !trains_in_rounds(scenario.training) &&
                     !scenario.training.sharding.any();
  const std::optional<PeriodBounds> bounds =
      known ? std::make_optional<PeriodBounds>(scenario, made.problem, sums) : std::nullopt;
  const auto bound = [&](double slowest) {
    return bounds ? bounds->with_slowest(slowest) : std::nullopt;
  };
  Summary& summary = result.summary;
  std::optional<double> least;
  if (!scenario.variability.random()) {
    const layers::Jitter jitter = jitter_of(scenario);
    least = bound(scenario.variability.varies() ? jitter.slowest() : 1);
    if (least && made.each) { // which the first worker may enter so much before the last one
      const double computing = sums.forward_s + sums.backward_s;
      least = std::max(jitter.slowest() * computing,
                       *least - (jitter.slowest() - jitter.fastest()) * computing);
    }
  } else if (bounds && !made.simulated && !made.each) {
    least = bounds->with_factors(found.times, made);
  }
  if (least && made.simulated && scenario.training.algorithm == TrainingAlgorithm::od_sgd) {
    // The exchange of the last iteration may end behind the mean, none that begins before it
    // counts.
    const auto counted = static_cast<double>(made.window.to - made.window.from);
    least = std::max(found.alone.period, *least * (counted - 1) / counted);
  }
  // A pipeline whose second half catches up with the first one is faster than its steady state.
  constexpr double kRounding = 1e-12;
  if (least && found.period >= found.steady * (1 - kRounding)) {
    constexpr double kEarly = 1e-8; // flows that end together may end so much early
    const double time = step_of(summary);
    const bool early = is_simulated(scenario) && *least <= time * (1 + kEarly);
    summary.lower_bound_s = early ? std::min(*least, time) : bound_of(*least, time);
  }
  if (scenario.variability.varies()) {
    warn_below_bound(scenario, bound(1).value_or(sums.forward_s + sums.backward_s), result);
  }
}

std::string_view program_bottleneck(const Scenario& scenario, const ScenarioProgram& made,
                                    const EvaluatedProgram& found, const Summary& summary) {
  const std::string_view word = verdict(
      summary, [&] { return exchanges_on_path(scenario, made, found, summary); },
      [&] {
        const bool groups = scenario.training.sharding.any() || trains_in_rounds(scenario.training);
        return groups ? largest_of(parts_of(scenario, made))
                      : largest_part(scenario, made.plan, made.units, &made.problem.cost);
      });
  const double waited = summary.straggler_wait_s.value_or(0);
  return word == "compute" && waited > kStragglerShare * step_of(summary) ? "straggler" : word;
}

} // namespace stepsim::study
