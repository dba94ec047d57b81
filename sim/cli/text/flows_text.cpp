// Long lists are cut to what matters: the slowest flows and the most used links.
#include "cli/text/answer_texts.hpp"

namespace stepsim::cli {

namespace {

constexpr std::size_t kShownFlows = 20; // the slowest, if there are more
constexpr std::size_t kShownLinks = 8;

// Size of the list and the network, with what decides how flows share it.
std::string heading(const study::FlowsFile& file) {
  const links::Fabric& fabric = file.fabric;
  std::string text = file.name.empty() ? "" : base::printable(file.name) + ": ";
  text += base::counted(static_cast<std::int64_t>(file.flows.size()), "flow") + " on " +
          base::counted(fabric.hosts, "host") + " and " +
          base::counted(static_cast<std::int64_t>(fabric.links.size()) / 2, "cable");
  const links::PacketOptions& options = file.packet.options;
  if (file.level == study::NetworkLevel::flow) {
    text += ", fair sharing (flow level)";
    text += file.count_headers ? ", headers counted" : "";
  } else {
    text += ", packet level, transport " +
            std::string(links::kTransportKinds[options.transport.kind]) + ", " +
            std::string(links::kQueueDisciplines[options.queue_discipline]);
  }
  return text + ", " + std::string(links::kLoadBalancings[options.load_balancing]) + "\n";
}

// Statistics of completion times; "-" where no flow is complete.
std::vector<std::string> summary_row(std::string name,
                                     const std::optional<study::FlowStatistics>& all) {
  using All = study::FlowStatistics;
  std::vector<std::string> row{std::move(name)};
  for (const auto member : {&All::mean_s, &All::p50_s, &All::p95_s, &All::p99_s, &All::max_s}) {
    row.push_back(all ? milliseconds_cell((*all).*member) : "-");
  }
  return row;
}

// Flows of the list, and background flows apart from them: these only load the network.
std::string summary(const study::FlowsResult& result) {
  Table table{{"fct", "mean [ms]", "p50 [ms]", "p95 [ms]", "p99 [ms]", "max [ms]"}};
  table.rows.push_back(summary_row("all flows", result.statistics));
  if (const auto& background = result.background) {
    table.rows.push_back(summary_row("background, " + std::to_string(background->completed) +
                                         " of " + std::to_string(background->started),
                                     background->statistics));
  }
  return table_text(table);
}

// All flows by id, or the slowest ones. A flow that did not finish has no completion time and is
// sorted last, as if it had taken none.
std::string flows(const study::FlowsFile& file, const study::FlowsResult& result) {
  std::vector<std::size_t> ids(result.flows.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  const bool slowest = ids.size() > kShownFlows;
  if (slowest) {
    std::ranges::stable_sort(ids, std::ranges::greater(),
                             [&](std::size_t id) { return result.flows[id].fct_s.value_or(0); });
    ids.resize(kShownFlows);
  }
  const bool packets = file.level == study::NetworkLevel::packet;
  Table table{{"flow", "src", "dst", "size", "start [ms]", "fct [ms]", "lost"}};
  if (packets) {
    table.headings.insert(table.headings.end(), {"retransmitted", "timeouts"});
  }
  for (const std::size_t id : ids) {
    const links::FlowSpec& flow = file.flows[id];
    const study::FlowResult& outcome = result.flows[id];
    std::vector<std::string> row{
        std::to_string(id),
        file.fabric.node_names[flow.src],
        file.fabric.node_names[flow.dst],
        base::readable_bytes(flow.bytes),
        milliseconds_cell(flow.start_s),
        milliseconds_cell(outcome.fct_s),
        percent_cell(flow.bytes > 0 ? outcome.lost_bytes / flow.bytes : 0)};
    if (packets) {
      row.push_back(std::to_string(outcome.packets->retransmissions));
      row.push_back(std::to_string(outcome.packets->timeouts));
    }
    table.rows.push_back(std::move(row));
  }
  return (slowest ? "the " + std::to_string(kShownFlows) + " slowest flows\n" : std::string()) +
         table_text(table);
}

// Links that carried anything, by utilization; drops are the sum over their causes.
std::string links(const study::FlowsFile& file, const study::FlowsResult& result) {
  std::vector<links::LinkId> ids = study::busiest_links(result.links, result.links.size());
  const std::size_t used = ids.size();
  ids.resize(std::min(ids.size(), kShownLinks));
  const bool packets = file.level == study::NetworkLevel::packet;
  Table table{{"link", "bytes", "busy [ms]", "use"}};
  if (packets) {
    table.headings.insert(table.headings.end(), {"max queue", "marks", "drops"});
  }
  for (const links::LinkId id : ids) {
    const study::LinkResult& link = result.links[id];
    std::vector<std::string> row{file.fabric.link_names[id], base::readable_bytes(link.bytes),
                                 milliseconds_cell(link.busy_s), percent_cell(link.utilization)};
    if (packets) {
      row.push_back(std::to_string(link.queue->max_packets));
      row.push_back(std::to_string(link.queue->marks));
      row.push_back(std::to_string(link.queue->buffer_drops + link.queue->threshold_drops +
                                   link.queue->fault_drops));
    }
    table.rows.push_back(std::move(row));
  }
  return (used > kShownLinks ? "the " + std::to_string(kShownLinks) + " most used of " +
                                   std::to_string(used) + " links in use\n"
                             : std::string()) +
         table_text(table);
}

} // namespace

// Without flows of its own, as with background flows alone, a list has a summary and nothing else.
std::string flows_text(const study::FlowsFile& file, const study::FlowsResult& result) {
  std::string text = heading(file) + "\n" + summary(result);
  if (!result.flows.empty()) {
    text += "\n" + flows(file, result) + "\n" + links(file, result);
  }
  return text;
}

} // namespace stepsim::cli
