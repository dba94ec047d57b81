#pragma once
// The blocks of a CUDA launch, executed on one CPU thread. Every CUDA thread is a fiber that runs
// until it reaches a barrier or an operation of its warp. What hardware leaves open is decided by a
// seed: the order of blocks, of warps within a block and of lanes within a warp. What hardware
// would not forgive ends the launch with KernelError:
//
//   a barrier that not all threads of the block reach, or reach at different places
//   an operation of a warp that a lane of its mask does not reach, or whose mask lacks the caller
//   shared memory read before it is written in this block, or outside its bounds
//   two threads that use one word of shared memory, one of them writing, with no barrier between
//
// Memory of the device ends at a page that cannot be read (streams.hpp), so that an access behind
// it ends the program.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

namespace cuda_on_cpu {

using Site = std::source_location;

class KernelError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// 0: ascending; 1: descending; others: shuffled by that seed.
void set_order(std::uint64_t seed);

struct Counts {
  std::int64_t launches = 0;
  std::int64_t blocks = 0;
};
[[nodiscard]] Counts counts(); // since the program began
// The names of all kernels in the sources, and whether one has been executed.
[[nodiscard]] const std::vector<std::string>& kernels();
[[nodiscard]] bool was_executed(const std::string& kernel);
bool entered(const char* kernel); // called by rewritten kernels

// Runs `threads` fibers per block, each of which calls `body`; `name` begins errors.
void run_grid(const char* name, dim3 grid, unsigned threads, const std::function<void()>& body);

struct Place { // of the running fiber
  unsigned thread = 0, warp = 0, lane = 0;
  std::uint32_t barriers = 0;      // that the block has passed, from 1
  std::uint32_t warp_barriers = 0; // of the warp
  std::uint32_t block = 0;         // counted over all launches
};
[[nodiscard]] const Place& here();
extern dim3 block_index, block_size, grid_size;
[[nodiscard]] dim3 thread_index();
[[noreturn]] void fail(const std::string& message);

void block_barrier(const Site& site);
enum class WarpOperation { shuffle, ballot, match, barrier };
// Waits for all lanes of the mask. shuffle: the value that lane `from` offers (own where it is not
// a lane); ballot: a bit per lane, whether its value is not 0; match: a bit per lane with the same
// value.
std::uint64_t warp_operation(WarpOperation operation, unsigned mask, std::uint64_t value,
                             unsigned from, const Site& site);

template <class T> T shuffle(unsigned mask, T value, unsigned from, const Site& site) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_operation(WarpOperation::shuffle, mask, bits, from, site);
  T result;
  std::memcpy(&result, &bits, sizeof(T));
  return result;
}

// Who has used a word of shared memory since the last barrier.
class History {
public:
  void read();
  void write(bool atomic);

private:
  struct Access {
    unsigned thread = 0, warp = 0;
    std::uint32_t barriers = 0, warp_barriers = 0;
    bool several_threads = false, several_warps = false;
  };
  [[nodiscard]] static bool is_ordered(const Access& before);
  void begin_block();
  static void add(Access& access);
  std::uint32_t block_ = 0;
  Access reader_, writer_;
  bool written_ = false, atomic_ = false;
};

template <class T> class Word {
public:
  operator T() const {
    history_.read();
    return value_;
  }
  Word& operator=(T value) {
    history_.write(false);
    value_ = value;
    return *this;
  }
  Word& operator=(const Word& other) { return *this = static_cast<T>(other); }
  Word& operator+=(T value) { return *this = static_cast<T>(*this) + value; }
  T exchange(T (*combine)(T, T), T value) { // atomic
    history_.write(true);
    const T before = value_;
    value_ = combine(before, value);
    return before;
  }

private:
  T value_{};
  mutable History history_;
};

template <class T, std::size_t N> class Words {
public:
  T& operator[](std::int64_t index) {
    if (index < 0 || index >= static_cast<std::int64_t>(N)) {
      fail("shared memory: index " + std::to_string(index) + " of " + std::to_string(N));
    }
    return words_[static_cast<std::size_t>(index)];
  }

private:
  std::array<T, N> words_;
};

template <class T> struct SharedOf { using type = Word<T>; };
template <class T, std::size_t N> struct SharedOf<T[N]> {
  using type = Words<typename SharedOf<T>::type, N>;
};
// Shared<float[4][8]>: what `__shared__ float a[4][8]` becomes.
template <class T> using Shared = typename SharedOf<T>::type;

} // namespace cuda_on_cpu
