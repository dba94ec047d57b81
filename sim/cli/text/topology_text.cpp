// Cables of equal latency and rate between the same levels are one row, so that a fat tree of a
// thousand hosts fits on a page.
#include "cli/text/topology_text.hpp"

#include <tuple>

#include "base/printable.hpp"
#include "cli/shell/document.hpp"
#include "links/fabric/topology.hpp"

namespace stepsim::cli {

namespace {

// Hosts are level 0, their switches level 1, and so on.
std::string level_name(std::uint32_t level) {
  return level == 0 ? "hosts" : "level " + std::to_string(level);
}

// One row per kind of cable: the levels it joins, its latency and its rate. A cable is two links,
// one per direction, and its upward one is taken. Rates enter the key negative, so that faster
// cables of the same levels come first.
std::string cables_text(const links::Fabric& fabric) {
  struct Kind {
    std::size_t cables{};
    std::string example;
  };
  const std::vector<std::uint32_t> level = links::levels(fabric);
  std::map<std::tuple<std::uint32_t, std::uint32_t, double, double>, Kind> kinds;
  for (std::size_t i = 0; i < fabric.links.size(); i += 2) {
    const bool upwards = level[fabric.links[i].from] <= level[fabric.links[i].to];
    const links::FabricLink& link = fabric.links[upwards ? i : i + 1];
    Kind& kind = kinds[{level[link.from], level[link.to], link.latency_s, -link.bandwidth_Bps}];
    if (kind.cables++ == 0) {
      kind.example = fabric.node_names[link.from] + " - " + fabric.node_names[link.to];
    }
  }
  Table table{{"cables", "from", "to", "such as", "latency [us]", "bandwidth [GB/s]"}, {}};
  for (const auto& [key, kind] : kinds) {
    const auto& [from, to, latency_s, negative_rate] = key;
    table.rows.push_back({std::to_string(kind.cables), level_name(from), level_name(to),
                          kind.example, base::significant(latency_s * 1e6),
                          base::significant(-negative_rate / 1e9)});
  }
  return table.rows.empty() ? "" : "\n" + table_text(table);
}

// Numbers that tell a good cluster from a bad one: bandwidth between its halves, oversubscription
// and diameter. A single host has none of them.
std::string summary_text(const links::Fabric& fabric) {
  const links::FabricSummary summary = links::summary_of(fabric);
  if (summary.hosts < 2) {
    return "";
  }
  std::string out = "\nfrom the first half of the hosts to the others: " +
                    base::readable_rate(summary.bisection_Bps) + ", " +
                    base::readable_rate(summary.bisection_Bps / (summary.hosts / 2)) +
                    " per host; the cables of those hosts carry " +
                    base::readable_rate(summary.half_Bps) + "\n";
  if (summary.oversubscription) {
    out += "oversubscription (to hosts : to other switches) of the worst switch: " +
           base::significant(*summary.oversubscription) + " : 1\n";
  }
  return out + "farthest hosts: " + fabric.node_names[summary.far_a] + " and " +
         fabric.node_names[summary.far_b] + ", " + base::counted(summary.diameter, "link") +
         " apart, " + base::shortest(summary.paths) + " shortest path" +
         (summary.paths == 1 ? "\n" : "s\n") +
         (fabric.hosts_forward ? "hosts pass on what is not for them\n" : "");
}

} // namespace

// A preset is shown with its parameters, from which the rest follows.
std::string topology_text(const links::Topology& topology, const std::string& note) {
  const links::Fabric fabric = links::fabric_of(topology);
  std::string out =
      topology.name.empty() ? "topology: " : base::printable(topology.name) + ": topology, ";
  out += base::counted(fabric.hosts, "host") + ", " +
         base::counted(fabric.switches, "switch", "es") + ", " +
         base::counted(static_cast<std::int64_t>(fabric.links.size()) / 2, "cable") + "\n";
  out += note.empty() ? "" : base::printable(note) + "\n";
  if (!topology.preset.empty()) {
    out += "preset " + base::printable(topology.preset);
    for (const auto& [key, value] : topology.preset_parameters) {
      out += ", " + key + " " + base::shortest(value);
    }
    out += "\n";
  }
  out += cables_text(fabric) + summary_text(fabric);
  for (const std::string& warning : topology.warnings) {
    out += "warning: " + base::printable(warning) + "\n";
  }
  return out;
}

} // namespace stepsim::cli
