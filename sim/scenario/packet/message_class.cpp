// Urgency and tolerance of a layer as queue and drop class: what the next forward pass needs first
// goes first, and what training can do without is dropped first.
#include "scenario/packet/message_class.hpp"

namespace stepsim::study {

MessageClasses::MessageClasses(const PacketSettings& settings, std::vector<double> bytes)
    : settings_(settings), before_(std::move(bytes)) {
  // Prefix sums in place: each entry becomes the bytes in front of its layer.
  for (double& each : before_) {
    const double own = each;
    each = total_;
    total_ += own;
  }
}

// Queue 0 is that of control packets. The share is below 1 for every layer, the minimum guards
// against rounding.
std::uint8_t MessageClasses::queue(std::uint32_t layer) const {
  const BoundedLoss& bounded = settings_.bounded_loss;
  if (!bounded.priority) {
    return 1;
  }
  const double data_queues = settings_.options.queues - 1;
  const bool by_bytes = bounded.priority_map == PriorityMap::bytes && total_ > 0;
  const double share = by_bytes ? before_[layer] / total_
                                : static_cast<double>(layer) / static_cast<double>(before_.size());
  return static_cast<std::uint8_t>(1 + std::min(std::floor(data_queues * share), data_queues - 1));
}

// Other transports have one class for all packets.
programs::MessageClass MessageClasses::of_layers(std::span<const std::uint32_t> layers) const {
  programs::MessageClass result;
  if (!settings_.has_transport || settings_.options.transport.kind != links::TransportKind::dlcp) {
    return result;
  }
  const BoundedLoss& bounded = settings_.bounded_loss;
  const std::uint32_t layer = layers.empty() ? 0 : *std::ranges::min_element(layers);
  result.queue = queue(layer);
  result.loss_bound_push = bounded.bound_push_of(layer);
  for (const std::uint32_t each : layers) {
    result.loss_bound_push = std::min(result.loss_bound_push, bounded.bound_push_of(each));
  }
  result.loss_bound_pull = bounded.bound_pull;
  result.large_fraction = bounded.large_fraction;
  if (bounded.selective_drop) {
    const bool front =
        static_cast<double>(layer) < bounded.front_fraction * static_cast<double>(before_.size());
    result.small = front ? links::DropClass::droppable : links::DropClass::middle;
    result.large =
        front && !bounded.protect_large ? links::DropClass::middle : links::DropClass::protected_;
  }
  return result;
}

} // namespace stepsim::study
