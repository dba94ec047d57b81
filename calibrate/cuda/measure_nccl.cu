// The operations of the library NCCL (nccl_calls.hpp), one rank per device: verified, then timed.
// Alone this process drives a rank on every device; in a job it drives its own rank, and messages
// between two ranks are timed as well.
#include "calibrate/cuda/collective_parts.cuh"
#include "calibrate/cuda/driver.hpp"

namespace stepsim::calibrate::gpu {

namespace {

// The ranks of this process, each with its device, vectors and stream. The main stream starts and
// ends each call, as for our own collectives. A single rank has no other stream, so that its times
// hold nothing but the calls, as the times of nccl-tests do.
class Ranks {
public:
  struct Local {
    std::uint32_t rank{};
    int device{};
  };
  // `nccl` has a communicator for each of them, in this order. Vectors have up to `capacity` bytes.
  Ranks(const Nccl& nccl, std::vector<Local> local, std::int64_t capacity)
      : nccl_(nccl), local_(std::move(local)), start_(Event::Use::order) {
    for (const Local& each : local_) {
      const DeviceGuard guard(each.device);
      const auto count = static_cast<std::size_t>(capacity);
      x_.emplace_back(count);
      y_.emplace_back(count);
      for (const auto* vector : {&x_.back(), &y_.back()}) {
        STEPSIM_CUDA(cudaMemset(vector->get(), 0, count));
      }
      STEPSIM_CUDA(cudaDeviceSynchronize());
      if (local_.size() > 1) {
        streams_.emplace_back();
        ends_.emplace_back(Event::Use::order);
      }
      vectors_.push_back(
          {x_.back().get(), y_.back().get(), local_.size() > 1 ? streams_.back() : main_});
    }
  }
  [[nodiscard]] const Stream& main() const { return main_; }

  // Without a call: only what it takes to start one on all devices and to end it.
  void enqueue(const std::optional<NcclCase>& call) const {
    if (!streams_.empty()) {
      start_.record(main_);
    }
    for (const Stream& stream : streams_) {
      STEPSIM_CUDA(cudaStreamWaitEvent(stream, start_, 0));
    }
    if (call) {
      nccl_.run(*call, vectors_);
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const DeviceGuard guard(local_[i].device);
      ends_[i].record(streams_[i]);
      STEPSIM_CUDA(cudaStreamWaitEvent(main_, ends_[i], 0));
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
      nccl_.exchange(messages, kNcclFloat, n, main_);
    }
  }

  // "" where the results of the ranks of this process are right.
  [[nodiscard]] std::string problem_of(const NcclCase& call) const {
    for (std::size_t i = 0; i < local_.size(); ++i) {
      const std::vector<std::byte> x = coded(call.type, nccl_input(call, local_[i].rank));
      const DeviceGuard guard(local_[i].device);
      to_device(x_[i].get(), x);
    }
    enqueue(call);
    main_.synchronize();
    for (std::size_t i = 0; i < local_.size(); ++i) {
      const std::vector<float> expected = nccl_expected(call, local_[i].rank);
      const DeviceGuard guard(local_[i].device);
      const std::vector<std::byte> got =
          to_host(y_[i].get(), expected.size() * static_cast<std::size_t>(call.type.bytes));
      const std::string problem = first_difference(decoded(call.type, got), expected);
      if (!problem.empty()) {
        return call.text() + " rank=" + std::to_string(local_[i].rank) + problem;
      }
    }
    return "";
  }

private:
  const Nccl& nccl_;
  std::vector<Local> local_;
  Stream main_;
  Event start_;
  std::vector<Buffer<std::byte>> x_, y_;
  std::vector<Stream> streams_;
  std::vector<Event> ends_;
  std::vector<Nccl::Vectors> vectors_;
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

// Every call with every type that is asked for, on the longest vectors of at most so many bytes and
// so many elements.
std::vector<NcclCase> calls_of(const Measurement& measurement, std::int64_t bytes,
                               std::int64_t elements) {
  const std::string& dtype = measurement.options.dtype;
  const std::uint32_t ranks = measurement.ranks;
  std::vector<NcclCase> calls;
  for (const NcclType& type : kNcclTypes) {
    if (dtype != "all" && dtype != type.name) {
      continue;
    }
    for (const std::string_view word : kNcclCalls.all()) {
      const NcclCall call = *kNcclCalls.find(word);
      const std::int64_t parts = has_blocks(call) ? ranks : 1;
      const std::int64_t part = std::min(bytes / type.bytes, elements) / parts;
      if (part > 0) {
        calls.push_back({call, type, ranks, part * parts});
      }
    }
  }
  return calls;
}

} // namespace

// Verified with one element, with one per rank, and with 1,000,001, which no number of ranks from 2
// to 100 divides: parts of the vectors then have unequal sizes.
void verify_and_measure_nccl(Measurement& measurement, double seconds) {
  const std::unique_ptr<Nccl> nccl = library_of(measurement);
  const std::int64_t capacity =
      std::min(kMostCollectiveBytes, measurement.free_bytes / 8) / kElement * kElement;
  Ranks ranks(*nccl, local_ranks(measurement), capacity);
  measurement.say("nccl " + std::to_string(nccl->version()) + ": " +
                  std::to_string(measurement.ranks) + " devices");
  std::int64_t cases = 0;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{measurement.ranks}, kMostChecked}) {
    for (const NcclCase& call : calls_of(measurement, capacity, n)) {
      measurement.begin("verification of " + call.text());
      throw_if_any(measurement.job, ranks.problem_of(call));
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
    const auto open = [&ranks](const std::vector<Round>& rounds, std::int64_t n) {
      return [&ranks, rounds, n](std::int64_t) {
        for (int i = 0; i < kMessages; ++i) {
          for (const Round& round : rounds) {
            ranks.exchange(round, n);
          }
        }
      };
    };
    measure_traffic(measurement,
                    {"nccl", "plain", measurement.ranks, &ranks.main(),
                     std::min(kLargeMessage, capacity / kElement), open},
                    of_pairs);
  }
  std::vector<Block<CollectiveRecord>> blocks;
  for (const std::int64_t size : collective_sizes(
           capacity, measurement.ranks, measurement.options.dense, measurement.options.seed)) {
    for (const NcclCase& call : calls_of(measurement, size, size)) {
      blocks.push_back(
          {call.text(),
           {.op = std::string(kNcclCalls[call.call]),
            .algorithm = "nccl",
            .variant = "nccl",
            .launch = "plain",
            .dtype = std::string(call.type.name),
            .ranks = call.ranks,
            .bytes = call.elements * call.type.bytes},
           [&ranks, call] { return [&ranks, call](std::int64_t) { ranks.enqueue(call); }; }});
    }
  }
  if (measurement.job.is_alone()) {
    const double start_s =
        seconds_of(ranks.main(), [&](std::int64_t) { ranks.enqueue(std::nullopt); });
    measurement.note("nccl: one process drives all devices, so that every time contains the start "
                     "and the end of "
                     "a call across them, " +
                     base::significant(1e6 * start_s, 3) + " us");
  }
  time_blocks(measurement, ranks.main(), blocks, seconds - of_pairs, "nccl");
  if (measurement.job.is_alone()) {
    const NcclCase call{NcclCall::allreduce, kNcclFloat, measurement.ranks,
                        std::min(kLargeMessage, capacity / kElement)};
    measure_overlap(measurement, {call.text(), call.elements * kElement, &ranks.main(),
                                  [&] { ranks.enqueue(call); }});
  }
}

} // namespace stepsim::calibrate::gpu
