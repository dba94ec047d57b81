// NVML and NCCL are loaded while the program runs, so that it starts on a machine that lacks them.
// Without NVML the facts of the driver stay unknown; without NCCL only the measurement of NCCL is
// refused. The prototypes and constants are those of the stable C interfaces of both libraries.
#include "calibrate/cuda/driver.hpp"

#include <dlfcn.h>

#include <array>

#include "base/error.hpp"
#include "calibrate/cuda/measure.hpp"

namespace stepsim::calibrate::gpu {

Library::Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
void* Library::symbol(const char* name) const {
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

// NVML: results are 0 for success, and a handle is an opaque pointer. Every function is looked up
// at its use, because older drivers lack some: what is missing leaves its fact unknown.
Nvml::Nvml() : library_("libnvidia-ml.so.1") {
  auto* init = library_.find<int()>("nvmlInit_v2");
  ready_ = init != nullptr && init() == 0;
}

Nvml::~Nvml() {
  if (auto* shutdown = library_.find<int()>("nvmlShutdown"); ready_ && shutdown != nullptr) {
    (void)shutdown();
  }
}

std::string Nvml::driver_version() const {
  std::array<char, 96> text{};
  auto* version = library_.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  const bool known = ready_ && version != nullptr && version(text.data(), text.size() - 1) == 0;
  return known ? std::string(text.data()) : "";
}

Nvml::Device Nvml::device(const std::string& pci_bus_id) const {
  Device found = nullptr;
  auto* by_bus = library_.find<int(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
  const bool known = ready_ && by_bus != nullptr && by_bus(pci_bus_id.c_str(), &found) == 0;
  return known ? found : nullptr;
}

DeviceState Nvml::state(const std::string& pci_bus_id) const {
  DeviceState state;
  const Device found = device(pci_bus_id);
  if (found == nullptr) {
    return state;
  }
  constexpr int kSm = 1; // kinds of clock
  constexpr int kMemory = 2;
  constexpr double kMega = 1e6;
  auto* clock = library_.find<int(Device, int, unsigned*)>("nvmlDeviceGetClockInfo");
  unsigned value = 0;
  if (clock != nullptr && clock(found, kSm, &value) == 0) {
    state.sm_clock_hz = kMega * value;
  }
  if (clock != nullptr && clock(found, kMemory, &value) == 0) {
    state.memory_clock_hz = kMega * value;
  }
  auto* power = library_.find<int(Device, unsigned*)>("nvmlDeviceGetPowerUsage");
  if (power != nullptr && power(found, &value) == 0) {
    state.power_w = 1e-3 * value;
  }
  auto* temperature = library_.find<int(Device, int, unsigned*)>("nvmlDeviceGetTemperature");
  if (temperature != nullptr && temperature(found, 0, &value) == 0) {
    state.temperature_c = value;
  }
  auto* throttle =
      library_.find<int(Device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  unsigned long long reasons = 0;
  if (throttle != nullptr && throttle(found, &reasons) == 0) {
    state.throttle_reasons = reasons;
  }
  return state;
}

std::optional<bool> Nvml::ecc(const std::string& pci_bus_id) const {
  const Device found = device(pci_bus_id);
  auto* mode = library_.find<int(Device, int*, int*)>("nvmlDeviceGetEccMode");
  int current = 0;
  int pending = 0;
  if (found == nullptr || mode == nullptr || mode(found, &current, &pending) != 0) {
    return std::nullopt;
  }
  return current != 0;
}

Nccl::Nccl() : library_("libnccl.so.2") {
  if (!library_.loaded()) {
    throw NotAvailable("nccl: libnccl.so.2 not found");
  }
  const auto load = [&](auto& function, const char* name) {
    function =
        library_.find<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
    if (function == nullptr) {
      throw NotAvailable(std::string("nccl: no function ") + name);
    }
  };
  load(functions_.get_version, "ncclGetVersion");
  load(functions_.error_text, "ncclGetErrorString");
  load(functions_.get_unique_id, "ncclGetUniqueId");
  load(functions_.init_all, "ncclCommInitAll");
  load(functions_.init_rank, "ncclCommInitRank");
  load(functions_.destroy, "ncclCommDestroy");
  load(functions_.group_start, "ncclGroupStart");
  load(functions_.group_end, "ncclGroupEnd");
  load(functions_.all_reduce, "ncclAllReduce");
  load(functions_.broadcast, "ncclBroadcast");
  load(functions_.reduce, "ncclReduce");
  load(functions_.send, "ncclSend");
  load(functions_.receive, "ncclRecv");
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
}

void Nccl::check(int result, const char* call) const {
  if (result != 0) {
    throw SimulationError(std::string(call) + ": " + functions_.error_text(result));
  }
}

// Calls within a group start at its end. A group that an error leaves open is closed, so that later
// calls do not wait for its end.
class Nccl::Group {
public:
  explicit Group(const Nccl& nccl) : nccl_(nccl) {
    nccl_.check(nccl_.functions_.group_start(), "ncclGroupStart");
  }
  ~Group() {
    if (open_) {
      (void)nccl_.functions_.group_end();
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void end() {
    open_ = false;
    nccl_.check(nccl_.functions_.group_end(), "ncclGroupEnd");
  }

private:
  const Nccl& nccl_;
  bool open_ = true;
};

// One thread may drive several devices. Without a group the first call would wait for ranks whose
// calls this thread has not made yet; within a group all of them start at its end.
void Nccl::run(Op op, const float* const* x, float* const* y, std::size_t n,
               CUstream_st* const* streams) const {
  Group group(*this);
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    NcclCommunicator* comm = communicators_[i];
    switch (op) {
    case Op::allreduce:
      check(functions_.all_reduce(x[i], y[i], n, kNcclFloat, kNcclSum, comm, streams[i]),
            "ncclAllReduce");
      break;
    case Op::broadcast:
      check(functions_.broadcast(x[i], y[i], n, kNcclFloat, 0, comm, streams[i]), "ncclBroadcast");
      break;
    case Op::reduce:
      check(functions_.reduce(x[i], y[i], n, kNcclFloat, kNcclSum, 0, comm, streams[i]),
            "ncclReduce");
      break;
    }
  }
  group.end();
}

void Nccl::exchange(std::span<const Message> messages, std::size_t n, CUstream_st* stream) const {
  Group group(*this);
  for (const Message& each : messages) {
    const auto peer = static_cast<int>(each.peer);
    check(each.sends
              ? functions_.send(each.data, n, kNcclFloat, peer, communicators_.front(), stream)
              : functions_.receive(each.data, n, kNcclFloat, peer, communicators_.front(), stream),
          each.sends ? "ncclSend" : "ncclRecv");
  }
  group.end();
}

} // namespace stepsim::calibrate::gpu
