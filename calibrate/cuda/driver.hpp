#pragma once
// NVML and NCCL, loaded with dlopen and declared here for the few functions used: neither is needed
// to build or to start the program.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/cuda/nccl_functions.hpp"
#include "calibrate/cuda/records.hpp"

namespace stepsim::calibrate::gpu {

// A shared library that stays loaded until the program ends, so that functions found in it may be
// kept without the object.
class Library {
public:
  explicit Library(const char* name);
  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  // Null where the library or the name is missing.
  template <class Function> [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

private:
  [[nodiscard]] void* symbol(const char* name) const;
  void* handle_;
};

// What the driver tells of a device, found by its PCI bus address, because NVML counts devices
// without regard to CUDA_VISIBLE_DEVICES. Unknown values are empty, never an error.
class Nvml {
public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  [[nodiscard]] std::string driver_version() const; // "" = unknown
  [[nodiscard]] DeviceState state(const std::string& pci_bus_id) const;
  [[nodiscard]] std::optional<bool> ecc(const std::string& pci_bus_id) const;

private:
  using Device = struct NvmlDevice*;
  [[nodiscard]] Device device(const std::string& pci_bus_id) const;
  Library library_;
  bool ready_ = false;
};

// NCCL, with the communicators that this process drives: one for each of its devices (start), or
// one of a job in which every process has one (join).
class Nccl {
public:
  // Throws NotAvailable if libnccl.so.2 or one of the functions used is missing.
  Nccl();
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  // Starts NCCL with one rank on each of the devices 0 .. devices-1. Throws NotAvailable for fewer
  // than two devices, SimulationError if NCCL cannot start.
  void start(int devices);
  // A new identifier, made by rank 0; all ranks then join with the same one, each with another
  // current device. Both throw SimulationError with NCCL's text; join waits for all ranks.
  [[nodiscard]] NcclId new_id() const;
  void join(const NcclId& id, std::uint32_t rank, std::uint32_t ranks);

  enum class Op { allreduce, broadcast, reduce };
  // On all communicators of this process at once: x[i] -> y[i], n floats, sum, root 0. Enqueues
  // and does not wait. Throws SimulationError with NCCL's text for a result other than success.
  void run(Op op, const float* const* x, float* const* y, std::size_t n,
           CUstream_st* const* streams) const;

  struct Message {
    float* data;
    std::uint32_t peer;
    bool sends;
  };
  // Messages of n floats of the first communicator, all at once. Enqueues and does not wait.
  void exchange(std::span<const Message> messages, std::size_t n, CUstream_st* stream) const;
  [[nodiscard]] int version() const { return version_; }

private:
  void check(int result, const char* call) const;
  Library library_;
  NcclFunctions functions_{};
  std::vector<NcclCommunicator*> communicators_;
  int version_ = 0;
};

} // namespace stepsim::calibrate::gpu
