// Routes through fabrics need Boost.Graph. Plans of collectives never ask for one, but the
// evaluators that they come with could: asked, they would say so.
#include "base/error.hpp"
#include "links/fabric/routes.hpp"

namespace stepsim::links {

namespace {

[[noreturn]] void refuse() { throw SimulationError("built without routes through fabrics"); }

} // namespace

std::vector<LinkId> Routes::ecmp_path(NodeId, NodeId, std::uint64_t, std::uint64_t) const {
  refuse();
}
std::uint32_t Routes::distance(NodeId, NodeId) const { refuse(); }
std::span<const LinkId> Routes::next_links(NodeId, NodeId) const { refuse(); }

} // namespace stepsim::links
