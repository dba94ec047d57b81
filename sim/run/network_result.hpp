#pragma once
// What a simulated network shows of itself, in lists of flows and in runs: the use of every link,
// and the times of messages.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "net/flow/link_use.hpp"
#include "net/packet/ports.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct LinkResult {
  double bytes{}; // payload at the flow level, unless headers count; on the wire in packets
  double busy_s{};
  double utilization{}; // bytes / (bandwidth x elapsed), at the packet level busy_s / elapsed
  struct Queue {
    std::uint32_t max_packets{};
    std::uint64_t marks{}, buffer_drops{}, threshold_drops{}, fault_drops{};
  };
  std::optional<Queue> queue; // packet level
};

// 0 where nothing took time.
[[nodiscard]] LinkResult link_result(const net::FabricLink& link, const net::LinkUse& use,
                                     double elapsed_s);
[[nodiscard]] LinkResult link_result(const net::LinkCounters& counters, double elapsed_s);
// By number and name.
[[nodiscard]] io::Json link_tree(const net::Fabric& fabric, net::LinkId id, const LinkResult& link);

// The links that carried something, by utilization, the busiest first, at most `most`.
[[nodiscard]] std::vector<net::LinkId> busiest_links(std::span<const LinkResult> links,
                                                     std::size_t most);

struct FlowStatistics {
  double mean_s{}, p50_s{}, p95_s{}, p99_s{}, max_s{};
};
// Percentiles by nearest rank: the sorted value number ceil(P / 100 count). Empty for no values.
[[nodiscard]] std::optional<FlowStatistics> flow_statistics(std::vector<double> seconds);

} // namespace stepsim::study
