// Several jobs become scenarios of their own first, so that everything behind that knows one job
// only.

#include "run/network_figures.hpp"

#include "run/planned_messages.hpp"
#include "run/run.hpp"

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

programs::JobServers servers_of(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  programs::JobServers servers{.count = communication.options.servers,
                               .placement = communication.options.placement,
                               .whole = scenario.training.whole_split,
                               .add_s_per_byte = exchange_of(scenario).reduction_s_per_byte,
                               .encode_s_per_byte = 0,
                               .by_layer = communication.schedule == buckets::Schedule::priority};
  if (servers.by_layer && communication.schedule_options.credit_bytes.value > 0) {
    servers.credit_bytes = static_cast<double>(communication.schedule_options.credit_bytes.value);
  }
  if (is_compressed(scenario)) {
    const ServerExchange coded = server_exchange(scenario);
    servers.add_s_per_byte = coded.server.reduction_s_per_byte;
    servers.encode_s_per_byte = coded.server.bytes > 0 ? coded.encode_s / coded.server.bytes : 0;
  }
  if (const auto& levels = exchange_of(scenario).links.two_level) {
    servers.inner = levels->intra;
  }
  return servers;
}

std::int64_t served_value_bytes(const Scenario& scenario) {
  return is_compressed(scenario) ? 1 : programs::NetworkJob{}.value_bytes;
}

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

// The last stage of the compressed exchange is the one with the servers; what comes before it is
// among workers. Both are taken from `compressed_exchange`, so that bytes and codec times are those
// of every other run.

ServerExchange server_exchange(const Scenario& scenario) {
  const collectives::Compression& compression = scenario.communication.compression;
  const buckets::Group all = all_gradients(scenario);
  const auto bytes = static_cast<double>(all.bytes.value);
  collectives::CompressedExchange exchange = collectives::compressed_exchange(
      compression, gradient_part(scenario, all), exchange_of(scenario));
  ServerExchange result;
  // Nothing is exchanged, as with one worker.
  if (exchange.stages.empty()) {
    return result;
  }
  result.server = std::move(exchange.stages.back().collective);
  exchange.stages.pop_back();
  for (collectives::ExchangeStage& stage : exchange.stages) {
    result.before.push_back(std::move(stage.collective));
  }
  const collectives::Options& options = result.server.options;
  // Sharded servers are one on every worker, whatever the number in the options.
  const bool sharded = options.placement == collectives::Placement::sharded;
  result.servers = sharded ? result.server.ranks : options.servers;
  result.encode_s = exchange.fixed_s * result.servers;
  const CodecTimes codec = codec_times(scenario, bytes);
  result.codec_s = codec.encode_s + codec.decode_s;
  const buckets::LinearCost extra = extra_cost(scenario);
  result.extra_s = extra.startup_s + extra.per_byte_s * bytes + copy_seconds(scenario, all);
  return result;
}

} // namespace stepsim::study
