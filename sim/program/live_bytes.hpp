#pragma once
// When the parameters of sharding units are in the memory of a rank, and their gradients before
// they are reduced (TRN 5). Parameters are there from the start of a gather to the end of the last
// compute that uses it, gradients from the start of backward to the end of the reduction behind it:
//
//     gather    =A1==A2=                 parameters of unit 2   from A2 to the end of B2
//     compute     F1   F2 B2 B1          gradients of unit 2    from B2 to the end of R2
//     reduce                =R2==R1=
#include <cstdint>
#include <span>
#include <vector>

#include "program/operation_times.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

// Seconds since the start of the run, half open.
struct LiveSpan {
  std::uint32_t unit{};
  bool gradient = false; // else parameters
  double from_s{};
  double to_s{};
};

// The spans of one iteration, rank 0, in no particular order. `times` hold all operations.
[[nodiscard]] std::vector<LiveSpan> live_spans(const Program& program, const OperationTimes& times,
                                               std::int64_t iteration);

struct LivePeak {
  double bytes{};
  double at_s{}; // when it is reached first
};
// The most bytes at any time: `parameters` and `gradients` are those of each unit.
[[nodiscard]] LivePeak live_peak(std::span<const LiveSpan> spans,
                                 std::span<const double> parameters,
                                 std::span<const double> gradients);

} // namespace stepsim::program
