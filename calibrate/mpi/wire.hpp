#pragma once
// Sends the messages of a collective between processes (CAL 8.1). A message is sent in segments,
// all posted at once: one large message would wait for a handshake, which would queue behind data
// that are already being sent. A message of 0 bytes is one empty segment.
#include <mpi.h>

#include <chrono>
#include <functional>

#include "calibrate/mpi/process_program.hpp"
#include "collectives/operators/sparse_vector.hpp"

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
  void send(const void* data, std::int64_t bytes, std::uint32_t to, int tag) {
    post_send(data, bytes, to, tag);
    wait();
  }
  void receive(void* data, std::int64_t bytes, std::uint32_t from, int tag) {
    post_receive(data, bytes, from, tag);
    wait();
  }
  void barrier() { MPI_Barrier(group_); }

  std::int64_t bytes_sent = 0;       // grows by the bytes of each send; callers may reset it
  std::vector<Event>* log = nullptr; // null = no log; messages of `lp` are not logged

private:
  template <class Byte>
  void post(const auto& start, Byte* at, std::int64_t bytes, std::uint32_t peer, int tag);

  MPI_Comm group_;
  std::uint32_t rank_{}, ranks_{};
  std::int64_t segment_bytes_;
  std::vector<MPI_Request> requests_;
};

// The vectors of one process, all of the same length.
struct Buffers {
  explicit Buffers(std::int64_t elements)
      : x(static_cast<std::size_t>(elements)), temp(x.size()), result(x.size()) {}
  // Sets the first `elements` values of x to initial_vector() of element_messages.hpp.
  void fill(std::uint32_t rank, std::int64_t elements);
  std::vector<float> x;    // contribution of this rank, and the result if it is in place
  std::vector<float> temp; // received data that will be added
  // The result if x cannot hold it: all-reduce by `lp` (linear pipeline), which still sends x, and
  // MPI_Iallreduce in a replay with `library`.
  std::vector<float> result;
};

void add(float* into, const float* from, std::int64_t count); // into += from

// Runs a program step by step, waiting for each message. `out` and `in` say where a message of this
// rank lies and where one arrives; `arrived` is called for each that is there.
using Place = std::function<void*(const Message&)>;
void run_steps(const Program& program, Wire& wire, const Place& out, const Place& in,
               const std::function<void(const Message&)>& arrived);

// Runs the collective with real messages and returns the vector that holds the result; on ranks
// that have no result, such as all but the root of a reduce, its content means nothing. For `lp`
// the segment size of `wire` must be the one for which `program` was made. The buffers must have at
// least program.bytes / 4 elements, and sparse programs are not allowed (both asserted).
[[nodiscard]] std::span<const float> run(const Program& program, Wire& wire, Buffers& buffers);

// The gTop-k all-reduce over MPI (CAL 8.2): lists of k entries are reduced up a binomial tree and
// the result is broadcast down the tree. Two lists are merged by the simulator's own top-k operator
// (collectives/operators/sparse_vector.hpp, SPA 6). An entry is a 32-bit index and an fp32 value; a
// list of fewer than k entries is padded with entries that the receiver ignores.

struct Entry {
  std::uint32_t index{};
  float value{};
};
static_assert(sizeof(Entry) == kEntry);

// Input of `rank` for a check: k entries of a vector of 16 * k elements, one in every 16. The
// values are pseudo-random integers that are exact in fp32 and differ from rank to rank.
[[nodiscard]] collectives::SparseVector sparse_selection(std::uint32_t rank, std::uint32_t k);
// The list that every rank must hold after run_sparse() if all began with their sparse_selection().
[[nodiscard]] collectives::SparseVector expected_sparse(std::uint32_t ranks, std::uint32_t k);

// Runs the steps of this rank. `program` must be of a sparse kind (asserted). `list` holds the
// selection of this rank before the call and the global top k after it.
void run_sparse(const Program& program, Wire& wire, collectives::SparseVector& list);

// Seconds to unpack a list of k entries from a message, merge it with a second list and pack the
// result: the median of 9 merges. No message is sent; the caller decides whether other ranks merge
// at the same time.
[[nodiscard]] double merge_seconds(std::uint32_t k);

// Checks every collective before it is timed (CAL 7.2, 8.2), for 0, 1, P-1, P and 10^6+1 elements
// on P ranks: all elements, bit by bit, on every rank that has a result, and the number of bytes
// that each rank sent.

// Checks one collective over the ranks of `wire`; all ranks must call it with the same arguments.
// `elements` are entries for a sparse kind. Throws SimulationError on a rank with a wrong element
// or byte count: `lp allreduce P=4 n=5 rank 2 index=3: got 40, expected 30`. The other ranks do
// not learn of it.
void verify(const Kind& kind, std::int64_t elements, const MessageOptions& options, Wire& wire);
// Checks every kind at these five sizes; for sparse kinds the largest is 10,001 entries.
void verify_all(const MessageOptions& options, Wire& wire);

} // namespace stepsim::calibrate::mpi
