// `edge_` moves up only: a packet is judged lost once, when enough packets above it have arrived,
// and a packet sent again is not judged a second time before a time-out. So every packet costs
// O(1).
#include "links/packet/transport/reno.hpp"

namespace stepsim::links {

void Scoreboard::sent(std::uint32_t seq) {
  if (seq == una_ + status_.size()) {
    status_.push_back(Status::in_flight);
  } else {
    assert(at(seq) == Status::lost && "only lost packets are sent again");
    at(seq) = Status::sent_again;
    --lost_;
  }
  ++in_flight_;
}

// Reads on in the receiver's log up to where it was when the ACK left.
std::uint32_t Scoreboard::acknowledged(std::uint32_t una, std::uint32_t arrivals) {
  std::uint32_t last = kNone;
  for (; heard_ < arrivals; ++heard_) {
    last = log_.front();
    receive(last);
    log_.pop_front();
  }
  find_lost();
  for (; una_ < una; ++una_) {
    assert(status_.front() == Status::received && "what is acknowledged was received");
    status_.pop_front();
  }
  return last;
}

void Scoreboard::receive(std::uint32_t seq) {
  Status& status = at(seq);
  assert(status != Status::received && "a packet arrives for the first time once");
  --(status == Status::lost ? lost_ : in_flight_);
  status = Status::received;
  above_ += seq >= edge_ ? 1 : 0;
}

void Scoreboard::find_lost() {
  while (above_ > threshold_ || (above_ == threshold_ && !is_received(edge_))) {
    if (is_received(edge_)) {
      --above_;
    } else if (at(edge_) == Status::in_flight) {
      at(edge_) = Status::lost;
      ++lost_;
      --in_flight_;
    }
    ++edge_;
  }
}

// Nothing was heard for long: what is not known to be received counts as gone.
void Scoreboard::timeout() {
  for (Status& status : status_) {
    if (status != Status::received) {
      status = Status::lost;
    }
  }
  lost_ = static_cast<std::uint32_t>(std::ranges::count(status_, Status::lost));
  lost_from_ = una_;
  in_flight_ = 0;
}

// Looks on from the last one found, since lost packets are sent again in order.
std::uint32_t Scoreboard::first_lost() {
  if (lost_ == 0) {
    return kNone;
  }
  lost_from_ = std::max(lost_from_, una_);
  while (at(lost_from_) != Status::lost) {
    ++lost_from_;
    assert(lost_from_ < una_ + status_.size() && "as many are lost as are counted");
  }
  return lost_from_;
}

} // namespace stepsim::links
