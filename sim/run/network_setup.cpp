// What the simulation of jobs needs, made from a scenario: layer times, buckets with the class of
// their messages, hosts of ranks and servers. Several jobs become scenarios of their own first, so
// that everything behind that knows one job only.

#include "run/network_setup.hpp"

#include <algorithm>
#include <utility>

#include "buckets/planners.hpp"
#include "collectives/choose.hpp"
#include "collectives/compress/compressed_exchange.hpp"
#include "links/packet/time.hpp"
#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "run/server_exchange.hpp"
#include "scenario/packet/message_class.hpp"

namespace stepsim::study {

bool has_servers(const Scenario& scenario) {
  return scenario.communication.collective == collectives::AlgorithmId::parameter_server;
}

std::vector<double> layer_bytes(const Scenario& scenario) {
  std::vector<double> bytes(scenario.workload.layers.size());
  for (const layers::Gradient& gradient : scenario.workload.gradients) {
    bytes[gradient.layer] += static_cast<double>(gradient.bytes.value);
  }
  return bytes;
}

namespace {

// What is sent to servers, and the work of the codec on the workers. Without a message nothing is
// coded, as with one worker.
void code(const Scenario& scenario, const buckets::Group& group, programs::JobPiece& piece) {
  const collectives::CompressedExchange exchange = collectives::compressed_exchange(
      scenario.communication.compression, gradient_part(scenario, group), exchange_of(scenario));
  if (!exchange.stages.empty()) {
    piece.bytes = static_cast<std::int64_t>(exchange.stages.back().collective.bytes);
    const CodecTimes codec = codec_times(scenario, static_cast<double>(group.bytes.value));
    piece.encode_s = codec.encode_s;
    piece.decode_s = codec.decode_s;
  }
}

// Buckets in the order in which their gradients are ready.
std::vector<programs::JobPiece> pieces_of(const Scenario& scenario, const buckets::Plan& plan) {
  const MessageClasses classes(scenario.cluster.network.packet, layer_bytes(scenario));
  std::vector<programs::JobPiece> pieces;
  for (const buckets::Group& group : plan.groups) {
    programs::JobPiece piece;
    piece.bytes = group.bytes.value;
    if (is_compressed(scenario)) {
      code(scenario, group, piece);
    }
    std::uint32_t first = UINT32_MAX;
    std::uint32_t last = 0;
    for (const std::uint32_t item : group.items) {
      if (item < scenario.workload.gradients.size()) { // else one that sends nothing
        const std::uint32_t layer = scenario.workload.gradients[item].layer;
        first = std::min(first, layer);
        last = std::max(last, layer);
      }
    }
    // A bucket is as urgent as its most urgent layer, which is the first one that the next forward
    // pass needs. Without any gradient `first` is still the largest number, and `last` is 0.
    piece.first_layer = std::min(first, last);
    piece.last_layer = last;
    piece.message_class = classes.of_layer(piece.first_layer);
    pieces.push_back(piece);
  }
  return pieces;
}

// Stable, so that chunks of one gradient, which are ready together, keep their order.
void sort_by_ready(const Scenario& scenario, buckets::Plan& plan) {
  if (scenario.communication.schedule == buckets::Schedule::priority) { // listed by urgency
    std::ranges::stable_sort(plan.groups, {},
                             [](const buckets::Group& group) { return group.ready.value; });
  }
}

// With `auto` the one that is best for the largest bucket, at the flow level.
collectives::Collective chosen_collective(const Scenario& scenario, const buckets::Plan& plan) {
  collectives::Collective collective = exchange_of(scenario);
  for (const buckets::Group& group : plan.groups) {
    collective.bytes = std::max(collective.bytes, static_cast<double>(group.bytes.value));
  }
  return collectives::with_chosen_algorithm(collective);
}

programs::NetworkJob job_of(const Scenario& scenario, const buckets::Plan& plan) {
  const Communication& communication = scenario.communication;
  programs::NetworkJob job;
  for (const layers::WorkLayer& layer : scenario.workload.layers) {
    job.forward_s.push_back(layer.forward.value);
    job.backward_s.push_back(layer.backward.value);
  }
  job.update_s = scenario.training.update.value;
  job.gradient_bytes = layer_bytes(scenario);
  job.overlap_backward = communication.overlap_backward;
  job.next_forward = communication.next_forward;
  job.pieces = pieces_of(scenario, plan);
  job.by_layer = communication.schedule == buckets::Schedule::priority;
  if (job.by_layer && communication.schedule_options.credit_bytes.value > 0) {
    job.credit_bytes = static_cast<double>(communication.schedule_options.credit_bytes.value);
  }
  job.iterations = scenario.training.iterations;
  job.workers = static_cast<std::uint32_t>(scenario.cluster.ranks());
  job.variability = scenario.variability;
  job.hosts = scenario.cluster.fabric->hosts;
  job.collective = chosen_collective(scenario, plan);
  if (has_servers(scenario)) {
    job.servers = programs::JobServers{.count = communication.options.servers,
                                       .placement = communication.options.placement,
                                       .whole = scenario.training.whole_split,
                                       .add_s_per_byte = job.collective.reduction_s_per_byte,
                                       .encode_s_per_byte = 0,
                                       .async = scenario.training.async(),
                                       .staleness_bound = scenario.training.staleness_bound};
    if (is_compressed(scenario)) {
      const ServerExchange coded = server_exchange(scenario);
      job.servers->add_s_per_byte = coded.server.reduction_s_per_byte;
      job.servers->encode_s_per_byte =
          coded.server.bytes > 0 ? coded.encode_s / coded.server.bytes : 0;
      job.value_bytes = 1;
    }
  }
  return job;
}

} // namespace

Scenario scenario_of_job(const Scenario& scenario, std::size_t job) {
  Scenario result = scenario;
  result.other_jobs.clear();
  // The first job stands in the scenario itself, the others in a list, and only together they have
  // the nodes of the cluster.
  const auto nodes_of = [&](std::size_t index) {
    return index == 0 ? scenario.first_job_nodes : scenario.other_jobs[index - 1].nodes;
  };
  // Several jobs have equal nodes.
  const auto ranks_of = [&](std::size_t index) {
    return static_cast<std::size_t>(scenario.other_jobs.empty()
                                        ? scenario.cluster.ranks()
                                        : nodes_of(index) * scenario.cluster.gpus_per_node);
  };
  std::size_t first = 0;
  for (std::size_t before = 0; before < job; ++before) {
    first += ranks_of(before);
  }
  if (job > 0) {
    const OtherJob& other = scenario.other_jobs[job - 1];
    // A time of update that was given in the scenario holds for all jobs; one that comes from the
    // trace of the first job belongs to that trace.
    const bool own_update = scenario.training.update.value == scenario.workload.update.value;
    result.workload_source = other.source;
    result.workload = other.workload;
    result.training.update = own_update ? other.workload.update : scenario.training.update;
  }
  // Workers are numbered through all jobs in the scenario, from 0 within each job.
  // Stragglers of other jobs are left out.
  std::vector<layers::Straggler>& slow = result.variability.stragglers;
  std::erase_if(slow, [&](const layers::Straggler& straggler) {
    return straggler.worker < first || straggler.worker >= first + ranks_of(job);
  });
  for (layers::Straggler& straggler : slow) {
    straggler.worker -= static_cast<std::uint32_t>(first);
  }
  result.cluster.nodes = nodes_of(job);
  result.first_job_nodes = result.cluster.nodes;
  // Hosts of all ranks, then the servers of one job after the other.
  const std::vector<links::NodeId>& hosts = scenario.cluster.fabric->hosts;
  const auto ranks = static_cast<std::size_t>(scenario.cluster.ranks());
  const std::size_t servers = (hosts.size() - ranks) / (1 + scenario.other_jobs.size());
  auto fabric = std::make_shared<links::RankFabric>(*scenario.cluster.fabric);
  const auto part = [&](std::size_t begin, std::size_t count) {
    const auto at = hosts.begin() + static_cast<std::ptrdiff_t>(begin);
    fabric->hosts.insert(fabric->hosts.end(), at, at + static_cast<std::ptrdiff_t>(count));
  };
  fabric->hosts.clear();
  part(first, ranks_of(job));
  part(ranks + job * servers, servers);
  result.cluster.fabric = std::move(fabric);
  return result;
}

// Asynchronous workers send all gradients at once, but servers may have whole tensors of them.
// Compressed gradients are one message.
PlannedJob planned_job(const Scenario& scenario) {
  const buckets::Problem problem = planned_problem(scenario);
  const bool tensors = scenario.training.async() && scenario.training.whole_split &&
                       !is_compressed(scenario) && has_servers(scenario);
  PlannedJob result{tensors ? buckets::make_plan(problem, buckets::Schedule::wfbp, {})
                            : plan_of(scenario, problem),
                    {}};
  sort_by_ready(scenario, result.plan);
  result.job = job_of(scenario, result.plan);
  return result;
}

programs::JobNetwork network_of(const Scenario& scenario) {
  const Network& network = scenario.cluster.network;
  const links::RankFabric& fabric = *scenario.cluster.fabric;
  const links::PacketOptions& options = network.packet.options;
  programs::JobNetwork result;
  result.fabric = fabric.network;
  result.simulated_limit_s = scenario.simulated_limit.value;
  result.flow = {.paths = fabric.paths, .headers = fabric.headers};
  if (network.model == NetworkModel::packet) {
    // Picoseconds are 64-bit integers in packets, which ends at kMostSeconds.
    result.simulated_limit_s = std::min(result.simulated_limit_s, links::kMostSeconds);
    result.packet = options;
    result.background = network.packet.background;
  } else if (network.packet.has_transport && options.transport.kind == links::TransportKind::dlcp &&
             options.transport.dlcp.early_stop) {
    // At the flow level a message with bounded loss is as long as the part that has to arrive.
    result.early_stop_payload = options.full_payload();
  }
  return result;
}

} // namespace stepsim::study
