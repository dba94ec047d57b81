#pragma once
// Executes plans on D GPUs. Rank r is on device r mod D, with two streams, a vector x and a
// temporary; guard words before and after both show writes out of bounds. One host thread drives
// all ranks (CAL 7.1). Data are copied in one of two ways:
//   copy_engine  cudaMemcpyAsync between unified addresses
//   host_staged  to page-locked host memory and on to the receiver
#include <set>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/device.cuh"

namespace stepsim::calibrate::gpu {

enum class Variant { copy_engine, host_staged };
inline constexpr std::array kVariants{Variant::copy_engine, Variant::host_staged};
[[nodiscard]] constexpr std::string_view name(Variant variant) {
  return variant == Variant::copy_engine ? "copy_engine" : "host_staged";
}

inline constexpr std::int64_t kGuard = 32;               // words before and after each vector
inline constexpr std::uint32_t kGuardWord = 0xdeadbeefU; // as a float: a large negative number

class RankSet {
public:
  // Allocates `capacity` floats per vector, and with `staging` as many in page-locked host memory
  // per rank, which host_staged needs. Enables peer access between devices if they support it; a
  // pair that CUDA gives none (a device has at most 8 peers without NVSwitch) copies by host_staged
  // whatever the variant. Without page-locked memory the set has no staging, but everything else.
  RankSet(std::uint32_t ranks, int devices, std::int64_t capacity, bool staging);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] int device(std::uint32_t rank) const { return ranks_[rank].device; }
  // The first element of a vector, after its guard words.
  [[nodiscard]] float* x(std::uint32_t rank) const { return ranks_[rank].x.get() + kGuard; }
  [[nodiscard]] float* temp(std::uint32_t rank) const { return ranks_[rank].temp.get() + kGuard; }
  // Whether it has what the variant needs. With copy_engine CUDA itself goes through the host where
  // a pair of devices has no peer access.
  [[nodiscard]] bool can(Variant variant) const {
    return variant == Variant::copy_engine || staged_;
  }
  // Why there is no staging though it was asked for; "" otherwise.
  [[nodiscard]] const std::string& without_staging() const { return without_staging_; }
  // A sentence on the pairs of devices that support peer access and were given none; "" = none.
  [[nodiscard]] std::string text_of_unreached() const;
  [[nodiscard]] const Stream& main() const { return main_; } // a stream of device 0

  // Enqueues one collective on the vectors from element `offset` on. It starts after all earlier
  // work of main(), and later work of main() waits for it. Offsets should be multiples of 4, so
  // that kernels can use 128-bit accesses. Throws SimulationError if the plan has more ranks or
  // elements than this set.
  void enqueue(const CollectivePlan& plan, Variant variant, std::int64_t offset);
  // The same collective as a graph, which the caller launches on main().
  [[nodiscard]] Graph capture(const CollectivePlan& plan, Variant variant, std::int64_t offset);

  // Copies x [rank] from the host, sets temp to NaN, and writes guard words before and after the
  // first n elements of x and temp, where n is the length of the given vectors.
  void fill(const std::vector<std::vector<float>>& x);
  [[nodiscard]] std::vector<float> read(std::uint32_t rank, std::int64_t n) const;
  // Whether the guard words around the first n elements of x and temp are as fill() wrote them.
  [[nodiscard]] bool guards_intact(std::uint32_t rank, std::int64_t n) const;
  void zero(); // sets x and temp of all ranks to 0

private:
  // Two streams as in the plan, so that copies out of a rank and additions at it overlap.
  struct Rank {
    explicit Rank(int on_device, std::int64_t capacity);
    int device;
    std::array<Stream, 2> streams; // send, compute
    std::array<Event, 2> ends;
    Buffer<float> x, temp;
    PinnedBuffer<float> staging;
  };
  void issue(const PlanOperation& operation, Variant variant, std::int64_t offset) const;
  [[nodiscard]] const Event& event_of(std::size_t operation, int device);

  std::int64_t capacity_;
  std::set<std::pair<int, int>> unreached_; // devices [from, to] that CUDA refused peer access
  bool staged_ = false;
  std::string without_staging_;
  Stream main_;
  Event start_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<Event>> events_; // [device][operation]
};

// [from][to] whether device `from` can access the memory of device `to`; true on the diagonal.
[[nodiscard]] std::vector<std::vector<bool>> peer_access(int devices);

} // namespace stepsim::calibrate::gpu
