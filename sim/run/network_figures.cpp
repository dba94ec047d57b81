// What became of messages and how links were used, as a result shows it.

#include "run/network_figures.hpp"

#include "run/evaluated_program.hpp"
#include "run/planned_messages.hpp"
#include "run/run.hpp"
#include "run/run_figures.hpp"

namespace stepsim::study {

std::optional<double> lost_part(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Messages of the discarded first iterations are left out, as in every other mean.
void fill_messages(const programs::JobResult& job, std::size_t first, Summary& summary) {
  std::vector<double> seconds;
  for (const programs::JobMessage& message : job.messages) {
    if (message.iteration >= static_cast<std::int64_t>(first)) {
      seconds.push_back(message.end_s - message.start_s);
    }
  }
  if (const auto fct = flow_statistics(std::move(seconds))) {
    summary.fct_mean_s = fct->mean_s;
    summary.fct_p50_s = fct->p50_s;
    summary.fct_p95_s = fct->p95_s;
    summary.fct_p99_s = fct->p99_s;
    summary.fct_max_s = fct->max_s;
  }
}

// Operations and bytes are those that are sent: compressed, and once per micro-batch or round that
// sends them.
double contributed_bytes(const Scenario& scenario, const programs::NetworkJob& job) {
  // A lost packet of a ring takes the contributions of all ranks that were added to it before; with
  // servers it takes one. Other algorithms, and sums of sums of shards, are not traced.
  const bool ring = scenario.communication.collective == collectives::AlgorithmId::ring;
  if ((!ring && !job.servers) || scenario.training.sharding.any()) {
    return 0;
  }
  double bytes = 0;
  const programs::JobProgram& program = *job.program;
  for (std::size_t o = 0; o < program.exchange_of.size(); ++o) {
    const std::uint32_t exchange = program.exchange_of[o];
    if (exchange == programs::JobProgram::kToServers) {
      const auto unit = static_cast<std::size_t>(program.program.operations[o].unit);
      bytes += static_cast<double>(job.pieces[unit].bytes);
    } else if (exchange != programs::JobProgram::kNotSent) {
      for (const collectives::Collective& stage : program.exchanges[exchange].stages) {
        const bool adds = stage.op == collectives::Op::allreduce ||
                          stage.op == collectives::Op::reduce ||
                          stage.op == collectives::Op::reduce_scatter;
        bytes += adds ? stage.bytes : 0;
      }
    }
  }
  return bytes * job.workers;
}

void fill_loss(std::span<const programs::JobIteration> steady, double contributed_bytes,
               Summary& summary) {
  const auto total = [&](auto member) {
    return base::sum_of<double>(steady,
                                [&](const programs::JobIteration& run) { return run.*member; });
  };
  using Run = programs::JobIteration;
  summary.loss_fraction = lost_part(total(&Run::gradient_lost_bytes), total(&Run::gradient_bytes));
  summary.stale_fraction =
      lost_part(total(&Run::parameter_lost_bytes), total(&Run::parameter_bytes));
  summary.effective_loss = lost_part(total(&Run::lost_contributions),
                                     contributed_bytes * static_cast<double>(steady.size()));
}

// reno and dctcp number the packets of a connection, the others those of each message.
void check_faults(const Scenario& scenario, std::span<const programs::NetworkJob> jobs,
                  const programs::JobsResult& run) {
  const PacketSettings& packet = scenario.cluster.network.packet;
  const links::TransportKind kind = packet.options.transport.kind;
  const bool over = kind == links::TransportKind::reno || kind == links::TransportKind::dctcp;
  const std::vector<links::DropOnce>& drops = packet.options.drop_once;
  const std::vector<std::uint64_t> first = programs::first_connections(jobs);
  std::map<std::uint64_t, std::uint64_t> packets; // by connection
  for (std::size_t j = 0; j < jobs.size() && !drops.empty(); ++j) {
    for (const programs::JobMessage& message : run.jobs[j].messages) {
      auto& count = packets[programs::connection_number(jobs[j].hosts.size(), first[j], message)];
      count = over ? count + message.packets : std::max<std::uint64_t>(count, message.packets);
    }
  }
  for (std::size_t i = 0; i < drops.size(); ++i) {
    const auto& [link, flow, seq, nth] = drops[i];
    const std::string at = "/cluster/network/packet/faults/drop_packets_once/" + std::to_string(i);
    const auto found = packets.find(flow);
    if (found == packets.end() && packet.background.load > 0 && flow >= first.back()) {
      continue; // a flow of the background
    }
    if (found == packets.end()) {
      const std::string known = packets.empty()
                                    ? ""
                                    : fmt::format(", messages are sent by flows {} to {}",
                                                  packets.begin()->first, packets.rbegin()->first);
      throw InputError(packet.faults_file, at + "/flow",
                       fmt::format("unknown flow {}{}", flow, known));
    }
    if (seq >= found->second) {
      throw InputError(
          packet.faults_file, at + "/seq",
          fmt::format("unknown packet {}, flow {} has {} packets", seq, flow, found->second));
    }
  }
}

void fill_tensors(const programs::JobResult& job, std::size_t pieces, Result& result) {
  const Iteration& last = result.iterations.back();
  // Two entries per bucket, gradients and then parameters; both are sums over all messages of the
  // bucket between whatever ranks.
  result.tensors.resize(2 * pieces);
  for (std::size_t i = 0; i < result.tensors.size(); ++i) {
    result.tensors[i].bucket = static_cast<std::int64_t>(i / 2);
    result.tensors[i].gradient = i % 2 == 0;
  }
  for (const programs::JobMessage& message : job.messages) {
    if (message.iteration != last.index) {
      continue;
    }
    const bool back = message.part == programs::MessagePart::parameter;
    TensorResult& tensor = result.tensors[std::size_t{message.piece} * 2 + (back ? 1 : 0)];
    tensor.size_bytes += message.size_bytes;
    tensor.delivered_bytes += message.delivered_bytes;
    tensor.packets += message.packets;
    tensor.delivered_packets += message.delivered_packets;
    tensor.lost_network_bytes += message.lost_network_bytes;
    tensor.lost_stopped_bytes += message.lost_stopped_bytes;
    tensor.wasted_bytes += message.wasted_bytes;
    tensor.retransmissions += message.retransmissions;
    tensor.timeouts += message.timeouts;
    tensor.duplicates += message.duplicates;
    tensor.probe_rounds += message.probe_rounds;
    // The bucket is complete when the last of its messages is.
    tensor.complete_s = std::max(tensor.complete_s, message.end_s - last.start_s);
  }
}

bool server_is_busiest(const Scenario& scenario, const std::vector<LinkResult>& links) {
  const auto busiest = std::ranges::max_element(links, {}, &LinkResult::utilization);
  if (busiest == links.end()) {
    return false;
  }
  const links::RankFabric& fabric = *scenario.cluster.fabric;
  const links::FabricLink& link =
      fabric.fabric().links[static_cast<std::size_t>(busiest - links.begin())];
  const auto servers =
      std::span(fabric.hosts).subspan(static_cast<std::size_t>(scenario.cluster.ranks()));
  return std::ranges::find(servers, link.from) != servers.end() ||
         std::ranges::find(servers, link.to) != servers.end();
}

void warn_of_idle_servers(const Scenario& scenario, std::size_t pieces, Result& result) {
  const std::uint32_t servers = scenario.communication.options.servers;
  if (scenario.training.whole_split && pieces < servers) {
    result.warnings.push_back(
        "server_split whole: " + base::counted(static_cast<std::int64_t>(pieces), "message") +
        " for " + std::to_string(servers) + " servers; the others have nothing to do");
  }
}

std::vector<LinkResult> links_of(const links::Fabric& fabric, const programs::JobsResult& run) {
  std::vector<LinkResult> links;
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    links.push_back(run.link_counters.empty()
                        ? link_result(fabric.links[link], run.links[link], run.elapsed_s)
                        : link_result(run.link_counters[link], run.elapsed_s));
  }
  return links;
}

// Once the first job has ended the others have more of the network; their iterations that end later
// are left out of the mean.
std::vector<JobTimes> times_of_jobs(const Scenario& scenario,
                                    std::span<const programs::NetworkJob> jobs,
                                    const programs::JobsResult& together) {
  const double first_end = base::least<double>(
      together.jobs, std::numeric_limits<double>::infinity(), &programs::JobResult::end_s);
  // The iterations of the summary. Empty where none is left.
  const auto mean_until = [&](const programs::JobResult& job, const programs::Program& program,
                              const Window& window, double end_s) -> std::optional<double> {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t i = window.from + 1; i <= window.to; ++i) {
      const programs::JobIteration& each = job.iterations[static_cast<std::size_t>(i)];
      if (each.end_s <= end_s) {
        sum += each.period_s;
        ++count;
      }
    }
    // An iteration of a program may be a round of steps.
    return count > 0 ? std::optional(sum / static_cast<double>(count) / program.steps)
                     : std::nullopt;
  };
  std::vector<JobTimes> times;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const programs::JobsResult alone =
        programs::run_network_jobs(network_of(scenario), jobs.subspan(j, 1));
    const Scenario own = scenario_of_job(scenario, j);
    const programs::Program& program = jobs[j].program->program;
    const Window window = window_of(own, program);
    times.push_back(
        {.name = own.workload.name,
         .nodes = own.cluster.nodes,
         .together_s = mean_until(together.jobs[j], program, window,
                                  together.jobs[j].end_s == first_end ? kNever : first_end),
         .alone_s = mean_until(alone.jobs.front(), program, window, kNever).value_or(0)});
  }
  return times;
}

// Several jobs become scenarios of their own first, so that everything behind that knows one job
// only.

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
    servers.encode_s_per_byte = coded.server.sum_s_per_byte;
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
  return server_exchange(scenario, all_gradients(scenario));
}

ServerExchange server_exchange(const Scenario& scenario, const buckets::Group& group) {
  const auto bytes = static_cast<double>(group.bytes.value);
  collectives::CompressedExchange exchange = collectives::compressed_exchange(
      scenario.communication.compression, gradient_part(scenario, group), exchange_of(scenario));
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
  const CodecTimes codec = codec_times(scenario, bytes);
  result.codec_s = codec.encode_s + codec.decode_s;
  const buckets::LinearCost extra = extra_cost(scenario);
  result.extra_s = extra.startup_s + extra.per_byte_s * bytes + copy_seconds(scenario, group);
  return result;
}

} // namespace stepsim::study
