#pragma once
// How much one direction of a link carried.
namespace stepsim::net {

struct LinkUse {
  double bytes{};  // through the link so far
  double busy_s{}; // while anything is sent
};

} // namespace stepsim::net
