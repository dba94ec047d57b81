// One function per training algorithm makes the result of a steady run; here it gets what all of
// them share: iterations with a density of their own, the limit of simulated time, convergence, and
// the comparison with the same run uncompressed.

#include "run/run.hpp"

#include "run/planned_messages.hpp"
#include "run/run_figures.hpp"
#include "run/run_program.hpp"
#include "run/sharding_plan.hpp"
#include "run/summary_fields.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Times are checked as the tables show them, in microseconds, where they overflow first.
void check_limit(const Scenario& scenario, double makespan) {
  constexpr double kMicroseconds = 1e6; // as tables show times
  if (!std::isfinite(makespan * kMicroseconds)) {
    throw SimulationError(std::string(kBeyondNumbers));
  }
  if (makespan > scenario.simulated_limit.value) {
    throw SimulationError("the run lasts " + base::significant(makespan) +
                          " s of simulated time, more than /limits/simulated_s (" +
                          base::significant(scenario.simulated_limit.value) + ")");
  }
}

// What is kept of the run without starts of messages (0), and of the one without transfers (1).
ProgramMemory* part_of(ProgramMemory* memory, std::size_t part) {
  if (memory == nullptr) {
    return nullptr;
  }
  memory->hidden.resize(2);
  return &memory->hidden[part];
}
const ProgramMemory* part_of(const ProgramMemory* memory, std::size_t part) {
  return memory == nullptr || memory->hidden.empty() ? nullptr : &memory->hidden[part];
}

// Where neither is longer, as in a step that computing bounds, the transfers count.
bool starts_decide(double starts_s, double transfers_s) {
  return starts_s > transfers_s * (1 + 1e-9);
}

// Where starts of messages and transfers hide behind each other, the longer of the two is what
// remains (CON 2); its lists and bottleneck are those of the result.
Result run_algorithm(const Scenario& scenario, Detail detail, ProgramMemory* memory = nullptr) {
  if (!scenario.conditions.hides_transfers) {
    return run_program(scenario, detail, memory);
  }
  Result transfers = run_program(without_starts(scenario), detail, part_of(memory, 0));
  Result starts = run_program(without_transfers(scenario), detail, part_of(memory, 1));
  const bool start_decides = starts_decide(step_of(starts.summary), step_of(transfers.summary));
  Result result = std::move(start_decides ? starts : transfers);
  if (result.scenario) {
    result.scenario = scenario;
  }
  result.warnings.emplace_back(
      start_decides
          ? "conditions typical: the starts of messages take longer than their transfers and hide "
            "them; the table leaves the time of transfers out"
          : "conditions typical: transfers take longer than the starts of messages and hide them; "
            "the table leaves the time of starts out");
  return result;
}

// Three regimes of loss (PKT 8): harmless, slower, never.
void fill_convergence(const Convergence& convergence, Summary& summary) {
  const double loss = summary.loss_fraction.value_or(0);
  summary.epochs.reset();
  summary.time_to_accuracy_s.reset();
  summary.converges = loss <= convergence.most;
  if (!*summary.converges) {
    return;
  }
  // Between the two losses the extra epochs rise in proportion to the loss.
  const double beyond =
      std::max(0.0, loss - convergence.harmless) / (convergence.most - convergence.harmless);
  summary.epochs = convergence.epochs_lossless * (1 + convergence.beta * beyond);
  summary.time_to_accuracy_s =
      *summary.epochs * static_cast<double>(convergence.iterations_per_epoch) * step_of(summary);
}

// Against the same run without compression: everything in one message after backward, and
// overlapped with backward (SPA 5).
void compare_with_dense(const Scenario& scenario, Summary& summary, ProgramMemory* memory) {
  const double period = step_of(summary);
  // A dense run would be compared with itself, and a period of 0 has no ratio.
  if (!is_compressed(scenario) || !(period > 0)) {
    return;
  }
  if (memory == nullptr) {
    ProgramMemory fresh;
    return compare_with_dense(scenario, summary, &fresh);
  }
  memory->dense.resize(2);
  if (!memory->dense_scenario) {
    memory->dense_scenario = scenario;
    memory->dense_scenario->communication = *scenario.dense_baseline;
  }
  Scenario& dense = *memory->dense_scenario;
  dense.cluster = scenario.cluster;
  if (scenario.nominal) { // else nothing else changes; its messages lose by rules of their own
    dense.nominal->cluster = scenario.nominal->cluster;
    dense.nominal->training = scenario.nominal->training;
    dense.nominal->compression = {};
    dense.conditions = scenario.conditions;
    renew_conditions(dense);
    dense.workload = scenario.workload;
  }
  dense.variability.seed = scenario.variability.seed;
  std::optional<StepPeriod> step; // of both runs, whose schedules alone differ
  const auto period_with = [&](buckets::Schedule schedule, ProgramMemory& own) {
    dense.communication.schedule = schedule;
    if (StepPeriod::is_for(dense) && !searches_merge(dense) && !dense.conditions.hides_transfers) {
      if (!step) {
        step.emplace(dense, memory->dense.front().step());
      }
      if (const auto plain = (*step)(schedule)) {
        return *plain;
      }
    }
    return period_of(dense, &own);
  };
  summary.speedup_vs_dense_overlapped =
      period_with(scenario.dense_baseline->schedule, memory->dense[0]) / period;
  summary.speedup_vs_dense_sequential =
      period_with(buckets::Schedule::single, memory->dense[1]) / period;
}

bool warms_up(const collectives::Compression& compression) {
  return !compression.density_warmup.empty() ||
         (compression.method == collectives::CompressionMethod::ok_topk &&
          compression.dense_warmup_iterations > 0);
}

// The scenario as it is in iteration `index`: a density that falls over the first epochs, dense
// iterations before the first sparse one. Empty: as always.
std::optional<Scenario> warming_up(const Scenario& scenario, std::int64_t index) {
  const collectives::Compression& compression = scenario.communication.compression;
  if (compression.method == collectives::CompressionMethod::ok_topk &&
      index < compression.dense_warmup_iterations) {
    Scenario dense = scenario;
    dense.communication.compression = {};
    return dense;
  }
  const std::optional<double> density = collectives::density_at(compression, index);
  if (compression.density_warmup.empty() || !density || density == compression.density) {
    return std::nullopt;
  }
  Scenario sparse = scenario;
  sparse.communication.compression.density = density;
  sparse.communication.compression.density_warmup.clear();
  return sparse;
}

// Every iteration as long as the steady one of its density; the summary stays that of the last. A
// time of iteration i lies as far behind the sum of the iterations before it as in the steady run:
// those from its backward on in the run of its own density, its start, which waits for the messages
// of the iteration before, in that one's.
void apply_warmup(const Scenario& scenario, Result& result) {
  // A schedule of densities has few steps and a run may have a million iterations: each density is
  // run once.
  std::map<double, Result> by_density; // 0: dense
  std::vector<const Result*> steady;   // [iteration]
  const Result last = result;
  std::vector<std::optional<double>> densities;
  for (const Iteration& iteration : result.iterations) {
    const std::optional<Scenario> other = warming_up(scenario, iteration.index);
    if (!other) {
      densities.push_back(last.summary.density);
      steady.push_back(&last);
      continue;
    }
    densities.push_back(other->communication.compression.density);
    const auto [place, is_new] = by_density.try_emplace(densities.back().value_or(0));
    if (is_new) {
      place->second = run_algorithm(*other, Detail::all);
    }
    steady.push_back(&place->second);
  }
  // How much later iteration `index` of a steady run begins its backward here.
  const auto moved = [&](const Result& run, std::size_t index) {
    double later = 0;
    for (std::size_t j = 0; j < index; ++j) {
      later += steady[j]->iterations[j].iteration_time_s - run.iterations[j].iteration_time_s;
    }
    return later;
  };
  for (std::size_t i = 0; i < steady.size(); ++i) {
    Iteration& iteration = result.iterations[i];
    iteration = steady[i]->iterations[i];
    const double later = moved(*steady[i], i);
    for (double* time :
         {&iteration.compute_end_s, &iteration.exchange_start_s, &iteration.exchange_end_s}) {
      *time += later;
    }
    if (i > 0) {
      iteration.start_s = steady[i - 1]->iterations[i].start_s + moved(*steady[i - 1], i - 1);
    }
    iteration.density = densities[i];
    iteration.k = densities[i]
                      ? std::optional(static_cast<std::int64_t>(steady[i]->summary.k.value_or(0)))
                      : std::nullopt;
  }
  result.summary.makespan_s =
      *steady.back()->summary.makespan_s + moved(*steady.back(), steady.size() - 1);
}

// What follows from the other figures of a run, or from their means.
void fill_following(const Scenario& scenario, Summary& summary) {
  if (scenario.training.convergence) {
    fill_convergence(*scenario.training.convergence, summary);
  }
  fill_compute_interval(scenario, summary);
  if (!fill_job(scenario.job, machines_of(scenario), scenario.cluster.ranks(), summary)) {
    throw SimulationError(fmt::format(
        "the training never ends: a machine fails every {}, and a checkpoint and a restart take {}",
        base::readable_duration(*scenario.job.node_mtbf_s /
                                static_cast<double>(machines_of(scenario))),
        base::readable_duration(*scenario.job.checkpoint_s + *scenario.job.restart_s)));
  }
}

// What every way of running adds to its result.
void finish(const Scenario& scenario, Result& result, ProgramMemory* memory) {
  check_limit(scenario, *result.summary.makespan_s);
  fill_step(scenario, result.summary);
  Summary& summary = result.summary;
  // The flag has a value wherever there is a closed form, so that its absence means that there is
  // none.
  if (summary.closed_form_s && !summary.closed_form_is_bound) {
    summary.closed_form_is_bound = false;
  }
  if (scenario.communication.schedule == buckets::Schedule::optimal &&
      !has_units(scenario.training.sharding)) {
    summary.merge_certified_optimal = merge_is_certified(scenario);
  }
  compare_with_dense(scenario, result.summary, memory);
  fill_step_interval(scenario, memory, result.summary);
  find_input_bound(scenario, result.summary);
  fill_following(scenario, result.summary);
}

// Units are planned once, whatever conditions are moved.
Result run_with_best_units(const Scenario& scenario, Detail detail) {
  const buckets::UnitPlan plan = best_units(scenario);
  Scenario planned = scenario;
  planned.training.sharding.wrapping = wrapping_of(plan.cuts);
  Result result = run(planned, detail);
  if (result.scenario) {
    result.scenario->training.sharding.wrapping = scenario.training.sharding.wrapping;
  }
  result.summary.certified = plan.certified;
  return result;
}

// Figures become what their rows say; what is no mean but follows from means is found again.
void average(const std::vector<Summary>& all, Summary& summary) {
  const Summary& first = all.front();
  // Empty where a replication has no such figure.
  const auto mean = [&](SummaryNumber number, bool weighted) -> std::optional<double> {
    double sum = 0;
    for (const Summary& each : all) {
      if (!(each.*number)) {
        return std::nullopt;
      }
      sum += *(each.*number) * (weighted ? step_of(each) : 1);
    }
    return sum / static_cast<double>(all.size());
  };
  const double period = *mean(&Summary::iteration_time_s, false);
  for (const SummaryField& field : kSummaryFields) {
    const bool weighted = field.replicated == Replicated::weighted;
    if (field.replicated == Replicated::mean || (weighted && period > 0)) {
      const SummaryNumber number = std::get<SummaryNumber>(field.value);
      summary.*number = mean(number, weighted);
      if (weighted && summary.*number) {
        *(summary.*number) /= period;
      }
    }
  }
  fill_communication(*summary.communication_s, *summary.exposed_communication_s, summary);
  if (first.scaling_efficiency.value_or(0) > 0 && period > 0) {
    summary.scaling_efficiency = std::min(1.0, *summary.scaling_efficiency);
    summary.speedup = *first.speedup / *first.scaling_efficiency * *summary.scaling_efficiency;
  }
  if (summary.samples_per_s) {
    *summary.samples_per_s *= step_of(first) / period;
  }
}

} // namespace

double period_of(const Scenario& scenario, ProgramMemory* memory, const ProgramMemory* like) {
  return scenario.conditions.hides_transfers
             ? std::max(
                   program_period(without_starts(scenario), part_of(memory, 0), part_of(like, 0)),
                   program_period(without_transfers(scenario), part_of(memory, 1),
                                  part_of(like, 1)))
             : program_period(scenario, memory, like);
}

Scenario deciding(const Scenario& scenario) {
  if (!scenario.conditions.hides_transfers) {
    return scenario;
  }
  Scenario transfers = without_starts(scenario);
  Scenario starts = without_transfers(scenario);
  return starts_decide(period_of(starts), period_of(transfers)) ? starts : transfers;
}

Result run(const Scenario& scenario, Detail detail, ProgramMemory* memory) {
  const Sharding& sharding = scenario.training.sharding;
  if (has_units(sharding) && sharding.wrapping.policy == layers::WrappingPolicy::optimal &&
      scenario.other_jobs.empty()) {
    return run_with_best_units(scenario, detail);
  }
  const collectives::Compression& compression = scenario.communication.compression;
  const bool by_iteration =
      collectives::row(compression.method).kind == collectives::CompressionKind::sparse &&
      (detail != Detail::summary || warms_up(compression));
  Result result =
      run_algorithm(scenario, by_iteration ? std::max(detail, Detail::all) : detail, memory);
  if (by_iteration) {
    apply_warmup(scenario, result);
  }
  finish(scenario, result, memory);
  return result;
}

std::uint64_t replication_seed(std::uint64_t seed, std::int64_t replication) {
  constexpr std::uint64_t kStream = 19; // beside those of PKT 3.6 and PIP 9
  // Eleven bits less leave 53, so that the seed is written to JSON and read again without loss.
  return replication == 0
             ? seed
             : base::hash(seed, kStream, static_cast<std::uint64_t>(replication)) >> 11;
}

Scenario replicated(Scenario scenario, std::int64_t replication) {
  if (replication > 0) {
    const std::uint64_t seed = replication_seed(scenario.variability.seed, replication);
    scenario.seed = static_cast<std::int64_t>(seed);
    scenario.variability.seed = seed;
    scenario.cluster.network.packet.options.seed = seed;
    if (scenario.cluster.fabric) {
      links::RankFabric fabric = *scenario.cluster.fabric;
      fabric.paths.seed = seed;
      scenario.cluster.fabric = std::make_shared<const links::RankFabric>(std::move(fabric));
    }
  }
  return scenario;
}

// The first replication has the seed of the scenario, so that one replication is the plain run.
Result run_replications(const Scenario& scenario, std::int64_t replications) {
  Result result = run(scenario);
  std::vector<Summary> all{result.summary};
  std::vector<double> periods{step_of(result.summary)};
  for (std::int64_t r = 1; r < replications; ++r) {
    all.push_back(run(replicated(scenario, r)).summary);
    periods.push_back(step_of(all.back()));
  }
  if (replications > 1) {
    average(all, result.summary);
    fill_following(scenario, result.summary);
    const base::Interval mean = base::mean_interval(periods, kLevel80);
    if (!result.summary.interval_parts.empty()) {
      replace_mean_in_interval(mean, periods.front(), result.summary);
    } else {
      set_interval(scenario, mean, result.summary);
    }
    result.warnings.push_back("times, speeds and losses are means of " +
                              std::to_string(replications) +
                              " replications; buckets, iterations and the rest are of the first");
  }
  return result;
}

} // namespace stepsim::study
