// A plan runs on two streams per rank. Order between streams is kept by events, one for every
// operation that another stream waits for; the host never waits in between.
#include "calibrate/cuda/run_plan.cuh"

#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Words around each vector that no operation may touch.
const std::vector<float>& guard_words() {
  static const std::vector<float> words(static_cast<std::size_t>(kGuard),
                                        std::bit_cast<float>(kGuardWord));
  return words;
}

} // namespace

// [from][to]: whether a kernel or copy on device `from` can address the memory of device `to`.
std::vector<std::vector<bool>> peer_access(int devices) {
  std::vector<std::vector<bool>> matrix(static_cast<std::size_t>(devices));
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      int can = from == to ? 1 : 0;
      if (from != to) {
        STEPSIM_CUDA(cudaDeviceCanAccessPeer(&can, from, to));
      }
      matrix[static_cast<std::size_t>(from)].push_back(can != 0);
    }
  }
  return matrix;
}

RankSet::Rank::Rank(int on_device, std::int64_t capacity)
    : device(on_device), ends{Event(Event::Use::order), Event(Event::Use::order)},
      x(capacity + 2 * kGuard), temp(capacity + 2 * kGuard) {}

// Ranks go round the devices. Access that another part of the program has enabled is no error.
RankSet::RankSet(std::uint32_t ranks, int devices, std::int64_t capacity, bool staging)
    : capacity_(capacity), start_(Event::Use::order), events_(static_cast<std::size_t>(devices)) {
  const auto access = peer_access(devices);
  for (int from = 0; from < devices; ++from) {
    const DeviceGuard guard(from);
    for (int to = 0; to < devices; ++to) {
      if (from != to && access[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)]) {
        const cudaError_t enabled = cudaDeviceEnablePeerAccess(to, 0);
        if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
          (void)cudaGetLastError();
        } else if (enabled == cudaErrorTooManyPeers) {
          (void)cudaGetLastError();
          unreached_.insert({from, to});
        } else {
          STEPSIM_CUDA(enabled);
        }
      }
    }
  }
  ranks_.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const DeviceGuard guard(static_cast<int>(rank) % devices);
    ranks_.emplace_back(static_cast<int>(rank) % devices, capacity);
  }
  try {
    for (Rank& rank : ranks_) {
      const DeviceGuard guard(rank.device);
      rank.staging = PinnedBuffer<float>(staging ? capacity : 0);
    }
    staged_ = staging;
  } catch (const CudaError& error) {
    without_staging_ = error.what();
    for (Rank& rank : ranks_) {
      rank.staging = PinnedBuffer<float>();
    }
  }
}

std::string RankSet::text_of_unreached() const {
  if (unreached_.empty()) {
    return "";
  }
  const auto [from, to] = *unreached_.begin();
  return std::to_string(unreached_.size()) + " pairs of devices get no peer access, the first " +
         std::to_string(from) + " to " + std::to_string(to) +
         " (without NVSwitch CUDA gives a device at most 8 peers): they copy " +
         (staged_ ? "through the host (host_staged) in every variant" : "as CUDA does it");
}

// Events are made once and used again by every plan.
const Event& RankSet::event_of(std::size_t operation, int device) {
  std::vector<Event>& events = events_[static_cast<std::size_t>(device)];
  while (events.size() <= operation) {
    events.emplace_back(Event::Use::order); // the device is current
  }
  return events[operation];
}

// Both ways to move data between ranks are in order on the stream of the sender, so that the
// staging memory needs no event of its own.
void RankSet::issue(const PlanOperation& operation, Variant variant, std::int64_t offset) const {
  const std::int64_t at = offset + operation.offset;
  const std::int64_t n = operation.count;
  const Rank& dst = ranks_[operation.dst];
  if (operation.kind == PlanOperation::Kind::add) {
    add(x(operation.dst) + at, temp(operation.dst) + at, n, dst.streams[1]);
    return;
  }
  const Rank& src = ranks_[operation.src];
  const cudaStream_t stream = src.streams[0];
  const float* from = x(operation.src) + at;
  float* to = (operation.to_temp ? temp(operation.dst) : x(operation.dst)) + at;
  if (variant == Variant::host_staged ||
      (staged_ && unreached_.contains({src.device, dst.device}))) {
    float* const staging = src.staging.get() + at;
    STEPSIM_CUDA(
        cudaMemcpyAsync(staging, from, bytes_of_floats(n), cudaMemcpyDeviceToHost, stream));
    STEPSIM_CUDA(cudaMemcpyAsync(to, staging, bytes_of_floats(n), cudaMemcpyHostToDevice, stream));
    return;
  }
  // Both addresses are unified, so that CUDA finds the devices; cudaMemcpyPeerAsync would do the
  // same, but a stream that is captured refuses it.
  STEPSIM_CUDA(cudaMemcpyAsync(to, from, bytes_of_floats(n), cudaMemcpyDefault, stream));
}

// The first operations start after an event of the main stream, which waits for the last ones, so
// that timing the main stream times the plan. A stream whose first operation waits for another one
// starts after that, and a stream whose last operation is awaited ends before that.
void RankSet::enqueue(const CollectivePlan& plan, Variant variant, std::int64_t offset) {
  if (plan.ranks > ranks() || offset + plan.elements > capacity_) {
    throw SimulationError("a plan of more ranks or elements than there are buffers for");
  }
  DeviceGuard current(0);
  start_.record(main_);
  std::vector<bool> used(std::size_t{2} * plan.ranks, false);
  std::vector<bool> open(used.size(), false); // nobody waits for the last operation
  const auto owner = [&](std::uint32_t stream) -> const Rank& { return ranks_[stream / 2]; };
  for (std::size_t i = 0; i < plan.operations.size(); ++i) {
    const PlanOperation& operation = plan.operations[i];
    const Rank& rank = owner(operation.stream());
    const Stream& stream = rank.streams[operation.stream() % 2];
    current.set(rank.device);
    if (!used[operation.stream()] && operation.waits.empty()) {
      STEPSIM_CUDA(cudaStreamWaitEvent(stream, start_, 0));
    }
    used[operation.stream()] = true;
    open[operation.stream()] = !operation.awaited;
    for (const std::uint32_t wait : operation.waits) {
      const int on = owner(plan.operations[wait].stream()).device;
      STEPSIM_CUDA(cudaStreamWaitEvent(stream, events_[static_cast<std::size_t>(on)][wait], 0));
    }
    if (operation.count > 0) {
      issue(operation, variant, offset);
    }
    if (operation.awaited) {
      event_of(i, rank.device).record(stream);
    }
  }
  for (std::uint32_t stream = 0; stream < 2 * plan.ranks; ++stream) {
    if (open[stream]) {
      const Rank& rank = owner(stream);
      current.set(rank.device);
      rank.ends[stream % 2].record(rank.streams[stream % 2]);
      current.set(0);
      STEPSIM_CUDA(cudaStreamWaitEvent(main_, rank.ends[stream % 2], 0));
    }
  }
}

// A captured graph has one launch instead of one per operation.
Graph RankSet::capture(const CollectivePlan& plan, Variant variant, std::int64_t offset) {
  for (std::size_t i = 0; i < plan.operations.size(); ++i) { // nothing is made while capturing
    if (plan.operations[i].awaited) {
      const int on = device(plan.operations[i].stream() / 2);
      const DeviceGuard guard(on);
      (void)event_of(i, on);
    }
  }
  const DeviceGuard guard(0);
  cudaGraph_t captured = nullptr;
  STEPSIM_CUDA(cudaStreamBeginCapture(main_, cudaStreamCaptureModeThreadLocal));
  try {
    enqueue(plan, variant, offset);
  } catch (...) {
    (void)cudaStreamEndCapture(main_, &captured); // leaves the stream usable
    (void)cudaGetLastError();
    if (captured != nullptr) {
      (void)cudaGraphDestroy(captured);
    }
    throw;
  }
  STEPSIM_CUDA(cudaStreamEndCapture(main_, &captured));
  return Graph(captured);
}

// temp is filled with NaN before x is set: a temporary that is added before its data has arrived
// makes the sum NaN. Guard words stand before and behind both vectors.
void RankSet::fill(const std::vector<std::vector<float>>& x_of) {
  for (std::uint32_t rank = 0; rank < x_of.size(); ++rank) {
    const DeviceGuard guard(device(rank));
    const auto n = static_cast<std::int64_t>(x_of[rank].size());
    for (float* vector : {x(rank), temp(rank)}) {
      to_device(vector - kGuard, guard_words());
      to_device(vector + n, guard_words());
      STEPSIM_CUDA(
          cudaMemset(vector, 0xff, bytes_of_floats(n))); // NaN: what is read too early shows
    }
    to_device(x(rank), x_of[rank]);
  }
}

std::vector<float> RankSet::read(std::uint32_t rank, std::int64_t n) const {
  const DeviceGuard guard(device(rank));
  return to_host(x(rank), n);
}

// Looks before and behind both vectors.
bool RankSet::guards_intact(std::uint32_t rank, std::int64_t n) const {
  const DeviceGuard guard(device(rank));
  for (const float* vector : {x(rank), temp(rank)}) {
    for (const float* from : {vector - kGuard, vector + n}) {
      if (to_host(from, kGuard) != guard_words()) {
        return false;
      }
    }
  }
  return true;
}

// Memory that was never written may hold NaN or denormal numbers; timing starts from zeros.
void RankSet::zero() {
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const DeviceGuard guard(device(rank));
    STEPSIM_CUDA(cudaMemset(x(rank), 0, bytes_of_floats(capacity_)));
    STEPSIM_CUDA(cudaMemset(temp(rank), 0, bytes_of_floats(capacity_)));
    STEPSIM_CUDA(cudaDeviceSynchronize());
  }
}

} // namespace stepsim::calibrate::gpu
