#pragma once
// The vectors of one rank of a job on its GPU, and messages to the GPUs of other ranks through
// functions of the job (gpu_job.hpp). Messages go
//
//   mpi_staged   to page-locked memory of the host, from there to the other host, and up again
//   mpi_device   from GPU memory to GPU memory, where MPI takes addresses of such memory
//
// in pieces of kPiece elements. Only .cu files include this.
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
// The ways in which messages of this job can travel: through memory of the hosts always, and
// without it if MPI takes addresses of GPU memory.
[[nodiscard]] std::vector<Passage> passages_of(const Job& job);

class JobRank {
public:
  static constexpr std::int64_t kPiece = std::int64_t{1} << 18; // elements: 1 MiB

  // `capacity` floats per vector, on the current device.
  JobRank(const Job& job, std::int64_t capacity);

  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] float* x() const { return x_.get(); }
  [[nodiscard]] float* temp() const { return temp_.get(); }
  void fill(const std::vector<float>& x); // sets the first elements of x, and temp to NaN
  [[nodiscard]] std::vector<float> read(std::int64_t n) const; // the first elements of x

  // Begins and ends all messages of the step, then adds what arrived in temp. The host waits.
  // `adds` = false: what arrived stays in temp.
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
