#pragma once
// Messages between the ranks of a job: what the link between two GPUs is, within a host and between
// hosts, follows from their times (gpu_links.hpp). Only .cu files include this.
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/measurement.cuh"

namespace stepsim::calibrate::gpu {

// One message of `elements` floats in each direction, all at once. Called by all ranks with the
// same arguments; those that take part put their work on `stream`, which belongs to the current
// device, or wait for it.
struct Traffic {
  std::string variant;
  const Stream* stream = nullptr;
  std::int64_t capacity{}; // elements
  std::function<void(std::span<const Direction>, std::int64_t elements)> messages;
};

// Times every pair one way, there and back, and both ways at once, and all ranks to the next one:
// all pairs of up to 16 ranks, 120 pairs at random of more.
void measure_job_pairs(Measurement& measurement, const Traffic& traffic, double seconds);

} // namespace stepsim::calibrate::gpu
