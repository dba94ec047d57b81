#pragma once
// The keys of the packet block: /cluster/network/packet of a scenario, /network/packet of a list of
// flows (PKT).

#include "document/fields/members.hpp"
#include "scenario/packet/packet_settings.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

// Limits far above real networks. They keep sums of bytes, packets and picoseconds within their
// integer types, so that the simulation itself need not check for overflow.
inline constexpr double kMostPacketBytes = 65535;
inline constexpr double kMostPackets = 1e9; // largest buffer, window or threshold, in packets
// Largest timeout in seconds. Times 64, the largest backoff, it fits in int64 picoseconds.
inline constexpr double kMostTimeout = 1e4;

inline constexpr links::BufferOptions kBufferDefaults{};
inline constexpr links::TransportOptions kTransportDefaults{};

// The scope decides which of the other keys may be given; the reader refuses the rest
// (packet_settings.cpp).
inline constexpr std::array kBuffer{
    word("scope", links::kBufferScopes,
         "Whether each port has a buffer, a switch shares one, or none is full.")
        .by_default("port"),
    integer("packets", "Packets that a port holds, with the one in service (scope port).",
            io::between(1, kMostPackets))
        .by_default(kBufferDefaults.packets),
    integer("bytes",
            "Bytes that a port holds, instead of packets (scope port), or bytes that a switch "
            "holds (scope shared; default 16000000).",
            io::between(1, io::kMostExact), "16000000"),
    number("alpha", "A queue may hold alpha times what is left of a shared buffer.", io::above(0))
        .by_default(kBufferDefaults.alpha)};

// Queue lengths, in packets, from which on an arriving packet is dropped, one per drop class.
// Packets whose loss matters least have the lowest threshold and are dropped first.
inline constexpr std::array kDropPackets{
    integer("droppable",
            "Packets in the queue from which on droppable packets are lost. Null means never; the "
            "default follows from the bandwidth of the port.",
            io::between(1, kMostPackets), "20")
        .nullable(),
    integer("middle",
            "Packets in the queue from which on packets of the middle class are lost. Null means "
            "never; the default follows from the bandwidth of the port.",
            io::between(1, kMostPackets), "50")
        .nullable(),
    integer("protected",
            "Packets in the queue from which on protected packets are lost. Null means never.",
            io::between(1, kMostPackets), "90")
        .nullable()};

// A link by number or by name.
inline constexpr std::array kLink{integer("link", "Number of the link.", io::at_least(0), "0"),
                                  text("link", "Name of the link.", R"("h0>switch")")};

// Flows and packets are numbered by 32-bit integers, of which the largest one is not used.
inline constexpr double kMostCount = 0xfffffffe;

// A packet is lost on the wire, behind the queue, so that a lost packet still takes the time of its
// transmission.
inline constexpr std::array kLossKeys{
    either("link", kLink, "The link, by number or name.", "0").required(),
    number("probability", "Probability that a packet is lost at the end of its transmission.",
           io::below_from(0, 1), "0.001")
        .required()};

inline constexpr std::array kDropOnceKeys{
    either("link", kLink, "The link, by number or name.", "0").required(),
    integer("flow", "Number of the flow.", io::between(0, kMostCount), "0").required(),
    integer("seq", "Number of the packet in its flow, from 0.", io::between(0, kMostCount), "9")
        .required(),
    integer("nth", "Which transmission of the packet is lost.", io::between(1, kMostCount))
        .by_default(1)};

inline constexpr std::array kLosses{object("link_loss", kLossKeys, "A link that loses packets.",
                                           R"({"link": 0, "probability": 0.001})")};
inline constexpr std::array kDropsOnce{object("drop_packets_once", kDropOnceKeys,
                                              "One transmission that is lost.",
                                              R"({"link": 0, "flow": 0, "seq": 9})")};

// Faults are for tests of how a transport recovers. For training results, let packets be lost in
// full queues instead.
inline constexpr std::array kFaults{list("link_loss", kLosses, "Links that lose packets at random.",
                                         R"([{"link": 0, "probability": 0.001}])"),
                                    list("drop_packets_once", kDropsOnce,
                                         "Single transmissions that are lost.",
                                         R"([{"link": 0, "flow": 0, "seq": 9}])")};

inline constexpr double kMostFlowBytes = 1e12;

inline constexpr std::array kCdfNumber{number(
    "cdf", "Bytes, then the share of flows of at most so many bytes.", io::at_least(0), "1000")};
inline constexpr std::array kCdfPoint{
    list("cdf", kCdfNumber, "[bytes, share of flows of at most so many bytes]", "[1000, 0.5]")
        .sizes(2, 2)};

// The load must be below 1: at load 1 a queue with random arrivals grows without end.
inline constexpr std::array kBackground{
    number("load", "Share of the bandwidth of every host.", io::below_from(0, 1), "0.3").required(),
    number("size_bytes", "Size of every flow. Either this or cdf is given.",
           io::between(1, kMostFlowBytes), "100000"),
    list("cdf", kCdfPoint,
         "Distribution of the sizes of flows, linear between the points; the last share is 1.",
         "[[1000, 0.5], [1000000, 1]]"),
    word("transport", links::kTransportKinds,
         "Transport of these flows: pfabric if and only if the network has it. The default is "
         "dctcp, or pfabric next to it.",
         R"("dlcp")")};

// The members of loss_bound_per_layer are named by layer numbers, which JSON writes as strings.
inline constexpr std::array kBoundOfLayer{
    number("loss_bound_per_layer", "Loss bound of the layer.", io::below_from(0, 1), "0.05")};

// The keys of all kinds of transport, in one object: those of a table belong to the same kinds
// (packet_transport.cpp).
inline constexpr std::array kTransportRows{of<&links::TransportOptions::kind>(
    word(links::kTransportKinds, "Transport of every message.").required())};
inline constexpr std::array kWindowRows{of<&links::TransportOptions::window_packets>(
    integer("Packets under way at once.", io::between(1, kMostPackets))
        .by_default(kTransportDefaults.window_packets))};
inline constexpr std::array kTcpRows{
    of<&links::TcpOptions::initial_window>(
        integer("Packets of the first window.", io::between(1, kMostPackets))
            .by_default(kTransportDefaults.tcp.initial_window)),
    bound<&links::TcpOptions::duplicate_acks>(
        integer("dup_acks", "Duplicate acknowledgements that mean a loss.",
                io::between(1, kMostPackets))
            .by_default(kTransportDefaults.tcp.duplicate_acks)),
    of<&links::TcpOptions::rto_min_s>(
        number("Shortest retransmission timeout, s.", io::above_to(0, kMostTimeout), "0.2")
            .by_default(kTransportDefaults.tcp.rto_min_s)),
    of<&links::TcpOptions::rto_initial_s>(
        number("Timeout before the first sample of the round-trip time, s.",
               io::above_to(0, kMostTimeout))
            .by_default(kTransportDefaults.tcp.rto_initial_s)),
    of<&links::TcpOptions::sack>(
        boolean("Selective acknowledgements tell the sender every lost packet.")
            .by_default(kTransportDefaults.tcp.sack)),
    of<&links::TcpOptions::restart_after_idle>(
        boolean("The window falls back to the first one after an idle time above the timeout.")
            .by_default(kTransportDefaults.tcp.restart_after_idle))};
inline constexpr std::array kDctcpRows{
    of<&links::TcpOptions::g>(
        number("Weight of the newest sample of marked packets.", io::above_to(0, 1))
            .by_default(kTransportDefaults.tcp.g)),
    of<&links::TcpOptions::alpha0>(
        number("Share of marked packets that is assumed at the start.", io::between(0, 1))
            .by_default(kTransportDefaults.tcp.alpha0)),
    of<&links::TcpOptions::retransmissions_ect>(
        boolean("Retransmissions are ECN-capable; otherwise they are lost where others are marked.")
            .by_default(kTransportDefaults.tcp.retransmissions_ect))};
inline constexpr std::array kBoundedLossRows{
    bound<&BoundedLoss::bound_push>(number("loss_bound_push",
                                           "Share of the packets of a message that may be lost; in "
                                           "a list of flows, of every flow.",
                                           io::below_from(0, 1))
                                        .by_default(0.1)),
    bound<&BoundedLoss::bound_pull>(
        number("loss_bound_pull", "Share of the packets of returning parameters that may be lost.",
               io::below_from(0, 1))
            .by_default(0)),
    by_hand<BoundedLoss>(map("loss_bound_per_layer", kBoundOfLayer,
                             "Bounds of single layers, {layer: bound}, instead of loss_bound_push; "
                             "a flow has layer 0.",
                             R"({"0": 0.05})")),
    of<&BoundedLoss::priority>(
        boolean("Packets go to the queues of a port by layer.").by_default(true)),
    of<&BoundedLoss::priority_map>(
        word(kPriorityMaps, "Whether the queues have equal numbers of layers or of bytes.")
            .by_default("layer")),
    of<&BoundedLoss::selective_drop>(
        boolean("Packets are lost by layer and by the size of their values.").by_default(true)),
    of<&BoundedLoss::front_fraction>(
        number("Share of the layers that count as front layers.", io::between(0, 1))
            .by_default(0.5)),
    of<&BoundedLoss::large_fraction>(
        number("Share of the packets that hold large values.", io::between(0, 1)).by_default(0.5)),
    of<&BoundedLoss::protect_large>(
        boolean("Large values are protected in all layers.").by_default(false)),
    of<&BoundedLoss::loss_fill>(word(kLossFills, "What replaces lost values.").by_default("zero")),
    of<&BoundedLoss::rescale>(
        boolean("Sums with lost values are scaled up; recorded in the result only.")
            .by_default(false))};
inline constexpr std::array kDlcpRows{
    of<&links::DlcpOptions::early_stop>(
        boolean("The receiver ends a message as soon as enough of it has arrived.")
            .by_default(kTransportDefaults.dlcp.early_stop)),
    of<&links::DlcpOptions::rate_control>(
        word(links::kRateControls, "How a connection finds its rate.").by_default("dctcp")),
    of<&links::DlcpOptions::feedback_packets>(
        integer("Packets that arrive between two messages of feedback.",
                io::between(1, kMostPackets))
            .by_default(kTransportDefaults.dlcp.feedback_packets)),
    of<&links::DlcpOptions::rate_floor>(
        number("Lowest rate, as a share of the line rate.", io::above_to(0, 1))
            .by_default(kTransportDefaults.dlcp.rate_floor)),
    of<&links::DlcpOptions::control_lossy>(boolean("Control packets can be lost in full buffers.")
                                               .by_default(kTransportDefaults.dlcp.control_lossy))};
inline constexpr auto kTransport =
    io::joined_keys(io::keys_of(kTransportRows), io::keys_of(kWindowRows), io::keys_of(kTcpRows),
                    io::keys_of(kDctcpRows), io::keys_of(kBoundedLossRows), io::keys_of(kDlcpRows));

// A string instead of an object is the kind of a transport with default options.
inline constexpr std::array kTransportForms{
    word("transport", links::kTransportKinds, "A transport with its defaults."),
    object("transport", kTransport, "A transport with its options.",
           R"({"kind": "dlcp", "loss_bound_push": 0.1})")};

// The default sizes are those of Ethernet: packets of 1500 bytes with 40 bytes of IP and TCP
// headers.
inline constexpr std::array kPacketRows{
    of<&links::PacketOptions::mtu_wire_bytes>(
        integer("Bytes of a full packet with its header.", io::between(1, kMostPacketBytes), "9000")
            .by_default(links::kPacketSizes.mtu_wire_bytes)),
    of<&links::PacketOptions::header_bytes>(
        integer("Bytes of the header of a data packet.", io::between(0, kMostPacketBytes))
            .by_default(links::kPacketSizes.header_bytes)),
    of<&links::PacketOptions::wire_overhead_bytes>(
        integer("Bytes on the wire next to each packet: 20 are Ethernet's preamble and gap.",
                io::between(0, kMostPacketBytes), "20")
            .by_default(links::kPacketSizes.wire_overhead_bytes)),
    of<&links::PacketOptions::control_bytes>(
        integer("Bytes of a control packet.", io::between(1, kMostPacketBytes))
            .by_default(links::kPacketSizes.control_bytes)),
    of<&links::PacketOptions::ack_bytes>(
        integer("Bytes of an acknowledgement.", io::between(1, kMostPacketBytes))
            .by_default(links::kPacketSizes.ack_bytes)),
    by_hand<links::PacketOptions>(
        integer("queues", "Priority queues of a port; queue 0 is for control packets.",
                io::between(2, 8))
            .by_default(links::kPacketSizes.queues)),
    of<&links::PacketOptions::switch_latency_s>(
        number("Forwarding time of a switch, s.", io::between(0, 1), "5e-7")
            .by_default(links::kPacketSizes.switch_latency_s)),
    by_hand<links::PacketOptions>(object("buffer", kBuffer, "What the port of a switch holds.",
                                         R"({"scope": "port", "packets": 100})")),
    by_hand<links::PacketOptions>(
        integer("mark_packets",
                "Packets in the queue from which on packets are marked (ECN). Null means never; "
                "the default follows from the bandwidth of the port.",
                io::between(1, kMostPackets), "65")
            .nullable()),
    by_hand<links::PacketOptions>(object("drop_packets", kDropPackets,
                                         "Packets in the queue from which on a class is lost.",
                                         R"({"droppable": 20})")),
    of<&links::PacketOptions::load_balancing>(
        word(links::kLoadBalancings, "How a path is chosen among the shortest: by connection, "
                                     "packet by packet, or as each flow says.")
            .by_default("ecmp")),
    of<&links::PacketOptions::spray_offset>(
        word(links::kSprayOffsets, "Path that a host uses first.").by_default("host")),
    of<&links::PacketOptions::queue_discipline>(
        word(links::kQueueDisciplines, "Order of packets within a queue.").by_default("fifo")),
    by_hand<links::PacketOptions>(object("faults", kFaults, "Losses that are put in by hand.",
                                         R"({"link_loss": [{"link": 0, "probability": 0.001}]})")),
    by_hand<links::PacketOptions>(
        object("background", kBackground,
               "Further flows that start at random times, from every host to every other. They "
               "load the network and are not listed in results.",
               R"({"load": 0.3, "size_bytes": 100000})")),
    by_hand<links::PacketOptions>(either("transport", kTransportForms,
                                         "Transport of the messages; the packet level needs one.",
                                         R"("dctcp")"))};
inline constexpr auto kPacket = io::keys_of(kPacketRows);

inline constexpr io::Key kPacketObject =
    object("packet", kPacket,
           "The packet level. The flow level takes paths, headers and the loss bound from it.",
           R"({"transport": "dctcp"})");

} // namespace stepsim::study::keys
