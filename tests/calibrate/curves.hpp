#pragma once
#include <vector>

#include "calibrate/core/points.hpp"

namespace stepsim::calibrate {

// Times on a line, at sizes 2^first, 2^(first + step) .. 2^last.
inline std::vector<Datum> powers(int first, int last, int step, double startup, double per_byte) {
  std::vector<Datum> data;
  for (int i = first; i <= last; i += step) {
    const auto bytes = static_cast<double>(1LL << i);
    data.push_back({bytes, startup + per_byte * bytes});
  }
  return data;
}

// The times as a group of one pass.
inline Group group_of(const std::vector<Datum>& data) {
  Group group;
  group.op = "allreduce";
  group.ranks = 8;
  group.passes = 1;
  for (const Datum& datum : data) {
    group.points.push_back({datum.bytes, datum.seconds, datum.seconds, datum.seconds, 1});
    group.samples.push_back({datum.bytes, datum.seconds, 0});
  }
  return group;
}

} // namespace stepsim::calibrate
