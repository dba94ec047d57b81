// stepsim topologies list | show NAME|FILE: the shipped network profiles and topologies.
#include <CLI/CLI.hpp>

#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "io/profile_file.hpp"
#include "io/topology_file.hpp"
#include "study/files.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kText{
    "topologies",
    "list | show NAME|FILE",
    "Lists the shipped network profiles and topologies, or shows one, also from a file, with the\n"
    "source of its numbers.",
    "stepsim topologies list\n"
    "stepsim topologies show 10gbe\n"
    "stepsim topologies show topologies/infiniband-100g.calibration.json --json",
    "The files are described in docs/file-formats.md (kinds network_calibration and topology).",
    kJsonOrTable,
};

constexpr std::array<std::string_view, 2> kActions{"list", "show"};

std::string text_member(const io::Json& tree, std::string_view key) {
  const io::Json* value = tree.find(key);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

bool is_profile(const io::Json& tree) { return text_member(tree, "kind") == "network_calibration"; }

std::string per_byte_text(double per_byte_s) {
  return per_byte_s > 0 ? base::significant(1e-9 / per_byte_s) : "-";
}

// "4..32", or one number where both ends are equal.
std::string range_text(double low, double high) {
  return base::shortest(low) + (low == high ? "" : ".." + base::shortest(high));
}

// What `valid` says, in words.
std::string valid_text(const net::NetworkProfile& profile) {
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
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "valid for " : ", ") + part;
  }
  return out.empty() ? out : out + "\n";
}

// Factors on dense all-reduces, and costs of compressing.
std::string training_text(const net::NetworkProfile& profile) {
  std::string out;
  Table inflation{{"ranks", "dense all-reduce takes"}, {}};
  for (std::size_t i = 0; i < profile.dense_inflation.ranks.size(); ++i) {
    inflation.rows.push_back({std::to_string(profile.dense_inflation.ranks[i]),
                              base::shortest(profile.dense_inflation.factor[i]) + " times"});
  }
  out += inflation.rows.empty() ? "" : "\n" + table_text(inflation);
  Table costs{{"compression", "cost", "value"}, {}};
  for (const net::CompressionCosts& each : profile.compression_costs) {
    if (!each.form.empty()) {
      costs.rows.push_back({each.method, "form", each.form});
    }
    for (const auto& [key, value] : each.values) {
      costs.rows.push_back({each.method, key, base::shortest(value)});
    }
  }
  return out + (costs.rows.empty() ? "" : "\n" + table_text(costs));
}

// The end of a segment; "-" where it is open.
std::string end_text(double bytes) {
  return bytes > 0 && std::isfinite(bytes) ? base::readable_bytes(bytes) : "-";
}

std::string profile_text(const net::NetworkProfile& profile) {
  std::string out = profile.name + ": " + std::string(name(profile.label)) + " network profile" +
                    (profile.grade.empty() ? "" : ", grade " + profile.grade) + "\n";
  out += profile.note.empty() ? "" : profile.note + "\n";
  out += valid_text(profile);
  Table links{{"link", "latency [us]", "bandwidth [GB/s]"}, {}};
  if (profile.latency_s || profile.bandwidth_Bps) {
    links.rows.push_back(
        {"network", profile.latency_s ? base::significant(*profile.latency_s * 1e6) : "-",
         profile.bandwidth_Bps ? base::significant(*profile.bandwidth_Bps / 1e9) : "-"});
  }
  for (const net::LinkClass& link : profile.links) {
    links.rows.push_back(
        {link.name, base::significant(link.latency_s * 1e6), per_byte_text(link.per_byte_s)});
  }
  out += links.rows.empty() ? "" : "\n" + table_text(links);
  if (profile.reduction_Bps && *profile.reduction_Bps > 0) {
    out += "adding at " + base::readable_rate(*profile.reduction_Bps) + "\n";
  }
  Table curves{{"operation", "algorithm", "ranks", "from", "to", "start-up [us]", "per byte [ns]"},
               {}};
  for (const net::CollectiveCurve& curve : profile.collectives) {
    for (const net::CurveSegment& segment : curve.segments) {
      curves.rows.push_back({curve.op, curve.algorithm, std::to_string(curve.ranks),
                             end_text(segment.from_bytes), end_text(segment.to_bytes),
                             base::significant(segment.startup_s * 1e6),
                             base::significant(segment.per_byte_s * 1e9)});
    }
  }
  out += curves.rows.empty() ? "" : "\n" + table_text(curves);
  out += training_text(profile);
  for (const std::string& warning : profile.warnings) {
    out += "warning: " + warning + "\n";
  }
  return out;
}

std::string topology_text(const net::Topology& topology) {
  std::string out = topology.name + ": ";
  if (!topology.preset.empty()) {
    out += "topology preset " + topology.preset + "\n";
    for (const auto& [key, value] : topology.preset_parameters) {
      out += "  " + key + " " + base::significant(value) + "\n";
    }
    return out;
  }
  out += std::to_string(topology.hosts.size()) + " hosts, " +
         std::to_string(topology.switches.size()) + " switches, " +
         std::to_string(topology.links.size()) + " links\n\n";
  Table links{{"a", "b", "latency [us]", "bandwidth [GB/s]"}, {}};
  for (const net::TopologyLink& link : topology.links) {
    links.rows.push_back({link.a, link.b, base::significant(link.latency_s * 1e6),
                          base::significant(link.bandwidth_Bps / 1e9)});
  }
  return out + table_text(links);
}

// Where the numbers of a file come from, in words: its `source`, however it is written.
std::string source_text(const io::Json& tree) {
  const io::Json* source = tree.find("source");
  if (source == nullptr || source->is_null()) {
    return "";
  }
  if (source->is_string()) {
    return "source: " + source->as_string() + "\n";
  }
  std::string out;
  const auto append = [&out](const std::string& key, const io::Json& value) {
    out += "  " + key + ": " + (value.is_string() ? value.as_string() : io::compact(value)) + "\n";
  };
  for (const auto& [key, value] : source->is_object() ? source->as_object() : io::Object{}) {
    if (value.is_object()) {
      for (const auto& [inner_key, inner] : value.as_object()) {
        append(inner_key, inner);
      }
    } else if (!value.is_null()) {
      append(key, value);
    }
  }
  return out.empty() ? out : "source:\n" + out;
}

int list_files(const Invocation& invocation, const Common& common) {
  io::Array rows;
  Table table{{"name", "kind", "label", "note"}, {}};
  for (const auto& [name, path] :
       shipped_files(invocation.data_folder, study::kShippedTopologies)) {
    const io::Json tree = io::read_json(path);
    const std::string kind = is_profile(tree) ? "profile" : "topology";
    const std::string note = text_member(tree, "note");
    rows.push_back(io::Object{{"name", name},
                              {"kind", text_member(tree, "kind")},
                              {"label", text_member(tree, "label")},
                              {"note", note}});
    constexpr std::size_t kNote = 60;
    table.rows.push_back({name, kind, text_member(tree, "label"), base::shown_value(note, kNote)});
  }
  if (format_of(common, Format::table) == Format::table) {
    write_output(common, table_text(table));
  } else {
    write_tree(common, io::Object{{"topologies", std::move(rows)}});
  }
  return kOk;
}

std::string find_file(const Invocation& invocation, const std::string& name) {
  return study::is_shipped_name(name)
             ? shipped_file(invocation.data_folder, study::kShippedTopologies, name)
             : name;
}

int show(const Invocation& invocation, const Common& common, const std::string& name) {
  const io::Json tree = io::read_json(find_file(invocation, name));
  const std::string text = is_profile(tree) ? profile_text(io::parse_profile(tree))
                                            : topology_text(io::parse_topology(tree));
  if (format_of(common, Format::table) == Format::table) {
    write_output(common, text + source_text(tree));
  } else {
    write_tree(common, tree);
  }
  return kOk;
}

} // namespace

int topologies(const Invocation& invocation) {
  std::string action;
  std::string name;
  CLI::App app;
  app.add_option("ACTION", action, "list or show")->required();
  app.add_option("NAME", name, "of a shipped profile or topology, or a FILE of such a kind");
  Common common;
  if (!parse(app, kText, invocation, common)) {
    return kOk;
  }
  require_word("ACTION", action, kActions);
  if (action == "list") {
    return list_files(invocation, common);
  }
  if (name.empty()) {
    throw UsageError("topologies show: give a NAME or FILE; see stepsim topologies list");
  }
  return show(invocation, common, name);
}

} // namespace stepsim::cli
