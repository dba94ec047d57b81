#include "run/flows_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/random.hpp"
#include "document/json_text.hpp"
#include "run/flows_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using stepsim::testing::Tolerance;
using stepsim::testing::within;
using study::testing::Changes;
using study::testing::fct;
using study::testing::flows_file;
using study::testing::flows_with;
using study::testing::json;
using study::testing::run_flows_text;

namespace {

constexpr double kC = 1.25e9;   // bytes/s of every link
constexpr double kTau = 1.2e-6; // a packet of 1500 bytes on it
constexpr double kDelay = 1e-6; // of a link
constexpr double kExact = 1e-9; // relative

Tolerance exactly(double value) { return within(value, kExact); }

// Hosts at both ends and in the middle of a line of two links; access links never bind.
constexpr std::string_view kLine = R"({
  "kind": "flows",
  "topology": {
    "hosts": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
    "switches": [{"id": "x"}, {"id": "y"}, {"id": "z"}],
    "links": [{"a": "x", "b": "y", "latency_s": 0, "bandwidth_Bps": 1.25e9},
              {"a": "y", "b": "z", "latency_s": 0, "bandwidth_Bps": 1.25e9},
              {"a": "a", "b": "x", "latency_s": 0, "bandwidth_Bps": 1e12},
              {"a": "b", "b": "y", "latency_s": 0, "bandwidth_Bps": 1e12},
              {"a": "c", "b": "z", "latency_s": 0, "bandwidth_Bps": 1e12}]},
  "network": {"model": "flow"},
  "flows": [{"src": "a", "dst": "c", "size_bytes": 125e6}, {"src": "a", "dst": "b", "size_bytes": 125e6},
            {"src": "b", "dst": "c", "size_bytes": 125e6}]
})";

// Two flows share an uplink, a third has its own.
constexpr std::string_view kUplinks = R"({
  "kind": "flows",
  "topology": {"preset": "leaf_spine", "leaves": 2, "hosts_per_leaf": 4, "spines": 4,
               "bandwidth_Bps": 1.25e9, "latency_s": 1e-6},
  "network": {"model": "flow", "packet": {"buffer": {"scope": "unlimited"}, "transport": "raw"}},
  "flows": [{"src": 0, "dst": 4, "packets": 1000, "via": 0}, {"src": 1, "dst": 5, "packets": 1000, "via": 0},
            {"src": 2, "dst": 6, "packets": 1000, "via": 1}]
})";

constexpr std::string_view kStar = R"({
  "kind": "flows",
  "topology": {"preset": "star", "hosts": 9, "bandwidth_Bps": 1.25e9, "latency_s": 1e-6},
  "network": {"model": "packet", "packet": {"transport": "dlcp"}},
  "flows": [{"generate": "incast", "senders": 8, "size_bytes": 65536}],
  "seed": 1
})";

double delivered_packets(const FlowResult& flow) { return std::ceil(flow.delivered_bytes / 1460); }

} // namespace

TEST_CASE("M1: three flows on a line of two links have half of it each") {
  const auto seconds = fct(kLine);
  REQUIRE(seconds.size() == 3);
  for (const double each : seconds) {
    CHECK(each == exactly(125e6 / (kC / 2)));
  }
}

TEST_CASE("M2: a flow leaves where it was not the bottleneck, and nothing changes for the others") {
  const auto seconds = fct(kLine, {{"/topology/links/1/bandwidth_Bps", 0.5e9},
                                   {"/flows/0/size_bytes", 100'000'000},
                                   {"/flows/1/size_bytes", 100'000'000},
                                   {"/flows/2/size_bytes", 200'000'000}});
  CHECK(seconds[0] == exactly(100e6 / 0.25e9));
  CHECK(seconds[1] == exactly(100e6 / (kC - 0.25e9)));
  CHECK(seconds[2] == exactly(0.4 + 100e6 / 0.5e9));
}

TEST_CASE("M5 and X6: flows that share an uplink, by fluid, with headers, and packet by packet") {
  const double start_up = 4 * kDelay;
  SUBCASE("payload") {
    const auto seconds = fct(kUplinks);
    CHECK(seconds[0] == exactly(start_up + 1000 * 1460 / (kC / 2)));
    CHECK(seconds[1] == seconds[0]);
    CHECK(seconds[2] == exactly(start_up + 1000 * 1460 / kC));
  }
  SUBCASE("headers counted") {
    const auto seconds = fct(kUplinks, {{"/network/count_headers", true}});
    CHECK(seconds[0] == exactly(start_up + 2000 * kTau)); // 2404 us
    CHECK(seconds[2] == exactly(start_up + 1000 * kTau));
  }
  SUBCASE("packets: V24, and the paths that flows ask for hold without load_balancing explicit") {
    const auto seconds = fct(kUplinks, {{"/network/model", "packet"}});
    CHECK(seconds[0] == exactly((2000 - 1 + 3) * kTau + start_up)); // 2406.4 us
    CHECK(seconds[1] == exactly((2000 + 3) * kTau + start_up));
    CHECK(seconds[2] == exactly((1000 + 3) * kTau + start_up)); // F1
    CHECK(run_flows_text(kUplinks, {{"/network/model", "packet"}}).links[16].queue->max_packets ==
          1001);
  }
}

TEST_CASE("M6: a flow that starts later counts from its own start") {
  const auto seconds = fct(kLine, {{"/flows", json(R"([{"src": 0, "dst": 2, "size_bytes": 125e6},
                                      {"src": 1, "dst": 2, "size_bytes": 62.5e6, "start_s": 0.04}])")}});
  CHECK(seconds[0] == exactly(0.15));
  CHECK(seconds[1] == exactly(0.14 - 0.04));
}

TEST_CASE("M8, M10, M13: priorities, caps and weights of a list are those of the flow level") {
  const auto on_one_link = [](std::string_view flows) {
    return fct(kLine, {{"/flows", json(flows)}});
  };
  const auto priority = on_one_link(
      R"([{"src": 0, "dst": 1, "size_bytes": 125e6, "priority": 2},
          {"src": 0, "dst": 1, "size_bytes": 62.5e6, "start_s": 0.02, "priority": 1}])");
  CHECK(priority[0] == exactly(0.15));
  CHECK(priority[1] == exactly(0.05));
  const auto cap = on_one_link(R"([{"src": 0, "dst": 1, "size_bytes": 25e6, "rate_cap_Bps": 0.25e9},
                                   {"src": 0, "dst": 1, "size_bytes": 100e6}])");
  CHECK(cap[0] == exactly(0.1));
  CHECK(cap[1] == exactly(0.1));
  const auto weight = on_one_link(R"([{"src": 0, "dst": 1, "size_bytes": 125e6},
                                      {"src": 0, "dst": 1, "size_bytes": 125e6},
                                      {"src": 0, "dst": 1, "size_bytes": 125e6, "weight": 3}])");
  CHECK(weight[0] == exactly(0.3));
  CHECK(weight[2] == exactly(1.0 / 6));
}

TEST_CASE("M11: sprayed flows use all uplinks, at both levels") {
  Changes changes{{"/topology/hosts_per_leaf", 8},
                  {"/topology/uplink_bandwidth_Bps", kC},
                  {"/network/packet/load_balancing", "spray_round_robin"}};
  io::Array flows;
  for (int i = 0; i < 8; ++i) {
    flows.push_back(io::Object{{"src", i}, {"dst", 8 + i}, {"packets", 1000}});
  }
  changes.emplace_back("/flows", std::move(flows));
  for (const double each : fct(kUplinks, changes)) {
    CHECK(each == exactly(4 * kDelay + 1000 * 1460 / (kC / 2)));
  }
  // 8 x 1000 packets over 4 uplinks, and the way behind them.
  changes.emplace_back("/network/model", "packet");
  const auto seconds = fct(kUplinks, changes);
  CHECK(std::ranges::max(seconds) == within((2000 + 3) * kTau + 4 * kDelay, 1e-9));
}

TEST_CASE("explicit paths lead where they say, by number or name of the links") {
  const Changes around{{"/flows", json(R"([{"src": "h0", "dst": "h4", "packets": 1000,
      "path": ["h0>leaf0", "leaf0>spine2", "spine2>leaf1", "leaf1>h4"]}])")}};
  const FlowsFile file = flows_file(kUplinks, around);
  for (const std::string_view model : {"flow", "packet"}) {
    Changes changes = around;
    changes.emplace_back("/network/model", model);
    const FlowsResult result = run_flows_text(kUplinks, changes);
    for (links::LinkId link = 0; link < result.links.size(); ++link) {
      const bool on_path = std::ranges::count(file.flows[0].path, link) == 1;
      CAPTURE(file.fabric.link_names[link]);
      CHECK((result.links[link].bytes > 0) == on_path);
    }
  }
}

TEST_CASE("V1, V2, V6: packets of raw flows") {
  const Changes raw{{"/network/packet/transport/kind", "raw"},
                    {"/network/packet/buffer", json(R"({"scope": "port", "packets": 100})")}};
  const auto with = [&](std::string_view flows) {
    Changes changes = raw;
    changes.emplace_back("/flows", json(flows));
    return run_flows_text(kStar, changes);
  };
  const FlowsResult one = with(R"([{"src": 0, "dst": 8, "packets": 1000}])");
  CHECK(*one.flows[0].fct_s == exactly((1000 + 2 - 1) * kTau + 2 * kDelay)); // F1
  // F2: 163 of 512 packets are accepted, the last is there after 198.8 us.
  const FlowsResult incast = with(R"([{"generate": "incast", "senders": 8, "packets": 64}])");
  const double accepted = 100 + 64 - 1;
  double delivered = 0;
  double last = 0;
  for (const FlowResult& flow : incast.flows) {
    delivered += delivered_packets(flow);
    last = std::max(last, flow.fct_s.value_or(0));
    CHECK(flow.delivered_bytes + flow.lost_bytes == 64 * 1460);
  }
  CHECK(delivered == accepted);
  CHECK(last == exactly((accepted + 1) * kTau + 2 * kDelay));
  const LinkResult& port = incast.links[17];
  CHECK(port.queue->buffer_drops == 8 * 64 - 163);
  CHECK(port.queue->max_packets == 100);
  const links::PacketCounts& all =
      (*incast.classes)[static_cast<std::size_t>(links::DropClass::protected_)];
  CHECK(all.sent == 8 * 64);
  CHECK(all.delivered == 163);
  CHECK(all.dropped == 8 * 64 - 163);
}

TEST_CASE("V13: packets that are not protected are dropped over the threshold") {
  const FlowsResult result =
      run_flows_text(kStar, {{"/network/packet/transport/kind", "raw"},
                             {"/network/packet/buffer", json(R"({"packets": 200})")},
                             {"/network/packet/drop_packets", json(R"({"droppable": 20})")},
                             {"/flows", json(R"([{"generate": "incast", "senders": 8, "packets": 64,
                            "protect": {"every": 2, "offset": 0}}])")}});
  const auto counts = [&](links::DropClass each) {
    return (*result.classes)[static_cast<std::size_t>(each)];
  };
  CHECK(counts(links::DropClass::protected_).delivered == 254);
  CHECK(counts(links::DropClass::protected_).sent == 256);
  CHECK(counts(links::DropClass::droppable).delivered == 8);
  CHECK(result.links[17].queue->buffer_drops == 2);
  CHECK(result.links[17].queue->threshold_drops == 248);
}

TEST_CASE("V15: bounded loss ends a flow early, by the same share at the flow level") {
  const Changes one{{"/flows", json(R"([{"src": 0, "dst": 8, "packets": 1000}])")},
                    {"/network/packet/transport/rate_control", "none"}};
  const double need = 900; // ceil((1 - 0.1) 1000)
  const FlowsResult packets = run_flows_text(kStar, one);
  CHECK(*packets.flows[0].fct_s == exactly((need + 1) * kTau + 2 * kDelay)); // F4
  CHECK(packets.flows[0].delivered_bytes == need * 1460);
  CHECK(packets.flows[0].packets->wasted_bytes == 5 * 1460); // F5
  Changes fluid = one;
  fluid.emplace_back("/network/model", "flow");
  fluid.emplace_back("/network/count_headers", true);
  const FlowsResult flow = run_flows_text(kStar, fluid);
  CHECK(*flow.flows[0].fct_s == exactly(need * kTau + 2 * kDelay));
  CHECK(flow.flows[0].lost_bytes == within(100 * 1460, 1e-12));
  fluid.emplace_back("/network/packet/transport/early_stop", false);
  CHECK(fct(kStar, fluid)[0] == exactly(1000 * kTau + 2 * kDelay));
}

TEST_CASE("V16, V17: a given packet lost once costs nothing within the bound, and TCP a timeout") {
  const Changes lost{
      {"/flows", json(R"([{"src": 0, "dst": 8, "packets": 10}])")},
      {"/network/packet/transport/rate_control", "none"},
      {"/network/packet/faults",
       json(R"({"drop_packets_once": [{"link": "h0>switch", "flow": 0, "seq": 9}]})")}};
  const FlowsResult bounded = run_flows_text(kStar, lost);
  CHECK(*bounded.flows[0].fct_s == exactly(14.0e-6));
  CHECK(bounded.flows[0].packets->retransmissions == 0);
  CHECK(bounded.links[0].queue->fault_drops == 1);
  Changes reno = lost;
  reno[1] = {"/network/packet/transport", json(R"({"kind": "reno", "rto_min_s": 0.01})")};
  CHECK(fct(kStar, reno)[0] == exactly(10020.464e-6));
}

TEST_CASE("V20: a TCP incast takes a timeout whatever the size, and bounded loss does not") {
  for (const std::int64_t bytes : {65'536, 1'000'000}) {
    CAPTURE(bytes);
    const Changes size{{"/flows/0/size_bytes", bytes}};
    Changes tcp = size;
    tcp.emplace_back("/network/packet/transport", json(R"({"kind": "dctcp"})"));
    CHECK(std::ranges::max(fct(kStar, tcp)) >= 10e-3);
    CHECK(std::ranges::max(fct(kStar, tcp)) <= 14e-3);
    for (const FlowResult& flow : run_flows_text(kStar, size).flows) {
      const double packets = std::ceil(static_cast<double>(bytes) / 1460);
      CHECK(delivered_packets(flow) >= std::ceil(0.9 * packets - 1e-9));
      CHECK(flow.packets->timeouts == 0);
    }
  }
}

TEST_CASE("background load is reported apart, and left out at the flow level with a warning") {
  const Changes load{{"/network/packet/background", json(R"({"load": 0.3, "size_bytes": 20000})")}};
  const FlowsResult busy = run_flows_text(kStar, load);
  CHECK(busy.flows.size() == 8);
  REQUIRE(busy.background.has_value());
  CHECK(busy.background->started >= busy.background->completed);
  CHECK(busy.background->completed > 0);
  CHECK(busy.statistics->mean_s > run_flows_text(kStar).statistics->mean_s);
  Changes fluid = load;
  fluid.emplace_back("/network/model", "flow");
  CHECK_FALSE(run_flows_text(kStar, fluid).background.has_value());
  CHECK(run_flows_text(kStar, fluid).warnings ==
        std::vector<std::string>{"there is no background load at the flow level"});
}

TEST_CASE("incast_risk: the flow level warns where first windows overflow the port (F3)") {
  // W (N - 1) + 1 <= Q for W = 10, Q = 100: ten flows fit, eleven do not.
  const auto risk = [](int senders, const Changes& more) {
    Changes changes{{"/topology/hosts", 40},
                    {"/network/model", "flow"},
                    {"/network/packet/transport", json(R"({"kind": "reno"})")},
                    {"/network/packet/buffer", json(R"({"packets": 100})")},
                    {"/flows/0/senders", senders}};
    changes.insert(changes.end(), more.begin(), more.end());
    const FlowsResult result = run_flows_text(kStar, changes);
    return std::ranges::any_of(result.warnings, [](const std::string& warning) {
      return warning.starts_with("incast_risk");
    });
  };
  CHECK_FALSE(risk(10, {}));
  CHECK(risk(11, {}));
  CHECK_FALSE(risk(11, {{"/network/packet/buffer/packets", 101}}));
  CHECK_FALSE(risk(30, {{"/network/packet/buffer", json(R"({"scope": "unlimited"})")}}));
  CHECK_FALSE(risk(30, {{"/network/packet/transport/kind", "raw"}}));
  CHECK_FALSE(risk(30, {{"/network/model", "packet"}})); // it shows them
  CHECK(risk(30, {{"/start_jitter_s", 1e-5}}));
  CHECK_FALSE(risk(11, {{"/start_jitter_s", 0.1}})); // one after the other
  // A host sends its own flows one after the other.
  io::Array flows;
  for (int i = 0; i < 30; ++i) {
    flows.push_back(io::Object{{"src", i % 2}, {"dst", 5}, {"size_bytes", 65536}});
  }
  CHECK(risk(1, {{"/flows", flows}})); // 150 packets of each
  flows.resize(18);                    // 90 of each: 90 + 1 <= 100
  CHECK_FALSE(risk(1, {{"/flows", flows}}));
  // 300 packets of host 0 have left except 50 when 120 of others arrive: what left counts no more.
  flows.clear();
  for (int i = 0; i < 42; ++i) {
    flows.push_back(io::Object{{"src", i < 30 ? 0 : i - 24},
                               {"dst", 5},
                               {"size_bytes", 65536},
                               {"start_s", i < 30 ? 0 : 250 * kTau}});
  }
  CHECK(risk(1, {{"/flows", flows}}));
}

TEST_CASE("a permutation has every host once as source and as destination, by the seed") {
  const Changes base{{"/flows", json(R"([{"generate": "permutation", "size_bytes": 1000}])")}};
  const FlowsFile file = flows_file(kStar, base);
  std::set<links::NodeId> sources;
  std::set<links::NodeId> destinations;
  for (const links::FlowSpec& flow : file.flows) {
    CHECK(flow.src != flow.dst);
    sources.insert(flow.src);
    destinations.insert(flow.dst);
  }
  CHECK(sources.size() == 9);
  CHECK(destinations.size() == 9);
  // On a star no two of them share a link: each as if alone.
  Changes fluid = base;
  fluid.emplace_back("/network/model", "flow");
  fluid.emplace_back("/network/packet/transport/kind", "raw");
  for (const double each : fct(kStar, fluid)) {
    CHECK(each == exactly(2 * kDelay + 1000 / kC));
  }
  std::set<std::vector<links::NodeId>> orders;
  for (int seed = 0; seed < 8; ++seed) {
    Changes seeded = base;
    seeded.emplace_back("/seed", seed);
    std::vector<links::NodeId> order;
    for (const links::FlowSpec& flow : flows_file(kStar, seeded).flows) {
      order.push_back(flow.dst);
    }
    orders.insert(order);
  }
  CHECK(orders.size() > 4);
}

TEST_CASE("all_to_all and single flows stand in one list, ids from 0, with their jitter") {
  const FlowsFile file =
      flows_file(kStar, {{"/flows", json(R"([{"src": 8, "dst": 0, "size_bytes": 1, "start_s": 0.5},
                                            {"generate": "all_to_all", "packets": 2, "priority": 3}])")},
                         {"/start_jitter_s", 0.25},
                         {"/seed", 42}});
  REQUIRE(file.flows.size() == 1 + 9 * 8);
  CHECK(file.flows[0].src == 8);
  CHECK(file.flows[1].src == 0);
  CHECK(file.flows[1].dst == 1);
  CHECK(file.flows[72].priority == 3);
  CHECK(file.flows[72].bytes == 2 * 1460);
  for (std::uint64_t id = 0; id < 3; ++id) {
    CHECK(file.flows[id].start_s == (id == 0 ? 0.5 : 0.0) + 0.25 * base::u01(42, 3, id));
  }
}

TEST_CASE("nothing to send takes no time, an empty list has no statistics") {
  for (const std::string_view model : {"flow", "packet"}) {
    const FlowsResult nothing = run_flows_text(
        kStar, {{"/network/model", model},
                {"/flows", json(R"([{"src": 0, "dst": 1, "size_bytes": 0, "start_s": 1},
                                    {"src": 2, "dst": 2, "size_bytes": 1000}])")}});
    CHECK(*nothing.flows[0].fct_s == 0);
    CHECK(*nothing.flows[1].fct_s == 0);
    const io::Json tree = flows_with(kStar, {{"/network/model", model}, {"/flows", io::Array{}}});
    const FlowsFile file = parse_flows(tree, study::testing::shipped_files());
    const io::Json out = flows_tree(file, run_flow_list(file));
    CHECK(out.find("flows")->as_array().empty());
    CHECK(out.find("summary")->find("p99_s")->is_null());
    CHECK(out.find("links")->as_array().size() == 18);
  }
}

TEST_CASE("percentiles are nearest ranks: the value number ceil(P/100 n)") {
  std::vector<double> seconds;
  for (int i = 100; i > 0; --i) {
    seconds.push_back(i);
  }
  const auto hundred = flow_statistics(seconds);
  CHECK(hundred->mean_s == exactly(50.5));
  CHECK(hundred->p50_s == 50);
  CHECK(hundred->p95_s == 95);
  CHECK(hundred->p99_s == 99);
  CHECK(hundred->max_s == 100);
  const auto three = flow_statistics({3, 1, 2});
  CHECK(three->p50_s == 2); // ceil(1.5) = 2
  CHECK(three->p95_s == 3);
  CHECK_FALSE(flow_statistics({}).has_value());
}

TEST_CASE("the same file gives the same output, another seed another one") {
  const auto output = [](const Changes& changes) {
    const FlowsFile file = flows_file(kStar, changes);
    return io::pretty(flows_tree(file, run_flow_list(file)));
  };
  const Changes jitter{{"/start_jitter_s", 1e-5}};
  CHECK(output(jitter) == output(jitter));
  CHECK(output(jitter) != output({{"/start_jitter_s", 1e-5}, {"/seed", 2}}));
}

TEST_CASE("what the flow level does not know is null, never 0") {
  const FlowsFile file = flows_file(kLine);
  const io::Json tree = flows_tree(file, run_flow_list(file));
  CHECK(io::resolve(tree, "/flows/0/retransmissions")->is_null());
  CHECK(io::resolve(tree, "/links/0/max_queue_packets")->is_null());
  CHECK(io::resolve(tree, "/links/0/drops/buffer")->is_null());
  CHECK(io::resolve(tree, "/classes/protected/sent")->is_null());
  CHECK(io::resolve(tree, "/packet_hops")->is_null());
  CHECK(io::resolve(tree, "/network/transport")->is_null());
  CHECK(io::resolve(tree, "/solves")->as_integer() > 0);
  CHECK(io::resolve(tree, "/links/0/name")->as_string() == "x>y");
  CHECK(io::resolve(tree, "/links/0/utilization")->as_double() == exactly(1));
}

TEST_CASE("a topology is an object, a file, or the name of a shipped one") {
  for (const io::Json& topology : {json(R"("star_16")"), json(R"({"file": "star_16"})")}) {
    CHECK(flows_file(kStar, {{"/topology", topology}}).fabric.hosts == 16);
  }
}

TEST_CASE("the resolved network reads back as the same network") {
  const FlowsFile file = flows_file(kStar);
  const io::Json tree = flows_tree(file, run_flow_list(file));
  io::Json packet = *io::resolve(tree, "/network/packet");
  const FlowsFile again = flows_file(kStar, {{"/network/packet", packet}});
  CHECK(io::compact(*io::resolve(flows_tree(again, run_flow_list(again)), "/network")) ==
        io::compact(*io::resolve(tree, "/network")));
}

TEST_CASE("spans of a timeline: one per flow, those of one host on lanes of their own") {
  const FlowsFile file = flows_file(kStar, {{"/flows", json(R"([{"src": 0, "dst": 1, "packets": 10},
      {"src": 0, "dst": 2, "packets": 10}, {"src": 0, "dst": 1, "packets": 10, "start_s": 1}])")}});
  const events::Timeline timeline = flows_timeline(file, run_flow_list(file));
  REQUIRE(timeline.spans.size() == 3);
  CHECK(timeline.spans[0].track.lane != timeline.spans[1].track.lane);
  CHECK(timeline.spans[0].track.lane == timeline.spans[2].track.lane);
  double most = 0;
  for (const events::CounterPoint& point : timeline.counters) {
    most = std::max(most, point.value);
  }
  CHECK(most == 2); // both flows on h0>switch
}

TEST_CASE("flows that take too long, or can never end, are named") {
  CHECK_THROWS_WITH_AS((void)run_flows_text(kLine, {{"/limits/simulated_s", 0.1}}),
                       "unfinished at the limit of simulated time: flow 0 (a -> c), flow 1 (a -> "
                       "b), flow 2 (b -> c)",
                       SimulationError);
  CHECK_THROWS_AS((void)run_flows_text(kStar, {{"/limits/simulated_s", 1e-5}}), SimulationError);
}
