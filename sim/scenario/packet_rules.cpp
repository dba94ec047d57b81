// The rows of the feature matrix for packets and transports.
#include "scenario/rules.hpp"

#include <bit>

#include "collectives/compress/compression.hpp"

namespace stepsim::study {

namespace {

using links::TransportKind;

bool is_no_flow(const Scenario& s) { return s.cluster.network.model != NetworkModel::flow; }
TransportKind transport_of(const Scenario& s) {
  return s.cluster.network.packet.options.transport.kind;
}

// Transports without acknowledgements send no packets of that size.
bool acknowledges(TransportKind kind) {
  return kind != TransportKind::raw && kind != TransportKind::dlcp;
}
bool has_background(const Scenario& s) { return s.cluster.network.packet.background.load > 0; }
// Whether the transport of the job or of the background is one of these, where packets are sent.
bool sends_by(const Scenario& s, std::initializer_list<TransportKind> kinds) {
  return s.cluster.network.model != NetworkModel::packet ||
         std::ranges::find(kinds, transport_of(s)) != kinds.end() ||
         (has_background(s) &&
          std::ranges::find(kinds, s.cluster.network.packet.background.transport) != kinds.end());
}
// Whether every transfer of the exchanges is added by its receiver.
bool only_adds(const Scenario& s) {
  const auto kind = collectives::row(s.communication.compression.method).kind;
  return s.communication.collective == collectives::AlgorithmId::recursive_doubling &&
         std::has_single_bit(static_cast<std::uint64_t>(s.cluster.ranks())) &&
         (kind == collectives::CompressionKind::dense ||
          kind == collectives::CompressionKind::codec) &&
         s.training.sharding.strategy == ShardingStrategy::none && !has_islands(s.training);
}
// Only dlcp sends packets that may be lost.
bool drops_by_class(const Scenario& s) {
  return transport_of(s) == TransportKind::dlcp || has_background(s);
}
std::string transport_word(const Scenario& s) {
  return "transport " + std::string(links::kTransportKinds[transport_of(s)]);
}

// The last row is what packets alone have; flows take sizes, paths and the loss bound of dlcp from
// the block.
constexpr std::array kPacketRules{
    KeyRule{"/cluster/network/packet/ack_bytes",
            "the transport or the background acknowledges packets",
            [](const Scenario& s) { return acknowledges(transport_of(s)) || has_background(s); },
            transport_word},
    KeyRule{"/cluster/network/packet/drop_packets/droppable "
            "/cluster/network/packet/drop_packets/middle",
            "the transport is dlcp, or there is background load", drops_by_class, transport_word},
    KeyRule{"/cluster/network/packet/control_bytes",
            "the transport, or that of the background, is dlcp or pfabric",
            [](const Scenario& s) {
              return sends_by(s, {TransportKind::dlcp, TransportKind::pfabric});
            },
            transport_word},
    KeyRule{"/cluster/network/packet/drop_packets/protected",
            "it is null, or the transport, or that of the background, is raw, window or reno",
            [](const Scenario& s) {
              const auto& given = s.cluster.network.packet.options.drop_protected;
              return !given || *given == links::kNoThreshold ||
                     sends_by(s, {TransportKind::raw, TransportKind::window, TransportKind::reno});
            },
            transport_word},
    KeyRule{
        "/cluster/network/packet/transport/loss_bound_pull",
        "it is 0, or ranks receive sums that replace earlier ones: parameters are not sharded in "
        "units, and all-reduces are not recursive_doubling of 2^k ranks",
        [](const Scenario& s) {
          return s.cluster.network.packet.bounded_loss.bound_pull == 0 ||
                 (!has_units(s.training.sharding) && !only_adds(s));
        },
        [](const Scenario& s) {
          return only_adds(s) ? std::string("collective recursive_doubling, which only adds")
                              : "sharding " +
                                    std::string(kShardingStrategies[s.training.sharding.strategy]) +
                                    ", where no earlier values stand in for lost ones";
        }},
    KeyRule{"/cluster/network/packet/queues", "the transport is dlcp",
            [](const Scenario& s) { return transport_of(s) == TransportKind::dlcp; },
            transport_word},
    KeyRule{"/cluster/network/packet/spray_offset", "load_balancing is spray_round_robin",
            [](const Scenario& s) {
              return s.cluster.network.packet.options.load_balancing ==
                     links::LoadBalancing::spray_round_robin;
            },
            [](const Scenario& s) {
              return "load_balancing " +
                     std::string(
                         links::kLoadBalancings[s.cluster.network.packet.options.load_balancing]);
            }},
    KeyRule{"/cluster/network/packet/wire_overhead_bytes",
            "the network model is packet, or flow with count_headers",
            [](const Scenario& s) { return is_no_flow(s) || s.cluster.network.count_headers; },
            model_word},
    KeyRule{"/cluster/network/packet/control_bytes /cluster/network/packet/ack_bytes "
            "/cluster/network/packet/queues /cluster/network/packet/switch_latency_s "
            "/cluster/network/packet/buffer /cluster/network/packet/mark_packets "
            "/cluster/network/packet/drop_packets /cluster/network/packet/spray_offset "
            "/cluster/network/packet/queue_discipline /cluster/network/packet/faults "
            "/cluster/network/packet/background /cluster/network/packet/transport/priority "
            "/cluster/network/packet/transport/priority_map "
            "/cluster/network/packet/transport/selective_drop "
            "/cluster/network/packet/transport/front_fraction "
            "/cluster/network/packet/transport/large_fraction "
            "/cluster/network/packet/transport/protect_large "
            "/cluster/network/packet/transport/rate_control "
            "/cluster/network/packet/transport/feedback_packets "
            "/cluster/network/packet/transport/rate_floor "
            "/cluster/network/packet/transport/loss_fill "
            "/cluster/network/packet/transport/rescale "
            "/cluster/network/packet/transport/control_lossy",
            "the network model is packet", is_no_flow, model_word},
};

} // namespace

std::span<const KeyRule> packet_rules() { return kPacketRules; }

} // namespace stepsim::study
