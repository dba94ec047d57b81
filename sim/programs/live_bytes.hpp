#pragma once
// The times during which a rank holds the gathered parameters and the unreduced gradients of
// sharding units in memory (TRN 5). Parameters are held from the start of a gather to the end of
// the last compute that uses them, gradients from the start of backward to the end of their
// reduction:
//
//     gather    =A1==A2=                 parameters of unit 2   from A2 to the end of B2
//     compute     F1   F2 B2 B1          gradients of unit 2    from B2 to the end of R2
//     reduce                =R2==R1=
//
// Bytes held at the same time add up to the peak.
#include <cstdint>
#include <span>
#include <vector>

#include "programs/operation_times.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

// A half-open interval of time, in seconds since the start of the run.
struct LiveSpan {
  std::uint32_t unit{};
  bool gradient = false; // false: parameters of the unit; true: gradients
  double from_s{};
  double to_s{};
};

// The spans of one iteration on rank 0, in no particular order. `times` must have been recorded
// with Record::all.
[[nodiscard]] std::vector<LiveSpan> live_spans(const Program& program, const OperationTimes& times,
                                               std::int64_t iteration);

struct LivePeak {
  double bytes{};
  double at_s{}; // first time at which the peak is reached
};
// The most bytes at any time. `parameters` and `gradients` are the bytes of each unit: [unit].
[[nodiscard]] LivePeak live_peak(std::span<const LiveSpan> spans,
                                 std::span<const double> parameters,
                                 std::span<const double> gradients);

} // namespace stepsim::programs
