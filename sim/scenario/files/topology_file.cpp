// A topology is either a graph of hosts, switches and links, or a preset that stands for one. A
// preset stays a preset when it is written back, so that its parameters can still be changed.
#include "scenario/files/network_files.hpp"

#include <set>

#include "document/fields/members.hpp"
#include "links/fabric/topology.hpp"
#include "scenario/files/keys/topology_keys.hpp"

namespace stepsim::io {

namespace {

std::string in_quotes(std::string_view id) {
  return std::string("\"").append(base::shown_value(id)).append("\"");
}

// A latency or bandwidth of a link, in the range of its row.
// The lower end of the range goes through the usual check; the upper one has words of its own,
// because only numbers beyond any link meet it, which mostly are wrong units.
double link_number(Fields& fields, std::string_view key) {
  const Range range = fields.row(key).range;
  const double value = fields.number(key, at_least(range.low));
  if (value > range.high) {
    fields.refuse(key, Range{.high = range.high}.text() + ", got " + base::shortest(value));
  }
  return value;
}

// Whether parameters fit together is asked only when each of them is right by itself: a wrong
// number would otherwise be reported twice.
void parse_preset(Fields& fields, links::Topology& topology) {
  const std::string_view name = fields.word("preset");
  const links::Preset& preset = *std::ranges::find(links::presets(), name, &links::Preset::name);
  topology.preset = preset.name;
  for (const links::PresetParameter& parameter : preset.parameters) {
    if (parameter.required || fields.has(parameter.name)) {
      const bool on_links = fields.row(parameter.name).kind == KeyKind::number;
      const double value = on_links ? link_number(fields, parameter.name)
                                    : static_cast<double>(fields.required_integer(parameter.name));
      topology.preset_parameters.emplace_back(parameter.name, value);
    }
  }
  if (fields.problems().empty()) {
    if (const auto problem = links::preset_problem(topology)) {
      fields.refuse(problem->parameter, problem->message);
    }
  }
}

// The ids of `nodes`, which `element` describes.
// Hosts and switches share one set of ids, because links name either by it.
std::vector<std::string> parse_nodes(std::span<const Json> nodes, const Key& element,
                                     Problems& problems, std::set<std::string>& seen) {
  std::vector<std::string> ids;
  for (const Json& json : nodes) {
    Fields node(json, problems, element);
    std::string id = node.text("id");
    if (!seen.insert(id).second && node.has("id")) {
      node.refuse("id", in_quotes(id).append(" appears twice"));
    }
    node.no_more();
    ids.push_back(std::move(id));
  }
  return ids;
}

// A link without an id is called by its ends. Two links between the same nodes are allowed, as
// cables in parallel; the second one then gets its number appended, and only ids that were written
// out can clash.
std::vector<links::TopologyLink> parse_links(Fields& fields, const std::set<std::string>& nodes) {
  const std::vector<std::string_view> known(nodes.begin(), nodes.end());
  std::vector<links::TopologyLink> links;
  std::set<std::string> ids;
  for (const Json& json : fields.array("links", true)) {
    Fields field(json, fields.problems(), keys::kTopologyLinks.front());
    links::TopologyLink link;
    link.a = field.text("a");
    link.b = field.text("b");
    link.id = field.string("id", link.a + "-" + link.b);
    link.latency_s = link_number(field, "latency_s");
    link.bandwidth_Bps = link_number(field, key_of<&links::TopologyLink::bandwidth_Bps>());
    link.source = field.text("source");
    for (const auto& [key, end] : {std::pair{"a", &link.a}, std::pair{"b", &link.b}}) {
      if (field.has(key) && !nodes.contains(*end)) {
        field.refuse(key, "unknown node " + in_quotes(*end) + base::did_you_mean(*end, known));
      }
    }
    if (!link.a.empty() && link.a == link.b) {
      field.refuse("b",
                   "a link must join two different nodes, got " + in_quotes(link.b) + " twice");
    }
    const bool repeated = !ids.insert(link.id).second;
    if (repeated && !field.has("id")) { // parallel links
      link.id.append("#").append(std::to_string(links.size()));
      ids.insert(link.id);
    } else if (repeated) {
      field.refuse("id", in_quotes(link.id).append(" appears twice"));
    }
    field.no_more();
    links.push_back(std::move(link));
  }
  return links;
}

// Whether every node can be reached needs the whole graph, so that it is asked last and only of a
// graph whose ids and ends are right.
void check_fabric(const Json& json, const links::Fabric& fabric, Problems& problems) {
  for (const links::FabricProblem& problem : links::fabric_problems(fabric)) {
    problems.add(json, "links", problem.message);
  }
}

// `gpus` lists the hosts of the ranks in their order, so that a host is in it at most once and a
// switch never.
void parse_graph(Fields& fields, links::Topology& topology) {
  std::set<std::string> nodes;
  Problems& problems = fields.problems();
  topology.hosts =
      parse_nodes(fields.array("hosts", true), keys::kHostList.front(), problems, nodes);
  const std::set<std::string> hosts = nodes;
  topology.switches =
      parse_nodes(fields.list("switches"), keys::kSwitchList.front(), problems, nodes);
  topology.links = parse_links(fields, nodes);
  for (const Json& gpu : fields.array("gpus", false)) {
    if (!gpu.is_string() || !hosts.contains(gpu.as_string())) {
      fields.problems().add(gpu, "must be the id of a host, got " + shown(gpu));
    } else if (std::count(topology.gpus.begin(), topology.gpus.end(), gpu.as_string()) > 0) {
      fields.problems().add(gpu, in_quotes(gpu.as_string()).append(" appears twice"));
    } else {
      topology.gpus.push_back(gpu.as_string());
    }
  }
  if (const Json* list = fields.any("hosts");
      list != nullptr && list->is_array() && topology.hosts.empty()) {
    fields.problems().add(*list, "needs at least one host");
  }
}

} // namespace

links::Topology parse_topology(const Json& json) {
  FileFields fields(json, keys::kTopology);
  links::Topology topology;
  topology.name = fields.string("name", "");
  (void)fields.text("note");
  (void)fields.any("source");
  for (const Json& warning : fields.list("warnings")) {
    topology.warnings.push_back(warning.is_string() ? warning.as_string() : shown(warning));
  }
  const Json* hosts = json.find("hosts"); // a list in a graph, a count in a preset
  const bool graph = (hosts != nullptr && hosts->is_array()) || fields.has("links");
  if (fields.has("preset") == graph) {
    fields.problems().add(json, "give either a preset with its parameters, or hosts and links");
    fields.problems().throw_if_any();
  }
  if (graph) {
    parse_graph(fields, topology);
  } else {
    parse_preset(fields, topology);
  }
  fields.finish();
  if (graph) {
    check_fabric(json, links::fabric_of(topology), fields.problems());
    fields.problems().throw_if_any();
  }
  return topology;
}

Json to_json(const links::Topology& topology) {
  Json json = file_json(keys::kTopology);
  set_given(json, "name", topology.name);
  if (!topology.preset.empty()) {
    json.set("preset", topology.preset);
    for (const auto& [name, value] : topology.preset_parameters) {
      json.set(name, value);
    }
    return json;
  }
  const auto nodes = [](const std::vector<std::string>& ids) {
    return write_each(ids, [](const std::string& id) { return Object{{"id", id}}; });
  };
  json.set("hosts", nodes(topology.hosts));
  json.set("switches", nodes(topology.switches));
  using Link = links::TopologyLink;
  json.set("links", write_each(topology.links, [](const Link& link) {
             Json entry =
                 tree_of<&Link::id, &Link::a, &Link::b, &Link::latency_s, &Link::bandwidth_Bps>(
                     link);
             set_given(entry, "source", link.source);
             return entry;
           }));
  set_given(json, "gpus", topology.gpus);
  set_given(json, "warnings", topology.warnings);
  return json;
}

} // namespace stepsim::io
