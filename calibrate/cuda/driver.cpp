// NVML, NCCL and cuBLAS are loaded while the program runs, so that it starts on a machine that
// lacks them. Without NVML the facts of the driver stay unknown; without NCCL only the measurement
// of NCCL is refused. Prototypes and constants are copied from the stable C interfaces of
// these libraries.
#include "calibrate/cuda/driver.hpp"

#include <dlfcn.h>

#include "calibrate/cuda/measure.hpp"

namespace stepsim::calibrate::gpu {

Library::Library(const char* who, std::initializer_list<const char*> names) : who_(who) {
  for (const char* name : names) {
    handle_ = handle_ != nullptr ? handle_ : dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
}
void* Library::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}
void Library::throw_missing(const char* name) const {
  throw NotAvailable(std::string(who_) + (handle_ != nullptr
                                              ? std::string(": no function ") + name
                                              : std::string(": the library was not found")));
}

// NVML: results are 0 for success, and a handle is an opaque pointer. Every function is looked up
// at its use, because older drivers lack some: what is missing leaves its fact unknown.
Nvml::Nvml() : library_("nvml", {"libnvidia-ml.so.1"}) { ready_ = is_answered("nvmlInit_v2"); }

Nvml::~Nvml() {
  if (ready_) {
    (void)is_answered("nvmlShutdown");
  }
}

template <class... Arguments>
bool Nvml::is_answered(const char* function, Arguments... arguments) const {
  auto* found = library_.find<int(Arguments...)>(function);
  return found != nullptr && found(arguments...) == 0;
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  const bool known = ready_ && is_answered("nvmlSystemGetDriverVersion", text.data(),
                                           static_cast<unsigned>(text.size() - 1));
  return known ? std::string(text.data()) : "";
}

Nvml::Device Nvml::device(const std::string& pci_bus_id) const {
  Device found = nullptr;
  const bool known =
      ready_ && is_answered("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &found);
  return known ? found : nullptr;
}

DeviceState Nvml::state(const std::string& pci_bus_id) const {
  const Device found = device(pci_bus_id);
  if (found == nullptr) {
    return {};
  }
  unsigned value = 0;
  const auto number = [&](bool is_known, double unit) {
    return is_known ? std::optional(unit * value) : std::nullopt;
  };
  constexpr int kSm = 1; // kinds of clock
  constexpr int kMemory = 2;
  constexpr int kOfTheChip = 0; // of temperature
  constexpr double kMega = 1e6;
  DeviceState state;
  state.sm_clock_hz = number(is_answered("nvmlDeviceGetClockInfo", found, kSm, &value), kMega);
  state.memory_clock_hz =
      number(is_answered("nvmlDeviceGetClockInfo", found, kMemory, &value), kMega);
  state.power_w = number(is_answered("nvmlDeviceGetPowerUsage", found, &value), 1e-3);
  state.temperature_c =
      number(is_answered("nvmlDeviceGetTemperature", found, kOfTheChip, &value), 1);
  unsigned long long reasons = 0;
  if (is_answered("nvmlDeviceGetCurrentClocksThrottleReasons", found, &reasons)) {
    state.throttle_reasons = reasons;
  }
  return state;
}

std::optional<bool> Nvml::ecc(const std::string& pci_bus_id) const {
  const Device found = device(pci_bus_id);
  int current = 0;
  int pending = 0;
  const bool known =
      found != nullptr && is_answered("nvmlDeviceGetEccMode", found, &current, &pending);
  return known ? std::optional(current != 0) : std::nullopt;
}

Nccl::Nccl() : library_("nccl", {"libnccl.so.2"}) {
  library_.load(functions_.get_version, "ncclGetVersion");
  library_.load(functions_.error_text, "ncclGetErrorString");
  library_.load(functions_.get_unique_id, "ncclGetUniqueId");
  library_.load(functions_.init_all, "ncclCommInitAll");
  library_.load(functions_.init_rank, "ncclCommInitRank");
  library_.load(functions_.destroy, "ncclCommDestroy");
  library_.load(functions_.group_start, "ncclGroupStart");
  library_.load(functions_.group_end, "ncclGroupEnd");
  library_.load(functions_.all_reduce, "ncclAllReduce");
  library_.load(functions_.broadcast, "ncclBroadcast");
  library_.load(functions_.reduce, "ncclReduce");
  library_.load(functions_.reduce_scatter, "ncclReduceScatter");
  library_.load(functions_.all_gather, "ncclAllGather");
  library_.load(functions_.send, "ncclSend");
  library_.load(functions_.receive, "ncclRecv");
  check(functions_.get_version(&version_), "ncclGetVersion");
}

Nccl::~Nccl() {
  for (NcclCommunicator* each : communicators_) {
    (void)functions_.destroy(each);
  }
}

void Nccl::start(int devices) {
  if (devices < 2) {
    throw NotAvailable("nccl: needs two devices, one rank each; found " + std::to_string(devices));
  }
  std::vector<NcclCommunicator*> made(static_cast<std::size_t>(devices));
  check(functions_.init_all(made.data(), devices, nullptr), "ncclCommInitAll");
  communicators_ = std::move(made);
}

NcclId Nccl::new_id() const {
  NcclId id;
  check(functions_.get_unique_id(&id), "ncclGetUniqueId");
  return id;
}

void Nccl::join(const NcclId& id, std::uint32_t rank, std::uint32_t ranks) {
  NcclCommunicator* made = nullptr;
  check(functions_.init_rank(&made, static_cast<int>(ranks), id, static_cast<int>(rank)),
        "ncclCommInitRank");
  communicators_ = {made};
  first_rank_ = rank;
}

void Nccl::check(int result, const char* call) const {
  if (result != 0) {
    throw SimulationError(std::string(call) + ": " + functions_.error_text(result));
  }
}

// One thread may drive several devices. Without a group the first call would wait for ranks whose
// calls this thread has not made yet; within a group all of them start at its end. A group that an
// error leaves open is closed, so that later calls do not wait for its end.
void Nccl::in_group(const std::function<void()>& calls) const {
  check(functions_.group_start(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    (void)functions_.group_end();
    throw;
  }
  check(functions_.group_end(), "ncclGroupEnd");
}

void Nccl::run(const NcclCase& call, std::span<const Vectors> vectors) const {
  in_group([&] {
    for (std::size_t i = 0; i < communicators_.size(); ++i) {
      enqueue(call, i, vectors[i]);
    }
  });
}

void Nccl::enqueue(const NcclCase& call, std::size_t communicator, const Vectors& vectors) const {
  const auto [x, y, stream] = vectors;
  NcclCommunicator* comm = communicators_[communicator];
  const std::uint32_t rank = first_rank_ + static_cast<std::uint32_t>(communicator);
  const int type = call.type.number;
  const auto n = static_cast<std::size_t>(call.elements);
  const std::int64_t block = call.elements / call.ranks;
  const auto part = static_cast<std::size_t>(block);
  std::vector<Message> messages;
  switch (call.call) {
  case NcclCall::allreduce:
    return check(functions_.all_reduce(x, y, n, type, kNcclSum, comm, stream), "ncclAllReduce");
  case NcclCall::broadcast:
    return check(functions_.broadcast(x, y, n, type, 0, comm, stream), "ncclBroadcast");
  case NcclCall::reduce:
    return check(functions_.reduce(x, y, n, type, kNcclSum, 0, comm, stream), "ncclReduce");
  case NcclCall::reduce_scatter:
    return check(functions_.reduce_scatter(x, y, part, type, kNcclSum, comm, stream),
                 "ncclReduceScatter");
  case NcclCall::allgather:
    return check(functions_.all_gather(x, y, part, type, comm, stream), "ncclAllGather");
  case NcclCall::alltoall:
    for (std::uint32_t peer = 0; peer < call.ranks; ++peer) {
      const std::int64_t place = peer * block * call.type.bytes;
      messages.push_back({x + place, peer, true});
      messages.push_back({y + place, peer, false});
    }
    return enqueue(messages, call.type, block, communicator, stream);
  case NcclCall::sendrecv:
    messages = {{x, (rank + 1) % call.ranks, true},
                {y, (rank + call.ranks - 1) % call.ranks, false}};
    return enqueue(messages, call.type, call.elements, communicator, stream);
  }
}

void Nccl::enqueue(std::span<const Message> messages, const NcclType& type, std::int64_t n,
                   std::size_t communicator, CUstream_st* stream) const {
  NcclCommunicator* comm = communicators_[communicator];
  const auto count = static_cast<std::size_t>(n);
  for (const Message& each : messages) {
    const auto peer = static_cast<int>(each.peer);
    check(each.sends ? functions_.send(each.data, count, type.number, peer, comm, stream)
                     : functions_.receive(each.data, count, type.number, peer, comm, stream),
          each.sends ? "ncclSend" : "ncclRecv");
  }
}

void Nccl::exchange(std::span<const Message> messages, const NcclType& type, std::int64_t n,
                    CUstream_st* stream) const {
  in_group([&] { enqueue(messages, type, n, 0, stream); });
}

} // namespace stepsim::calibrate::gpu
