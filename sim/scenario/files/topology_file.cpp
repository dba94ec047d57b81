// A topology is either a graph of hosts, switches and links, or a preset that stands for one. A
// preset stays a preset when it is written back, so that its parameters can still be changed.
// Rates become seconds per byte here, because costs add up and rates do not.
// A bandwidth above zero always has a finite inverse; a reduction rate of 0 means that adding is
// free.
#include "scenario/files/network_files.hpp"

#include <tuple>

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
      field.refuse("b", "a link must join two different nodes, got {} twice", in_quotes(link.b));
    }
    if (ids.contains(link.id) && !field.has("id")) { // parallel links
      link.id.append("#").append(std::to_string(links.size()));
    }
    field.refuse_if(!ids.insert(link.id).second, "id", in_quotes(link.id).append(" appears twice"));
    field.no_more();
    links.push_back(std::move(link));
  }
  return links;
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

constexpr auto kPairKeys = members<&WrittenPair::src, &WrittenPair::dst, &WrittenPair::latency_s,
                                   &WrittenPair::delay_s, &WrittenPair::bandwidth_Bps>;

using Ranks = std::optional<std::uint32_t>;

// A file may describe more ranks than a collective has: the further ones take no part in it.
bool takes_part(std::uint32_t rank, Ranks ranks) { return !ranks || rank < *ranks; }

void check_length(const Json& parent, std::string_view key, std::size_t length, Ranks ranks,
                  Problems& problems) {
  if (ranks && length < *ranks) {
    problems.add(parent, key, "{} entries, but there are {} ranks", length, *ranks);
  }
}

// Sorted by (src, dst), which lookups need; a pair that appears twice is an error, not the last one
// wins.
std::vector<collectives::PairCost> parse_pairs(Fields& fields, Ranks ranks, Problems& problems) {
  auto pairs = fields.each("links", [&](Fields& link) {
    collectives::PairCost pair;
    const auto read = read_members(kPairKeys, link);
    pair.src = static_cast<std::uint32_t>(read.src);
    pair.dst = static_cast<std::uint32_t>(read.dst);
    pair.cost = {read.latency_s, read.latency_s, 1 / read.bandwidth_Bps, read.delay_s};
    link.no_more();
    // A key that could not be read counts as 0, so that after any problem two ranks may look equal
    // that are not.
    if (problems.empty() && pair.src == pair.dst) {
      link.refuse("dst", "must differ from src, got " + std::to_string(pair.dst));
    }
    return pair;
  });
  std::erase_if(pairs, [&](const auto& pair) {
    return !takes_part(pair.src, ranks) || !takes_part(pair.dst, ranks);
  });
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.src, a.dst) < std::tie(b.src, b.dst);
  });
  const auto twice = std::ranges::adjacent_find(
      pairs, [](const auto& a, const auto& b) { return a.src == b.src && a.dst == b.dst; });
  if (twice != pairs.end() && problems.empty()) {
    fields.refuse("links", "the pair {} -> {} appears twice", twice->src, twice->dst);
  }
  return pairs;
}

// A value that cannot be read becomes 0 and keeps its place, so that the length that is checked is
// the length of the list as written.
std::vector<double> parse_numbers(Fields& fields, std::string_view key, Ranks ranks,
                                  Problems& problems) {
  std::vector<double> values = fields.numbers(key);
  if (fields.has(key)) {
    check_length(fields.json(), key, values.size(), ranks, problems);
  }
  if (ranks && values.size() > *ranks) {
    values.resize(*ranks);
  }
  return values;
}

// The order of the ranks in a pipeline; each at most once.
std::vector<std::uint32_t> parse_chain(Fields& fields, Ranks ranks, Problems& problems) {
  std::vector<std::uint32_t> chain;
  for (const Json& value : fields.list("chain")) {
    const auto rank = checked_integer(value, keys::kRankRange, problems);
    if (rank && !takes_part(static_cast<std::uint32_t>(*rank), ranks)) {
      continue;
    }
    if (rank && std::find(chain.begin(), chain.end(), *rank) != chain.end()) {
      problems.add(value, std::to_string(*rank) + " appears twice");
    }
    chain.push_back(static_cast<std::uint32_t>(rank.value_or(0)));
  }
  if (fields.has("chain")) {
    check_length(fields.json(), "chain", chain.size(), ranks, problems);
  }
  return chain;
}

// A bare list with one value per rank, which `read` takes from its element.
template <class Read>
std::vector<double> parse_list(const Json& tree, std::string_view noun, Ranks ranks, Read read) {
  Problems problems;
  std::vector<double> values;
  if (!tree.is_array()) {
    problems.refuse(tree, "must be a list of {} per rank, got {}", noun, shown(tree));
  } else {
    for (const Json& value : tree.as_array()) {
      values.push_back(read(value, problems));
    }
    if (ranks && values.size() != *ranks) {
      problems.refuse(tree, "{} entries, but there are {} ranks", values.size(), *ranks);
    }
  }
  problems.throw_if_any();
  return values;
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
    // Whether every node can be reached needs the whole graph, with ids and ends that are right.
    const std::string problem = links::fabric_problem(links::fabric_of(topology));
    fields.refuse_if(!problem.empty(), "links", problem);
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

LinksFile parse_links(const Json& tree, std::optional<std::uint32_t> ranks) {
  FileFields fields(tree, keys::kLinks);
  Problems& problems = fields.problems();
  LinksFile file;
  file.pairs = parse_pairs(fields, ranks, problems);
  file.reduction_s_per_byte = parse_numbers(fields, "reduction_Bps", ranks, problems);
  for (double& rate : file.reduction_s_per_byte) {
    rate = rate > 0 ? 1 / rate : 0;
  }
  file.enter_s = parse_numbers(fields, "enter_s", ranks, problems);
  file.chain = parse_chain(fields, ranks, problems);
  fields.finish();
  return file;
}

// Sizes are whole and at most 2^53, where sums of them in doubles are still exact.
std::vector<double> parse_sizes(const Json& tree, std::optional<std::uint32_t> ranks) {
  const Range range = between(0, static_cast<double>(base::kMaxExactBytes));
  return parse_list(tree, "bytes", ranks, [&](const Json& value, Problems& problems) {
    return static_cast<double>(checked_integer(value, range, problems).value_or(0));
  });
}

std::vector<double> parse_entry(const Json& tree, std::optional<std::uint32_t> ranks) {
  const Range range = keys::kRankEntry.front().range;
  return parse_list(tree, "seconds", ranks, [&](const Json& value, Problems& problems) {
    return checked_number(value, range, problems).value_or(0);
  });
}

} // namespace stepsim::io
