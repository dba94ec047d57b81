// Bounded-loss delivery (PKT 5.6, 5.7; acceptance rows of PKT 14) and pFabric.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "links/packet_scenes.hpp"

namespace stepsim::links {
namespace {

PacketOptions dlcp(RateControl control) {
  PacketOptions options = with(TransportKind::dlcp);
  options.transport.dlcp.rate_control = control;
  options.mark_packets = 65;
  return options;
}

std::vector<PacketFlow> one_flow(std::int64_t packets, double loss_bound) {
  return {{.src = 0, .dst = 1, .size_bytes = packets * kPayload, .loss_bound = loss_bound}};
}

std::vector<PacketFlow> bounded_incast(std::uint32_t senders, std::int64_t packets, double bound) {
  std::vector<PacketFlow> flows = incast(senders, packets * kPayload);
  for (PacketFlow& flow : flows) {
    flow.loss_bound = bound;
  }
  return flows;
}

// V39: of every dlcp run.
void check_bounds(const PacketFlowsResult& result) {
  for (const MessageResult& flow : result.flows) {
    CHECK(flow.complete());
    CHECK(flow.delivered_packets >= flow.need);
    CHECK(flow.timeouts == 0);
    CHECK(flow.lost_network_bytes >= 0);
    CHECK(flow.lost_stopped_bytes() >= 0);
  }
}

double slowest_ratio(const PacketFlowsResult& result) {
  const MessageResult& any = result.flows.front();
  const double ideal = static_cast<double>(result.flows.size()) * any.need * 1.2e-6;
  return to_seconds(last_end(result)) / ideal;
}

TEST_CASE("dlcp: need = ceil((1 - p) n), exact for binary fractions") {
  CHECK(packets_needed(1000, 0.1) == 900);
  CHECK(packets_needed(10, 0.1) == 9);
  CHECK(packets_needed(5, 0.1) == 5); // 4.5 rounds up: nothing may be lost
  CHECK(packets_needed(45, 0.1) == 41);
  CHECK(packets_needed(7, 0) == 7);
  CHECK(packets_needed(0, 0.1) == 0);
}

TEST_CASE("dlcp: a message is complete with the packets it needs; STOP ends the rest") {
  const auto result =
      run(star(2, kLink10G), dlcp(RateControl::none), one_flow(1000, 0.1)); // V15, F4, F5
  const MessageResult& flow = result.flows[0];
  CHECK(flow.fct() == (900 + 1) * kTau + 2 * kDelay);
  CHECK(flow.fct() == us(1083.2));
  CHECK(flow.sender_done == flow.end + 2 * (kControl + kDelay));
  CHECK(flow.sender_done == us(1085.3024));
  // Begun between completion and STOP: ceil((tau + 2 d + 2 (t_c + d)) / tau)
  CHECK(flow.wasted_packets == 5);
  CHECK((kTau + 2 * kDelay + 2 * (kControl + kDelay) + kTau - 1) / kTau == 5);
  CHECK(flow.sent_packets == 905);
  CHECK(flow.lost_network_bytes == 0);
  CHECK(flow.lost_stopped_bytes() == 100 * kPayload);
  check_bounds(result);
}

TEST_CASE("dlcp: the last packet lost costs nothing within the bound") {
  const Fabric fabric = star(2, kLink10G);
  PacketOptions options = dlcp(RateControl::none);
  options.drop_once = {{.link = link_between(fabric, 0, 2), .connection = 0, .seq = 9}};
  const auto result = run(fabric, options, one_flow(10, 0.1)); // V16
  CHECK(result.flows[0].fct() == (9 + 1) * kTau + 2 * kDelay);
  CHECK(result.flows[0].fct() == us(14.0));
  CHECK(result.flows[0].retransmissions == 0);
  CHECK(result.flows[0].lost_network_bytes == kPayload);
  options.transport.dlcp.early_stop = false;
  const auto waits = run(fabric, options, one_flow(10, 0.1)); // X1: arrival of PROBE
  CHECK(waits.flows[0].fct() == 10 * kTau + 2 * (kControl + kDelay));
  CHECK(waits.flows[0].fct() == us(14.1024));
  check_bounds(waits);
}

TEST_CASE("dlcp: random loss below the bound takes need / (1 - q) packets") {
  const Fabric fabric = star(2, kLink10G);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    PacketOptions options = dlcp(RateControl::none);
    options.seed = seed;
    options.link_loss = {{link_between(fabric, 0, 2), 0.05}};
    const auto little = run(fabric, options, one_flow(10'000, 0.1)); // V37: 9000 / 0.95 = 9474
    CHECK(to_seconds(little.flows[0].fct()) == within(11'372e-6, 0.01));
    CHECK(little.flows[0].retransmissions == 0);
    check_bounds(little);
    options.link_loss[0].probability = 0.20;
    const auto much = run(fabric, options, one_flow(10'000, 0.1)); // V38: 1000 / 0.8 = 1250
    CHECK(much.flows[0].probe_rounds == 1);
    CHECK(much.flows[0].retransmissions == within(1250, 0.1));
    CHECK(to_seconds(much.flows[0].fct()) == within(13'510e-6, 0.02));
    check_bounds(much);
  }
}

TEST_CASE("dlcp: an incast drains at the rate of the link, without timeouts or duplicates") {
  for (const std::uint32_t senders : {2U, 4U, 8U, 16U, 32U, 64U}) { // X2, Q3
    CAPTURE(senders);
    const Fabric fabric = star(senders + 1, kLink10G);
    const auto none = run(fabric, dlcp(RateControl::none), bounded_incast(senders, 45, 0.1));
    CHECK(none.flows[0].need == 41);
    CHECK(slowest_ratio(none) <= 1.15);
    const auto paced = run(fabric, dlcp(RateControl::dctcp), bounded_incast(senders, 45, 0.1));
    CHECK(slowest_ratio(paced) <= 1.25);
    MESSAGE(senders, " senders: none ", slowest_ratio(none), ", dctcp ", slowest_ratio(paced));
    for (const PacketFlowsResult* result : {&none, &paced}) {
      check_bounds(*result);
      for (const MessageResult& flow : result->flows) {
        CHECK(flow.duplicates == 0);
      }
    }
  }
}

TEST_CASE("dlcp: without tolerance an incast is still reliable and near the ideal drain") {
  const Fabric fabric = star(33, kLink10G); // X3, Q5
  for (const RateControl control : {RateControl::none, RateControl::dctcp}) {
    const auto result = run(fabric, dlcp(control), bounded_incast(32, 45, 0));
    CHECK(slowest_ratio(result) <= 1.10);
    MESSAGE("p = 0: ", slowest_ratio(result));
    check_bounds(result);
    for (const MessageResult& flow : result.flows) {
      CHECK(flow.delivered_packets == 45);
    }
  }
}

TEST_CASE("dlcp: two long flows under rate control keep the link busy") {
  const Fabric fabric = star(3, kLink10G); // X4
  const auto result = run(fabric, dlcp(RateControl::dctcp), bounded_incast(2, 20'000, 0.1));
  CHECK(last_end(result) <= us(1.05 * 43'200)); // reference 43,633
  CHECK(last_end(result) >= us(43'200));
  MESSAGE("last ", to_seconds(last_end(result)) * 1e6, " us");
  check_bounds(result);
  const auto timely = run(fabric, dlcp(RateControl::timely), bounded_incast(2, 20'000, 0.1));
  check_bounds(timely);
  MESSAGE("timely: last ", to_seconds(last_end(timely)) * 1e6, " us");
}

TEST_CASE("dlcp: the tail of a large incast is a fraction of DCTCP's") {
  const Fabric fabric = star(144, {.latency_s = 0.5e-6, .bandwidth_Bps = 1.25e10}); // V40
  std::vector<PacketFlow> flows = bounded_incast(143, 45, 0.1);
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    flows[flow].start_s = base::u01(1, 3, flow) * 5e-6;
    flows[flow].drop_rule = {.kind = DropRule::Kind::every, .every = 2, .offset = 0};
  }
  PacketOptions options = dlcp(RateControl::dctcp);
  options.buffer.packets = 1000;
  options.mark_packets = 650;
  options.drop_droppable = 200;
  const auto bounded = run(fabric, options, flows);
  check_bounds(bounded);
  for (PacketFlow& flow : flows) {
    flow.drop_rule = {};
  }
  options.transport.kind = TransportKind::dctcp;
  const auto tcp = run(fabric, options, flows);
  const auto slowest = [](const PacketFlowsResult& result) {
    Picoseconds most = 0;
    for (const MessageResult& flow : result.flows) {
      most = std::max(most, flow.fct());
    }
    return to_seconds(most);
  };
  const auto mean = [](const PacketFlowsResult& result) {
    double sum = 0;
    for (const MessageResult& flow : result.flows) {
      sum += to_seconds(flow.fct());
    }
    return sum / static_cast<double>(result.flows.size());
  };
  MESSAGE("max: dctcp ", slowest(tcp) * 1e3, " ms, dlcp ", slowest(bounded) * 1e3,
          " ms; mean: ", mean(tcp) * 1e3, ", ", mean(bounded) * 1e3);
  CHECK(slowest(tcp) >= 0.010);
  CHECK(slowest(tcp) <= 0.0115);
  CHECK(slowest(bounded) >= 0.00069);
  CHECK(slowest(bounded) <= 0.00090);
  const double cut = 1 - slowest(bounded) / slowest(tcp);
  CHECK(cut >= 0.90);
  CHECK(cut <= 0.95);
  CHECK(1 - mean(bounded) / mean(tcp) > 0.5);
}

TEST_CASE("dlcp: lossy control packets are repeated until they are answered") {
  const Fabric fabric = star(9, kLink10G);
  PacketOptions options = dlcp(RateControl::none);
  options.buffer.packets = 20;
  options.transport.dlcp.control_lossy = true;
  const auto result = run(fabric, options, bounded_incast(8, 45, 0));
  check_bounds(result);
  for (const MessageResult& flow : result.flows) {
    CHECK(flow.sender_done != kNeverPs);
  }
}

TEST_CASE("pfabric: the shortest message comes first, all are complete") {
  const Fabric fabric = star(9, kLink10G);
  std::vector<PacketFlow> flows = incast(8, 200 * kPayload);
  flows[3].size_bytes = 10 * kPayload;
  const auto result = run(fabric, with(TransportKind::pfabric), flows);
  for (const MessageResult& flow : result.flows) {
    CHECK(flow.delivered_bytes == flow.size_bytes);
  }
  // At most one packet of another message is in its way at the switch (no preemption), and one more
  // at each of the two ports is in service when it comes.
  CHECK(result.flows[3].fct() <= (10 + 1 + 2) * kTau + 2 * kDelay);
  CHECK(max_queue_of_switches(fabric, result) <= 24 + 1);
  const double ideal = (7 * 200 + 10) * 1.2e-6;
  CHECK(to_seconds(last_end(result)) <= 1.3 * ideal);
  MESSAGE("pfabric last / ideal ", to_seconds(last_end(result)) / ideal);
}

} // namespace
} // namespace stepsim::links
