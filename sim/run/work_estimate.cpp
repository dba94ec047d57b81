// Counts of what the run will do, times the seconds that each of them takes on one core. Only the
// order of magnitude matters: the limit that it is held against is minutes.

#include "run/work_estimate.hpp"

#include "collectives/algorithms.hpp"
#include "run/run_figures.hpp"
#include "run/sharding_plan.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

// Messages of different sizes that are timed, at most: a bucket is made of one gradient or more.
// Evaluators are asked once per size, so that equal messages cost nothing more.
double different_messages(const Scenario& scenario) {
  if (scenario.communication.schedule == buckets::Schedule::single) {
    return 1;
  }
  std::set<std::int64_t> sizes;
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    sizes.insert(gradient.bytes.value);
  }
  return static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
}

namespace {

constexpr double kPacketHop = 2e-7; // s
constexpr double kFlow = 1e-5;      // s per message at the flow level, rates of all others included
constexpr double kPass = 2e-8;      // s per operation of a rank in an iteration
constexpr double kEvent = 3e-7;     // the same where operations slow each other

// What is sent instead of an all-reduce where ranks hold parts of parameters or updates.
std::span<const collectives::Op> operations_of(const Scenario& scenario) {
  using collectives::Op;
  static constexpr std::array kWhole{Op::allreduce};
  static constexpr std::array kOwned{Op::allreduce, Op::broadcast};
  static constexpr std::array kSharded{Op::reduce_scatter, Op::allgather};
  const Sharding& sharding = scenario.training.sharding;
  return !sharding.any()        ? std::span<const Op>(kWhole)
         : has_owners(sharding) ? std::span<const Op>(kOwned)
                                : std::span<const Op>(kSharded);
}

// Evaluating the exchange of `bytes` of gradients once, as it is sent.
double exchange_seconds(const Scenario& scenario, double bytes,
                        std::optional<collectives::Method> method) {
  const collectives::Collective collective = exchange_of(scenario);
  if (!is_compressed(scenario)) {
    double seconds = 0;
    for (const collectives::Op op : operations_of(scenario)) {
      const auto has = [op](collectives::AlgorithmId id) {
        return id == collectives::AlgorithmId::automatic ||
               collectives::find_algorithm(op, id) != nullptr;
      };
      collectives::Collective asked = collective;
      asked.bytes = bytes;
      asked.op = has(asked.algorithm) ? op : asked.op;
      std::erase_if(asked.options.candidates, std::not_fn(has));
      seconds += collectives::evaluation_seconds(asked, method);
    }
    return seconds;
  }
  const collectives::Compression& compression = scenario.communication.compression;
  const bool by_shape = compression.method == collectives::CompressionMethod::powersgd;
  const collectives::GradientPart part =
      by_shape ? gradient_part(scenario, all_gradients(scenario))
               : part_of_bytes(bytes, scenario.workload.bytes_per_value());
  return collectives::evaluation_seconds(
      collectives::compressed_exchange(compression, part, collective), method);
}

// How often a planner asks for the time of a message of another size.
double planned_messages(const Scenario& scenario, double different) {
  const bool plans = !scenario.training.sharding.any() &&
                     buckets::planner(scenario.communication.schedule).reads_cost;
  if (!plans) {
    return 0;
  }
  // Every run of neighbouring gradients may become a message, so that all of them are asked for.
  const buckets::Schedule schedule = scenario.communication.schedule;
  const bool all =
      schedule == buckets::Schedule::optimal || schedule == buckets::Schedule::exhaustive;
  return all ? different * different / 2 : 2 * different;
}

// Asking for the times of `asked` messages beside the run itself. Where links differ schedules are
// evaluated, of sizes in powers of two, so that together they take as long as `most_on_fabric` of
// the largest, or as `times` a few of them. Servers are simulated for every corner of a line.
double asking_seconds(const Scenario& scenario, double bytes, double asked, double times,
                      double most_on_fabric) {
  constexpr double kSampled = 3.5; // time grows with the root of the size: 1 / (1 - 1 / sqrt 2)
  const collectives::Collective collective = exchange_of(scenario);
  if (asked == 0) {
    return 0;
  }
  if (collective.algorithm == collectives::AlgorithmId::parameter_server &&
      collective.links.two_level) {
    constexpr double kCorners = 40;
    return exchange_seconds(scenario, bytes, collectives::Method::events) *
           std::min(asked, kCorners);
  }
  if (collective.homogeneous() && !collective.links.fabric) {
    return exchange_seconds(scenario, bytes, collectives::Method::closed_form) * asked;
  }
  const bool fabric = collective.links.fabric != nullptr;
  return exchange_seconds(scenario, static_cast<double>(scenario.workload.bytes().value),
                          fabric ? collectives::Method::events : collectives::Method::max_plus) *
         std::min(asked, fabric ? most_on_fabric : kSampled * times);
}

double planning_seconds(const Scenario& scenario, double bytes, double messages) {
  constexpr double kOnFabric = 2; // where a planner asks for few sizes
  return asking_seconds(scenario, bytes, planned_messages(scenario, messages), 1, kOnFabric);
}

// Naming the bottleneck of buckets: by latency, bandwidth and adding alone.
double bottleneck_seconds(const Scenario& scenario, double messages) {
  constexpr double kBottleneck = 3;
  if (simulates_messages(scenario) || scenario.training.sharding.any()) {
    return 0;
  }
  const double bytes = static_cast<double>(scenario.workload.bytes().value) / messages;
  return asking_seconds(scenario, bytes, kBottleneck * messages, kBottleneck, kBottleneck);
}

// The way from the first to the last rank.
struct Way {
  double links = 2; // a packet passes at least those of two hosts
  double latency_s{};
  double bandwidth_Bps = std::numeric_limits<double>::infinity();
};

Way way_of(const Scenario& scenario) {
  const links::RankFabric& fabric = *scenario.cluster.fabric;
  const auto ranks = static_cast<std::size_t>(scenario.cluster.ranks());
  const auto path =
      fabric.routes().ecmp_path(fabric.hosts[0], fabric.hosts[ranks - 1], 0, fabric.paths.seed);
  Way way;
  way.links = std::max(way.links, static_cast<double>(path.size()));
  for (const links::LinkId link : path) {
    way.latency_s += fabric.fabric().links[link].latency_s;
    way.bandwidth_Bps = std::min(way.bandwidth_Bps, fabric.fabric().links[link].bandwidth_Bps);
  }
  return way;
}

// Simulated time of all iterations, if nothing else were on the network.
// Background flows start as long as the job runs, so that their number needs the simulated time.
double simulated_seconds(const Scenario& scenario, const Way& way) {
  const layers::Workload& workload = scenario.workload;
  const double steps = 2 * (static_cast<double>(scenario.cluster.ranks()) - 1);
  const Training& training = scenario.training;
  const double exchange =
      (steps * way.latency_s + training.sync.value) * different_messages(scenario) +
      2 * static_cast<double>(workload.bytes().value) / way.bandwidth_Bps;
  const auto passes =
      static_cast<double>(training.micro_batches) *
      static_cast<double>(trains_in_rounds(training) ? training.local.local_steps : 1);
  const double slowest =
      base::greatest<double>(scenario.variability.stragglers, 1, &layers::Straggler::factor);
  const double busy = passes * slowest * (workload.forward().value + workload.backward().value);
  const double input = passes * training.input.value;
  return static_cast<double>(training.iterations) *
         ((training.input_pipelined ? std::max(busy, input) : busy + input) +
          training.update.value + training.wait.value + exchange);
}

double packet_seconds(const Scenario& scenario, double bytes) {
  const PacketSettings& packet = scenario.cluster.network.packet;
  const Way way = way_of(scenario);
  double background = 0;
  if (packet.background.load > 0) {
    for (const double rate :
         links::offered_Bps(scenario.cluster.fabric->fabric(), packet.background)) {
      background += rate * simulated_seconds(scenario, way);
    }
  }
  const auto mtu = static_cast<double>(packet.options.mtu_wire_bytes);
  // A flow smaller than a packet is one packet.
  const double size = background > 0 ? std::min(mtu, links::mean_bytes(packet.background)) : mtu;
  return (bytes / mtu + background / size) * 2 * way.links * kPacketHop; // acknowledgements too
}

// How many all-reduces of the gradients the exchanges of an iteration amount to: a gather or a
// reduce-scatter is half of one.
double allreduces(const Scenario& scenario) {
  const Training& training = scenario.training;
  const Sharding& sharding = training.sharding;
  const auto batches = static_cast<double>(training.micro_batches);
  const double reduces = training.accumulation_exchange == AccumulationExchange::each ? batches : 1;
  if (!sharding.any()) {
    return reduces;
  }
  const double gathers = !has_units(sharding)             ? 1
                         : sharding.reshard_after_forward ? 2 * batches
                                                          : batches;
  const double values = std::max(scenario.workload.bytes_per_value(), 1.0);
  const double whole = has_owners(sharding) ? 2 : 1; // all-reduces, not reduce-scatters
  return (gathers * sharding.parameter_bytes + whole * reduces * sharding.reduce_bytes) /
         (2 * values);
}

double network_seconds(const Scenario& scenario) {
  const Training& training = scenario.training;
  const bool searches =
      training.algorithm == TrainingAlgorithm::pipe_sgd && !training.pipeline_width;
  const double runs = searches                   ? static_cast<double>(training.max_width) + 1
                      : training.input.value > 0 ? 2 // with reading and without
                                                 : 1;
  const double bytes =
      runs * allreduces(scenario) * static_cast<double>(scenario.workload.bytes().value);
  const auto iterations = static_cast<double>(scenario.training.iterations);
  const auto ranks = static_cast<double>(scenario.cluster.ranks());
  if (scenario.cluster.network.model == NetworkModel::packet) {
    return packet_seconds(scenario, 2 * bytes * ranks * iterations);
  }
  const double messages = different_messages(scenario);
  return exchange_seconds(scenario, bytes / messages, collectives::Method::events) * messages *
         iterations * (kFlow / 2e-6);
}

// Searching the units of sharding where no exact plan is known tries programs of all micro-batches;
// their number and length grow with the layers or blocks, and together with their third power.
double unit_search_seconds(const Scenario& scenario) {
  constexpr double kSearch = 1e-6; // s per cube of the parts and micro-batch
  const Training& training = scenario.training;
  if (!has_units(training.sharding) ||
      training.sharding.wrapping.policy != layers::WrappingPolicy::optimal ||
      !searches_units(scenario)) {
    return 0;
  }
  const auto parts = static_cast<double>(unit_parts(scenario).size());
  return kSearch * std::pow(parts, 3) * static_cast<double>(training.micro_batches);
}

// The operations of all iterations, of one rank where all are equal.
double program_seconds(const Scenario& scenario) {
  const Training& training = scenario.training;
  const double ranks =
      scenario.variability.varies() ? static_cast<double>(scenario.cluster.ranks()) : 1;
  const double rounds =
      static_cast<double>(training.iterations) *
      static_cast<double>(trains_in_rounds(training) ? training.local.local_steps : 1);
  const double passes = 1 + static_cast<double>(training.micro_batches);
  const Communication& communication = scenario.communication;
  const bool events =
      training.overlap.any() || is_typical(scenario) ||
      buckets::planner(communication.schedule).shares_channel(communication.schedule_options);
  return ranks * rounds * passes * static_cast<double>(scenario.workload.layers.size()) *
         (events ? kEvent : kPass);
}

// One run, without its bottleneck and those that it is compared with.
double run_seconds(const Scenario& scenario, double messages) {
  if (simulates_messages(scenario)) {
    return network_seconds(scenario);
  }
  const double bytes = static_cast<double>(scenario.workload.bytes().value) / messages;
  return exchange_seconds(scenario, bytes, scenario.method) * messages +
         planning_seconds(scenario, bytes, messages) + program_seconds(scenario);
}

// Every part of the interval is moved up and down; where transfers hide behind starts, or the
// reverse, both run.
double runs_of(const Scenario& scenario) {
  if (!has_uncertain_parts(scenario)) {
    return 1;
  }
  const auto parts = std::ranges::count_if(scenario.conditions.used, [&](Factor factor) {
    return scenario.conditions.factors[static_cast<std::size_t>(factor)].tau > 0;
  });
  const auto moved = static_cast<double>(parts + (scenario.workload.interval ? 1 : 0) +
                                         (scenario.communication.question ? 1 : 0));
  return (1 + 2 * moved) * (scenario.conditions.hides_transfers ? 2 : 1);
}

} // namespace

double estimated_seconds(const Scenario& scenario) {
  return estimated_seconds(scenario, different_messages(scenario));
}

double estimated_seconds(const Scenario& scenario, double messages) {
  // Nothing is sent, and computing is a sum over layers.
  if (scenario.cluster.ranks() == 1) {
    return 0;
  }
  double seconds = run_seconds(scenario, messages) * runs_of(scenario) +
                   bottleneck_seconds(scenario, messages) + unit_search_seconds(scenario);
  if (is_compressed(scenario)) { // which the same step with dense messages, and with one, follow
    Scenario dense = scenario;
    dense.communication = *scenario.dense_baseline;
    seconds += run_seconds(dense, messages);
    dense.communication.schedule = buckets::Schedule::single;
    seconds += run_seconds(dense, 1);
  }
  return seconds;
}

double estimated_seconds(const ProgramFile& file) {
  const bool events = evaluator_of(file.program, file.evaluation) == programs::Evaluator::events;
  return static_cast<double>(file.evaluation.iterations) *
         static_cast<double>(file.program.iteration_size()) * (events ? kEvent : kPass);
}

double estimated_bytes(const Scenario& scenario) {
  if (!simulates_messages(scenario) || !exchanges(scenario) || is_compressed(scenario) ||
      scenario.training.algorithm != TrainingAlgorithm::sync_sgd ||
      scenario.communication.has_servers()) {
    return 0;
  }
  collectives::Collective collective = exchange_of(scenario);
  const double pieces = different_messages(scenario);
  collective.bytes = static_cast<double>(scenario.workload.bytes().value) / pieces;
  const double messages = static_cast<double>(
      collectives::traffic(collectives::with_chosen_algorithm(collective)).messages);
  const double packets =
      scenario.cluster.network.model == NetworkModel::packet
          ? sizeof(links::MessageSpec) + sizeof(links::MessageResult) + sizeof(links::MessageShape)
          : 0;
  return messages * pieces * static_cast<double>(scenario.training.iterations) *
         (sizeof(programs::JobMessage) + packets);
}

void refuse_long_work(double estimate_s, double max_seconds) {
  if (estimate_s <= max_seconds) {
    return;
  }
  const std::string text = estimate_s < 7200 ? base::significant(estimate_s, 2) + " s"
                                             : base::significant(estimate_s / 3600, 2) + " h";
  throw SimulationError("this takes about " + text + " of CPU time, more than --max-seconds " +
                        base::shortest(max_seconds));
}

} // namespace stepsim::study
