#pragma once
// Collectives on a fabric (`Links::fabric`): the links that evaluators see beside it, and what the
// fabric costs where a formula needs one alpha and one beta.
#include <algorithm>
#include <cstdint>

#include "coll/collective.hpp"
#include "net/fabric/rank_fabric.hpp"

namespace stepsim::coll {

// Ranks of one host talk over the inner link (two_level->intra, else all); what leaves a host costs
// `all` beside its flow.
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
  const std::vector<net::NodeId>& hosts_; // of the fabric, which outlives this
  LinkCost all_, inside_;
};

// Every stride-th of the ranks, `count` of them.
struct RankRow {
  std::uint32_t first = 0, stride = 1, count = 0;
};

// The largest latency and the smallest bandwidth on the ways between neighbours of a ring of these
// ranks, undisturbed: alpha and beta for the block size of a pipeline (COL 7). Every block pays the
// latency of its path. O(count) paths.
[[nodiscard]] LinkCost ring_cost(const Links& links, RankRow ranks);

} // namespace stepsim::coll
