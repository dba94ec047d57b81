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

#include <tuple>

#include "programs/operation_times.hpp"

namespace stepsim::programs {

enum class LiveKind { parameters, gradients, activations, again };
inline constexpr std::size_t kLiveKinds = 4;

// From the start of operation `from` to the end of operation `to` of an iteration.
struct LiveSpan {
  std::uint32_t unit{};
  LiveKind kind{};
  std::uint32_t from{}, to{};
};

// The spans of one iteration, in no particular order.
[[nodiscard]] std::vector<LiveSpan> live_spans(const Program& program);

// [kind][unit]: bytes of each unit; none where a list is empty.
using LiveBytes = std::array<std::vector<double>, kLiveKinds>;

struct LivePeak {
  double bytes{};
  std::array<double, kLiveKinds> of_kind{}; // parts of `bytes`
};

// The begins and ends of spans that hold bytes, and their peak when they were sorted last. The
// points of a sweep mostly have them in the same order.
class LiveChanges {
public:
  LiveChanges() = default;
  LiveChanges(std::span<const LiveSpan> spans, const LiveBytes& bytes);
  // Other bytes of the same units: those without any have none again.
  void renew(const LiveBytes& bytes);
  // The most bytes of rank 0 at any time of an iteration. `times` must have recorded the starts and
  // ends of operations.
  [[nodiscard]] LivePeak peak(const OperationTimes& times, std::int64_t iteration);

private:
  struct Change {
    std::uint32_t operation{};
    bool begins{};
    std::uint8_t kind{};
    double bytes{}; // less than 0 where the span ends
    double time{};  // when they were sorted last
    std::uint32_t unit{};

    // Of two at the same time, what is freed comes first.
    [[nodiscard]] auto key() const { return std::tie(bytes, kind); }
  };
  std::vector<Change> changes_;  // in order of time
  std::optional<LivePeak> peak_; // in this order
};

} // namespace stepsim::programs
