#pragma once
// The use of one direction of a link.
#include <cstddef>
#include <vector>

namespace stepsim::links {

struct LinkUse {
  double bytes{};  // bytes moved through the link so far
  double busy_s{}; // time during which some transfer used the link
};

// Adds `more`, multiplied by `times`, to `sum`; both are [link] of the same fabric, or empty.
inline void add_uses(const std::vector<LinkUse>& more, double times, std::vector<LinkUse>& sum) {
  if (sum.size() < more.size()) {
    sum.resize(more.size());
  }
  for (std::size_t link = 0; link < more.size(); ++link) {
    sum[link].bytes += times * more[link].bytes;
    sum[link].busy_s += times * more[link].busy_s;
  }
}

} // namespace stepsim::links
