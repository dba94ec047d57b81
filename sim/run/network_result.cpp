// Both levels of network simulation give their counters in one form. The flow level has no queues,
// so that what it cannot say is null and not 0.
#include "run/network_result.hpp"

#include "document/fields/members.hpp"

namespace stepsim::study {

LinkResult link_result(const links::FabricLink& link, const links::LinkUse& use, double elapsed_s) {
  return {.bytes = use.bytes,
          .busy_s = use.busy_s,
          .utilization = elapsed_s > 0 ? use.bytes / (link.bandwidth_Bps * elapsed_s) : 0};
}

// In packets a link is busy while it transmits, headers included, so that the share of time is its
// utilization; a flow may use a link all the time at less than its rate, so that bytes are counted
// there.
LinkResult link_result(const links::LinkCounters& counters, double elapsed_s) {
  const double busy_s = links::to_seconds(counters.busy);
  const auto drops = [&](links::DropCause cause) {
    return counters.drops[static_cast<std::size_t>(cause)];
  };
  return {.bytes = static_cast<double>(counters.bytes),
          .busy_s = busy_s,
          .utilization = elapsed_s > 0 ? busy_s / elapsed_s : 0,
          .queue = LinkResult::Queue{.max_packets = counters.max_queue,
                                     .marks = counters.marks,
                                     .buffer_drops = drops(links::DropCause::buffer),
                                     .threshold_drops = drops(links::DropCause::threshold),
                                     .fault_drops = drops(links::DropCause::fault)}};
}

std::vector<NamedLink> named_links(const links::Fabric& fabric,
                                   std::span<const LinkResult> results) {
  return base::collected_n<NamedLink>(static_cast<links::LinkId>(results.size()),
                                      [&](links::LinkId id) {
                                        return NamedLink{id, fabric.link_names[id], results[id]};
                                      });
}

// Stable, so that links of equal use stay in the order of their numbers on every machine.
std::vector<links::LinkId> busiest_links(std::span<const LinkResult> links, std::size_t most) {
  std::vector<links::LinkId> busiest;
  for (links::LinkId link = 0; link < links.size(); ++link) {
    if (links[link].busy_s > 0) {
      busiest.push_back(link);
    }
  }
  std::ranges::stable_sort(busiest, std::ranges::greater(),
                           [&](links::LinkId link) { return links[link].utilization; });
  busiest.resize(std::min(busiest.size(), most));
  return busiest;
}

std::optional<FlowStatistics> flow_statistics(std::vector<double> seconds) {
  if (seconds.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(seconds);
  const auto count = static_cast<double>(seconds.size());
  const auto percentile = [&](double percent) {
    // Nearest rank gives a value that occurred; an interpolated 99th percentile of ten flows would
    // be a time that no flow took.
    const auto rank = static_cast<std::size_t>(std::ceil(percent * count / 100));
    return seconds[std::max<std::size_t>(rank, 1) - 1];
  };
  const double sum = base::sum_of<double>(seconds);
  return FlowStatistics{.mean_s = sum / count,
                        .p50_s = percentile(50),
                        .p95_s = percentile(95),
                        .p99_s = percentile(99),
                        .max_s = seconds.back()};
}

} // namespace stepsim::study
