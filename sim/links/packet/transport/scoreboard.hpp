#pragma once
// The sender's knowledge of its packets under selective acknowledgements (PKT 5.3). The receiver
// logs new packets as they arrive. An ACK carries the length of the log, so the sender knows all
// packets that had arrived by then, and ACKs need no list of packets.
//
//   lost = not received, with at least `threshold` packets above it received, and not sent again
//          since; at a timeout: every packet not received
//   in flight = sent, neither received nor lost
//
//   received 0 1 2 4 6 7, threshold 3: 3 is lost (4, 6, 7 above it), 5 is not
#include <cstdint>
#include <deque>

#include "links/packet/packet.hpp"

namespace stepsim::links {

class Scoreboard {
public:
  explicit Scoreboard(std::uint32_t threshold) : threshold_(threshold) {}

  // Records, at the receiver, a packet that had not arrived before.
  void arrived(std::uint32_t seq) {
    log_.push_back(seq);
    ++arrivals_;
  }
  // Returns the length of the log, which ACKs carry.
  [[nodiscard]] std::uint32_t arrivals() const { return arrivals_; }

  // Records the sending of the next new packet, or of a lost one.
  void sent(std::uint32_t seq);
  // Handles an ACK: the first `una` packets and the first `arrivals` packets of the log are
  // received. Of the packets that were not known to be received, returns the one that arrived last;
  // kNone if there is none.
  std::uint32_t acknowledged(std::uint32_t una, std::uint32_t arrivals);
  // Counts every packet that is not received as lost.
  void timeout();

  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  [[nodiscard]] bool any_lost() const { return lost_ > 0; }
  [[nodiscard]] std::uint32_t first_lost(); // kNone if none is lost

private:
  enum class Status : std::uint8_t { in_flight, sent_again, lost, received };
  [[nodiscard]] Status& at(std::uint32_t seq) { return status_[seq - una_]; }
  [[nodiscard]] bool is_received(std::uint32_t seq) {
    return seq < una_ || at(seq) == Status::received;
  }
  void receive(std::uint32_t seq);
  void find_lost();

  std::uint32_t threshold_;
  std::deque<std::uint32_t> log_; // arrivals that the sender does not know
  std::uint32_t arrivals_ = 0, heard_ = 0;
  std::deque<Status> status_; // status of packets una_, una_ + 1, ...
  std::uint32_t una_ = 0;
  std::uint32_t in_flight_ = 0, lost_ = 0;
  std::uint32_t lost_from_ = 0; // no packet before it is lost
  std::uint32_t edge_ = 0;      // every packet before it has `threshold` received packets above it
  std::uint32_t above_ = 0;     // number of received packets from edge_ on
};

} // namespace stepsim::links
