#pragma once
// Collectives on a fabric (`Links::fabric`): the link costs in addition to the paths of the flows,
// and a summary of the fabric for formulas that need one alpha and one beta.
#include <algorithm>
#include <cstdint>

#include "collectives/collective.hpp"
#include "links/fabric/rank_fabric.hpp"

namespace stepsim::collectives {

// Link costs on a fabric. Ranks of one host communicate over the inner link (two_level->intra, else
// all). A transfer that leaves a host waits for the latency of `all` in addition to that of its
// path, and its flow is never faster than 1 / per_byte_s of `all`.
class FabricLinks {
public:
  explicit FabricLinks(const Links& links)
      : hosts_(links.fabric->hosts), all_(links.all),
        inside_(links.two_level ? links.two_level->intra : links.all) {}

  [[nodiscard]] const LinkCost& cost(std::uint32_t src, std::uint32_t dst) const {
    return hosts_[src] == hosts_[dst] ? inside_ : all_;
  }
  [[nodiscard]] const LinkCost& inside() const { return inside_; }

private:
  const std::vector<links::NodeId>& hosts_; // hosts of the fabric, which must outlive the object
  LinkCost all_, inside_;
};

// `count` ranks, `stride` apart.
struct RankRow {
  std::uint32_t first = 0, stride = 1, count = 0;
};

// Returns the largest latency and the smallest bandwidth of the idle paths between neighbours in a
// ring of these ranks: alpha and beta for the block size of a pipeline (COL 7), whose blocks each
// take the latency of the path. All costs are 0 for fewer than two ranks. O(count) paths.
[[nodiscard]] LinkCost ring_cost(const Links& links, RankRow ranks);

} // namespace stepsim::collectives
