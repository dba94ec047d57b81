#include "collectives/evaluate/few_ranks.hpp"

#include "collectives/evaluate/link_costs.hpp"
#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

namespace {

struct EqualNodes {
  Index count{}, size{};
  [[nodiscard]] Index ranks() const { return count * size; }
};

// Empty if nodes differ, or ranks beyond their place in the node.
std::optional<EqualNodes> equal_nodes(const Collective& collective) {
  const Links& links = collective.links;
  if (links.fabric || !links.two_level || !links.two_level->ranks_per_node.empty() ||
      !links.pairs.empty() || links.pairs_only) {
    return std::nullopt;
  }
  const EqualNodes nodes{.count = collective.ranks / links.two_level->gpus_per_node,
                         .size = links.two_level->gpus_per_node};
  const bool alike = nodes.ranks() == collective.ranks && all_equal(collective.enter_s) &&
                     collective.reduction_s_per_byte_rank.empty() && collective.sizes.empty() &&
                     collective.held_bytes.empty();
  return alike && nodes.count > 2 ? std::optional(nodes) : std::nullopt;
}

// The same groups in every node.
bool is_inside(const Layout& layout, const EqualNodes& nodes) {
  return layout.inverse.empty() && layout.groups == nodes.count &&
         layout.group_stride == nodes.size &&
         layout.base + (layout.modulus - 1) * layout.rank_stride < nodes.size;
}

// Groups of one rank of every node, in the order of the nodes.
bool is_over_nodes(const Layout& layout, const EqualNodes& nodes) {
  return layout.inverse.empty() && layout.size == nodes.count && layout.modulus == nodes.count &&
         layout.rank_stride == nodes.size &&
         layout.base + (layout.groups - 1) * layout.group_stride < nodes.size;
}

// One group of all ranks from the first node on, node by node, in every node in the same order.
bool is_over_ranks(const Layout& layout, const EqualNodes& nodes) {
  if (layout.groups != 1 || layout.size != nodes.ranks()) {
    return false;
  }
  if (layout.order.empty()) {
    return layout.base == 0 && layout.rank_stride == 1 && layout.modulus == nodes.ranks();
  }
  if (layout.rank(0, 0) >= nodes.size) {
    return false;
  }
  for (Index local = 0; local < layout.size; ++local) {
    const Index next = (local + nodes.size) % layout.size;
    if (layout.rank(0, next) != (layout.rank(0, local) + nodes.size) % layout.size) {
      return false;
    }
  }
  return true;
}

// Keeps the first ranks of a ring; the third node, where these reach it, is the first of the two.
void keep_two(Layout& layout, Index ranks) {
  layout.order.resize(static_cast<std::size_t>(ranks));
  layout.inverse.resize(layout.order.size());
  for (std::uint32_t local = 0; local < layout.order.size(); ++local) {
    layout.order[local] %= static_cast<std::uint32_t>(ranks);
    layout.inverse[layout.order[local]] = local;
  }
}

// Whether the phase could be made one of two nodes.
bool make_two(Phase& phase, const EqualNodes& nodes) {
  Layout& layout = phase.layout;
  if (is_inside(layout, nodes)) {
    layout.groups = 2;
    return true;
  }
  RingPass* pass = std::get_if<RingPass>(&phase.rule);
  if (pass == nullptr || !phase.partition.uniform()) {
    return false;
  }
  const bool over_nodes = is_over_nodes(layout, nodes);
  if (!over_nodes && !is_over_ranks(layout, nodes)) {
    return false;
  }
  const Index size = over_nodes ? 2 : 2 * nodes.size;
  pass->more_steps = layout.size - size;
  pass->size = layout.size = size;
  if (layout.order.empty()) {
    layout.modulus = size;
    layout.shift %= size;
  } else {
    keep_two(layout, size);
  }
  return true;
}

} // namespace

std::optional<TwoNodes> two_of_equal_nodes(const Collective& collective, const Schedule& schedule) {
  const std::optional<EqualNodes> nodes = equal_nodes(collective);
  if (!nodes) {
    return std::nullopt;
  }
  TwoNodes two{collective, schedule};
  for (Phase& phase : two.schedule.phases) {
    if (!make_two(phase, *nodes)) {
      return std::nullopt;
    }
  }
  two.collective.ranks = two.schedule.ranks = static_cast<std::uint32_t>(2 * nodes->size);
  if (!collective.enter_s.empty()) {
    two.collective.enter_s.resize(two.collective.ranks);
  }
  return two;
}

Evaluation of_all_nodes(Evaluation two, const Collective& collective) {
  const std::size_t ranks = collective.ranks;
  const std::size_t played = two.ranks.finish_s.size();
  for (std::vector<double>* times : {&two.ranks.finish_s, &two.ranks.transfer_s}) {
    for (std::size_t rank = times->size(); !times->empty() && rank < ranks; ++rank) {
      times->push_back((*times)[rank - played]);
    }
  }
  two.messages = two.messages * ranks / played;
  two.events = two.events * ranks / played;
  return two;
}

} // namespace stepsim::collectives
