#pragma once
// The vectors of one rank of a job on its GPU, and messages to the GPUs of other ranks through
// functions of the job (gpu_job.hpp). A message travels in pieces of kPiece elements:
//
//   mpi_staged   GPU -> page-locked memory of its host -> that of the other host -> GPU
//   mpi_device   GPU -> GPU; needs an MPI that takes addresses of GPU memory
//
// Only .cu files include this.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/gpu_job.hpp"
#include "calibrate/cuda/rank_steps.hpp"

namespace stepsim::calibrate::gpu {

enum class Passage { mpi_staged, mpi_device };
[[nodiscard]] std::string_view name(Passage passage);
// The passages that this job can use: mpi_staged always, mpi_device if job.device_messages.
[[nodiscard]] std::vector<Passage> passages_of(const Job& job);

class JobRank {
public:
  static constexpr std::int64_t kPiece = std::int64_t{1} << 18; // elements: 1 MiB

  // Allocates x, temp and the staging memory, `capacity` floats each, on the current device, and
  // sets x and temp to 0. `job` must outlive this object.
  JobRank(const Job& job, std::int64_t capacity);

  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] float* x() const { return x_.get(); }
  [[nodiscard]] float* temp() const { return temp_.get(); }
  void fill(const std::vector<float>& x); // sets the first elements of x, and temp to NaN
  [[nodiscard]] std::vector<float> read(std::int64_t n) const; // the first elements of x

  // Sends and receives all messages of the step, then adds the received data in temp to x; with
  // `adds` = false the data stay in temp. Returns when all of this is done.
  void run(const RankStep& step, Passage passage, bool adds = true);

private:
  void send(const ElementMessage& message, Passage passage);
  void receive(const ElementMessage& message, Passage passage);

  const Job& job_;
  std::int64_t capacity_;
  Stream stream_;
  Buffer<float> x_, temp_;
  PinnedBuffer<float> outbound_, inbound_;
};

} // namespace stepsim::calibrate::gpu
