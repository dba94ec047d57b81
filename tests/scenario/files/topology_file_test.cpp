#include "scenario/files/network_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "document/json_text.hpp"
#include "document/problem_text.hpp"
#include "links/fabric/topology.hpp"
#include "scenario/files/keys/topology_keys.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string problems(std::string_view text) { return problem_text(text, parse_topology); }

// Two hosts and a switch with the given links.
std::string graph(std::string_view links) {
  return R"({"hosts": [{"id": "h0"}, {"id": "h1"}], "switches": [{"id": "s"}], "links": [)" +
         std::string(links) + "]}";
}
std::string edge(std::string_view a, std::string_view b, std::string_view rest = "") {
  return R"({"a": ")" + std::string(a) + R"(", "b": ")" + std::string(b) +
         R"(", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9)" + std::string(rest) + "}";
}

// The row of a parameter of a preset; of hosts and gpus, that of their number.
const Key& parameter_row(std::string_view name) {
  const Key& row = *find_key(keys::kTopology, name);
  return row.kind == KeyKind::either ? row.keys.back() : row;
}

} // namespace

TEST_CASE("a graph is read and written back") {
  const std::string text = graph(edge("h0", "s") + "," + edge("s", "h1", R"(, "id": "up")"));
  const links::Topology topology = parse_topology(parse_json(text, ""));
  CHECK(topology.hosts == std::vector<std::string>{"h0", "h1"});
  CHECK(topology.links[0].id == "h0-s");
  CHECK(topology.links[1].id == "up");
  CHECK(topology.links[1].bandwidth_Bps == 1.25e9);
  const Json written = to_json(topology);
  CHECK(compact(to_json(parse_topology(parse_json(pretty(written), "")))) == compact(written));
}

TEST_CASE("presets keep their parameters") {
  const links::Topology topology = parse_topology(parse_json(
      R"({"preset": "leaf_spine", "leaves": 9, "hosts_per_leaf": 16, "spines": 4,
          "bandwidth_Bps": 1.25e9, "latency_s": 1e-6, "uplink_bandwidth_Bps": 5e9})",
      ""));
  CHECK(topology.preset == "leaf_spine");
  CHECK(topology.preset_parameters ==
        std::vector<std::pair<std::string, double>>{{"leaves", 9},
                                                    {"hosts_per_leaf", 16},
                                                    {"spines", 4},
                                                    {"bandwidth_Bps", 1.25e9},
                                                    {"latency_s", 1e-6},
                                                    {"uplink_bandwidth_Bps", 5e9}});
  CHECK(compact(to_json(parse_topology(parse_json(pretty(to_json(topology)), "")))) ==
        compact(to_json(topology)));
}

TEST_CASE("wrong graphs are refused with pointer and rule") {
  CHECK(problems(graph(edge("h0", "h1"))) == "f.json: /links: no route from \"h0\" to \"s\"\n");
  CHECK(problems(graph(edge("h0", "s") + "," + edge("s", "h1") + "," + edge("s", "s"))) ==
        "f.json: /links/2/b: a link must join two different nodes, got \"s\" twice\n");
  CHECK(problems(graph(edge("h0", "s") + "," + edge("s", "h2"))) ==
        "f.json: /links/1/b: unknown node \"h2\", did you mean h0 or h1?\n");
  CHECK(problems(
            graph(edge("h0", "s", R"(, "id": "x")") + "," + edge("s", "h1", R"(, "id": "x")"))) ==
        "f.json: /links/1/id: \"x\" appears twice\n");
  // The second cable between two nodes gets its number in the list.
  CHECK(problems(graph(edge("s", "h1", R"(, "id": "h0-s#2")") + "," + edge("h0", "s") + "," +
                       edge("h0", "s"))) == "f.json: /links/2/id: \"h0-s#2\" appears twice\n");
  CHECK(problems(R"({"hosts": [{"id": "h"}, {"id": "h"}], "links": []})") ==
        "f.json: /hosts/1/id: \"h\" appears twice\n");
  CHECK(problems(R"({"hosts": [{"id": "h"}, {"id": "g"}],
          "links": [{"a": "h", "b": "g", "latency_s": -1, "bandwidth_Bps": 0}]})") ==
        "f.json: /links/0/latency_s: must be >= 0, got -1\n"
        "f.json: /links/0/bandwidth_Bps: must be >= 1, got 0\n");
  CHECK(problems(R"({"hosts": [{"id": "h"}, {"id": "g"}],
          "links": [{"a": "h", "b": "g", "latency_s": 1e308, "bandwidth_Bps": 1e308}]})") ==
        "f.json: /links/0/latency_s: must be <= 1e+06, got 1e+308\n"
        "f.json: /links/0/bandwidth_Bps: must be <= 1e+18, got 1e+308\n");
  CHECK(problems(R"({"hosts": [], "links": []})") == "f.json: /hosts: needs at least one host\n");
  CHECK(problems(R"({"hosts": [{"id": "h"}], "links": [], "gpus": ["g"]})") ==
        "f.json: /gpus/0: must be the id of a host, got \"g\"\n");
  CHECK(problems(R"({"hosts": [{"id": "h"}], "links": [], "gpus": ["h", "h"]})") ==
        "f.json: /gpus/1: \"h\" appears twice\n");
}

TEST_CASE("every preset of the table is read with all its parameters") {
  for (const links::Preset& preset : links::presets()) {
    CAPTURE(preset.name);
    Json json;
    json.set("preset", preset.name);
    std::size_t required = 0;
    for (const links::PresetParameter& parameter : preset.parameters) {
      json.set(parameter.name, 2);
      required += parameter.required ? 1 : 0;
    }
    const links::Topology topology = parse_topology(parse_json(compact(json), ""));
    CHECK(topology.preset_parameters.size() == preset.parameters.size());
    CHECK(parse_topology(to_json(topology)).preset_parameters == topology.preset_parameters);
    const std::string missing = problems(R"({"preset": ")" + std::string(preset.name) + R"("})");
    CHECK(static_cast<std::size_t>(std::count(missing.begin(), missing.end(), '\n')) == required);
    for (const links::PresetParameter& parameter : preset.parameters) {
      const Key& row = parameter_row(parameter.name);
      const bool count = row.kind == KeyKind::integer;
      const std::string value = count || row.range.low > 0 ? "0" : "-1";
      Json wrong = json;
      wrong.set(parameter.name, parse_json(value, ""));
      CHECK(problems(compact(wrong)) == "f.json: /" + std::string(parameter.name) +
                                            (count ? ": must be an integer in [1, 1e+07], got "
                                             : row.range.low == 0 ? ": must be >= 0, got "
                                                                  : ": must be >= 1, got ") +
                                            value + "\n");
    }
  }
}

TEST_CASE("parameters of presets that do not go together are refused where they stand") {
  const auto preset = [](std::string_view text) {
    return problems("{" + std::string(text) + R"(, "bandwidth_Bps": 1e9, "latency_s": 0})");
  };
  CHECK(preset(R"("preset": "fat_tree", "ports": 3)") == "f.json: /ports: must be even, got 3\n");
  CHECK(preset(R"("preset": "gpu_node", "gpus": 2, "nics_per_node": 3)") ==
        "f.json: /nics_per_node: must be <= gpus (2), got 3\n");
  CHECK(preset(R"("preset": "star", "hosts": 2000000)") ==
        "f.json: /preset: makes 2000000 hosts, at most 1048576\n");
}

TEST_CASE("presets and graphs exclude each other, parameters belong to their preset") {
  CHECK(problems("{}") == "f.json: give either a preset with its parameters, or hosts and links\n");
  CHECK(problems(R"({"preset": "star", "hosts": [{"id": "h"}], "links": []})") ==
        "f.json: give either a preset with its parameters, or hosts and links\n");
  CHECK(problems(R"({"preset": "star", "hosts": 4, "spines": 2, "bandwidth_Bps": 1e9,
                     "latency_s": 0})") == "f.json: /spines: unknown key\n");
  CHECK(problems(R"({"preset": "starr", "hosts": 4, "bandwidth_Bps": 1e9, "latency_s": 0})") ==
        "f.json: /preset: unknown preset \"starr\"; did you mean \"star\"?\n");
}
