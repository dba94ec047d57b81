#pragma once
// The results of a simulated network, for lists of flows and for runs: the use of every link, and
// statistics of completion times.

#include "document/fields/written.hpp"
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
  std::optional<Queue> queue{}; // packet level only
};

// The use of one link in a run of `elapsed_s` seconds. The utilization is 0 if elapsed_s is 0.
[[nodiscard]] LinkResult link_result(const links::FabricLink& link, const links::LinkUse& use,
                                     double elapsed_s);
[[nodiscard]] LinkResult link_result(const links::LinkCounters& counters, double elapsed_s);

// A link of a result, by its place in the fabric.
struct NamedLink {
  links::LinkId id{};
  std::string name;
  LinkResult result;
};
[[nodiscard]] std::vector<NamedLink> named_links(const links::Fabric& fabric,
                                                 std::span<const LinkResult> results);

// The row of a count that only the packet level has; it is null at the flow level.
template <auto Member>
[[nodiscard]] constexpr io::Written<NamedLink> queue_row(std::string_view name,
                                                         std::string_view sentence) {
  return io::row<&NamedLink::result, &LinkResult::queue, Member>(name, sentence)
      .in(io::at_least(0));
}
inline constexpr auto kLinkDrops = std::to_array<io::Written<NamedLink>>({
    queue_row<&LinkResult::Queue::buffer_drops>("buffer", "Packets lost in a full buffer."),
    queue_row<&LinkResult::Queue::threshold_drops>(
        "threshold",
        "Packets dropped because the queue had reached the drop threshold of their class."),
    queue_row<&LinkResult::Queue::fault_drops>("fault",
                                               "Packets lost by faults that were put in by hand."),
});

// The keys of an element of `links`.
inline constexpr auto kLinkUse = std::to_array<io::Written<NamedLink>>({
    io::row<&NamedLink::id>("Number of the link.").in(io::at_least(0)),
    io::row<&NamedLink::name>("Name of the link."),
    io::row<&NamedLink::result, &LinkResult::bytes>(
        "Bytes that the link carried: the payload at the flow level unless headers count, all "
        "bytes on the wire at the packet level.")
        .in(io::at_least(0)),
    io::row<&NamedLink::result, &LinkResult::busy_s>(
        "Time during which the link carried something, s.")
        .in(io::at_least(0)),
    io::row<&NamedLink::result, &LinkResult::utilization>(
        "Busy time over elapsed time at the packet level; bytes over what the link could have "
        "carried at the flow level.")
        .in(io::at_least(0)),
    queue_row<&LinkResult::Queue::max_packets>("max_queue_packets",
                                               "Longest queue before the link, packets."),
    queue_row<&LinkResult::Queue::marks>("marks", "Packets that were marked (ECN)."),
    io::object_row<kLinkDrops>(
        "drops", "Packets lost before the link, by cause.",
        [](const NamedLink& link) -> const auto& { return link; }),
});

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
