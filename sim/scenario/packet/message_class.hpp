#pragma once
// How the transport dlcp treats the packets of a layer (PKT 5.6): the queue depends on the urgency
// of the layer, the drop class on the loss that its values tolerate.
//
//               small values   large values
//     front     droppable      middle           front: layer < front_fraction x layers
//     back      middle         protected        (protect_large: all large ones protected)
//
//     queue of layer l of L, 0 = front: 1 + floor((queues - 1) l / L), or by cumulative bytes

#include "programs/job/network_job.hpp"
#include "scenario/packet/packet_settings.hpp"

namespace stepsim::study {

class MessageClasses {
public:
  // `bytes` has the bytes of the gradients of every layer, in forward order. `settings` must
  // outlive this object.
  MessageClasses(const PacketSettings& settings, std::vector<double> bytes);
  // The class of a message with gradients of these layers: that of the first of them, with the
  // smallest of their loss bounds (PKT A2). Layers are numbered from 0 in forward order and must be
  // less than the number of layers. Other transports than dlcp give the default class.
  [[nodiscard]] programs::MessageClass of_layers(std::span<const std::uint32_t> layers) const;

private:
  [[nodiscard]] std::uint8_t queue(std::uint32_t layer) const;

  const PacketSettings& settings_;
  std::vector<double> before_; // [layer] bytes of all earlier layers
  double total_{};             // bytes of all layers
};

} // namespace stepsim::study
