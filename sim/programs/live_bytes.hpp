#pragma once
// The times during which a rank holds the gathered parameters, the unreduced gradients and the
// activations of sharding units in memory (TRN 5). Parameters are held from the start of a gather
// to the end of the last compute that uses them, gradients from the start of backward to the end of
// their reduction, activations from the start of forward to the end of backward, and what
// recomputation makes again during backward:
//
//     gather    =A1==A2=                 parameters of unit 2   from A2 to the end of B2
//     compute     F1   F2 B2 B1          gradients of unit 2    from B2 to the end of R2
//     reduce                =R2==R1=
//
// Bytes held at the same time add up to the peak.

#include "programs/operation_times.hpp"

namespace stepsim::programs {

enum class LiveKind { parameters, gradients, activations, again };
inline constexpr std::size_t kLiveKinds = 4;

// A half-open interval of time, in seconds since the start of the run.
struct LiveSpan {
  std::uint32_t unit{};
  LiveKind kind{};
  double from_s{};
  double to_s{};
};

// The spans of one iteration on rank 0, in no particular order. `times` must have been recorded
// with Record::all.
[[nodiscard]] std::vector<LiveSpan> live_spans(const Program& program, const OperationTimes& times,
                                               std::int64_t iteration);

// [kind][unit]: bytes of each unit; none where a list is empty.
using LiveBytes = std::array<std::vector<double>, kLiveKinds>;

struct LivePeak {
  double bytes{};
  std::array<double, kLiveKinds> of_kind{}; // parts of `bytes`
};
// The most bytes at any time.
[[nodiscard]] LivePeak live_peak(std::span<const LiveSpan> spans, const LiveBytes& bytes);

} // namespace stepsim::programs
