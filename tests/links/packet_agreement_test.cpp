// The packet level beside the flow level, and order on shared ports (PKT 14: X5, X6, V35; PKT 10).
#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "links/flow/flow_run.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

// Hosts on a chain of five switches s0 .. s4; `shared[i]` joins s(i) to s(i + 1). Host 0 sends over
// all of them to host 1; hosts 2 + 2 i send over link i to hosts 3 + 2 i. Access links are fast.
Fabric parking_lot(const std::vector<double>& shared) {
  Fabric fabric;
  const auto count = static_cast<std::uint32_t>(shared.size());
  fabric.hosts = 2 + 2 * count;
  fabric.switches = count + 1;
  const auto join = [&](NodeId a, NodeId b, double rate) {
    fabric.links.push_back({a, b, 1e-6, rate});
    fabric.links.push_back({b, a, 1e-6, rate});
  };
  const auto switch_at = [&](std::uint32_t i) { return fabric.hosts + i; };
  join(0, switch_at(0), 1e11);
  join(switch_at(count), 1, 1e11);
  for (std::uint32_t i = 0; i < count; ++i) {
    join(2 + 2 * i, switch_at(i), 1e11);
    join(switch_at(i + 1), 3 + 2 * i, 1e11);
    join(switch_at(i), switch_at(i + 1), shared[i]);
  }
  for (NodeId node = 0; node < fabric.nodes(); ++node) {
    fabric.node_names.push_back("n" + std::to_string(node));
  }
  for (std::size_t link = 0; link < fabric.links.size(); ++link) {
    fabric.link_names.push_back("l" + std::to_string(link));
  }
  return fabric;
}

TEST_CASE("window and round robin share a parking lot as max-min fairness says") {
  const Fabric fabric = parking_lot({1.25e9, 0.75e9, 1.0e9, 0.5e9}); // X5: capacities of M4
  PacketOptions options = unlimited(TransportKind::window);
  options.queue_discipline = QueueDiscipline::flow_round_robin;
  options.transport.window_packets = 32;
  std::vector<PacketFlow> flows = {{.src = 0, .dst = 1, .size_bytes = 4000 * kPayload}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    flows.push_back({.src = 2 + 2 * i, .dst = 3 + 2 * i, .size_bytes = 4000 * kPayload});
  }
  const auto result = run(fabric, options, flows);
  // M4, with wire bytes: shares .625, .375, .5, .25 GB/s; F0 = F4 = 0.25; F1 = 1.0, F2 = 0.5,
  // F3 = 0.75. The start-up latency is that of the links of the path: 6 for F0, 3 for the others.
  const double bytes = 4000.0 * 1500;
  const std::array<double, 5> rate{0.25e9, 1.0e9, 0.5e9, 0.75e9, 0.25e9};
  for (std::size_t flow = 0; flow < 5; ++flow) {
    CAPTURE(flow);
    const double fluid = bytes / rate[flow] + (flow == 0 ? 6e-6 : 3e-6);
    CHECK(to_seconds(result.flows[flow].fct()) == within(fluid, 0.01));
  }
}

// Windows and turns share any network as the flow level does: to 2 w / n, for the last window of a
// flow, and 0.2 % (PKT 6.5), as long as a window covers two round trips and no data flows back.
void check_agreement(const Fabric& fabric, const std::vector<PacketFlow>& flows,
                     std::uint32_t window) {
  PacketOptions options = unlimited(TransportKind::window);
  options.queue_discipline = QueueDiscipline::flow_round_robin;
  options.transport.window_packets = window;
  const auto packets = run(fabric, options, flows);
  std::vector<FlowSpec> fluid;
  for (const PacketFlow& flow : flows) {
    const std::int64_t count = flow.size_bytes / kPayload;
    fluid.push_back(
        {.src = flow.src, .dst = flow.dst, .bytes = 1500.0 * static_cast<double>(count)});
  }
  const auto level = run_flows(fabric, flow_paths(fabric, Routes(fabric), fluid, {}), fluid);
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    CAPTURE(flow);
    const double tolerance = 2.0 * window / packets.flows[flow].packets + 0.002;
    CHECK(to_seconds(packets.flows[flow].fct()) == within(level.end_s[flow], tolerance));
  }
}

TEST_CASE("window and round robin agree with the flow level on random lines") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const std::uint64_t links = 2 + base::pick(base::hash(seed, 0), 3);
    std::vector<double> rates;
    for (std::uint64_t link = 0; link < links; ++link) {
      rates.push_back(0.25e9 * static_cast<double>(1 + base::pick(base::hash(seed, 1, link), 5)));
    }
    const auto packets = [seed](std::uint64_t flow) {
      return static_cast<std::int64_t>(4000 + base::pick(base::hash(seed, 2, flow), 3000));
    };
    std::vector<PacketFlow> flows = {{.src = 0, .dst = 1, .size_bytes = packets(0) * kPayload}};
    for (std::uint32_t i = 0; i < links; ++i) {
      flows.push_back(
          {.src = 2 + 2 * i, .dst = 3 + 2 * i, .size_bytes = packets(i + 1) * kPayload});
    }
    check_agreement(parking_lot(rates), flows, 32);
  }
}

TEST_CASE("window and round robin agree with the flow level on random leaf-spines") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    const auto spines = static_cast<std::uint32_t>(1 + base::pick(base::hash(seed, 0), 3));
    const Fabric fabric = leaf_spine({.leaves = 2,
                                      .hosts_per_leaf = 5,
                                      .spines = spines,
                                      .host = {.latency_s = 1e-7, .bandwidth_Bps = 1e10},
                                      .uplink = {.latency_s = 1e-7, .bandwidth_Bps = 1.25e9}});
    std::vector<PacketFlow> flows;
    for (NodeId host = 0; host < 5; ++host) {
      const std::uint64_t draw = base::hash(seed, 1, host);
      flows.push_back({.src = host,
                       .dst = static_cast<NodeId>(5 + base::pick(draw, 5)),
                       .size_bytes = (2500 + static_cast<std::int64_t>(draw % 2000)) * kPayload});
    }
    check_agreement(fabric, flows, 10);
  }
}

TEST_CASE("two equal raw flows on one uplink take what the flow level says, to 0.2 %") {
  const Fabric fabric = leaf_spine(
      {.leaves = 2, .hosts_per_leaf = 4, .spines = 4, .host = kLink10G, .uplink = kLink10G});
  const Routes routes(fabric);
  PacketOptions options = unlimited(TransportKind::raw); // X6
  options.load_balancing = LoadBalancing::explicit_path;
  std::vector<PacketFlow> flows;
  for (NodeId host = 0; host < 2; ++host) {
    flows.push_back({.src = host,
                     .dst = 4 + host,
                     .size_bytes = 1000 * kPayload,
                     .path = path_via(fabric, routes, host, 4 + host, 10)});
  }
  const double fluid = 2 * 1000 * 1500 / 1.25e9 + 4e-6; // 2404 us
  for (const MessageResult& flow : run(fabric, options, flows).flows) {
    CHECK(to_seconds(flow.fct()) == within(fluid, 0.002));
  }
}

// F11, one parameter server over one link: the back layer's gradient is ready at b2 and takes c2,
// the front layer's at b2 + b1 and takes c1; forward passes f1, f2 follow in order.
Picoseconds two_layers(bool priority) {
  const std::int64_t c1 = 8333; // packets of 1.2 us: 10 ms and 60 ms
  const std::int64_t c2 = 50'000;
  const Fabric fabric = star(2, kLink10G);
  std::vector<PacketFlow> flows = {
      {.src = 0, .dst = 1, .size_bytes = c2 * kPayload, .start_s = 0.020, .queue = 2},
      {.src = 0, .dst = 1, .size_bytes = c1 * kPayload, .start_s = 0.040}};
  flows[1].queue = priority ? 1 : 2;
  const auto result = run(fabric, unlimited(TransportKind::raw), flows);
  const Picoseconds forward = 10 * kMillisecond;
  const Picoseconds first = result.flows[1].end + forward;
  return std::max(first, result.flows[0].end) + forward;
}

TEST_CASE("priority lets the front layer's gradient pass the back layer's (F11)") {
  // FIFO: b2 + max(c2, b1) + c1 + f1 + f2 = 20 + 60 + 10 + 10 + 10
  CHECK(to_seconds(two_layers(false)) == within(0.110, 0.001)); // V35
  // max(b2 + b1 + c1 + f1, b2 + c1 + c2) + f2 = max(60, 90) + 10
  CHECK(to_seconds(two_layers(true)) == within(0.100, 0.001));
}

TEST_CASE("selective drop spares protected packets while their own load fits (Q8)") {
  const Fabric fabric = star(5, kLink10G);
  PacketOptions options = with(TransportKind::raw);
  options.buffer.packets = 100;
  options.drop_droppable = 20;
  std::vector<PacketFlow> flows = incast(4, 400 * kPayload);
  for (PacketFlow& flow : flows) { // a fourth of four times the line: just what fits
    flow.drop_rule = {.kind = DropRule::Kind::every, .every = 4, .offset = flow.src};
  }
  const auto result = run(fabric, options, flows);
  CHECK(all_drops(result, DropCause::buffer) == 0); // protected packets meet only this rule
  CHECK(all_drops(result, DropCause::threshold) > 1000);
}

TEST_CASE("dlcp stays near its lossless time on a link that loses packets (Q12)") {
  const Fabric fabric = star(2, kLink10G);
  const std::vector<PacketFlow> flows = {
      {.src = 0, .dst = 1, .size_bytes = 5000 * kPayload, .loss_bound = 0.1}};
  PacketOptions options = with(TransportKind::dlcp);
  const double lossless = to_seconds(run(fabric, options, flows).flows[0].fct());
  for (const double loss : {1e-4, 1e-3, 1e-2}) {
    for (options.seed = 1; options.seed <= 3; ++options.seed) {
      CAPTURE(loss);
      CAPTURE(options.seed);
      options.transport.dlcp.rate_control = RateControl::none;
      options.link_loss = {{link_between(fabric, 0, 2), loss}};
      const double lossy = to_seconds(run(fabric, options, flows).flows[0].fct());
      CHECK(lossy <= 1.02 * lossless);
      CHECK(lossy >= lossless);
    }
  }
}

} // namespace
} // namespace stepsim::links
