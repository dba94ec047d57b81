#pragma once
// Plans the real execution of a training step (CAL 9): when each bucket is ready, how many bytes it
// has, and when the simulator predicts its start and end. All of it comes from one run of the
// scenario, so that execution and prediction have the same buckets.
//
//   compute   |---- forward ----|---- backward ----|            |update|
//   ready                          b0    b1       b2
//   channel                        |=b0=|=b1=|     |====b2====|

#include "calibrate/mpi/process_program.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::calibrate::mpi {

struct ReplayBucket {   // all times are seconds from the start of the iteration
  std::int64_t bytes{}; // a multiple of 4
  double ready_s{};
  double predicted_start_s{}, predicted_end_s{};
};

struct ReplayPlan {
  std::string schedule;
  Kind kind;          // operation and algorithm of every exchange; not set with `library`
  double compute_s{}; // end of backward, s from the start of the iteration
  double update_s{};  // duration of the update, s
  std::vector<ReplayBucket> buckets; // in the order of the queue
  // Predicted iteration time, and the part of its communication that computing does not hide, s.
  double predicted_s{}, predicted_exposed_s{};
  std::vector<std::string> warnings;
};

struct ReplayScale {
  double time = 1; // factor on the times of layers and update
  // Factor on the bytes of gradients. Every gradient with bytes is then rounded to whole fp32
  // elements, at least one, even if the factor is 1.
  double bytes = 1;
};

// Runs the scenario on `ranks` nodes of one GPU with the network of a calibration (absolute path)
// and a schedule ("" for the schedule in the scenario). With `library`, the exchange is the
// all-reduce of the MPI library, and the collective of the scenario must be `calibrated`, the
// measured curve of the library. Throws InputError for a wrong scenario, and UsageError for a
// scenario that a replay cannot execute:
//   - training other than sync_sgd, compression, reduce_broadcast, or several jobs;
//   - a schedule with more than one channel, or an algorithm that is not in kinds();
//   - no buckets, or a bucket that is not whole fp32 elements, which rounding the gradients
//     (ReplayScale::bytes) excludes;
//   - the collective `calibrated` without `library`, or `library` with another collective.
[[nodiscard]] ReplayPlan replay_plan(const io::Json& scenario, const std::string& calibration,
                                     const std::string& schedule, std::uint32_t ranks,
                                     const ReplayScale& scale, bool library, study::Files& files);

} // namespace stepsim::calibrate::mpi
