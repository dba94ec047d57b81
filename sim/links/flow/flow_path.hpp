#pragma once
// The path of a flow: links with the fraction of its bytes that each carries, and the start-up
// latency.
//   single path   the links of one path, fraction 1 each; latency = the sum of their latencies
//   sprayed       all shortest paths; a node sends 1/m of its bytes to each of its m next links;
//                 latency = the latency of the slowest path                        (PKT 6.1, 6.3)
#include <cstddef>

#include "links/fabric/routes.hpp"

namespace stepsim::links {

struct FlowPath {
  std::vector<LinkId> links;   // every link once
  std::vector<double> parts{}; // [links] fractions; empty = 1 on every link
  double latency_s{};
};

[[nodiscard]] FlowPath single_path(const Fabric& fabric, std::vector<LinkId> links);
// The path has no links from a host to itself; else there must be a path to `dst`.
[[nodiscard]] FlowPath sprayed_path(const Fabric& fabric, const Routes& routes, NodeId src,
                                    NodeId dst);

[[nodiscard]] std::vector<double> link_capacities(const Fabric& fabric); // [link] bytes/s

// Many paths in flat arrays. The id of a path is its index in the order of add().
class PathTable {
public:
  std::uint32_t add(const FlowPath& path);
  [[nodiscard]] std::span<const LinkId> links(std::uint32_t path) const {
    return {links_.data() + begin_[path], begin_[path + 1] - begin_[path]};
  }
  // Returns the fraction of the path's bytes on its link number `place`.
  [[nodiscard]] double part(std::uint32_t path, std::size_t place) const {
    return whole_[path] != 0 ? 1 : parts_[begin_[path] + place];
  }
  // Returns the fractions of a path; null if all are 1.
  [[nodiscard]] const double* parts(std::uint32_t path) const {
    return whole_[path] != 0 ? nullptr : parts_.data() + begin_[path];
  }
  [[nodiscard]] double latency_s(std::uint32_t path) const { return latency_[path]; }
  [[nodiscard]] std::size_t size() const { return latency_.size(); }

private:
  std::vector<std::size_t> begin_{0};
  std::vector<LinkId> links_;
  std::vector<double> parts_; // parallel to links_, up to the last path with fractions
  std::vector<char> whole_;
  std::vector<double> latency_;
};

// The use of one direction of a link.

struct LinkUse {
  double bytes{};  // bytes moved through the link so far
  double busy_s{}; // time during which some transfer used the link
};

// Adds `more`, multiplied by `times`, to `sum`; both are [link] of the same fabric, or empty.
inline void add_uses(const std::vector<LinkUse>& more, double times, std::vector<LinkUse>& sum) {
  if (sum.size() < more.size()) {
    sum.resize(more.size());
  }
  for (std::size_t link = 0; link < more.size(); ++link) {
    sum[link].bytes += times * more[link].bytes;
    sum[link].busy_s += times * more[link].busy_s;
  }
}

} // namespace stepsim::links
