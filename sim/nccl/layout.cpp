#include "nccl/layout.hpp"

#include <bit>

#include "base/error.hpp"

namespace stepsim::nccl {

namespace {

int ceil_log2(std::uint32_t value) { return std::bit_width(value - 1); }

} // namespace

std::string text(Shape shape) {
  return std::to_string(shape.nodes) + "x" +
         (shape.smallest > 0 ? std::to_string(shape.smallest) + ".." : "") +
         std::to_string(shape.gpus);
}

Layout layout_of(const NodeType& node, Shape shape) {
  if (shape.nodes == 0 || shape.gpus == 0) {
    throw UsageError("shape must be NODESxGPUS with at least one of each, got " + text(shape));
  }
  if (shape.gpus > node.gpus) {
    throw UsageError("shape " + text(shape) + ": a node of " + node.name + " has " +
                     std::to_string(node.gpus) + " GPUs");
  }
  if (!(node.ring_Bps > 0) || !(node.nic_Bps > 0) || node.nics == 0) {
    throw UsageError("node type " + node.name + " has no rate or no network card");
  }
  if (shape.smallest > 0 && node.domain_nodes > 1) {
    throw UsageError("shape " + text(shape) + ": the nodes of an NVLink domain have equal counts");
  }
  const std::uint32_t smallest = shape.smallest > 0 ? shape.smallest : shape.gpus;
  const std::uint32_t domain = std::min(std::max(node.domain_nodes, 1U), shape.nodes);
  if (shape.nodes % domain != 0) {
    throw UsageError("nvlink_domain_nodes (" + std::to_string(domain) +
                     ") does not divide the number of nodes (" + std::to_string(shape.nodes) + ")");
  }
  const std::uint32_t nodes = shape.nodes / domain;
  const std::uint32_t gpus = shape.gpus * domain;
  Layout layout;
  layout.nodes = nodes;
  layout.gpus = gpus;
  layout.ranks = shape.ranks > 0 ? shape.ranks : layout.nodes * layout.gpus;
  layout.nics = std::min(node.nics, smallest) * static_cast<double>(domain);
  layout.smallest_gpus = smallest * static_cast<double>(domain);
  layout.ring_Bps = node.ring_Bps;
  layout.nics_Bps = layout.nics * node.nic_Bps;
  layout.column = nodes == 1 ? 0 : nodes == 2 ? 1 : 2;
  layout.row = static_cast<std::size_t>(node.generation);
  layout.floor_log2_nodes = std::bit_width(nodes) - 1;
  layout.ceil_log2_nodes = ceil_log2(nodes);
  layout.ceil_log2_gpus = ceil_log2(gpus);
  layout.host = node.host;
  layout.link = node.link;
  layout.in_switch_reduction = node.in_switch_reduction;
  layout.ll128 = node.ll128;
  return layout;
}

} // namespace stepsim::nccl
