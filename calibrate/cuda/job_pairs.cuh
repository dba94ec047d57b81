#pragma once
// Times messages between the ranks of a job, within a host and between hosts. The links between
// GPUs are found from these times (gpu_links.hpp). Only .cu files include this.
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/measurement.cuh"

namespace stepsim::calibrate::gpu {

// One way of sending messages.
struct Traffic {
  std::string variant;            // CollectiveRecord::variant, such as "mpi_staged"
  const Stream* stream = nullptr; // stream of the current device
  std::int64_t capacity{};        // elements of the longest message
  // Sends one message of `elements` floats in each direction, all at once. All ranks call it with
  // the same arguments. A rank that takes part either enqueues its work on `stream`, or has waited
  // for the work when the call returns.
  std::function<void(std::span<const Direction>, std::int64_t elements)> messages;
};

// Times and records the messages of pairs of ranks (one_way in each direction, pingpong, exchange;
// see PairRecord) and the shift of all ranks: all pairs of up to 16 ranks, 120 random pairs of
// more. `seconds` limits the timing.
void measure_job_pairs(Measurement& measurement, const Traffic& traffic, double seconds);

} // namespace stepsim::calibrate::gpu
