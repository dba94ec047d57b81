#pragma once
// Result of max_plus and events: when every rank has finished, and how much work the evaluation
// took.
//     seconds = max over ranks of finish_s, counted from time 0, not from the first entry
#include <cstdint>
#include <vector>

#include "net/flow/link_use.hpp"

namespace stepsim::coll {

// The times of all ranks after one evaluation.
struct RankTimes {
  std::vector<double> finish_s; // end of the last send, receive or addition; entry time if none
  std::vector<double>
      transfer_s; // union of busy send, receive and reduction time; empty if not asked
};

struct Evaluation {
  double seconds{}; // latest finish, from time 0
  std::uint64_t messages{};
  std::uint64_t events{}; // events processed; 0 for max_plus
  RankTimes ranks;
  std::vector<net::LinkUse> links; // [link] of the fabric, if there is one
};

} // namespace stepsim::coll
