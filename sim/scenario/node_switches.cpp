#include "scenario/node_switches.hpp"

#include <string>

#include "scenario/scenario_library.hpp"

namespace stepsim::study {

std::optional<collectives::NvlsCost> read_nvls(io::Fields& fields,
                                               const std::optional<NodeSource>& node) {
  const nccl::NodeLinks links = node ? node->links : nccl::NodeLinks{};
  const double startup_s = fields.number_or(
      "nvls_startup_s", node ? links.nvls_startup_s : collectives::NvlsCost{}.startup_s);
  const double rate = fields.optional_number("nvls_Bps").value_or(links.nvls_Bps);
  return rate > 0 ? std::optional(collectives::NvlsCost{startup_s, 1 / rate}) : std::nullopt;
}

std::optional<double> read_switch_latency(io::Fields& fields) {
  const bool given = fields.has("switch_latency_s");
  const double latency_s = fields.number("switch_latency_s");
  return given ? std::optional(latency_s) : std::nullopt;
}

std::int64_t domain_nodes_of(const std::optional<NodeSource>& node, std::int64_t nodes) {
  const std::int64_t domain = node ? node->type.domain_nodes : 1;
  return nodes <= domain ? nodes : nodes % domain == 0 ? domain : 1;
}

void read_switches(io::Fields& fields, const ParseContext& context, Cluster& cluster) {
  const bool own_links = fields.has("topology");
  const std::int64_t domain =
      own_links || !cluster.node ? 1 : domain_nodes_of(cluster.node, cluster.nodes);
  cluster.nvlink_domain_nodes = fields.integer_or("nvlink_domain_nodes", domain);
  cluster.nvls = read_nvls(fields, cluster.node);
  if (cluster.node) {
    const nccl::NodeLinks& links = cluster.node->links;
    note_override(fields, "nvlink_domain_nodes", static_cast<double>(cluster.nvlink_domain_nodes),
                  static_cast<double>(domain), cluster);
    note_override(fields, "nvls_Bps", fields.optional_number("nvls_Bps").value_or(links.nvls_Bps),
                  links.nvls_Bps, cluster);
  }
  cluster.switch_latency_s = read_switch_latency(fields);
  if (cluster.nvlink_domain_nodes >= 1 && cluster.nodes % cluster.nvlink_domain_nodes != 0) {
    context.problems.add(fields.json(), "nvlink_domain_nodes",
                         "must divide nodes (" + std::to_string(cluster.nodes) + "), got " +
                             std::to_string(cluster.nvlink_domain_nodes));
  }
}

} // namespace stepsim::study
