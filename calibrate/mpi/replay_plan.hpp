#pragma once
// A training step as it will be executed for real (CAL 9): when each bucket is ready, how many
// bytes it has, and what the simulator says will happen to it. Everything comes from one run of the
// scenario, so what is executed and what is predicted have the same buckets.
//
//   compute   |---- forward ----|---- backward ----|            |update|
//   ready                          b0    b1       b2
//   channel                        |=b0=|=b1=|     |====b2====|
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/mpi/process_program.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::calibrate::mpi {

struct ReplayBucket {
  std::int64_t bytes{}; // a multiple of 4
  double ready_s{};     // all times from the start of the iteration
  double predicted_start_s{}, predicted_end_s{};
};

struct ReplayPlan {
  std::string schedule;
  Kind kind;          // of every exchange; means nothing with `library`
  double compute_s{}; // end of backward, from the start of the iteration
  double update_s{};
  std::vector<ReplayBucket> buckets;           // in the order of the queue
  double predicted_s{}, predicted_exposed_s{}; // of the iteration; communication not hidden
  std::vector<std::string> warnings;
};

struct ReplayScale {
  double time = 1;  // factor on the times of layers and update
  double bytes = 1; // factor on the bytes of gradients
};

// The scenario on `ranks` nodes with the network of a calibration (absolute path) and a schedule
// ("" = its own). `library`: the exchange is the all-reduce of the MPI library, whose measured
// curve the scenario must ask for (collective calibrated). Throws InputError for a wrong scenario,
// and UsageError for what a replay cannot execute: training other than sync_sgd, compression,
// reduce_broadcast, several jobs, a schedule with more than one channel, an algorithm without real
// messages (kinds()), buckets that are not whole fp32 elements, none at all, and a collective that
// is calibrated without `library` or the reverse.
[[nodiscard]] ReplayPlan replay_plan(const io::Json& scenario, const std::string& calibration,
                                     const std::string& schedule, std::uint32_t ranks,
                                     const ReplayScale& scale, bool library, study::Files& files);

} // namespace stepsim::calibrate::mpi
