// Rows M1 to M3 of TRN 11.7: live bytes of units of 100, 200 and 300 parameters, gathered in 2
// bytes and reduced in 4.
#include "programs/live_bytes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "programs/builders/fsdp_program.hpp"
#include "programs/recurrence.hpp"

using namespace stepsim::programs;

namespace {

std::vector<UnitTimes> units_of(const std::array<double, 3>& gather,
                                const std::array<double, 3>& reduce) {
  std::vector<UnitTimes> units;
  for (std::size_t u = 0; u < 3; ++u) {
    const auto index = static_cast<double>(u);
    units.push_back({.forward = {2 + index},
                     .backward = {4 + 2 * index},
                     .gather = {{}, {gather[u]}},
                     .reduce = {{}, {reduce[u]}},
                     .replicate = {}});
  }
  return units;
}
const std::vector<UnitTimes> kSetA = units_of({1, 2, 3}, {1, 2, 3});
const std::vector<UnitTimes> kSetB = units_of({5, 6, 7}, {6, 8, 9});

LivePeak peak(const std::vector<UnitTimes>& units, FsdpOptions options) {
  options.communicators = 2;
  options.keep_last = true;
  const Program program = fsdp_program(units, options);
  const OperationTimes times = recurrence(program, 1, Record::all);
  return LiveChanges(live_spans(program), {{{200, 400, 600}, {400, 800, 1200}, {}, {}}})
      .peak(times, 0);
}

} // namespace

TEST_CASE("live bytes: rows M1 to M3") {
  CHECK(peak(kSetA, {}).bytes == 2600);
  CHECK(peak(kSetA, {.prefetch = BackwardPrefetch::none}).bytes == 2400);
  CHECK(peak(kSetA, {.reshard_after_forward = false}).bytes == 2600);
  CHECK(peak(kSetB, {}).bytes == 2600);
  CHECK(peak(kSetB, {.prefetch = BackwardPrefetch::none}).bytes == 2400);
}

TEST_CASE("live bytes: the peak of times in another order is that of these times alone") {
  const LiveBytes bytes{{{200, 400, 600}, {400, 800, 1200}, {}, {}}};
  const FsdpOptions options{.communicators = 2};
  const std::vector<LiveSpan> spans = live_spans(fsdp_program(kSetA, options));
  LiveChanges kept(spans, bytes);
  stepsim::base::RandomStream random({.seed = 48});
  std::set<double> peaks;
  for (int trial = 0; trial < 200; ++trial) {
    const auto time = [&] { return static_cast<double>(random.integer(0, 20)); };
    const Program program =
        fsdp_program(units_of({time(), time(), time()}, {time(), time(), time()}), options);
    const OperationTimes times = recurrence(program, 2, Record::all);
    const LivePeak peak = kept.peak(times, 1);
    const LivePeak fresh = LiveChanges(spans, bytes).peak(times, 1);
    CHECK(peak.bytes == fresh.bytes);
    CHECK(peak.of_kind == fresh.of_kind);
    peaks.insert(peak.bytes);
  }
  CHECK(peaks.size() > 1);
}

TEST_CASE("live bytes: never less without resharding, and at least the largest unit") {
  for (const std::uint32_t batches : {1U, 2U, 3U}) {
    for (const bool each : {true, false}) {
      const FsdpOptions options{.micro_batches = batches, .exchange_each = each};
      FsdpOptions kept = options;
      kept.reshard_after_forward = false;
      CHECK(peak(kSetB, options).bytes >= 600 + 1200);
      CHECK(peak(kSetB, kept).bytes >= peak(kSetB, options).bytes);
    }
  }
}
