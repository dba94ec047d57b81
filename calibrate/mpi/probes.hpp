#pragma once
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
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

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
