// Graphviz places the nodes; here they get their row by the distance to the nearest host, so that a
// tree of switches looks like one.
#include "cli/text/dot.hpp"

#include <algorithm>

#include "base/number_text.hpp"

namespace stepsim::cli {

namespace {

std::string link_rate(double bytes_per_second) {
  return base::shortest(bytes_per_second * 8 / 1e9) + " Gbit/s";
}

// Both directions of a cable mostly are alike and are shown once.
std::string label(const links::FabricLink& there, const links::FabricLink& back) {
  std::string text = link_rate(there.bandwidth_Bps);
  if (back.bandwidth_Bps != there.bandwidth_Bps) {
    text += " / " + link_rate(back.bandwidth_Bps);
  }
  text += "\\n" + base::shortest(there.latency_s * 1e6) + " us";
  if (back.latency_s != there.latency_s) {
    text += " / " + base::shortest(back.latency_s * 1e6) + " us";
  }
  return text;
}

} // namespace

// Only the quote needs a backslash, and a backslash before a quote would be read as one.
std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

std::string dot_text(const links::Fabric& fabric, std::string_view name) {
  std::string out = "graph " + dot_quoted(name) +
                    " {\n  rankdir=BT;\n  node [fontname=\"Helvetica\"];\n"
                    "  edge [fontname=\"Helvetica\", fontsize=9];\n";
  const std::vector<std::uint32_t> level = links::levels(fabric);
  const std::uint32_t top = *std::max_element(level.begin(), level.end());
  for (std::uint32_t row = 0; row <= top; ++row) {
    out += std::string("  { rank=same; node [shape=") + (row == 0 ? "ellipse" : "box") + "];";
    for (links::NodeId node = 0; node < fabric.nodes(); ++node) {
      out += level[node] == row ? " " + dot_quoted(fabric.node_names[node]) + ";" : "";
    }
    out += " }\n";
  }
  // Links of a fabric come in pairs, one per direction of a cable.
  for (std::size_t i = 0; i + 1 < fabric.links.size(); i += 2) {
    const links::FabricLink& link = fabric.links[i];
    const bool upwards = level[link.from] <= level[link.to]; // edges point from lower rows up
    const links::FabricLink& there = fabric.links[upwards ? i : i + 1];
    const links::FabricLink& back = fabric.links[upwards ? i + 1 : i];
    out += "  " + dot_quoted(fabric.node_names[there.from]) + " -- " +
           dot_quoted(fabric.node_names[there.to]) + " [label=\"" + label(there, back) + "\"];\n";
  }
  return out + "}\n";
}

} // namespace stepsim::cli
