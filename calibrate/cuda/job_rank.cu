#include "calibrate/cuda/job_rank.cuh"

#include <algorithm>

#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Calls piece(offset, count) for the parts of a message.
template <class Call> void for_pieces(const ElementMessage& message, const Call& piece) {
  for (std::int64_t done = 0; done < message.count; done += JobRank::kPiece) {
    piece(message.offset + done, std::min(JobRank::kPiece, message.count - done));
  }
}

} // namespace

std::string_view name(Passage passage) {
  switch (passage) {
  case Passage::mpi_staged:
    return "mpi_staged";
  case Passage::mpi_device:
    return "mpi_device";
  }
  return "";
}

std::vector<Passage> passages_of(const Job& job) {
  std::vector<Passage> passages{Passage::mpi_staged};
  if (job.device_messages) {
    passages.push_back(Passage::mpi_device);
  }
  return passages;
}

JobRank::JobRank(const Job& job, std::int64_t capacity)
    : job_(job), capacity_(capacity), x_(static_cast<std::size_t>(capacity)),
      temp_(static_cast<std::size_t>(capacity)), outbound_(static_cast<std::size_t>(capacity)),
      inbound_(static_cast<std::size_t>(capacity)) {
  for (float* vector : {x_.get(), temp_.get()}) { // memory that was never written may hold NaN
    STEPSIM_CUDA(cudaMemsetAsync(vector, 0, bytes_of_floats(capacity), stream_.get()));
  }
  stream_.synchronize();
}

void JobRank::fill(const std::vector<float>& x) {
  STEPSIM_CUDA(cudaMemsetAsync(temp(), 0xff, bytes_of_floats(capacity_), stream_.get()));
  STEPSIM_CUDA(cudaMemcpyAsync(this->x(), x.data(),
                               bytes_of_floats(static_cast<std::int64_t>(x.size())),
                               cudaMemcpyHostToDevice, stream_.get()));
  stream_.synchronize();
}

std::vector<float> JobRank::read(std::int64_t n) const {
  std::vector<float> values(static_cast<std::size_t>(n));
  STEPSIM_CUDA(cudaMemcpyAsync(values.data(), x(), bytes_of_floats(n), cudaMemcpyDeviceToHost,
                               stream_.get()));
  stream_.synchronize();
  return values;
}

// While one piece is on its way the next one is copied to the host.
void JobRank::send(const ElementMessage& message, Passage passage) {
  for_pieces(message, [&](std::int64_t offset, std::int64_t count) {
    const float* from = x() + offset;
    if (passage == Passage::mpi_staged) {
      STEPSIM_CUDA(cudaMemcpyAsync(outbound_.get() + offset, from, bytes_of_floats(count),
                                   cudaMemcpyDeviceToHost, stream_.get()));
      stream_.synchronize();
      from = outbound_.get() + offset;
    }
    job_.send(from, static_cast<std::int64_t>(bytes_of_floats(count)), message.dst);
  });
}

void JobRank::receive(const ElementMessage& message, Passage passage) {
  for_pieces(message, [&](std::int64_t offset, std::int64_t count) {
    float* const into = passage == Passage::mpi_staged ? inbound_.get()
                        : message.reduce               ? temp()
                                                       : x();
    job_.receive(into + offset, static_cast<std::int64_t>(bytes_of_floats(count)), message.src);
  });
}

// The stream is empty when a step begins, so that MPI may read and write the memory of the GPU.
void JobRank::run(const RankStep& step, Passage passage, bool adds) {
  for (const ElementMessage& message : step.receives) {
    receive(message, passage);
  }
  for (const ElementMessage& message : step.sends) {
    send(message, passage);
  }
  job_.wait();
  for (const ElementMessage& message : step.receives) {
    if (passage == Passage::mpi_staged) {
      float* const into = (message.reduce ? temp() : x()) + message.offset;
      STEPSIM_CUDA(cudaMemcpyAsync(into, inbound_.get() + message.offset,
                                   bytes_of_floats(message.count), cudaMemcpyHostToDevice,
                                   stream_.get()));
    }
    if (message.reduce && adds) {
      add(x() + message.offset, temp() + message.offset, message.count, stream_.get());
    }
  }
  stream_.synchronize();
}

} // namespace stepsim::calibrate::gpu
