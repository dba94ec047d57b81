#pragma once
// The host side of the CUDA runtime, played: devices, memory, streams, events and captured graphs.
// Work on a stream is put off until the host waits for it, and is then done in an order that a seed
// draws among all that streams and events allow, so that a wait that is missing gives wrong
// results. Beside that every access to memory is compared with those before it (vector clocks): two
// accesses to one byte, one of them writing, that no stream, event or wait of the host puts in
// order are a violation, whatever the order in which they were done.
//
// A clock that is not the real one goes along: an operation starts when its stream, the events it
// waits for, the host's call and the link it uses are there, and takes what the machine says.
// Events report these times, so that a whole measurement can be played on a machine with given
// links.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shim/blocks.hpp"

struct CUstream_st;

namespace cuda_on_cpu {

struct Link {
  double latency_s = 2e-6;
  double bandwidth_Bps = 100e9;
  std::vector<int> uses{}; // what it shares with others, by number; one message at a time
};

struct Machine {
  int devices = 1;
  int first_device = 0; // of the host, that this process sees
  std::int64_t free_bytes = std::int64_t{1} << 40;
  int l2_bytes = 1 << 20;
  int multiprocessors = 3;
  int blocks_per_multiprocessor = 2;
  int major = 9, minor = 0;
  // [from][to]; empty: all devices reach each other.
  std::vector<std::vector<bool>> peer_access{};
  // Of a copy from one device to another, or to and from the host (-1).
  std::function<Link(int from, int to)> link{};
  double call_s = 2e-6;         // of a call of the host
  double kernel_s = 2e-6;       // of a kernel, and
  double kernel_s_per_thread{}; // per thread of its grid
  // How much longer a product of matrices takes that starts while other work of its device is under
  // way, and work that starts during a product.
  double product_beside = 1, work_beside = 1;
  bool has_cublas = true;
  bool refuses_peer_copies = false; // cudaMemcpyPeerAsync within a capture
  bool refuses_captures = false;    // of copies between devices, however they are asked for
  int most_peers = 1 << 20;         // of a device; 8 on real machines without NVSwitch
  std::size_t most_pinned_bytes = std::size_t{1} << 40; // of one allocation
  std::int64_t works = std::int64_t{1} << 62; // every later one breaks the machine for good
  bool executes = true;                       // false: only order and time, no data are moved
};

// Forgets everything of the machine before. Streams and memory of it must be gone.
void set_machine(const Machine& machine);
[[nodiscard]] const Machine& machine();
void set_execution(bool executes); // Machine::executes from now on; nothing may be under way

// Accesses that nothing puts in order, since the machine was set; at most 100 are kept.
[[nodiscard]] const std::vector<std::string>& violations();
void forget_violations();

struct Calls { // of the host, since the machine was set
  std::int64_t all = 0;
  std::int64_t waits = 0;   // cudaStreamWaitEvent
  std::int64_t records = 0; // cudaEventRecord
  std::int64_t attributes = 0;
};
[[nodiscard]] Calls calls();
// The call number `index` of cudaStreamWaitEvent from now on does nothing; -1: none.
void drop_wait(std::int64_t index);

struct Range {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};
struct Work {
  std::string what;
  std::vector<Range> reads{}, writes{};
  std::function<void()> run{};
  double seconds = 0;     // where no link is used
  int from = -2, to = -2; // devices of a copy
  std::size_t bytes = 0;
  bool between_devices = false;
};
// Puts work on a stream; 0 or an error of CUDA.
int submit(CUstream_st* stream, Work work);
// An error that the next cudaGetLastError gives.
void set_last_error(int error);

} // namespace cuda_on_cpu
