// Numbers of points are read as digits of a number with one digit per axis, the last axis lowest. A
// point is made when it is needed and forgotten afterwards, so that the memory does not grow with
// the grid, apart from what the records need.
#include "cli/collective/collective_grid.hpp"

#include <algorithm>
#include <cassert>

#include "base/error.hpp"
#include "net/fabric/placement.hpp"

namespace stepsim::cli {

namespace {

// The host of every rank on the topology, packed in the order of its hosts: `gpus_per_node` ranks
// share a host. Dedicated parameter servers follow, each on a node of its own after those of the
// workers. Throws UsageError where the topology has too few hosts, or where ranks share a host
// whose inner network was not given.
std::vector<net::NodeId> hosts_of(const net::Fabric& fabric, const coll::Collective& collective) {
  const auto& levels = collective.links.two_level;
  const std::uint32_t gpus = levels ? levels->gpus_per_node : 1;
  const std::uint32_t nodes = (collective.ranks - 1) / gpus + 1;
  const bool servers = collective.algorithm == coll::AlgorithmId::parameter_server &&
                       collective.options.placement == coll::Placement::dedicated;
  const std::uint32_t all = nodes + (servers ? collective.options.servers : 0);
  constexpr auto kPacked = net::PlacementRule::packed;
  if (const std::string problem = net::placement_problem(fabric, all, gpus, kPacked);
      !problem.empty()) {
    throw UsageError("--topology: " + problem);
  }
  std::vector<net::NodeId> hosts = net::place_ranks(fabric, nodes, gpus, kPacked);
  hosts.resize(collective.ranks);
  const bool shared = gpus > 1 && collective.ranks > 1 && hosts[0] == hosts[1];
  if (shared && levels->intra.per_byte_s <= 0) {
    throw UsageError("--gpus-per-node needs --intra-latency and --intra-bandwidth");
  }
  // Servers are placed together with the workers, so that the placement leaves the workers where
  // they are; of each server's node its first place is taken.
  const std::vector<net::NodeId> with_servers = net::place_ranks(fabric, all, gpus, kPacked);
  for (std::size_t node = nodes; node < all; ++node) {
    hosts.push_back(with_servers[node * gpus]);
  }
  return hosts;
}

} // namespace

std::optional<coll::CompressionMethod> compression_method(double algorithm) {
  const int method = static_cast<int>(algorithm) - kFirstMethod;
  return method < 0 ? std::nullopt : std::optional(coll::CompressionMethod(method));
}

// Checked while it is multiplied, so that the product cannot overflow.
std::int64_t CollectiveGrid::points() const {
  constexpr std::int64_t kMaxPoints = 10'000'000;
  std::int64_t product = 1;
  for (const Axis& each : axes) {
    product *= static_cast<std::int64_t>(each.values.size());
    if (product > kMaxPoints) {
      throw UsageError("the lists have more than " + std::to_string(kMaxPoints) + " combinations");
    }
  }
  return product;
}

// The remainder by the size of the last axis is its digit, the quotient the number for the others.
std::vector<double> CollectiveGrid::values_at(std::int64_t point) const {
  std::vector<double> values(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(axes[i].values.size());
    values[i] = axes[i].values[static_cast<std::size_t>(point % size)];
    point /= size;
  }
  return values;
}

// Axes are applied in order: a later one may override a part of what an earlier one set.
coll::Collective CollectiveGrid::at(std::int64_t point) const {
  const std::vector<double> values = values_at(point);
  coll::Collective collective = common;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].apply != nullptr) {
      axes[i].apply(collective, values[i]);
    }
  }
  if (network) {
    collective.links.fabric = std::make_shared<const net::RankFabric>(net::RankFabric{
        .network = network, .hosts = hosts_of(network->fabric, collective), .paths = {}});
  }
  return collective;
}

// The ratio of a codec follows the method of the point unless --param ratio is given.
std::optional<coll::Compression> CollectiveGrid::compression_at(std::int64_t point) const {
  const std::vector<double> values = values_at(point);
  coll::Compression result = compression;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].compress != nullptr) {
      axes[i].compress(result, values[i]);
    }
  }
  if (result.method == coll::CompressionMethod::none) {
    return std::nullopt;
  }
  if (own_ratio) {
    result.ratio = coll::codec_ratio(result.method);
  }
  return result;
}

std::vector<coll::CompressionMethod> CollectiveGrid::methods() const {
  std::vector<coll::CompressionMethod> found;
  for (const double value : axis("--algorithm").values) {
    if (const auto method = compression_method(value)) {
      found.push_back(*method);
    }
  }
  return found;
}

const CollectiveGrid::Axis& CollectiveGrid::axis(std::string_view flag) const {
  const auto found = std::ranges::find(axes, flag, &Axis::flag);
  assert(found != axes.end() && "a flag that every grid has");
  return *found;
}

// Reads a single digit, without making the values of all axes.
std::optional<double> CollectiveGrid::value(std::int64_t point, std::string_view flag) const {
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(axes[i].values.size());
    if (axes[i].flag == flag) {
      return axes[i].values[static_cast<std::size_t>(point / stride % size)];
    }
    stride *= size;
  }
  return std::nullopt;
}

bool CollectiveGrid::varies(std::string_view flag) const {
  const auto found = std::ranges::find(axes, flag, &Axis::flag);
  return found != axes.end() && found->values.size() > 1;
}

// The digit of the flag runs through its values while all others stay.
std::vector<std::int64_t> CollectiveGrid::alike(std::int64_t point, std::string_view flag) const {
  std::int64_t stride = 1; // points between two neighbouring values of the flag
  for (std::size_t i = axes.size(); i-- > 0 && axes[i].flag != flag;) {
    stride *= static_cast<std::int64_t>(axes[i].values.size());
  }
  const auto size = static_cast<std::int64_t>(axis(flag).values.size());
  const std::int64_t first = point - point / stride % size * stride;
  std::vector<std::int64_t> points;
  for (std::int64_t i = 0; i < size; ++i) {
    points.push_back(first + i * stride);
  }
  return points;
}

bool CollectiveGrid::is_first(std::int64_t point, std::string_view flag) const {
  return alike(point, flag).front() == point;
}

} // namespace stepsim::cli
