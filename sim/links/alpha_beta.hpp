#pragma once
// A network without contention: every transfer ends latency + bytes * per_byte after its start,
// whatever other transfers there are.
#include "events/event_queue.hpp"
#include "links/network_model.hpp"

namespace stepsim::links {

class AlphaBeta {
public:
  void submit(double now, const Transfer& transfer) {
    ends_.push(now + transfer.latency_s + transfer.bytes * transfer.per_byte_s, transfer.id);
  }
  [[nodiscard]] double next_time() const { return ends_.empty() ? kNever : ends_.next_time(); }
  void advance(double now, std::vector<std::uint32_t>& done) {
    while (!ends_.empty() && ends_.next_time() <= now) {
      done.push_back(ends_.pop().id());
    }
  }

private:
  events::EventQueue<double> ends_;
};

static_assert(NetworkModel<AlphaBeta>);

} // namespace stepsim::links
