#pragma once
// Executes plans on the GPUs: rank r lives on device r mod D, with its two streams, its vector x
// and its temporary, each between guard words. One host thread drives all ranks (CAL 7.1).
//   copy_engine  cudaMemcpyAsync between unified addresses
//   sm_store     a kernel of the sender that writes through the pointer of the receiver
//   host_staged  to page-locked host memory and on to the receiver
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/device.cuh"

namespace stepsim::calibrate::gpu {

enum class Variant { copy_engine, sm_store, host_staged };
inline constexpr std::array kVariants{Variant::copy_engine, Variant::sm_store,
                                      Variant::host_staged};
[[nodiscard]] std::string_view name(Variant variant);

inline constexpr std::int64_t kGuard = 32;               // words on either side
inline constexpr std::uint32_t kGuardWord = 0xdeadbeefU; // as a float: a large negative number

class RankSet {
public:
  // `capacity` floats per vector. Enables access between all devices that can.
  RankSet(std::uint32_t ranks, int devices, std::int64_t capacity, bool staging);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] int device(std::uint32_t rank) const { return ranks_[rank].device; }
  // First element behind the guard.
  [[nodiscard]] float* x(std::uint32_t rank) const { return ranks_[rank].x.get() + kGuard; }
  [[nodiscard]] float* temp(std::uint32_t rank) const { return ranks_[rank].temp.get() + kGuard; }
  [[nodiscard]] const Stream& main() const { return main_; } // of device 0

  // One collective on vectors that start at element `offset`: after all that `main` was given, and
  // `main` goes on after it. 128-bit kernels want offsets that are multiples of 4.
  void enqueue(const CollectivePlan& plan, Variant variant, std::int64_t offset);
  [[nodiscard]] Graph capture(const CollectivePlan& plan, Variant variant, std::int64_t offset);

  // Sets x of every rank from the host, and guards around the first n elements of x and temp, n the
  // length of the given vectors.
  void fill(const std::vector<std::vector<float>>& x);
  [[nodiscard]] std::vector<float> read(std::uint32_t rank, std::int64_t n) const;
  // The words around the first n elements of x and temp are as `fill` left them.
  [[nodiscard]] bool guards_intact(std::uint32_t rank, std::int64_t n) const;
  void zero(); // all vectors

private:
  // Two streams as in the plan, so that copies out of a rank and additions at it overlap.
  struct Rank {
    explicit Rank(int on_device, std::int64_t capacity, bool staging);
    int device;
    std::array<Stream, 2> streams; // send, compute
    std::array<Event, 2> ends;
    Buffer<float> x, temp;
    PinnedBuffer<float> staging;
  };
  void issue(const PlanOperation& operation, Variant variant, std::int64_t offset) const;
  [[nodiscard]] const Event& event_of(std::size_t operation, int device);

  std::int64_t capacity_;
  Stream main_;
  Event start_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<Event>> events_; // [device][operation]
};

// [from][to]; true on the diagonal.
[[nodiscard]] std::vector<std::vector<bool>> peer_access(int devices);

} // namespace stepsim::calibrate::gpu
