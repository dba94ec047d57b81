#pragma once
// The results of a simulated network, for lists of flows and for runs: the use of every link, and
// statistics of completion times.

#include "document/fields/key.hpp"
#include "links/flow/flow_path.hpp"
#include "links/packet/ports.hpp"

namespace stepsim::study {

struct LinkResult {
  // Bytes that the link carried. Flow level: payload, with headers if count_headers of the network
  // is true; packet level: all bytes on the wire.
  double bytes{};
  double busy_s{};
  double utilization{}; // flow level: bytes / (bandwidth x elapsed); packet level: busy / elapsed
  struct Queue {
    std::uint32_t max_packets{};
    std::uint64_t marks{}, buffer_drops{}, threshold_drops{}, fault_drops{};
  };
  std::optional<Queue> queue; // packet level only
};

// The use of one link in a run of `elapsed_s` seconds. The utilization is 0 if elapsed_s is 0.
[[nodiscard]] LinkResult link_result(const links::FabricLink& link, const links::LinkUse& use,
                                     double elapsed_s);
[[nodiscard]] LinkResult link_result(const links::LinkCounters& counters, double elapsed_s);
// The element of the list `links` of a result for this link, with the keys of kLinkUse.
[[nodiscard]] io::Json link_tree(const links::Fabric& fabric, links::LinkId id,
                                 const LinkResult& link);

namespace keys {

using namespace io::rows;

// A key for a count that only the packet level has; its value is null at the flow level.
[[nodiscard]] constexpr io::Key packet_count(std::string_view name, std::string_view sentence) {
  return integer(name, sentence).in(io::at_least(0)).nullable().required();
}

inline constexpr std::array kLinkDrops{
    packet_count("buffer", "Packets lost in a full buffer."),
    packet_count(
        "threshold",
        "Packets dropped because the queue had reached the drop threshold of their class."),
    packet_count("fault", "Packets lost by faults that were put in by hand.")};

// The keys of an element of `links`.
inline constexpr std::array kLinkUse{
    integer("id", "Number of the link.").in(io::at_least(0)).required(),
    text("name", "Name of the link.").required(),
    number("bytes", "Bytes that the link carried: the payload at the flow level unless headers "
                    "count, all bytes on the wire at the packet level.")
        .in(io::at_least(0))
        .plain()
        .required(),
    number("busy_s", "Time during which the link carried something, s.")
        .in(io::at_least(0))
        .plain()
        .required(),
    number("utilization",
           "Busy time over elapsed time at the packet level; bytes over what the link could have "
           "carried at the flow level.")
        .in(io::at_least(0))
        .plain()
        .required(),
    packet_count("max_queue_packets", "Longest queue before the link, packets."),
    packet_count("marks", "Packets that were marked (ECN)."),
    object("drops", kLinkDrops, "Packets lost before the link, by cause.").required()};

} // namespace keys

// The links with traffic, by descending utilization; at most `most`.
[[nodiscard]] std::vector<links::LinkId> busiest_links(std::span<const LinkResult> links,
                                                       std::size_t most);

struct FlowStatistics {
  double mean_s{}, p50_s{}, p95_s{}, p99_s{}, max_s{};
};
// The statistics of these times; empty if there are none. Percentile P is the nearest rank: the
// value number ceil(P / 100 count) in ascending order.
[[nodiscard]] std::optional<FlowStatistics> flow_statistics(std::vector<double> seconds);

} // namespace stepsim::study
