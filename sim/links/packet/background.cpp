// Every host sends flows as a Poisson process of its own, at a rate that fills `load` of its link
// on average, to any other host alike, with sizes drawn from a distribution. All draws are hashes
// of seed, host and number of the flow: one more flow of one host changes nothing for the others.
#include "links/packet/background.hpp"

namespace stepsim::links {

namespace {
constexpr std::uint64_t kBackgroundStream = 6;
enum Draw : std::uint64_t { kGap, kDestination, kSize };
} // namespace

// The mean of a distribution that is linear between its points: the middle of each piece by its
// share.
double mean_bytes(const BackgroundOptions& options) {
  assert(!options.cdf.empty() && "a distribution has points");
  double mean = 0;
  auto [bytes, part] = std::pair{options.cdf.front().first, 0.0};
  for (const auto& [next_bytes, next_part] : options.cdf) {
    mean += (next_part - part) * (bytes + next_bytes) / 2;
    bytes = next_bytes;
    part = next_part;
  }
  return mean;
}

std::vector<double> offered_Bps(const Fabric& fabric, const BackgroundOptions& options) {
  std::vector<double> offered(fabric.hosts, 0);
  for (const FabricLink& link : fabric.links) {
    if (fabric.is_host(link.from)) {
      offered[link.from] = std::max(offered[link.from], options.load * link.bandwidth_Bps);
    }
  }
  return offered;
}

// The inverse of the distribution.
double bytes_at(const BackgroundOptions& options, double part) {
  const auto above = std::ranges::upper_bound(options.cdf, part, {},
                                              [](const auto& point) { return point.second; });
  assert(above != options.cdf.end() && "a distribution ends at 1");
  if (above == options.cdf.begin()) {
    return above->first;
  }
  const auto& [low_bytes, low] = *std::prev(above);
  const auto& [high_bytes, high] = *above;
  return low_bytes + (high_bytes - low_bytes) * (part - low) / (high - low);
}

BackgroundArrivals::BackgroundArrivals(const Fabric& fabric, const BackgroundOptions& options,
                                       std::uint64_t seed)
    : options_(options), seed_(seed), rate_(fabric.hosts, 0) {
  if (options.load <= 0 || fabric.hosts < 2) {
    return;
  }
  const std::vector<double> offered = offered_Bps(fabric, options);
  for (NodeId host = 0; host < fabric.hosts; ++host) {
    rate_[host] = offered[host] / mean_bytes(options);
    push(0, host, 0);
  }
}

// An exponential gap after the flow before, by inversion: -log(1 - u) / rate.
void BackgroundArrivals::push(double after_s, NodeId host, std::uint64_t number) {
  const double draw = base::u01(seed_, kBackgroundStream, host, number, kGap);
  next_.emplace(after_s - std::log1p(-draw) / rate_[host], host, number);
}

// The earliest arrival of all hosts; the next one of its host takes its place.
BackgroundFlow BackgroundArrivals::take() {
  const auto [time_s, host, number] = next_.top();
  next_.pop();
  push(time_s, host, number + 1);
  const std::uint64_t others = rate_.size() - 1;
  // One of the others: numbers from its own on are moved up by one.
  const auto other = static_cast<NodeId>(
      base::pick(base::hash(seed_, kBackgroundStream, host, number, kDestination), others));
  const double bytes = bytes_at(options_, base::u01(seed_, kBackgroundStream, host, number, kSize));
  return {.src = host,
          .dst = other < host ? other : other + 1,
          .bytes = std::max<std::int64_t>(1, std::llround(bytes)),
          .start_s = time_s};
}

} // namespace stepsim::links
