#pragma once
// gTop-k as a collective of several ranks on D GPUs (SPA 6, gtopk_tree): every rank selects the k
// entries of its vector with the largest |v|; along a binomial tree to rank 0 a rank adds the list
// of another to its own and keeps the k largest; the result goes back along the same tree. A list
// is one message of 8 k bytes, which its receiver copies from the sender's memory. Rank r is on
// device r mod D. For .cu files.
#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

class GtopkRanks {
public:
  // Room for vectors of `most` elements and lists of `most_entries`. Peer access between devices is
  // left as it is: without it CUDA copies through the host.
  GtopkRanks(std::uint32_t ranks, int devices, std::int64_t most, std::uint32_t most_entries);

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] int device(std::uint32_t rank) const { return ranks_[rank].device; }
  [[nodiscard]] float* x(std::uint32_t rank) const { return ranks_[rank].x.get(); }
  [[nodiscard]] const Stream& main() const { return main_; } // a stream of device 0

  // Enqueues the collective on the first n elements of all vectors, 1 <= k <= n. It starts after
  // all earlier work of main(), and later work of main() waits for it.
  void enqueue(std::int64_t n, std::uint32_t k);
  // The list of a rank after enqueue() with this k: k entries ascending by index; those behind the
  // last one that was selected have the index kNoEntry and the value 0.
  [[nodiscard]] List list(std::uint32_t rank, std::uint32_t k) const {
    return list_in(ranks_[rank].own, k);
  }
  static constexpr std::int32_t kNoEntry = 0x7fffffff;

private:
  struct Rank {
    Rank(int on_device, std::int64_t most, std::uint32_t most_entries);
    int device;
    Stream stream;
    Event done;
    Buffer<float> x, combined;
    Buffer<std::uint32_t> own, received; // a list: k indices, then k values
    ListSpace merged;
    Workspace work;
  };
  [[nodiscard]] static List list_in(const Buffer<std::uint32_t>& words, std::uint32_t k) {
    return {reinterpret_cast<std::int32_t*>(words.get()), reinterpret_cast<float*>(words.get() + k),
            k};
  }
  // `to` copies the list of `from`, once `from` is done so far.
  void copy(const Rank& from, const Rank& to, const Buffer<std::uint32_t>& into,
            std::uint32_t k) const;
  Stream main_;
  Event start_;
  std::vector<Rank> ranks_;
};

} // namespace stepsim::calibrate::gpu
