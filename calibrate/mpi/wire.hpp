#pragma once
// Sends the messages of a collective between processes (CAL 8.1). A message is sent in segments,
// all posted at once: one large message would wait for a handshake, which would queue behind data
// that are already being sent. A message of 0 bytes is one empty segment.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "calibrate/mpi/process_program.hpp"

namespace stepsim::calibrate::mpi {

struct Event { // entry of the log, for tests
  enum class Kind { sent, received } kind{};
  std::int64_t step{};
  std::uint32_t peer{};
  std::int64_t nanoseconds{}; // reading of the monotonic clock, which all processes of a host share
};

class Wire {
public:
  Wire(MPI_Comm group, std::int64_t segment_bytes);

  [[nodiscard]] MPI_Comm group() const { return group_; }
  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t segment_bytes() const { return segment_bytes_; }

  // Both calls only start the transfer: `data` must not be touched until wait() returns. Messages
  // with the same sender, receiver and tag arrive in the order in which they were posted.
  void post_send(const void* data, std::int64_t bytes, std::uint32_t to, int tag);
  void post_receive(void* data, std::int64_t bytes, std::uint32_t from, int tag);
  void wait(); // returns when all posted transfers are complete
  void barrier();

  std::int64_t bytes_sent = 0;       // grows by the bytes of each send; callers may reset it
  std::vector<Event>* log = nullptr; // null = no log; messages of `lp` are not logged

private:
  MPI_Comm group_;
  std::uint32_t rank_{}, ranks_{};
  std::int64_t segment_bytes_;
  std::vector<MPI_Request> requests_;
};

// The vectors of one process, all of the same length.
struct Buffers {
  explicit Buffers(std::int64_t elements);
  // Sets the first `elements` values of x to initial_value(rank, i) of element_messages.hpp.
  void fill(std::uint32_t rank, std::int64_t elements);
  std::vector<float> x;    // contribution of this rank, and the result if it is in place
  std::vector<float> temp; // received data that will be added
  // The result if x cannot hold it: all-reduce by `lp` (linear pipeline), which still sends x, and
  // MPI_Iallreduce in a replay with `library`.
  std::vector<float> result;
};

void add(float* into, const float* from, std::int64_t count); // into += from

// Runs the collective with real messages and returns the vector that holds the result; on ranks
// that have no result, such as all but the root of a reduce, its content means nothing. For `lp`
// the segment size of `wire` must be the one for which `program` was made. The buffers must have at
// least program.bytes / 4 elements, and sparse programs are not allowed (both asserted).
[[nodiscard]] std::span<const float> run(const Program& program, Wire& wire, Buffers& buffers);

} // namespace stepsim::calibrate::mpi
