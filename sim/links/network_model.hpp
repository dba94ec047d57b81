#pragma once
// The interface of a network model for the simulations that drive it:
//   submit(now, transfer)   starts a transfer now
//   next_time()             time of the next change of the model, infinity if there is none
//   advance(now, done)      advances to `now` (at most next_time()) and appends the ids of the
//                           transfers that end by `now` to `done`, in a fixed order
// Times are in seconds and never decrease. It is a concept, not a base class: simulations have the
// model as a template parameter.

#include "base/units.hpp"
#include "events/event_queue.hpp"

namespace stepsim::links {

using base::kNever;

inline constexpr std::uint32_t kNoPort = 0xffffffff;

// One message. It waits for latency_s, then moves at most 1 / per_byte_s bytes per second; with
// per_byte_s = 0 nothing but its ports or its path limits it.
struct Transfer {
  std::uint32_t id{}; // chosen by the caller; unique among transfers in flight
  double latency_s{};
  double per_byte_s{};
  double bytes{};
  std::uint32_t send_port = kNoPort; // shared ports, for models with ports
  std::uint32_t receive_port = kNoPort;
  std::uint32_t src{}, dst{}; // ranks, for models with paths
};

template <class Model>
concept NetworkModel = requires(Model model, double now, const Transfer& transfer,
                                std::vector<std::uint32_t>& done) {
  model.submit(now, transfer);
  { model.next_time() } -> std::convertible_to<double>;
  model.advance(now, done);
};

// A network without contention: every transfer ends latency + bytes * per_byte after its start,
// whatever other transfers there are.

class AlphaBeta {
public:
  void submit(double now, const Transfer& transfer) {
    ends_.push(now + transfer.latency_s + transfer.bytes * transfer.per_byte_s, transfer.id);
  }
  [[nodiscard]] double next_time() const { return ends_.next_or_never(); }
  void advance(double now, std::vector<std::uint32_t>& done) {
    ends_.drain(now, [&](const auto& end) { done.push_back(end.id()); });
  }

private:
  events::EventQueue<double> ends_;
};

static_assert(NetworkModel<AlphaBeta>);

} // namespace stepsim::links
