// Parts of a result that only simulated networks have: hosts and switches, completion times of
// messages, other jobs, and queues of links. An alpha_beta network leaves them empty.
#include "cli/text/run_text.hpp"

namespace stepsim::cli {

namespace {

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

// A list is not repeated: it may have a thousand hosts.
std::string placement_text(const io::Json& placement) {
  return placement.is_null()     ? "packed"
         : placement.is_string() ? placement.as_string()
                                 : "placed by a list";
}

} // namespace

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
  return text + "; ranks " + placement_text(cluster.rank_placement);
}

// Losses are shown where there are any, since most networks have none.
std::string messages_text(const study::Result& result) {
  const study::Summary& summary = result.summary;
  std::string out;
  const auto line = [&](std::string_view label, const std::string& text) {
    append_labelled(out, label, 14, text);
  };
  if (summary.fct_max_s) {
    line("messages", "complete after " + milliseconds_cell(summary.fct_p50_s) + " ms (median), " +
                         milliseconds_cell(summary.fct_p99_s) + " ms (99 %), " +
                         milliseconds_cell(summary.fct_max_s) + " ms at most");
  }
  if (summary.loss_fraction.value_or(0) > 0 || summary.stale_fraction.value_or(0) > 0) {
    line("loss", percent_cell(summary.loss_fraction) + " of gradients, " +
                     percent_cell(summary.stale_fraction) + " of parameters stale");
  }
  if (summary.converges) {
    line("convergence", *summary.converges
                            ? cell(summary.epochs) + " epochs, " +
                                  base::readable_seconds(*summary.time_to_accuracy_s) +
                                  " to accuracy"
                            : "none at this loss");
  }
  return out;
}

// The ratio of both times is what sharing the network costs a job.
std::string jobs_text(const study::Result& result) {
  if (result.jobs.empty()) {
    return "";
  }
  Table table{{"job", "nodes", "alone [ms]", "together [ms]", "ratio"}, {}};
  for (const study::JobTimes& job : result.jobs) {
    const bool known = job.together_s && job.alone_s > 0;
    table.rows.push_back(
        {job.name, std::to_string(job.nodes), milliseconds_cell(job.alone_s),
         milliseconds_cell(job.together_s),
         cell(known ? std::optional(*job.together_s / job.alone_s) : std::nullopt)});
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
  Table table{{"busiest links", "use", "MB"}, {}};
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
