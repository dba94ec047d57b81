#pragma once
// Distinct index types, so that a rank is never passed where a node or a link belongs. An id is an
// index into a flat array: `values[rank.index]`.
#include <compare>
#include <cstddef>
#include <cstdint>

namespace stepsim::base {

template <class Tag> struct Id {
  std::uint32_t index{};
  constexpr auto operator<=>(const Id&) const = default;
};

using RankId = Id<struct RankTag>; // one worker (GPU) of a collective: node * gpus_per_node + local
using NodeId = Id<struct NodeTag>; // one machine of the cluster
using LinkId = Id<struct LinkTag>; // one direction of a link

} // namespace stepsim::base

namespace stepsim {
using base::LinkId;
using base::NodeId;
using base::RankId;
} // namespace stepsim
