#pragma once
// What a schedule rule answers: who sends what in a step, and from whom a rank receives.
// Ranks are local to the group of the phase, parts belong to the partition of the phase. In one
// step every rank sends at most once and receives at most once.
#include <cstdint>

namespace stepsim::coll {

using Index = std::int64_t; // local rank, step, part or block
inline constexpr Index kNobody = -1;

// What must be there before a send starts (beside the two ports):
//   all    everything this rank received in earlier steps and phases, additions included
//   own    only what earlier phases brought
//   block  own, and block `block` of the stream `stream`
//   entry  nothing but that both ranks have entered
enum class Needs : std::uint8_t { all, own, block, entry };

// What a rank sends in a step; `peer` kNobody if it sends nothing.
struct Send {
  Index peer = kNobody;
  Index first = 0; // parts first .. first + count - 1, modulo the number of parts
  Index count = 0;
  Index stream = kNobody;
  Index block = 0;
  Needs needs = Needs::all;
  bool reduce = false;    // the receiver adds
  bool follow_up = false; // not the first block of its stream of messages
};

// A stream is the sequence of blocks that complete at one rank; pipelined rules number them.
struct Receive {
  Index peer = kNobody;
  Index stream = kNobody; // completes block `block` of that stream
  Index block = 0;
};

} // namespace stepsim::coll
