// What takes packets from the middle of a queue: pfabric's choices, and purges.
#include <cassert>
#include <tuple>

#include "net/packet/ports.hpp"

namespace stepsim::net {

namespace {

constexpr std::uint32_t kPfabricWaiting = 24; // data packets that wait at a port of a switch

// PKT 5.5: (remaining, src, message, seq).
bool less_left(const Packet& a, const Packet& b) {
  return std::tuple(a.count, host_of(a.order), a.message, a.seq) <
         std::tuple(b.count, host_of(b.order), b.message, b.seq);
}

} // namespace

void Ports::unlink(std::uint32_t& head, std::uint32_t& tail, std::uint32_t before,
                   std::uint32_t packet) {
  (before == kNone ? head : pool_[before].next) = pool_[packet].next;
  if (tail == packet) {
    tail = before;
  }
}

std::uint32_t Ports::take_smallest(Queue& queue) {
  std::uint32_t least = queue.head;
  for (std::uint32_t at = queue.head; at != kNone; at = pool_[at].next) {
    least = less_left(pool_[at], pool_[least]) ? at : least;
  }
  std::uint32_t chosen = kNone; // that message's lowest seq
  std::uint32_t before_chosen = kNone;
  for (std::uint32_t at = queue.head, before = kNone; at != kNone; at = pool_[at].next) {
    if (pool_[at].message == pool_[least].message &&
        (chosen == kNone || pool_[at].seq < pool_[chosen].seq)) {
      chosen = at;
      before_chosen = before;
    }
    before = at;
  }
  unlink(queue.head, queue.tail, before_chosen, chosen);
  return chosen;
}

Dropped Ports::make_room(LinkId link, std::uint32_t arriving) {
  Port& port = ports_[link];
  const std::uint8_t number = pool_[arriving].queue;
  Queue& queue = queue_of(link, number);
  if (port.pool != kNone &&
      pool_[arriving].wire > options_.buffer.bytes - used_[port.pool]) { // whoever fills it
    return {arriving, DropCause::buffer};
  }
  const bool serves_data = port.busy && port.service_counted && port.service_queue == number;
  if (queue.packets - (serves_data ? 1U : 0U) < kPfabricWaiting) {
    return {};
  }
  std::uint32_t most = arriving;
  std::uint32_t before_most = kNone;
  for (std::uint32_t at = queue.head, before = kNone; at != kNone; at = pool_[at].next) {
    if (less_left(pool_[most], pool_[at])) {
      most = at;
      before_most = before;
    }
    before = at;
  }
  if (most != arriving) {
    unlink(queue.head, queue.tail, before_most, most);
    --queue.packets;
    --port.packets;
    add_bytes(link, number, -std::int64_t{pool_[most].wire});
  }
  return {most, DropCause::buffer};
}

std::uint32_t Ports::purge_list(std::uint32_t& head, std::uint32_t& tail, std::uint32_t message) {
  std::uint32_t purged = 0;
  for (std::uint32_t at = head, before = kNone; at != kNone;) {
    const std::uint32_t next = pool_[at].next;
    if (pool_[at].message == message && pool_[at].kind == PacketKind::data) {
      purged += pool_[at].train ? pool_[at].count : 1;
      unlink(head, tail, before, at);
      pool_.give_back(at);
    } else {
      before = at;
    }
    at = next;
  }
  return purged;
}

std::uint32_t Ports::purge(LinkId link, std::uint32_t message) {
  Port& port = ports_[link];
  assert(!port.limited && "only hosts take packets back");
  std::uint32_t purged = 0;
  for (std::uint32_t number = 1; number < queue_count_; ++number) {
    if ((port.waiting >> number & 1U) == 0) {
      continue;
    }
    Queue& queue = queue_of(link, static_cast<std::uint8_t>(number));
    std::uint32_t here = 0;
    if (round_robin_) {
      for (std::uint32_t turn = queue.head, before = kNone; turn != kNone;) {
        const std::uint32_t next = turns_[turn].next;
        here += purge_list(turns_[turn].head, turns_[turn].tail, message);
        if (turns_[turn].head == kNone) {
          (before == kNone ? queue.head : turns_[before].next) = next;
          if (queue.tail == turn) {
            queue.tail = before;
          }
          turns_[turn].next = free_turn_;
          free_turn_ = turn;
        } else {
          before = turn;
        }
        turn = next;
      }
    } else {
      here = purge_list(queue.head, queue.tail, message);
    }
    queue.packets -= here;
    port.packets -= here;
    purged += here;
    if (queue.head == kNone) {
      port.waiting = static_cast<std::uint8_t>(port.waiting & ~(1U << number));
    }
  }
  return purged;
}

} // namespace stepsim::net
