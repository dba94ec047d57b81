// Intervals are kept as they come and joined when twice as many have gathered as were left by the
// last joining: each interval is sorted a constant number of times on average, and memory stays
// within twice the number of separate stretches.
#include "collectives/evaluate/busy_time.hpp"

#include <algorithm>

namespace stepsim::collectives {

void BusyTime::add(std::uint32_t rank, double begin, double end) {
  if (!(begin < end)) {
    return;
  }
  Intervals& intervals = intervals_[rank];
  intervals.emplace_back(begin, end);
  if (intervals.size() >= limit_[rank]) {
    join(intervals);
    limit_[rank] = std::max<std::size_t>(64, 2 * intervals.size());
  }
}

std::vector<double> BusyTime::lengths() {
  std::vector<double> result;
  for (Intervals& intervals : intervals_) {
    join(intervals);
    double length = 0;
    for (const auto& [begin, end] : intervals) {
      length += end - begin;
    }
    result.push_back(length);
  }
  return result;
}

void BusyTime::join(Intervals& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::size_t kept = 0;
  for (const auto& interval : intervals) {
    if (kept > 0 && interval.first <= intervals[kept - 1].second) {
      intervals[kept - 1].second = std::max(intervals[kept - 1].second, interval.second);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
}

} // namespace stepsim::collectives
