#include "scenario/node_switches.hpp"

#include <string>

namespace stepsim::study {

std::optional<coll::NvlsCost> read_nvls(io::Fields& fields) {
  const double startup_s = fields.number("nvls_startup_s");
  const std::optional<double> rate = fields.optional_number("nvls_Bps");
  return rate ? std::optional(coll::NvlsCost{startup_s, 1 / *rate}) : std::nullopt;
}

std::optional<double> read_switch_latency(io::Fields& fields) {
  const bool given = fields.has("switch_latency_s");
  const double latency_s = fields.number("switch_latency_s");
  return given ? std::optional(latency_s) : std::nullopt;
}

void read_switches(io::Fields& fields, const ParseContext& context, Cluster& cluster) {
  cluster.nvlink_domain_nodes = fields.integer("nvlink_domain_nodes");
  cluster.nvls = read_nvls(fields);
  cluster.switch_latency_s = read_switch_latency(fields);
  if (cluster.nvlink_domain_nodes >= 1 && cluster.nodes % cluster.nvlink_domain_nodes != 0) {
    context.problems.add(fields.json(), "nvlink_domain_nodes",
                         "must divide nodes (" + std::to_string(cluster.nodes) + "), got " +
                             std::to_string(cluster.nvlink_domain_nodes));
  }
}

} // namespace stepsim::study
