// What wrong lists of flows are told (PKT 13): the place and the reason.
#include <doctest/doctest.h>

#include <algorithm>

#include "run/flows_text.hpp"

using namespace stepsim;
using study::testing::Changes;
using study::testing::flows_file;
using study::testing::flows_problem;
using study::testing::json;

namespace {

constexpr std::string_view kFlows = R"({
  "kind": "flows",
  "topology": {"preset": "leaf_spine", "leaves": 2, "hosts_per_leaf": 4, "spines": 2,
               "bandwidth_Bps": 1.25e9, "latency_s": 1e-6},
  "network": {"model": "packet", "packet": {"transport": "dlcp"}},
  "flows": [{"src": 0, "dst": 4, "size_bytes": 14600}, {"src": 1, "dst": 5, "packets": 10}]
})";

struct Row {
  Changes changes;
  std::string problem; // of flows.json
};

void check_rows(const std::vector<Row>& rows) {
  for (const auto& [changes, problem] : rows) {
    CHECK(flows_problem(kFlows, changes) == "flows.json: " + problem);
  }
}

const std::string kPacket = "/network/packet";
const std::string kTransport = "/network/packet/transport";

} // namespace

TEST_CASE("the base of these tests is fine") { CHECK(flows_problem(kFlows, {}).empty()); }

TEST_CASE("flows: sizes, starts, hosts") {
  check_rows({
      {{{"/flows/0/size_bytes", -1}},
       "/flows/0/size_bytes: must be an integer in [0, 9007199254740992], got -1"},
      {{{"/flows/0/size_bytes", 1.5}},
       "/flows/0/size_bytes: must be an integer in [0, 9007199254740992], got 1.5"},
      {{{"/flows/0/size_bytes", 1e16}},
       "/flows/0/size_bytes: must be an integer in [0, 9007199254740992], got 1e+16"},
      {{{"/flows/0/size_bytes", 9e15}},
       "/flows/0/size_bytes: at the packet level at most 2^31 packets of 1460 bytes, got 9e+15"},
      {{{"/flows/0/packets", 3}}, "/flows/0/packets: required: either size_bytes or packets"},
      {{{"/flows/1", json(R"({"src": 0, "dst": 1})")}},
       "/flows/1/size_bytes: required: either size_bytes or packets"},
      {{{"/flows/0/start_s", -1}}, "/flows/0/start_s: must be in [0, 9e+06], got -1"},
      {{{"/flows/0/start_s", 1e7}}, "/flows/0/start_s: must be in [0, 9e+06], got 1e+07"},
      {{{"/start_jitter_s", 9e6}, {"/flows/0/start_s", 9e6}},
       "/start_jitter_s: a flow starts after 9e6 s"},
      {{{"/flows/0/src", 8}}, "/flows/0/src: unknown host 8, must be in [0, 7]"},
      {{{"/flows/0/dst", "h44"}}, "/flows/0/dst: unknown host \"h44\", did you mean h4?"},
      {{{"/flows/0/dst", "spine0"}}, "/flows/0/dst: unknown host \"spine0\""},
      {{{"/flows/0/dst", 0.5}}, "/flows/0/dst: must be the number or the name of a host, got 0.5"},
      {{{"/flows/0", json(R"({"dst": 1, "packets": 1})")}}, "/flows/0/src: required"},
      {{{"/flows/0/size", 3}}, "/flows/0/size: unknown key, did you mean size_bytes?"},
      {{{"/flows/0", 3}}, "/flows/0: must be an object, got 3"},
      {{{"/flows", 3}}, "/flows: must be a list, got 3"},
  });
}

TEST_CASE("flows: priorities, weights, caps and protection") {
  check_rows({
      {{{"/flows/0/priority", 0}}, "/flows/0/priority: must be an integer in [1, 7], got 0"},
      {{{"/flows/0/priority", 4}, {kPacket + "/queues", 4}},
       "/flows/0/priority: must be an integer in [1, 3], got 4"},
      {{{"/flows/0/weight", 0}}, "/flows/0/weight: must be > 0, got 0"},
      {{{"/flows/0/weight", 2}}, "/flows/0/weight: needs the flow model, got 2"},
      {{{"/flows/0/rate_cap_Bps", 1e9}}, "/flows/0/rate_cap_Bps: needs the flow model, got 1e+09"},
      {{{"/flows/0/protect", json(R"({"every": 2, "offset": 2})")}},
       "/flows/0/protect/offset: must be below every (2), got 2"},
      {{{"/flows/0/protect", json(R"({"every": 0})")}},
       "/flows/0/protect/every: must be an integer in [1, 1e+09], got 0"},
  });
  CHECK(flows_problem(kFlows, {{"/flows/0/weight", 2}, {"/network/model", "flow"}}).empty());
}

TEST_CASE("flows: paths and spines") {
  check_rows({
      {{{"/flows/0/via", 2}}, "/flows/0/via: unknown spine 2, must be in [0, 1]"},
      {{{"/flows/0/via", 0}, {"/flows/0/path", io::Array{}}},
       "/flows/0/via: give either path or via"},
      {{{"/flows/0/via", 0}, {kPacket + "/load_balancing", "spray_random"}},
       "/flows/0/via: has no meaning for load_balancing spray_random"},
      {{{"/flows/0/path", json(R"(["h0>leaf0", "leaf0>spine9"])")}},
       "/flows/0/path/1: unknown link \"leaf0>spine9\", did you mean leaf0>spine0, "
       "leaf0>spine1 or leaf1>spine0?"},
      {{{"/flows/0/path", json(R"(["h0>leaf0", 99])")}},
       "/flows/0/path/1: unknown link 99, must be in [0, 23]"},
      {{{"/flows/0/path", json(R"(["h0>leaf0", "leaf1>h4"])")}},
       "/flows/0/path/1: link leaf1>h4 does not continue the path, which is at leaf0"},
      {{{"/flows/0/path", json(R"(["h0>leaf0", "leaf0>h1"])")}},
       "/flows/0/path: leads from h0 to h1, not to h4"},
  });
}

TEST_CASE("flows: generators") {
  const auto generate = [](std::string_view text) { return Changes{{"/flows/0", json(text)}}; };
  check_rows({
      {generate(R"({"generate": "incasts", "senders": 2, "packets": 1})"),
       "/flows/0/generate: unknown generate \"incasts\"; did you mean \"incast\"?"},
      {generate(R"({"generate": "incast", "senders": 8, "packets": 1})"),
       "/flows/0/senders: needs senders + 1 hosts, the topology has 8, got 8"},
      {generate(R"({"generate": "incast", "packets": 1})"),
       "/flows/0/senders: required (an integer)"},
      {generate(R"({"generate": "permutation", "packets": 1, "src": 0})"),
       "/flows/0/src: unknown key"},
  });
  CHECK(
      flows_problem(kFlows, {{"/topology", json(R"({"preset": "star", "hosts": 4000,
      "bandwidth_Bps": 1e9, "latency_s": 0})")},
                             {"/flows", json(R"([{"generate": "all_to_all", "packets": 1}])")}}) ==
      "flows.json: /flows/0/generate: makes 15996000 flows, a list has at most 10000000");
}

TEST_CASE("the packet block: sizes, buffers, thresholds, words") {
  check_rows({
      {{{kPacket + "/mtu_wire_bytes", 40}},
       kPacket + "/mtu_wire_bytes: no room for one value: a packet of 40 bytes has a header of 40"},
      {{{kPacket + "/control_bytes", 1501}},
       kPacket + "/control_bytes: must be at most mtu_wire_bytes (1500), got 1501"},
      {{{kPacket + "/queues", 1}},
       kPacket + "/queues: must be in [2, 8] (queue 0 is control), got 1"},
      {{{kPacket + "/queues", 9}},
       kPacket + "/queues: must be in [2, 8] (queue 0 is control), got 9"},
      {{{kPacket + "/buffer", json(R"({"packets": 0})")}},
       kPacket + "/buffer/packets: must be an integer in [1, 1e+09], got 0"},
      {{{kPacket + "/buffer", json(R"({"scope": "shared", "bytes": 6000})")}},
       kPacket +
           "/buffer/bytes: must hold a packet for every port of a switch (9000 bytes), got 6000"},
      {{{kPacket + "/buffer", json(R"({"scope": "shared", "alpha": 0})")}},
       kPacket + "/buffer/alpha: must be > 0, got 0"},
      {{{kPacket + "/buffer", json(R"({"scope": "unlimited", "packets": 3})")}},
       kPacket + "/buffer/packets: packets has no meaning for buffer scope unlimited"},
      {{{kPacket + "/mark_packets", 0}},
       kPacket + "/mark_packets: must be an integer in [1, 1e+09], got 0"},
      {{{kPacket + "/drop_packets", json(R"({"middle": 0})")}},
       kPacket + "/drop_packets/middle: must be an integer in [1, 1e+09], got 0"},
      {{{kPacket + "/load_balancing", "spray"}},
       kPacket + "/load_balancing: unknown load_balancing \"spray\"; did you mean "
                 "\"spray_random\"?"},
      {{{kPacket + "/queue_discipline", "fifos"}},
       kPacket + "/queue_discipline: unknown queue_discipline \"fifos\"; did you mean \"fifo\"?"},
      {{{kPacket + "/bufer", 1}}, kPacket + "/bufer: unknown key, did you mean buffer?"},
      {{{"/network/model", "alpha_beta"}},
       "/network/model: unknown model \"alpha_beta\"; one of flow, packet"},
      {{{kPacket, json(R"({"queues": 8})")}}, kTransport + ": required at the packet level"},
      {{{"/network", json(R"({"model": "packet"})")}},
       "/network/packet: required at the packet level, with a transport"},
  });
}

TEST_CASE("the transport: bounds, timers, and keys of another one") {
  const auto set = [](std::string_view key, const io::Json& value) {
    return Changes{{kTransport + "/" + std::string(key), value}};
  };
  const auto tcp = [](const std::string& keys) {
    return Changes{{kTransport, json(R"({"kind": "dctcp", )" + keys + "}")}};
  };
  check_rows({
      {set("kind", "dtcp"),
       kTransport + "/kind: unknown kind \"dtcp\"; did you mean \"dctcp\" or \"dlcp\"?"},
      {set("loss_bound_push", 1), kTransport + "/loss_bound_push: must be in [0, 1), got 1"},
      {set("loss_bound_pull", -0.1), kTransport + "/loss_bound_pull: must be in [0, 1), got -0.1"},
      {set("loss_bound_per_layer", json(R"({"0": 2})")),
       kTransport + "/loss_bound_per_layer/0: must be in [0, 1), got 2"},
      {set("loss_bound_per_layer", json(R"({"x": 0})")),
       kTransport + "/loss_bound_per_layer/x: must be the number of a layer, from 0"},
      {set("rate_floor", 0), kTransport + "/rate_floor: must be in (0, 1], got 0"},
      {set("feedback_packets", 0),
       kTransport + "/feedback_packets: must be an integer in [1, 1e+09], got 0"},
      {set("rto_min_s", 0.2),
       kTransport + "/rto_min_s: rto_min_s has no meaning for transport dlcp"},
      {tcp(R"("rto_min_s": 0)"), kTransport + "/rto_min_s: must be in (0, 10000], got 0"},
      {tcp(R"("initial_window": 0)"),
       kTransport + "/initial_window: must be an integer in [1, 1e+09], got 0"},
      {tcp(R"("g": 0)"), kTransport + "/g: must be in (0, 1], got 0"},
      {tcp(R"("loss_bound_push": 0.1)"),
       kTransport + "/loss_bound_push: loss_bound_push has no meaning for transport dctcp"},
      {{{kTransport, json(R"({"kind": "window"})")}},
       "/network/packet/buffer: transport window needs an unlimited buffer"},
  });
  // Left over from another transport: fine where a flag has chosen this one.
  CHECK_NOTHROW(
      (void)flows_file(kFlows, tcp(R"("loss_bound_push": 0.1)"), study::Leftovers::ignore));
}

TEST_CASE("faults: of links, flows and packets that are not there") {
  const auto once = [](const std::string& keys) {
    return Changes{{kPacket + "/faults", json(R"({"drop_packets_once": [)" + keys + "]}")}};
  };
  const std::string at = kPacket + "/faults/drop_packets_once/0";
  check_rows({
      {{{kPacket + "/faults", json(R"({"link_loss": [{"link": 0, "probability": 1}]})")}},
       kPacket + "/faults/link_loss/0/probability: must be in [0, 1), got 1"},
      {{{kPacket + "/faults", json(R"({"link_loss": [{"link": "h0", "probability": 0}]})")}},
       kPacket + "/faults/link_loss/0/link: unknown link \"h0\""},
      {once(R"({"link": 0, "flow": 2, "seq": 0})"),
       at + "/flow: unknown flow 2, the list has 2 flows"},
      {once(R"({"link": 0, "flow": 1, "seq": 10})"),
       at + "/seq: unknown packet 10, flow 1 has 10 packets"},
      {once(R"({"flow": 0, "seq": 0})"), at + "/link: required"},
  });
}

TEST_CASE("background load") {
  const auto set = [](std::string_view keys) {
    return Changes{{kPacket + "/background", json("{" + std::string(keys) + "}")}};
  };
  const std::string at = kPacket + "/background/";
  check_rows({
      {set(R"("load": 1, "size_bytes": 1000)"), at + "load: must be in [0, 1), got 1"},
      {set(R"("load": 0.5)"), at + "size_bytes: required: either size_bytes or cdf"},
      {set(R"("load": 0.5, "size_bytes": 0)"), at + "size_bytes: must be in [1, 1e+12], got 0"},
      {set(R"("load": 0.5, "cdf": [[10, 0.5], [5, 1]])"),
       at + "cdf/1: must be above the row before, in bytes and in F"},
      {set(R"("load": 0.5, "cdf": [[10, 0.5], [20, 0.5]])"),
       at + "cdf/1: must be above the row before, in bytes and in F"},
      {set(R"("load": 0.5, "cdf": [[10, 0.5], [20, 0.9]])"),
       at + "cdf/1: the last F must be 1, got 0.9"},
      {set(R"("load": 0.5, "cdf": [[0, 1]])"), at + "cdf: the mean size must be > 0"},
      {set(R"("load": 0.5, "cdf": [[0]])"), at + "cdf/0: must be [bytes, F], got a list"},
      {set(R"("load": 0.5, "cdf": [])"), at + "cdf: the last F must be 1"},
      {set(R"("load": 0.5, "size_bytes": 9, "transport": "pfabric")"),
       at + "transport: pfabric changes the ports: all flows have it, or none"},
      {set(R"("load": 0.5, "size_bytes": 9, "transport": "window")"),
       at + "transport: transport window needs an unlimited buffer"},
  });
}

TEST_CASE("background load that a slow host cannot take is refused") {
  // Two hosts of 1e9 and one of 1e8 bytes/s: it is sent 2 x load x 1e9 / 2.
  const auto slow = [](double load) {
    return flows_problem(
        kFlows, {{"/topology", json(R"({"hosts": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
            "switches": [{"id": "s"}], "links": [
              {"a": "a", "b": "s", "latency_s": 0, "bandwidth_Bps": 1e9},
              {"a": "b", "b": "s", "latency_s": 0, "bandwidth_Bps": 1e8},
              {"a": "c", "b": "s", "latency_s": 0, "bandwidth_Bps": 1e9}]})")},
                 {"/flows", io::Array{}},
                 {kPacket + "/background", io::Object{{"load", load}, {"size_bytes", 1000}}}});
  };
  CHECK(slow(0.09).empty());
  CHECK(slow(0.11) == "flows.json: /network/packet/background/load: host b would be sent more than "
                      "its links carry");
}

TEST_CASE("topology and limits") {
  check_rows({
      {{{"/topology/bandwidth_Bps", 0}}, "/topology/bandwidth_Bps: must be >= 1, got 0"},
      {{{"/topology/latency_s", -1}}, "/topology/latency_s: must be >= 0, got -1"},
      {{{"/allow_unusual", true}, {"/topology/latency_s", 2000}},
       "/topology: link h0>leaf0: the packet model needs latency_s <= 1000 and bandwidth_Bps <= "
       "1e15, got 2000 and 1.25e+09"},
      {{{"/topology", nullptr}}, "/topology: required: a file or an object"},
      {{{"/topology", "leaf_spine_14"}},
       "/topology: unknown topology \"leaf_spine_14\"; did you mean \"leaf_spine_144\"?"},
      {{{"/limits/simulated_s", 0}}, "/limits/simulated_s: must be in (0, 9e+06], got 0"},
      {{{"/seed", -1}}, "/seed: must be an integer in [0, 9007199254740992], got -1"},
  });
}

TEST_CASE("all problems of a file are told") {
  try {
    (void)flows_file(kFlows, {{"/flows/0/src", 99},
                              {"/flows/1/priority", 9},
                              {kTransport + "/loss_bound_push", 2},
                              {kPacket + "/queues", 12}});
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(error.problems().size() == 4);
  }
}

TEST_CASE("thresholds that have no effect are warned of") {
  const auto warnings = [](const Changes& changes) { return flows_file(kFlows, changes).warnings; };
  CHECK(warnings({}).empty());
  CHECK(warnings({{kPacket + "/mark_packets", 100}}) ==
        std::vector<std::string>{"mark_packets 100 has no effect: a port holds 100 packets"});
  CHECK(warnings({{kPacket + "/mark_packets", nullptr}}).empty()); // none
  CHECK(warnings({{kPacket + "/drop_packets", json(R"({"droppable": null})")}}).empty());
  CHECK(warnings({{kPacket + "/drop_packets", json(R"({"droppable": 60})")}}) ==
        std::vector<std::string>{"drop_packets.droppable 60 is above drop_packets.middle 50"});
}
