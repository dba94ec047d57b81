#pragma once
// The pairs of ranks, one at a time: half a round trip of 4 bytes (small_s) and of 256 KiB
// (large_s). From these two a pair has its latency and its bandwidth, and the matrix shows a slow
// link, a slow rank or a switch that some pairs cross and others do not.
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/mpi/fabric_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"
#include "json/json.hpp"

namespace stepsim::calibrate::mpi {

struct PairTimes { // a < b
  std::uint32_t a{}, b{};
  double small_s{}, large_s{}; // medians
  bool one_host = false;
  [[nodiscard]] double per_byte_s() const; // >= 0; 0 where large_s <= small_s
  [[nodiscard]] double latency_s() const;  // >= 0
};

struct PairRun {
  std::vector<PairTimes> pairs; // by (a, b); those that the time did not allow are missing
  std::size_t all{};            // P (P-1) / 2
  // Whether the slowest large_s is more than 1.15 times the fastest.
  [[nodiscard]] bool differ() const;
};

// All ranks take part and get the same. `most`: a random sample of so many pairs, always the same;
// empty: all pairs. `hosts`: a number per rank, equal for ranks of one host.
[[nodiscard]] PairRun run_pairs(std::optional<std::int64_t> most,
                                const std::vector<std::uint64_t>& hosts, double max_seconds,
                                Wire& wire, Watchdog& watchdog);

// All ranks take part and get the same: medians in s of 256 KiB from rank dst - s (mod P) while
// every rank sends to rank + s, at [(s - 1) x P + dst], until they are there. Empty where the time
// did not allow one of them.
[[nodiscard]] std::vector<double> run_shifts(double max_seconds, Wire& wire, Watchdog& watchdog);

// What the fabric is estimated from, less the latency of each pair. Throws SimulationError where a
// pair or a shift was not measured.
[[nodiscard]] SharedTimes shared_times(const PairRun& pairs, const std::vector<double>& shifts,
                                       std::uint32_t ranks);

// A file of kind links with every measured pair in both directions. Pairs whose per_byte_s() is 0
// are left out.
[[nodiscard]] io::Json links_tree(const PairRun& run);

} // namespace stepsim::calibrate::mpi
