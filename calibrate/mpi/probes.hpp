#pragma once
// The point-to-point probes of a calibration (CAL 8.3), all ranks taking part:
//   pingpong   0 -> 1 -> 0, half a round trip; the others wait
//   exchange   r with r xor 1, both directions at once; with an odd number of ranks the last idles
//   shift      all send to r + 1 and receive from r - 1
//   stream     0 -> 1 in blocks back to back, one empty reply; and the same in smallest messages
//   reduce     x += y on every rank at once
// An MPI library sends a message as a whole: above the eager limit of the transport it waits for a
// handshake, which messages in segments below that limit do not. What the library's own collectives
// take is predicted from probes without segments.
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

struct ProbeRun {
  ProbeTimes times;
  std::vector<std::string> warnings; // unsteady passes
};
// Needs two ranks (asserted). All ranks get the same. Takes about `max_seconds`, and at least one
// sample of every probe and size.
[[nodiscard]] ProbeRun run_probes(Wire& wire, Watchdog& watchdog, double max_seconds);

// The same with every message as a whole, whatever the segments of `wire`. The two streams are
// those of `segmented`, because a pipeline of a library sends blocks, too.
[[nodiscard]] ProbeRun run_whole_probes(const ProbeTimes& segmented, const Wire& wire,
                                        Watchdog& watchdog, double max_seconds);

} // namespace stepsim::calibrate::mpi
