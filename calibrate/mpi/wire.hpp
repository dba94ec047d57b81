#pragma once
// Messages of a collective between processes (CAL 8.1). A message goes out in segments, all posted
// at once: one large message would wait for a handshake that queues behind the data of both
// directions. A message without bytes is one empty segment.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/mpi/process_program.hpp"

namespace stepsim::calibrate::mpi {

struct Event { // of the log, for tests
  enum class Kind { sent, received } kind{};
  std::int64_t step{};
  std::uint32_t peer{};
  std::int64_t nanoseconds{}; // of the monotonic clock, the same for all processes of a machine
};

class Wire {
public:
  Wire(MPI_Comm group, std::int64_t segment_bytes);

  [[nodiscard]] MPI_Comm group() const { return group_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t segment_bytes() const { return segment_bytes_; }

  // Both calls only begin. Do not touch `data` until wait() returns. Messages of one pair and tag
  // arrive in the order in which they were posted.
  void post_send(const void* data, std::int64_t bytes, std::uint32_t to, int tag);
  void post_receive(void* data, std::int64_t bytes, std::uint32_t from, int tag);
  void wait(); // for everything posted
  void barrier();

  std::int64_t bytes_sent = 0;       // payload, since it was last set
  std::vector<Event>* log = nullptr; // null = none is kept

private:
  MPI_Comm group_;
  std::uint32_t rank_{}, ranks_{};
  std::int64_t segment_bytes_;
  std::vector<MPI_Request> requests_;
};

// Vectors of one process, all of the same length.
struct Buffers {
  explicit Buffers(std::int64_t elements);
  void fill(std::uint32_t rank, std::int64_t elements);
  std::vector<float> x;    // contribution; the result in place
  std::vector<float> temp; // what arrives to be added
  // Of all-reduce by `lp` (linear pipeline), whose x is still being sent, and of MPI_Iallreduce in
  // a replay with `library`.
  std::vector<float> result;
};

void add(float* into, const float* from, std::int64_t count);

// Runs the collective with real messages; for `lp` the segment bytes of `wire` must be those with
// which `program` was made. Returns where the result lies on ranks that have one. Not for sparse
// kinds.
[[nodiscard]] std::span<const float> run(const Program& program, Wire& wire, Buffers& buffers);

} // namespace stepsim::calibrate::mpi
