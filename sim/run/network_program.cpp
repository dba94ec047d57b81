// A program becomes a job: its operations keep their numbers, the stages of its units' exchanges
// become the collectives of operations or what is sent to servers, and a unit has the message class
// of its layers.
#include "run/evaluated_program.hpp"

#include "run/network_figures.hpp"

namespace stepsim::study {

namespace {

// Parts of messages hold whole values: those of the workload, or what sharding sends of each.
std::int64_t value_bytes(const Scenario& scenario) {
  const Sharding& sharding = scenario.training.sharding;
  if (scenario.communication.has_servers()) {
    return served_value_bytes(scenario);
  }
  if (!sharding.any()) {
    return programs::NetworkJob{}.value_bytes;
  }
  const double least = std::min(sharding.parameter_bytes, sharding.reduce_bytes);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(least));
}

std::vector<programs::JobPiece> pieces_of(const Scenario& scenario, const ScenarioProgram& made) {
  const MessageClasses classes(scenario.cluster.network.packet, layer_bytes(scenario));
  std::vector<programs::JobPiece> pieces;
  for (const ProgramUnit& unit : made.units) {
    programs::JobPiece& piece = pieces.emplace_back();
    if (!unit.layers.empty()) {
      piece.first_layer = unit.layers.front();
    }
    if (!unit.exchange.stages.empty()) {
      piece.bytes = std::llround(unit.exchange.stages.back().bytes);
    } else if (scenario.communication
                   .has_servers()) { // a worker alone has no stage, but what it pushes
      piece.bytes = std::llround(unit.cost.bytes_sent);
    }
    piece.message_class = classes.of_layers(unit.layers);
    // No earlier values stand in for lost ones (PKT 5.6).
    piece.message_class.keep_parameters = has_units(scenario.training.sharding);
  }
  return pieces;
}

// Whether the next iteration waits for all exchanges of one before it sends its own, which lengthen
// no computing of their own iteration.
bool one_iteration_at_a_time(const Scenario& scenario) {
  const Training& training = scenario.training;
  const bool merges_late = trains_in_rounds(training) &&
                           (training.local.overlap_steps > 0 || training.local.fragments > 1);
  // Their gathers run in the iteration that follows.
  const bool gathers_ahead =
      scenario.communication.schedule == buckets::Schedule::dear &&
      scenario.communication.schedule_options.prefetch == buckets::Prefetch::one;
  return !applies_late(training.algorithm) && !merges_late && !gathers_ahead &&
         !training.sharding.any() && !training.overlap.any();
}

programs::NetworkJob job_of(const Scenario& scenario, const ScenarioProgram& made,
                            std::int64_t iterations) {
  programs::NetworkJob job;
  job.pieces = pieces_of(scenario, made);
  job.value_bytes = value_bytes(scenario);
  job.iterations = iterations;
  job.workers = made.program.ranks;
  job.hosts = scenario.cluster.fabric->hosts;
  if (scenario.communication.has_servers()) {
    job.servers = servers_of(scenario);
  }
  programs::JobProgram& program = job.program.emplace();
  program.program = made.program;
  if (one_iteration_at_a_time(scenario)) {
    program.sent_iterations = scenario.training.iterations;
  }
  program.factors = factors_of(scenario, made.program, iterations);
  std::map<const UnitExchange*, std::uint32_t> known;
  for (const programs::Operation& operation : made.program.operations) {
    const UnitExchange* exchange = exchange_of(made, operation);
    const bool served = job.servers && exchange != nullptr;
    if (served && job.pieces[static_cast<std::size_t>(operation.unit)].bytes > 0) {
      program.exchange_of.push_back(programs::JobProgram::kToServers);
      continue;
    }
    if (exchange == nullptr || exchange->stages.empty()) {
      program.exchange_of.push_back(programs::JobProgram::kNotSent);
      continue;
    }
    const auto [place, is_new] =
        known.try_emplace(exchange, static_cast<std::uint32_t>(program.exchanges.size()));
    if (is_new) {
      program.exchanges.push_back({exchange->stages});
    }
    program.exchange_of.push_back(place->second);
  }
  return job;
}

// A job beside the first one, as it was made.
struct OtherProgram {
  Scenario scenario;
  ScenarioProgram made;
  std::int64_t most{}; // iterations, however long the first job runs
};

// Jobs that end before the first one go on until it ends, because it would have the network for
// itself. Returns whether any does.
bool prolong(std::span<OtherProgram> others, NetworkProgram& program) {
  const double until_s = program.run.jobs.front().end_s;
  bool any = false;
  for (std::size_t j = 1; j < program.jobs.size(); ++j) {
    auto& [scenario, made, most] = others[j - 1];
    const double end_s = program.run.jobs[j].end_s;
    std::int64_t& iterations = scenario.training.iterations;
    if (end_s > 0 && end_s < until_s && iterations < most) {
      const std::int64_t behind = program.jobs[j].iterations - iterations;
      const double all = std::ceil(static_cast<double>(iterations) * until_s / end_s);
      iterations = static_cast<std::int64_t>(std::min(all + 1, static_cast<double>(most)));
      program.jobs[j] = job_of(scenario, made, iterations + behind);
      any = true;
    }
  }
  return any;
}

} // namespace

NetworkProgram network_program(const Scenario& scenario, const ScenarioProgram& made,
                               std::int64_t iterations) {
  NetworkProgram result;
  const bool alone = scenario.other_jobs.empty();
  result.jobs.push_back(job_of(alone ? scenario : scenario_of_job(scenario, 0), made, iterations));
  constexpr std::int64_t kTimes = 64;
  constexpr std::int64_t kInstances = std::int64_t{1} << 23;
  std::vector<OtherProgram> others;
  for (std::size_t j = 1; j <= scenario.other_jobs.size(); ++j) {
    const Scenario other = scenario_of_job(scenario, j);
    const ScenarioProgram program = scenario_program(other, true);
    const std::int64_t own = iterations_of(program.program, window_of(other, program.program));
    result.jobs.push_back(job_of(other, program, std::max(iterations, own)));
    const auto instances =
        static_cast<std::int64_t>(program.program.operations.size() * program.program.ranks);
    others.push_back(
        {other, program, std::min(kTimes * other.training.iterations, kInstances / instances)});
  }
  constexpr int kRuns = 8; // the first job may end later, the longer the others go on
  int runs = 0;
  do {
    result.run = programs::run_network_jobs(network_of(scenario), result.jobs);
  } while (++runs < kRuns && prolong(others, result));
  check_faults(scenario, result.jobs, result.run);
  return result;
}

programs::OperationTimes without_interference(const Scenario& scenario, NetworkProgram program) {
  for (programs::NetworkJob& job : program.jobs) {
    job.program->program.interference = {};
  }
  return programs::run_network_jobs(network_of(scenario), program.jobs).jobs.front().times;
}

void fill_network(const Scenario& scenario, const Scenario& first, NetworkProgram& program,
                  std::int64_t discard, Result& result) {
  programs::JobsResult& run = program.run;
  programs::JobResult& job = run.jobs.front();
  const auto steady = static_cast<std::size_t>(discard);
  result.events = run.events;
  result.links = links_of(scenario.cluster.fabric->fabric(), run);
  fill_messages(job, steady, result.summary);
  const std::size_t sent = result.iterations.size();
  fill_loss(std::span(job.iterations).first(sent).subspan(std::min(steady, sent)),
            contributed_bytes(first, program.jobs.front()), result.summary);
  for (std::size_t t = 0; t < result.iterations.size(); ++t) {
    const programs::JobIteration& each = job.iterations[t];
    result.iterations[t].loss_fraction = lost_part(static_cast<double>(each.gradient_lost_bytes),
                                                   static_cast<double>(each.gradient_bytes));
  }
  const std::size_t pieces = program.jobs.front().pieces.size();
  if (first.communication.has_servers()) {
    warn_of_idle_servers(first, pieces, result);
  }
  if (scenario.cluster.network.model == NetworkModel::packet) {
    result.packet_hops = run.packet_hops;
    fill_tensors(job, pieces, result);
  }
  if (program.jobs.size() > 1) {
    result.jobs = times_of_jobs(scenario, program.jobs, run);
    for (std::size_t j = 1; j < program.jobs.size(); ++j) {
      constexpr double kRounding = 1e-9;
      if (run.jobs[j].end_s < job.end_s * (1 - kRounding)) {
        result.warnings.push_back("job " + std::to_string(j + 1) + " ends after " +
                                  base::readable_seconds(run.jobs[j].end_s) + " of the " +
                                  base::readable_seconds(job.end_s) +
                                  " of the first job, which then has the network to itself");
      }
      result.other_programs.push_back(
          {std::move(program.jobs[j].program->program), std::move(run.jobs[j].times)});
    }
  } else {
    result.messages = std::move(job.messages);
  }
}

} // namespace stepsim::study
