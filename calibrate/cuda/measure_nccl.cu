// The collectives of the library NCCL, one rank per device: verified, then timed. Alone this
// process drives a rank on every device; in a job it drives its own rank, and messages between two
// ranks are timed as well.
#include <algorithm>
#include <memory>
#include <optional>

#include "calibrate/cuda/collective_parts.cuh"
#include "calibrate/cuda/driver.hpp"
#include "calibrate/execute/element_messages.hpp"

namespace stepsim::calibrate::gpu {

namespace {

using collectives::Op;

constexpr Op kOps[] = {Op::allreduce, Op::broadcast, Op::reduce};

// The ranks of this process, each with its device, vectors and stream. The main stream starts and
// ends each call, as for our own collectives.
class Ranks {
public:
  struct Local {
    std::uint32_t rank{};
    int device{};
  };
  // `nccl` has a communicator for each of them, in this order.
  Ranks(const Nccl& nccl, std::uint32_t ranks, std::vector<Local> local, std::int64_t capacity)
      : nccl_(nccl), ranks_(ranks), local_(std::move(local)), start_(Event::Use::order) {
    for (const Local& each : local_) {
      const DeviceGuard guard(each.device);
      const auto count = static_cast<std::size_t>(capacity);
      x_.emplace_back(count);
      y_.emplace_back(count);
      for (const auto* vector : {&x_.back(), &y_.back()}) {
        STEPSIM_CUDA(cudaMemset(vector->get(), 0, count * sizeof(float)));
      }
      STEPSIM_CUDA(cudaDeviceSynchronize());
      streams_.emplace_back();
      ends_.emplace_back(Event::Use::order);
      from_.push_back(x_.back().get());
      to_.push_back(y_.back().get());
      raw_streams_.push_back(streams_.back().get());
    }
  }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] const Stream& main() const { return main_; }

  // Without an operation: only what a call takes to start on all devices and to end.
  void enqueue(std::optional<Op> op, std::int64_t n) const {
    start_.record(main_);
    for (const Stream& stream : streams_) {
      STEPSIM_CUDA(cudaStreamWaitEvent(stream.get(), start_.get(), 0));
    }
    if (op) {
      nccl_.run(*op, from_.data(), to_.data(), static_cast<std::size_t>(n), raw_streams_.data());
    }
    for (std::size_t i = 0; i < local_.size(); ++i) {
      const DeviceGuard guard(local_[i].device);
      ends_[i].record(streams_[i]);
      STEPSIM_CUDA(cudaStreamWaitEvent(main_.get(), ends_[i].get(), 0));
    }
  }

  // Of the rank of a job: one message of n floats in each direction.
  void exchange(std::span<const Direction> directions, std::int64_t n) const {
    std::vector<Nccl::Message> messages;
    for (const auto& [src, dst] : directions) {
      if (src == local_.front().rank) {
        messages.push_back({x_.front().get(), dst, true});
      } else if (dst == local_.front().rank) {
        messages.push_back({y_.front().get(), src, false});
      }
    }
    if (!messages.empty()) {
      nccl_.exchange(messages, static_cast<std::size_t>(n), main_.get());
    }
  }

  // "" where the results of the ranks of this process are right.
  [[nodiscard]] std::string problem_of(Op op, std::int64_t n) const {
    const std::size_t bytes = bytes_of_floats(n);
    for (std::size_t i = 0; i < local_.size(); ++i) {
      const std::vector<float> x = initial_vector(local_[i].rank, n);
      const DeviceGuard guard(local_[i].device);
      STEPSIM_CUDA(cudaMemcpy(x_[i].get(), x.data(), bytes, cudaMemcpyHostToDevice));
      STEPSIM_CUDA(cudaDeviceSynchronize());
    }
    enqueue(op, n);
    main_.synchronize();
    std::vector<float> got(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < local_.size(); ++i) {
      const DeviceGuard guard(local_[i].device);
      STEPSIM_CUDA(cudaMemcpy(got.data(), y_[i].get(), bytes, cudaMemcpyDeviceToHost));
      const std::string problem = first_difference(got, expected_vector(op, ranks_, n));
      if (has_result(op, local_[i].rank) && !problem.empty()) {
        return "nccl " + std::string(collectives::name(op)) + " P=" + std::to_string(ranks_) +
               " n=" + std::to_string(n) + " rank=" + std::to_string(local_[i].rank) + problem;
      }
    }
    return "";
  }

private:
  const Nccl& nccl_;
  std::uint32_t ranks_;
  std::vector<Local> local_;
  Stream main_;
  Event start_;
  std::vector<Buffer<float>> x_, y_;
  std::vector<Stream> streams_;
  std::vector<Event> ends_;
  std::vector<const float*> from_;
  std::vector<float*> to_;
  std::vector<CUstream_st*> raw_streams_;
};

// A timed NCCL call in the form that time_blocks() takes: the call, its name and its record.
struct NcclBlock {
  Measurement* measurement;
  Ranks* ranks;
  Op op;
  std::int64_t elements{};

  [[nodiscard]] auto open() const {
    return [ranks = ranks, op = op, n = elements](std::int64_t) { ranks->enqueue(op, n); };
  }
  [[nodiscard]] std::string text() const {
    return "nccl " + std::string(collectives::name(op)) + " n=" + std::to_string(elements);
  }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    CollectiveRecord out;
    out.op = std::string(collectives::name(op));
    out.algorithm = out.variant = "nccl";
    out.launch = "plain";
    out.ranks = ranks->ranks();
    out.bytes = elements * kElement;
    measurement->write_times(out, pass, repeats, seconds);
  }
};

// The library on every rank, and one communicator over all of them: the identifier of rank 0 is
// sent to all, and each rank joins with its own device. A rank whose library is missing, or that
// gets no identifier, is told to all before anybody waits for it.
std::unique_ptr<Nccl> library_of(const Measurement& measurement) {
  const Job& job = measurement.job;
  if (job.is_alone()) {
    auto nccl = std::make_unique<Nccl>();
    nccl->start(measurement.devices);
    return nccl;
  }
  std::unique_ptr<Nccl> nccl;
  std::string missing;
  try {
    nccl = std::make_unique<Nccl>();
  } catch (const std::exception& error) {
    missing = error.what();
  }
  if (const std::string text = first_error(job, missing); !text.empty()) {
    throw NotAvailable(text);
  }
  NcclId id;
  std::string problem;
  if (job.rank == 0) {
    try {
      id = nccl->new_id();
    } catch (const SimulationError& error) {
      problem = error.what();
    }
  }
  throw_if_any(job, problem);
  job.broadcast(id.bytes.data(), id.bytes.size());
  measurement.begin("ncclCommInitRank");
  nccl->join(id, job.rank, job.ranks);
  measurement.end();
  return nccl;
}

std::vector<Ranks::Local> local_ranks(const Measurement& measurement) {
  if (!measurement.job.is_alone()) {
    return {{measurement.job.rank, measurement.device}};
  }
  std::vector<Ranks::Local> local;
  for (int device = 0; device < measurement.devices; ++device) {
    local.push_back({static_cast<std::uint32_t>(device), device});
  }
  return local;
}

// Seconds of a call without an operation.
double seconds_of_no_call(const Ranks& ranks) {
  const Event begin(Event::Use::timing);
  const Event end(Event::Use::timing);
  std::int64_t repetition = 0;
  const auto call = [&](std::int64_t) { ranks.enqueue(std::nullopt, 0); };
  (void)take_sample(ranks.main(), begin, end, kWarmUps, repetition, call);
  return take_sample(ranks.main(), begin, end, kWarmUps, repetition, call);
}

} // namespace

// Verified with one element, with one per device, and with 1,000,001, which no number of devices
// from 2 to 100 divides: parts then have unequal sizes.
void verify_and_measure_nccl(Measurement& measurement, double seconds) {
  const std::unique_ptr<Nccl> nccl = library_of(measurement);
  const std::int64_t capacity = std::min(kMostCollectiveBytes, measurement.free_bytes / 8) / 4;
  Ranks ranks(*nccl, measurement.ranks, local_ranks(measurement), capacity);
  measurement.say("nccl " + std::to_string(nccl->version()) + ": " +
                  std::to_string(measurement.ranks) + " devices");
  std::int64_t cases = 0;
  for (const Op op : kOps) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{measurement.ranks}, kMostChecked}) {
      measurement.begin("verification of nccl " + std::string(collectives::name(op)));
      throw_if_any(measurement.job, ranks.problem_of(op, std::min(n, capacity)));
      ++cases;
    }
  }
  measurement.end();
  measurement.write(VerifiedRecord{"nccl", cases});
  if (!measurement.options.timing) {
    return;
  }
  double of_pairs = 0;
  if (!measurement.job.is_alone()) {
    of_pairs = 0.3 * seconds;
    const auto open = [&ranks](const std::vector<Traffic::Round>& rounds, std::int64_t n) {
      return [&ranks, rounds, n](std::int64_t) {
        for (int i = 0; i < kMessages; ++i) {
          for (const Traffic::Round& round : rounds) {
            ranks.exchange(round, n);
          }
        }
      };
    };
    measure_traffic(measurement,
                    {"nccl", "plain", measurement.ranks, &ranks.main(),
                     std::min(kLargeMessage, capacity), open},
                    of_pairs);
  }
  std::vector<NcclBlock> blocks;
  for (const std::int64_t size : collective_sizes(
           4 * capacity, measurement.ranks, measurement.options.dense, measurement.options.seed)) {
    for (const Op op : kOps) {
      if (size > 0) {
        blocks.push_back({&measurement, &ranks, op, size / 4});
      }
    }
  }
  if (measurement.job.is_alone()) {
    measurement.note("nccl: one process drives all devices, so that every time contains the start "
                     "and the end of "
                     "a call across them, " +
                     base::significant(1e6 * seconds_of_no_call(ranks), 3) + " us");
  }
  time_blocks(measurement, ranks.main(), blocks, seconds - of_pairs, "nccl");
  if (measurement.job.is_alone()) {
    const std::int64_t n = std::min(kLargeMessage, capacity);
    measure_overlap(
        measurement,
        {"allreduce nccl P=" + std::to_string(measurement.ranks) + " n=" + std::to_string(n),
         n * kElement, &ranks.main(), [&] { ranks.enqueue(Op::allreduce, n); }});
  }
}

} // namespace stepsim::calibrate::gpu
