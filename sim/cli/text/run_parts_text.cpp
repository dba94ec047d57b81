#include "cli/text/answer_texts.hpp"

#include "cli/text/topology_text.hpp"
#include "scenario/scenario_schedule.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::cli {

std::string sharding_text(const study::Result& result) {
  const study::Training& training = result.scenario->training;
  const study::Sharding& sharding = training.sharding;
  std::string text(!sharding.any() ? std::string_view()
                                   : study::kShardingStrategies[sharding.strategy]);
  if (!result.units.empty()) {
    text += " (" + std::string(study::kShardingPresets[sharding.preset]) + "), " +
            base::counted(std::ssize(result.units), "unit");
  }
  if (training.micro_batches > 1) {
    const bool each = training.accumulation_exchange == study::AccumulationExchange::each;
    const bool groups = each && sharding.strategy == study::ShardingStrategy::hybrid_shard;
    text += (text.empty() ? "" : ", ") + std::to_string(training.micro_batches) +
            " micro-batches, exchanged " + (groups ? "in groups " : "") + "after " +
            (each ? "each" : "the last") + (groups ? ", between them after the last" : "");
  }
  return text;
}

std::string sharded_exchange_text(const study::Result& result) {
  const study::Sharding& sharding = result.scenario->training.sharding;
  const study::CodecMethod codec = sharding.parameter_compression.method;
  const bool owners = has_owners(sharding);
  const std::string gather =
      (owners ? "broadcasts of " : "all-gather of ") + base::shortest(sharding.parameter_bytes) +
      "-byte parameters" +
      (sharding.gather_by == study::GatherBy::broadcast_view ? ", one per rank" : "") +
      (codec == study::CodecMethod::none ? ""
                                         : " (" + std::string(study::kCodecMethods[codec]) + ")");
  const std::string reduce = (owners ? "all-reduce of " : "reduce-scatter of ") +
                             base::shortest(sharding.reduce_bytes) + "-byte gradients";
  std::string between;
  if (sharding.strategy == study::ShardingStrategy::hybrid_shard) {
    const std::int64_t group = shard_ranks(*result.scenario);
    between = " in groups of " + std::to_string(group) +
              ", all-reduce of their shards between the " +
              std::to_string(result.scenario->cluster.ranks() / group);
  }
  return result.units.empty() ? reduce + ", " + gather : gather + ", " + reduce + between;
}

std::string memory_text(const study::Summary& summary) {
  if (!summary.memory_capacity_bytes && summary.memory_parts_units_bytes.value_or(0) == 0) {
    return "";
  }
  std::string text = base::readable_bytes(*summary.memory_bytes) + " a worker";
  if (summary.memory_capacity_bytes) {
    text += " of " + base::readable_bytes(*summary.memory_capacity_bytes);
  }
  if (summary.memory_capacity_bytes && !summary.memory_fits &&
      *summary.memory_high_bytes > *summary.memory_capacity_bytes) {
    text += " (may not fit: up to " + base::readable_bytes(*summary.memory_high_bytes) + ")";
  }
  const double shown = summary.memory_reserved_bytes.value_or(0);
  if (shown > 1.01 * *summary.memory_bytes) {
    text += ", nvidia-smi may show " + base::readable_bytes(shown);
  }
  const std::array parts{std::pair{"parameters", summary.memory_parts_parameters_bytes},
                         std::pair{"master copy", summary.memory_parts_master_bytes},
                         std::pair{"gradients", summary.memory_parts_gradients_bytes},
                         std::pair{"optimizer", summary.memory_parts_optimizer_bytes},
                         std::pair{"buckets", summary.memory_parts_buckets_bytes},
                         std::pair{"further copies", summary.memory_parts_copies_bytes},
                         std::pair{"temporaries of the update", summary.memory_parts_update_bytes},
                         std::pair{"gathered units", summary.memory_parts_units_bytes},
                         std::pair{"activations", summary.memory_parts_activations_bytes},
                         std::pair{"allocator", summary.memory_parts_allocator_bytes},
                         std::pair{"context", summary.memory_parts_context_bytes}};
  std::string list;
  for (const auto& [name, bytes] : parts) {
    if (bytes.value_or(0) > 0) {
      list += (list.empty() ? ": " : ", ") + std::string(name) + " " + base::readable_bytes(*bytes);
    }
  }
  return text + list +
         (summary.memory_parts_activations_bytes
              ? ""
              : "; activations are not known (/training/activation_bytes)");
}

// The interval of the step carries over in proportion.
std::string finish_text(const study::Result& result) {
  const study::Job& job = result.scenario->job;
  const auto& measured = result.measured_total;
  const auto time = measured ? measured->time_to_finish_s : result.summary.time_to_finish_s;
  if (!time) {
    return "";
  }
  auto band = measured ? measured->band() : study::band_of(result.summary);
  if (band) {
    const double steps = *time / (measured ? measured->step_s : study::step_of(result.summary));
    band->low *= steps;
    band->high *= steps;
  }
  const auto cost = measured ? measured->cost_usd : result.summary.cost_usd;
  return base::readable_amount(static_cast<double>(job.tokens ? *job.tokens : *job.samples)) +
         (job.tokens ? " tokens: " : " samples: ") + base::readable_duration(*time, band) +
         (cost ? fmt::format(", {} USD at {} USD per GPU hour", base::readable_amount(*cost),
                             base::shortest(base::rounded_to(*job.price_per_gpu_hour, 4)))
               : "");
}

namespace {

// Rates in GB/s with the spread of what was measured, counts as they are.
std::string sourced_text(const io::SourcedNumber& number) {
  if (!number.key.ends_with("_Bps")) {
    return base::shortest(number.value);
  }
  const auto rate = [](double Bps) { return base::significant(Bps / 1e9); };
  return rate(number.value) + " GB/s" +
         (number.low < number.high ? " (" + rate(number.low) + " to " + rate(number.high) + ")"
                                   : "");
}

// Parts of a result that only simulated networks have: hosts and switches, completion times of
// messages, other jobs, and queues of links. An alpha_beta network leaves them empty.

constexpr std::size_t kBusiest = 5; // links shown; all of them are in the JSON

// The file, else the preset; "own graph" for nodes and links written into the scenario.
std::string topology_name(const study::Cluster& cluster) {
  const io::Json& topology = cluster.topology;
  if (topology.is_null()) {
    return "star of the nodes";
  }
  const io::Json* name = topology.find("file");
  name = name == nullptr ? topology.find("preset") : name;
  return name != nullptr && name->is_string() ? name->as_string() : std::string("own graph");
}

} // namespace

std::string node_text(const io::NodePreset& preset) {
  const nccl::NodeType& node = preset.node;
  std::string out = base::printable(node.name) + ": node type, label " + preset.label + "\n";
  out += preset.gpu.empty() ? "" : base::printable(preset.gpu) + "\n";
  out += preset.note.empty() ? "" : base::printable(preset.note) + "\n";
  out += "link " + std::string(nccl::kInnerLinks[node.link]) + ", constants of " +
         std::string(nccl::kGenerations[node.generation]) + " GPUs on " +
         std::string(nccl::kHosts[node.host]) + " hosts, " +
         (node.in_switch_reduction ? "the switch of a node adds (NVLS)"
                                   : "no switch inside a node adds") +
         (node.ll128 ? "" : ", no LL128") + "\n\n";
  Table table{{"key", "value", "label", "source"}};
  for (const io::SourcedNumber& number : preset.numbers) {
    table.rows.push_back({number.key, sourced_text(number),
                          number.label.empty() ? "-" : number.label,
                          number.source.empty() ? "-" : number.source});
  }
  return out + table_text(table);
}

std::string rounds_text(const study::Result& result) {
  const study::Training& training = result.scenario->training;
  if (!study::trains_in_rounds(training)) {
    return "";
  }
  const study::LocalTraining& local = training.local;
  return std::string(study::kTrainingAlgorithms[training.algorithm]) + ", rounds of " +
         base::counted(local.local_steps, "step") +
         (study::has_islands(training)
              ? " inside islands of " + std::to_string(result.scenario->cluster.gpus_per_node)
              : "") +
         (local.fragments > 1 ? ", " + base::counted(local.fragments, "fragment") : "") +
         (local.overlap_steps > 0
              ? ", " + base::counted(local.overlap_steps, "step") + " overlapped"
              : "");
}

std::string outer_exchange_text(const study::Result& result) {
  const study::Scenario& scenario = *result.scenario;
  const study::LocalTraining& local = scenario.training.local;
  const bool islands = study::has_islands(scenario.training);
  const auto messages = static_cast<std::int64_t>(local.outer_gate == programs::OuterGate::layer
                                                      ? scenario.workload.layers.size()
                                                      : static_cast<std::size_t>(local.fragments));
  const double bytes = local.outer_value_bytes * static_cast<double>(scenario.workload.values());
  const bool averages = scenario.training.algorithm != study::TrainingAlgorithm::diloco;
  const bool servers = study::needs_servers(scenario.training.algorithm);
  const study::Scenario outer = study::outer_cluster_of(scenario);
  std::string over; // links of their own
  if (local.outer_network && !scenario.training.exchange) {
    const study::Network& network = outer.cluster.network;
    over = "; between " + std::to_string(outer.cluster.ranks()) + (islands ? " islands" : " ranks");
    over += local.outer_network->has_link()
                ? " over " + base::readable_rate(network.bandwidth_Bps * network.efficiency) +
                      ", " + base::readable_seconds(network.latency_s) + " per message"
                : "";
  }
  return std::string(study::collective_word(outer.communication)) +
         (servers ? ", push and pull of " : " allreduce of ") +
         (averages ? "parameters" : "outer gradients") +
         (local.outer_compression.method == study::CodecMethod::none
              ? ""
              : " (" + std::string(study::kCodecMethods[local.outer_compression.method]) + ")") +
         ", " + base::counted(messages, "message") + ", " + base::readable_bytes(bytes) + over +
         (islands ? "; in islands schedule " + study::schedule_name(scenario.communication) : "");
}

std::string round_times_text(const study::Result& result) {
  const study::Summary& summary = result.summary;
  return base::readable_seconds(*summary.period_s) + ", outer exchanges " +
         base::readable_seconds(*summary.outer_communication_s) + ", utilization " +
         percent_cell(summary.utilization);
}

std::string fabric_text(const study::Cluster& cluster) {
  const links::Fabric& fabric = cluster.fabric->fabric();
  const study::Network& network = cluster.network;
  std::string text(study::kNetworkModels[network.model]);
  text += " level, " + topology_name(cluster) + ": " + std::to_string(fabric.hosts) + " hosts, " +
          base::counted(fabric.switches, "switch", "es");
  if (network.model == study::NetworkModel::packet) {
    text += "; transport " +
            std::string(links::kTransportKinds[network.packet.options.transport.kind]) + ", " +
            std::string(links::kLoadBalancings[network.packet.options.load_balancing]);
  }
  const io::Json& placement = cluster.rank_placement; // a list may have a thousand hosts
  return text + "; ranks " +
         (placement.is_null()     ? "packed"
          : placement.is_string() ? placement.as_string()
                                  : "placed by a list");
}

// Losses are shown where there are any, since most networks have none.
std::string messages_text(const study::Summary& summary) {
  const bool lost = summary.loss_fraction.value_or(0) > 0 || summary.stale_fraction.value_or(0) > 0;
  return labelled(
      {{"messages", summary.fct_max_s
                        ? "complete after " + milliseconds_cell(summary.fct_p50_s) +
                              " ms (median), " + milliseconds_cell(summary.fct_p99_s) +
                              " ms (99 %), " + milliseconds_cell(summary.fct_max_s) + " ms at most"
                        : ""},
       {"loss", lost ? percent_cell(summary.loss_fraction) + " of gradients, " +
                           percent_cell(summary.stale_fraction) + " of parameters stale"
                     : ""},
       {"convergence", !summary.converges ? ""
                       : !*summary.converges
                           ? "none at this loss"
                           : fmt::format("{} epochs, {} to accuracy", cell(summary.epochs),
                                         base::readable_seconds(*summary.time_to_accuracy_s))}});
}

// The ratio of both times is what sharing the network costs a job.
std::string jobs_text(const study::Result& result) {
  if (result.jobs.empty()) {
    return "";
  }
  Table table{{"job", "nodes", "alone [ms]", "together [ms]", "ratio"}};
  for (const study::JobTimes& job : result.jobs) {
    const bool known = job.together_s && job.alone_s > 0;
    table.rows.push_back({job.name, std::to_string(job.nodes), milliseconds_cell(job.alone_s),
                          milliseconds_cell(job.together_s),
                          known ? cell(*job.together_s / job.alone_s) : "-"});
  }
  return "\n" + table_text(table) + "all other figures but those of links are of the first job\n";
}

// The busiest links by utilization, with queues at the packet level, where alone they exist. Drops
// are the sum over their causes.
std::string links_text(const study::Result& result) {
  if (result.links.empty()) {
    return "";
  }
  const bool queues = result.links.front().queue.has_value();
  Table table{{"busiest links", "use", "MB"}};
  if (queues) {
    table.headings.insert(table.headings.end(), {"queue [packets]", "marks", "drops"});
  }
  for (const links::LinkId link : study::busiest_links(result.links, kBusiest)) {
    const study::LinkResult& use = result.links[link];
    std::vector<std::string> row{result.scenario->cluster.fabric->fabric().link_names[link],
                                 percent_cell(use.utilization), base::significant(use.bytes / 1e6)};
    if (const auto& queue = use.queue) {
      row.insert(row.end(), {std::to_string(queue->max_packets), std::to_string(queue->marks),
                             std::to_string(queue->buffer_drops + queue->threshold_drops +
                                            queue->fault_drops)});
    }
    table.rows.push_back(std::move(row));
  }
  return "\n" + table_text(table);
}

} // namespace stepsim::cli
