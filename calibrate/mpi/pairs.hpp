#pragma once
// Measures the pairs of ranks one at a time: half a round trip of 4 bytes (small_s) and of 256 KiB
// (large_s). These two times give the latency and the bandwidth of a pair. The matrix of all pairs
// shows a slow link, a slow rank or a switch that some pairs cross and others do not.

#include "calibrate/mpi/fabric_estimate.hpp"
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

struct PairTimes { // a < b
  std::uint32_t a{}, b{};
  double small_s{}, large_s{};             // medians
  [[nodiscard]] double per_byte_s() const; // >= 0; 0 if large_s <= small_s
  [[nodiscard]] double latency_s() const;  // >= 0
};

struct PairRun {
  std::vector<PairTimes> pairs; // by (a, b); without the pairs for which there was no time
  std::size_t all{};            // number of pairs of the job, P (P-1) / 2
  // Whether the slowest large_s is more than 1.15 times the fastest.
  [[nodiscard]] bool differ() const;
};

// All ranks take part and get the same result. Of more than `most` pairs only a random sample of so
// many is measured, which is the same in every run. Ends about `max_seconds` after the start.
[[nodiscard]] PairRun run_pairs(std::int64_t most, double max_seconds, Wire& wire,
                                Watchdog& watchdog);

// Measures all shifts: in shift k = 1 .. P-1 every rank r sends 256 KiB to rank r + k (mod P) at
// once. Element [(k - 1) x P + dst] is the median time, in seconds, until rank dst has received its
// message. All ranks take part and get the same result, which is empty if there was no time for one
// of the shifts.
[[nodiscard]] std::vector<double> run_shifts(double max_seconds, Wire& wire, Watchdog& watchdog);

// The input of the estimate of the fabric: the measured times less the time of a message of 4 bytes
// of the same pair. Throws SimulationError if a pair or a shift was not measured.
[[nodiscard]] SharedTimes shared_times(const PairRun& pairs, const std::vector<double>& shifts,
                                       std::uint32_t ranks);

// A file of kind links with every measured pair in both directions. Pairs whose per_byte_s() is 0
// are left out.
[[nodiscard]] io::Json links_tree(const PairRun& run);

// The point-to-point probes of a calibration (CAL 8.3), in which all ranks take part:
//   pingpong   0 -> 1 -> 0, half a round trip; the other ranks wait
//   exchange   rank r with rank r xor 1, both directions at once; with an odd number of ranks the
//              last one is idle
//   shift      every rank r sends to r + 1 and receives from r - 1
//   stream     0 -> 1 in blocks back to back, with one empty reply at the end; once with blocks of
//              a segment and once with messages of 4 bytes
//   reduce     x += y on every rank at once
// An MPI library sends a message as a whole, and above the eager limit of the transport the message
// waits for a handshake; messages in segments below that limit do not. The times of the library's
// collectives are therefore predicted from probes without segments.

struct ProbeRun {
  ProbeTimes times;
  std::vector<std::string> warnings; // blocks whose passes differ
};
// Runs all probes on at least two ranks (asserted); all ranks get the same result. Takes about
// `max_seconds`, and at least one sample per probe and size.
[[nodiscard]] ProbeRun run_probes(Wire& wire, Watchdog& watchdog, double max_seconds);

// Runs the probes with every message sent as a whole, whatever the segment size of `wire`. The
// times of the two streams are copied from `segmented`, because a pipeline of a library sends
// blocks, too.
[[nodiscard]] ProbeRun run_whole_probes(const ProbeTimes& segmented, const Wire& wire,
                                        Watchdog& watchdog, double max_seconds);

} // namespace stepsim::calibrate::mpi
