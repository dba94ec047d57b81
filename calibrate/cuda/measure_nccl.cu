// The collectives of the library NCCL, one rank per device: verified, then timed.
#include <algorithm>
#include <cstring>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/driver.hpp"
#include "calibrate/cuda/measurement.cuh"
#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
constexpr Nccl::Op kOps[] = {Nccl::Op::allreduce, Nccl::Op::broadcast, Nccl::Op::reduce};

coll::Op own(Nccl::Op op) {
  switch (op) {
  case Nccl::Op::allreduce:
    return coll::Op::allreduce;
  case Nccl::Op::broadcast:
    return coll::Op::broadcast;
  case Nccl::Op::reduce:
    return coll::Op::reduce;
  }
  return coll::Op::allreduce;
}

// One communicator and one stream per device; the main stream starts and ends each call, as for our
// own collectives.
class Ranks {
public:
  Ranks(int devices, std::int64_t capacity) : nccl_(devices), start_(Event::Use::order) {
    for (int device = 0; device < devices; ++device) {
      const DeviceGuard guard(device);
      const auto count = static_cast<std::size_t>(capacity);
      x_.emplace_back(count);
      y_.emplace_back(count);
      STEPSIM_CUDA(cudaMemset(x_.back().get(), 0, count * sizeof(float)));
      STEPSIM_CUDA(cudaDeviceSynchronize());
      streams_.emplace_back();
      ends_.emplace_back(Event::Use::order);
      from_.push_back(x_.back().get());
      to_.push_back(y_.back().get());
      raw_streams_.push_back(streams_.back().get());
    }
  }
  [[nodiscard]] const Stream& main() const { return main_; }
  [[nodiscard]] int version() const { return nccl_.version(); }

  void enqueue(Nccl::Op op, std::int64_t n) const {
    start_.record(main_);
    for (const Stream& stream : streams_) {
      STEPSIM_CUDA(cudaStreamWaitEvent(stream.get(), start_.get(), 0));
    }
    nccl_.run(op, from_.data(), to_.data(), static_cast<std::size_t>(n), raw_streams_.data());
    for (std::size_t device = 0; device < streams_.size(); ++device) {
      const DeviceGuard guard(static_cast<int>(device));
      ends_[device].record(streams_[device]);
      STEPSIM_CUDA(cudaStreamWaitEvent(main_.get(), ends_[device].get(), 0));
    }
  }

  void verify(Nccl::Op op, std::int64_t n) const {
    const auto ranks = static_cast<std::uint32_t>(streams_.size());
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
    std::vector<float> values(static_cast<std::size_t>(n));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::int64_t i = 0; i < n; ++i) {
        values[static_cast<std::size_t>(i)] = initial_value(rank, i);
      }
      const DeviceGuard guard(static_cast<int>(rank));
      STEPSIM_CUDA(cudaMemcpy(x_[rank].get(), values.data(), bytes, cudaMemcpyHostToDevice));
      STEPSIM_CUDA(cudaDeviceSynchronize());
    }
    enqueue(op, n);
    main_.synchronize();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (!has_result(own(op), rank)) {
        continue;
      }
      const DeviceGuard guard(static_cast<int>(rank));
      STEPSIM_CUDA(cudaMemcpy(values.data(), y_[rank].get(), bytes, cudaMemcpyDeviceToHost));
      for (std::int64_t i = 0; i < n; ++i) {
        const float expected = expected_value(own(op), ranks, i);
        const float got = values[static_cast<std::size_t>(i)];
        if (got != expected) {
          throw SimulationError("nccl " + std::string(coll::name(own(op))) +
                                " P=" + std::to_string(ranks) + " n=" + std::to_string(n) +
                                " rank=" + std::to_string(rank) + " index=" + std::to_string(i) +
                                ": got " + std::to_string(got) + ", expected " +
                                std::to_string(expected));
        }
      }
    }
  }

private:
  Nccl nccl_;
  Stream main_;
  Event start_;
  std::vector<Buffer<float>> x_, y_;
  std::vector<Stream> streams_;
  std::vector<Event> ends_;
  std::vector<const float*> from_;
  std::vector<float*> to_;
  std::vector<CUstream_st*> raw_streams_;
};

// What time_blocks asks of a block: the call, its name and its record.
struct NcclBlock {
  Measurement* measurement;
  Ranks* ranks;
  Nccl::Op op;
  std::int64_t elements{};

  [[nodiscard]] auto open() const {
    return [ranks = ranks, op = op, n = elements](std::int64_t) { ranks->enqueue(op, n); };
  }
  [[nodiscard]] std::string text() const {
    return "nccl " + std::string(coll::name(own(op))) + " n=" + std::to_string(elements);
  }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    CollectiveRecord out;
    out.op = std::string(coll::name(own(op)));
    out.algorithm = "nccl";
    out.variant = "nccl";
    out.launch = "plain";
    out.ranks = static_cast<std::uint32_t>(measurement->devices);
    out.bytes = elements * 4;
    out.pass = pass;
    out.repeats = repeats;
    out.time_s = seconds;
    measurement->records(line(out, measurement->same_device));
  }
};

} // namespace

// Verified with one element, with one per device, and with 1,000,001, which no number of devices
// from 2 to 100 divides: parts then have unequal sizes.
void verify_and_measure_nccl(Measurement& measurement, double seconds) {
  const std::int64_t capacity = std::min(kMostBytes, measurement.free_bytes / 8) / 4;
  Ranks ranks(measurement.devices, capacity);
  measurement.say("nccl " + std::to_string(ranks.version()) + ": " +
                  std::to_string(measurement.devices) + " devices");
  std::int64_t cases = 0;
  for (const Nccl::Op op : kOps) {
    for (const std::int64_t n :
         {std::int64_t{1}, std::int64_t{measurement.devices}, std::int64_t{1'000'001}}) {
      ranks.verify(op, std::min(n, capacity));
      ++cases;
    }
  }
  measurement.records(line(VerifiedRecord{"nccl", cases}, measurement.same_device));
  if (!measurement.options.timing) {
    return;
  }
  std::vector<NcclBlock> blocks;
  for (const std::int64_t size :
       collective_sizes(4 * capacity, static_cast<std::uint32_t>(measurement.devices),
                        measurement.options.dense, measurement.options.seed)) {
    for (const Nccl::Op op : kOps) {
      if (size > 0) {
        blocks.push_back({&measurement, &ranks, op, size / 4});
      }
    }
  }
  time_blocks(measurement, ranks.main(), blocks, seconds, "nccl");
}

} // namespace stepsim::calibrate::gpu
