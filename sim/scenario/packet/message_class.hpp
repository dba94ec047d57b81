#pragma once
// How dlcp treats the packets of a layer (PKT 5.6): the queue follows the urgency of the layer, the
// drop class what its values tolerate.
//
//               small values   large values
//     front     droppable      middle           front: layer < front_fraction x layers
//     back      middle         protected        (protect_large: all large ones protected)
//
//     queue of layer l of L, 0 = front: 1 + floor((queues - 1) l / L), or by cumulative bytes
#include <vector>

#include "scenario/packet/packet_settings.hpp"
#include "train/job/network_job.hpp"

namespace stepsim::study {

class MessageClasses {
public:
  // `bytes`: of the gradients of every layer, forward order. The settings outlive this object.
  MessageClasses(const PacketSettings& settings, std::vector<double> bytes);
  // `layer` counts from 0 in forward order and has to be below the number of layers. Other
  // transports than dlcp have the default class.
  [[nodiscard]] train::MessageClass of_layer(std::uint32_t layer) const;

private:
  [[nodiscard]] std::uint8_t queue(std::uint32_t layer) const;

  const PacketSettings& settings_;
  std::vector<double> before_; // [layer] bytes of the layers in front of it
  double total_{};
};

} // namespace stepsim::study
