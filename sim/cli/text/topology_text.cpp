// Cables of equal latency and rate between the same levels are one row, so that a fat tree of a
// thousand hosts fits on a page.

#include "cli/text/topology_text.hpp"

#include "base/printable.hpp"
#include "cli/shell/document.hpp"
#include "links/fabric/topology.hpp"
#include "scenario/files/keys/node_keys.hpp"

#include <cmath>
#include <tuple>

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
  Table table{{"cables", "from", "to", "such as", "latency [us]", "bandwidth [GB/s]"}};
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

// A plain number, or the member of an object with a value.
std::optional<double> number_at(const io::Json* json, std::string_view member) {
  if (json != nullptr && json->is_object()) {
    json = json->find(member);
  } else if (member != "value") {
    return std::nullopt;
  }
  return json != nullptr && json->is_number() ? std::optional(json->as_double()) : std::nullopt;
}

// Latencies are in microseconds and rates in GB/s (1e9 bytes), as data sheets have them.

// "4..32", or one number where both ends are equal.
std::string range_text(double low, double high) {
  return base::shortest(low) + (low == high ? "" : ".." + base::shortest(high));
}

// What `valid` says, in words; "" for a profile without limits. Outside of them a curve is a guess.
std::string valid_text(const links::NetworkProfile& profile) {
  std::vector<std::string> parts;
  if (const auto& ranks = profile.valid_ranks) {
    parts.push_back("ranks " + range_text(static_cast<double>(ranks->first),
                                          static_cast<double>(ranks->second)));
  }
  if (const auto& bytes = profile.valid_bytes) {
    parts.push_back(base::readable_bytes(bytes->first) + " to " +
                    base::readable_bytes(bytes->second));
  }
  if (const auto& density = profile.valid_density) {
    parts.push_back("density " + range_text(density->first, density->second));
  }
  if (profile.valid_gpus_per_node) {
    parts.push_back("GPUs per node " + std::to_string(*profile.valid_gpus_per_node));
  }
  return parts.empty() ? "" : "valid for " + base::listed(parts) + "\n";
}

// How much longer dense all-reduces of a training take than measured alone, by ranks, and the costs
// of compressing by method.
std::string training_text(const links::NetworkProfile& profile) {
  std::string out;
  Table inflation{{"ranks", "dense all-reduce takes"}};
  for (std::size_t i = 0; i < profile.dense_inflation.ranks.size(); ++i) {
    inflation.rows.push_back({std::to_string(profile.dense_inflation.ranks[i]),
                              base::shortest(profile.dense_inflation.factor[i]) + " times"});
  }
  out += inflation.rows.empty() ? "" : "\n" + table_text(inflation);
  Table costs{{"compression", "cost", "value"}};
  for (const links::CompressionCosts& each : profile.compression_costs) {
    if (!each.form.empty()) {
      costs.rows.push_back({each.method, "form", each.form});
    }
    for (const auto& [key, value] : each.values) {
      costs.rows.push_back({each.method, key, base::shortest(value)});
    }
  }
  return out + (costs.rows.empty() ? "" : "\n" + table_text(costs));
}

std::string warnings_text(const std::vector<std::string>& warnings) {
  return base::listed(
      warnings,
      [](const std::string& warning) { return "warning: " + base::printable(warning) + "\n"; }, "");
}

// A bound of a segment; "-" where it is open, which is 0 below and infinite above.
std::string end_text(double bytes) {
  return bytes > 0 && std::isfinite(bytes) ? base::readable_bytes(bytes) : "-";
}

// Graphviz places the nodes; here they get their row by the distance to the nearest host, so that a
// tree of switches looks like one.

// Both directions of a cable mostly are alike and are shown once.
std::string label(const links::FabricLink& there, const links::FabricLink& back) {
  const auto both = [](double a, double b, const char* unit) {
    return base::shortest(a) + unit + (a == b ? "" : " / " + base::shortest(b) + unit);
  };
  return both(there.bandwidth_Bps * 8 / 1e9, back.bandwidth_Bps * 8 / 1e9, " Gbit/s") + "\\n" +
         both(there.latency_s * 1e6, back.latency_s * 1e6, " us");
}

// `text` as a quoted identifier of the DOT language; line ends become spaces.
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
  return out + cables_text(fabric) + summary_text(fabric) + warnings_text(topology.warnings);
}

std::vector<NominalShare> nominal_shares(const io::Json& tree) {
  std::vector<NominalShare> shares;
  const auto add = [&](const io::Json& parent, std::string_view of, std::string_view rate_key,
                       std::string_view nominal_key) {
    const io::Json* rate = parent.find(rate_key);
    const auto nominal = number_at(parent.find(nominal_key), "value");
    const auto value = number_at(rate, "value");
    if (nominal && value && *nominal > 0) {
      shares.push_back({.of = std::string(of),
                        .value = *value / *nominal,
                        .low = number_at(rate, "low").value_or(*value) / *nominal,
                        .high = number_at(rate, "high").value_or(*value) / *nominal});
    }
  };
  if (const io::Json* network = tree.find("network")) {
    add(*network, "network", io::key_of<&links::NetworkProfile::bandwidth_Bps>(), "nominal_Bps");
  }
  io::Problems problems; // of a file that is not valid, which is listed without its shares
  const io::Json node = io::with_rates_of_nominal(tree, problems);
  for (const io::keys::NominalRate& each : io::keys::kNominalRates) {
    add(node, each.part, each.rate, each.nominal);
  }
  return shares;
}

std::string share_text(const std::vector<NominalShare>& shares) {
  return base::listed(shares, [&](const NominalShare& share) {
    return (shares.size() > 1 ? share.of + " " : "") + base::percent(share.value, 2) +
           (share.low < share.high ? " (" + base::percent_number(share.low, 2) + " to " +
                                         base::percent_number(share.high, 2) + ")"
                                   : "");
  });
}

io::Json share_tree(const std::vector<NominalShare>& shares) {
  io::Object tree;
  for (const NominalShare& share : shares) {
    tree.emplace_back(share.of,
                      io::Object{{"value", share.value}, {"low", share.low}, {"high", share.high}});
  }
  return tree.empty() ? io::Json() : io::Json(std::move(tree));
}

// A profile in blocks: name, note and validity, links, curves, what training adds, warnings. Blocks
// that a profile does not have leave no heading behind.
std::string profile_text(const links::NetworkProfile& profile) {
  std::string out = base::printable(profile.name) + ": " +
                    std::string(links::kProfileLabels[profile.label]) + " network profile" +
                    (profile.grade.empty() ? "" : ", grade " + base::printable(profile.grade)) +
                    "\n";
  out += profile.note.empty() ? "" : base::printable(profile.note) + "\n";
  out += valid_text(profile);
  Table links{{"link", "latency [us]", "bandwidth [GB/s]"}};
  if (profile.latency_s || profile.bandwidth_Bps) {
    links.rows.push_back(
        {"network", cell(profile.latency_s, 1e6),
         profile.bandwidth_Bps ? base::significant(*profile.bandwidth_Bps / 1e9) : "-"});
  }
  for (const links::LinkClass& link : profile.links) {
    links.rows.push_back({link.name, base::significant(link.latency_s * 1e6),
                          link.per_byte_s > 0 ? base::significant(1e-9 / link.per_byte_s) : "-"});
  }
  out += links.rows.empty() ? "" : "\n" + table_text(links);
  if (profile.reduction_Bps && *profile.reduction_Bps > 0) {
    out += "adding at " + base::readable_rate(*profile.reduction_Bps) + "\n";
  }
  Table curves{{"operation", "algorithm", "ranks", "from", "to", "start-up [us]", "per byte [ns]"}};
  std::string measured;
  for (const links::CollectiveCurve& curve : profile.collectives) {
    const bool is_queued = curve.start_up == links::StartUp::queue;
    const std::string algorithm = curve.algorithm + (is_queued ? ", queued" : "");
    if (!curve.points.empty()) { // its segments are no numbers of the file
      measured += base::printable(curve.op + " " + algorithm) +
                  " P=" + std::to_string(curve.ranks) + ": " + std::to_string(curve.points.size()) +
                  " points from " + end_text(curve.points.front().bytes) + " to " +
                  end_text(curve.points.back().bytes) + ", straight lines between them\n";
      continue;
    }
    for (const links::CurveSegment& segment : curve.segments) {
      curves.rows.push_back({curve.op, algorithm, std::to_string(curve.ranks),
                             end_text(segment.from_bytes), end_text(segment.to_bytes),
                             base::significant(segment.startup_s * 1e6),
                             base::significant(segment.per_byte_s * 1e9)});
    }
  }
  out += curves.rows.empty() ? "" : "\n" + table_text(curves);
  out += measured.empty() ? "" : "\n" + measured;
  return out + training_text(profile) + warnings_text(profile.warnings);
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

std::string program_dot(const programs::Program& program, const programs::BindingPath& path,
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
      const programs::Operation& operation = program.operations[o];
      if (operation.stream == s) {
        const std::string label =
            operation.id + "  " + base::readable_seconds(operation.duration_s());
        out += "    " + dot_quoted(operation.id) + " [label=" + dot_quoted(label) +
               (bold[o] ? ", style=bold" : "") + "];\n";
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
