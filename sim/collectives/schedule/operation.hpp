#pragma once
// The send and the receive of a rank in one step of a phase, as the rule of the phase computes them
// (schedule.hpp). Ranks are local to the group of the phase; parts are numbered in the partition of
// the phase. In one step every rank sends at most once and receives at most once.
#include <cstdint>

namespace stepsim::collectives {

using Index = std::int64_t; // local rank, step, part or block
inline constexpr Index kNobody = -1;

// What a send waits for, besides its two ports:
//   all    everything that this rank received in earlier steps and phases, additions included
//   own    only what this rank received in earlier phases
//   block  as own, and until block `block` of the stream `stream` is complete at this rank
//   entry  only that both ranks have entered
enum class Needs : std::uint8_t { all, own, block, entry };

// The send of a rank in a step; `peer` is kNobody if the rank sends nothing.
struct Send {
  Index peer = kNobody;
  Index first = 0; // parts first .. first + count - 1, modulo the number of parts
  Index count = 0;
  Index stream = kNobody;
  Index block = 0;
  Needs needs = Needs::all;
  bool reduce = false;    // the receiver adds the parts to what it holds
  bool follow_up = false; // not the first block of its stream of messages
};

// The reception of a rank in a step. A stream is the sequence of blocks that complete at one rank;
// pipelined rules number the streams.
struct Receive {
  Index peer = kNobody;
  Index stream = kNobody; // stream of which this reception completes a block; kNobody: none
  Index block = 0;        // number of that block
};

} // namespace stepsim::collectives
