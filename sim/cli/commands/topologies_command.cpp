// stepsim topologies list | show NAME|FILE: the shipped network profiles, topologies and node
// types. Profiles (latency and bandwidth of a kind of network) and topologies (hosts, switches,
// cables) lie in one folder, node types in a folder below it; all are told apart by their kind.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/printable.hpp"
#include "cli/text/topology_text.hpp"
#include "document/file.hpp"
#include "links/fabric/topology.hpp"
#include "scenario/files.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kTopologiesText = answered_at_once({
    "topologies",
    "list [--all] | show NAME|FILE [--dot FILE]",
    "Lists the shipped network profiles, topologies and node types, or shows one, also from a "
    "file,\n"
    "with the source of its numbers. --dot draws a topology: dot -Tsvg FILE > net.svg.",
    "stepsim topologies list\n"
    "stepsim topologies show 10g-tcp\n"
    "stepsim topologies show topologies/100g-ib.calibration.json --json\n"
    "stepsim topologies show dgx_h100\n"
    "stepsim topologies show leaf_spine_144 --dot -",
    "The files are described in docs/file-formats.md (kinds network_calibration, topology, "
    "node_preset).",
    kJsonOrTable,
});

constexpr CommandText kPresetsText = answered_at_once({
    "presets",
    "[NAME|FILE]",
    "Lists the shipped node types, or shows one, also from a file, with the source of its numbers.",
    "stepsim presets\n"
    "stepsim presets dgx_h100",
    "A scenario names one as /cluster/preset, stepsim collective as --preset. The files are "
    "described in\ndocs/file-formats.md (kind node_preset); stepsim topologies lists them with "
    "networks and topologies.",
    kJsonOrTable,
});

// Everything that is not a profile is taken for a topology, whose parser then says what is wrong.
bool is_profile(const io::Json& tree) { return tree.text("kind") == "network_calibration"; }
bool is_node(const io::Json& tree) { return tree.text("kind") == "node_preset"; }

// Where the numbers of a file come from, in words: its `source`, which may be a text, an object, or
// an object of objects, two levels at most.
std::string source_text(const io::Json& tree) {
  const io::Json* source = tree.find("source");
  if (source == nullptr || source->is_null()) {
    return "";
  }
  if (source->is_string()) {
    return "source: " + base::printable(source->as_string()) + "\n";
  }
  std::string out;
  const auto append = [&out](const std::string& key, const io::Json& value) {
    out += "  " + base::printable(key + ": " + plain_cell(value)) + "\n";
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

// All shipped names with their paths; those of node types differ from the others. Links of pairs
// are for --links of collectives alone.
std::map<std::string, std::string> shipped_names(const Invocation& invocation) {
  std::map<std::string, std::string> files =
      shipped_files(invocation.data_folder, study::kShippedTopologies);
  files.merge(shipped_files(invocation.data_folder, study::kShippedNodes));
  std::erase_if(files, [](const auto& file) { return file.first.ends_with(".links"); });
  return files;
}

// Files are read as trees and not parsed: one bad file must not hide the others.
int list_files(const std::map<std::string, std::string>& files, const Common& common) {
  io::Array rows;
  Table table{{"name", "kind", "label", "of nominal", "note"}};
  for (const auto& [name, path] : files) {
    const io::Json tree = io::read_json(path);
    const std::string kind = is_profile(tree) ? "profile" : is_node(tree) ? "node" : "topology";
    const std::string note = tree.text("note");
    const std::vector<NominalShare> shares = nominal_shares(tree);
    rows.push_back(io::Object{{"name", name},
                              {"kind", tree.text("kind")},
                              {"label", tree.text("label")},
                              {"share_of_nominal", share_tree(shares)},
                              {"note", note}});
    constexpr std::size_t kNote = 60;
    table.rows.push_back({name, kind, tree.text("label"), shares.empty() ? "-" : share_text(shares),
                          terminal_columns(common) ? base::shown_value(note, kNote) : note});
  }
  const io::Json tree(io::Object{{"topologies", std::move(rows)}});
  return write_document(
      common, {.tables = [&] { return std::vector{table}; }, .tree = [&] { return tree; }});
}

// The path of a shipped name, else the name itself. Shipped names have neither a folder nor an
// ending, so that a path is never taken for one.
std::string find_file(const Invocation& invocation, const Common& common, const std::string& name) {
  const std::map<std::string, std::string> files = shipped_names(invocation);
  std::string present = name;
  std::vector<std::string> renamed;
  study::renew_name(present, renamed);
  if (const auto found = files.find(present); found != files.end()) {
    print_warnings(renamed, common);
    return found->second;
  }
  if (!study::is_shipped_name(name)) {
    return name;
  }
  throw study::unknown_file(study::kShippedTopologies.noun, name, files);
}

// JSON output is the file itself; text is made from the parsed values. A drawing on standard output
// takes the place of both.
int show(const Common& common, const std::string& path, const std::string& name,
         const std::string& dot) {
  const io::Json tree = io::read_json(path);
  if (is_profile(tree) || is_node(tree)) {
    if (!dot.empty()) {
      throw UsageError("--dot: " + base::shown_value(name) + " is a " +
                       (is_node(tree) ? "node type" : "network profile") +
                       "; only topologies can be drawn");
    }
    const std::string text = is_node(tree) ? node_text(io::parse_node_preset(tree))
                                           : profile_text(io::parse_profile(tree));
    const std::string share = share_text(nominal_shares(tree));
    const std::string rates = share.empty() ? "" : "share of the nominal rate: " + share + "\n";
    return write_document(common, {.text = [&] { return text + rates + source_text(tree); },
                                   .tree = [&] { return tree; }});
  }
  const links::Topology topology = io::parse_topology(tree);
  if (!dot.empty()) {
    const std::string drawing = dot_text(links::fabric_of(topology), topology.name);
    if (dot == "-") {
      write_output(common, drawing);
      return kOk;
    }
    write_named(common, dot, drawing);
  }
  const auto text = [&] { return topology_text(topology, tree.text("note")) + source_text(tree); };
  return write_document(common, {.text = text, .tree = [&] { return tree; }});
}

} // namespace

// --dot belongs to `show`: a list draws nothing.
int topologies(const Invocation& invocation) {
  std::string action = "list";
  std::string name;
  CLI::App app;
  app.add_option("ACTION", action, "list or show; default list");
  app.add_option("NAME", name,
                 "of a shipped profile, topology or node type, or a FILE of such a kind");
  bool all = false;
  app.add_flag("--all", all, "list profiles of test beds and recalled numbers, too");
  std::string dot;
  add_value(app, "--dot", dot, "FILE.dot",
            "write a topology as a Graphviz drawing (- = to standard output)");
  Common common(app, kTopologiesText, invocation);
  require_word("ACTION", action, {"list", "show"});
  if (action == "list") {
    refuse_others(common, {"ACTION", "--all"}, "needs topologies show NAME|FILE");
    std::map<std::string, std::string> files = shipped_names(invocation);
    const std::size_t shipped = files.size();
    if (!all) {
      std::erase_if(files, [](const auto& file) { return !study::is_listed(file.first); });
    }
    const int code = list_files(files, common);
    if (files.size() < shipped) {
      print_note(std::to_string(shipped - files.size()) +
                     " profiles of test beds and recalled numbers are left out; --all lists them",
                 common);
    }
    return code;
  }
  refuse_others(common, {"ACTION", "NAME", "--dot"}, "needs topologies list");
  if (name.empty()) {
    throw UsageError("topologies show: give a NAME or FILE; see stepsim topologies list");
  }
  return show(common, find_file(invocation, common, name), name, dot);
}

int presets(const Invocation& invocation) {
  std::string name;
  CLI::App app;
  app.add_option("NAME", name, "of a shipped node type, or a FILE of kind node_preset");
  Common common(app, kPresetsText, invocation);
  if (name.empty()) {
    return list_files(shipped_files(invocation.data_folder, study::kShippedNodes), common);
  }
  return show(common,
              study::is_shipped_name(name)
                  ? shipped_file(invocation.data_folder, study::kShippedNodes, name)
                  : name,
              name, "");
}

} // namespace stepsim::cli
