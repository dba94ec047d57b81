// Graphviz places the nodes; here they get their row by the distance to the nearest host, so that a
// tree of switches looks like one.
#include "cli/text/topology_text.hpp"

#include "base/quantity.hpp"

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

namespace {

using programs::Operation;
using programs::Program;

std::string node_text(const Operation& operation, bool critical) {
  const std::string label = operation.id + "  " + base::readable_seconds(operation.duration_s());
  return dot_quoted(operation.id) + " [label=" + dot_quoted(label) +
         (critical ? ", style=bold" : "") + "];\n";
}

} // namespace

std::string program_dot(const Program& program, const programs::BindingPath& path,
                        std::string_view name) {
  std::vector<bool> bold(program.operations.size(), false);
  // On a critical cycle, the operation that each one leads to.
  std::vector<std::uint32_t> next(program.operations.size(), programs::kAllRanks);
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    bold[path.steps[i].operation] = true;
    if (path.exact) {
      next[path.steps[i].operation] = path.steps[(i + 1) % path.steps.size()].operation;
    }
  }
  std::string out = "digraph " + dot_quoted(name) +
                    " {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", shape=box];\n"
                    "  edge [fontname=\"Helvetica\", fontsize=9];\n";
  for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
    out += "  subgraph " + dot_quoted("cluster_" + std::to_string(s)) +
           " {\n    label=" + dot_quoted(program.streams[s].name) + ";\n";
    std::string chain;
    for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
      const Operation& operation = program.operations[o];
      if (operation.stream == s) {
        out += "    " + node_text(operation, bold[o]);
        chain += (chain.empty() ? "" : " -> ") + dot_quoted(operation.id);
      }
    }
    // The order of the stream.
    out += chain.empty() ? "  }\n" : "    " + chain + " [style=invis];\n  }\n";
  }
  for (std::uint32_t o = 0; o < program.operations.size(); ++o) {
    for (const programs::Wait& wait : program.waits_of(o)) {
      const std::string first =
          wait.until != programs::kAlways ? ", first " + std::to_string(wait.until) : "";
      const std::string distance =
          wait.distance > 0 ? "label=\"" + std::to_string(wait.distance) + first + "\"" : "";
      const std::string style = std::string(wait.distance > 0 ? "dashed" : "solid") +
                                (next[wait.operation] == o ? ",bold" : "");
      out += "  " + dot_quoted(program.operations[wait.operation].id) + " -> " +
             dot_quoted(program.operations[o].id) + " [style=\"" + style + "\"" +
             (distance.empty() ? "" : ", " + distance) + "];\n";
    }
  }
  return out + "}\n";
}

} // namespace stepsim::cli
