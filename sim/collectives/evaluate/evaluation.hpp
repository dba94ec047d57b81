#pragma once
// Result of max_plus and events: when every rank has finished, and how much work the evaluation
// took.
//     seconds = max over ranks of finish_s, counted from time 0, not from the first entry
#include <cstdint>
#include <vector>

#include "links/flow/link_use.hpp"

namespace stepsim::collectives {

// The times of all ranks after one evaluation.
struct RankTimes {
  // [rank] end of the last send, receive or addition, s; the entry time if there is none.
  std::vector<double> finish_s;
  // [rank] seconds in which the rank sends, receives or adds; empty if not requested.
  std::vector<double> transfer_s;
};

struct Evaluation {
  double seconds{}; // latest finish, from time 0
  std::uint64_t messages{};
  std::uint64_t events{}; // events processed; 0 for max_plus
  RankTimes ranks;
  std::vector<links::LinkUse> links; // [link] of the fabric, if there is one
};

} // namespace stepsim::collectives
