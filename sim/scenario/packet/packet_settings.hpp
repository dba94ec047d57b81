#pragma once
// The `packet` block of a network: sizes, buffers, thresholds, faults and the transport (PKT 3.8,
// 5; interface /cluster/network/packet). Scenarios and lists of flows have the same block. Lists of
// flows use only the push bound of `dlcp`; the other members of BoundedLoss are for training jobs.
#include "document/reader.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::study {

struct ParseContext;

enum class PriorityMap { layer, bytes };
enum class LossFill { zero, stale };
inline constexpr auto kPriorityMaps = base::words<PriorityMap>();
inline constexpr auto kLossFills = base::words<LossFill>();

// Fractions are of packets or layers, from 0 to 1; layers are numbered from 0 in forward order. A
// bound is the fraction of the packets of a message that may be lost.
struct BoundedLoss {
  double bound_push = 0.10, bound_pull = 0;      // for gradients, for weights
  std::map<std::int64_t, double> bound_of_layer; // [layer] overrides bound_push
  bool priority = true;                          // queues by layer; false: all in queue 1
  PriorityMap priority_map = PriorityMap::layer;
  bool selective_drop = true;  // drop classes by layer and size; false: all protected
  double front_fraction = 0.5; // fraction of layers
  double large_fraction = 0.5; // fraction of packets
  bool protect_large = false;
  LossFill loss_fill = LossFill::zero; // recorded only, without effect
  bool rescale = false;                // recorded only, without effect (PKT A25)

  [[nodiscard]] double bound_push_of(std::int64_t layer) const {
    const auto own = bound_of_layer.find(layer);
    return own == bound_of_layer.end() ? bound_push : own->second;
  }
};

// The block with its defaults filled in; sizes in bytes, times in seconds.
struct PacketSettings {
  links::PacketOptions options; // parse_packet() leaves seed and simulated_s to its caller
  bool has_transport = false;
  BoundedLoss bounded_loss;
  links::BackgroundOptions background;
  std::string faults_file;           // the file that has `faults`, for errors
  std::vector<std::string> warnings; // about thresholds that cannot work
};

// Reads the block; a null `json` gives all defaults. Packets hold whole values of `value_bytes`
// bytes each. Links are given by number or name. Problems are reported.
[[nodiscard]] PacketSettings parse_packet(const io::Json* json, const ParseContext& context,
                                          const links::Fabric& fabric,
                                          std::uint32_t value_bytes = 1);
// Reports at the key `packet` of `network` that the packet level requires a transport, if it has
// none and there is no problem so far.
void require_transport(const io::Json& network, const ParseContext& context,
                       const PacketSettings& settings);
// The position of a link or another element given by number or name, among the first `count` of
// `names`; reports `unknown link "x"` and similar.
[[nodiscard]] std::optional<std::uint32_t>
named_or_numbered(const io::Json& value, std::string_view noun,
                  const std::vector<std::string>& names, std::size_t count, io::Problems& problems);

// Writes the packet block as a tree.

// The resolved block. Thresholds that follow from the bandwidth of a port are left out if the
// switch ports have different bandwidths, or if the buffer of a port is too small to reach the
// threshold. Reading the result gives the same settings on the same fabric.
[[nodiscard]] io::Json packet_tree(const PacketSettings& settings, const links::Fabric& fabric);

// `transport` of the packet block: the protocol of the messages, with its keys (PKT 3.8, 5).

// Reads `transport`, a word or an object. A key that the transport does not use is a problem,
// unless leftovers are ignored.
void parse_transport(io::Fields& fields, const ParseContext& context, PacketSettings& settings);

// Sets the kind of the transport and the keys that it uses.
void add_transport(const PacketSettings& settings, io::Json& tree);

// The transports that use a key of the transport block, in the order of the words; empty if none
// does.
[[nodiscard]] std::vector<std::string_view> transports_with(std::string_view key);

// `background` of the packet block: random flows that load the network in addition to the training
// job (PKT 7.5).

// Reads `background`. Call it after parse_transport(), because both transports must fit together.
// The load is a fraction of the bandwidth of each host, which `fabric` gives. Problems are
// reported, among them a load that would send a host more than its links carry.
void parse_background(io::Fields& fields, const ParseContext& context, const links::Fabric& fabric,
                      PacketSettings& settings);
// The resolved block, for a load above 0.
[[nodiscard]] io::Json background_tree(const links::BackgroundOptions& background);

// How the transport dlcp treats the packets of a layer (PKT 5.6): the queue depends on the urgency
// of the layer, the drop class on the loss that its values tolerate.
//
//               small values   large values
//     front     droppable      middle           front: layer < front_fraction x layers
//     back      middle         protected        (protect_large: all large ones protected)
//
//     queue of layer l of L, 0 = front: 1 + floor((queues - 1) l / L), or by cumulative bytes

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
