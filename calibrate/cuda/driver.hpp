#pragma once
// NVML and NCCL, loaded with dlopen and declared here for the few functions used: neither is needed
// to build or to start the program.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "calibrate/cuda/records.hpp"

struct CUstream_st;

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

// NCCL with one communicator for each of the devices 0 .. devices-1, all driven by this process.
class Nccl {
public:
  // Throws NotAvailable for fewer than two devices, and if libnccl.so.2 or one of the functions
  // used is missing; SimulationError if NCCL cannot start.
  explicit Nccl(int devices);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;
  enum class Op { allreduce, broadcast, reduce };
  // On all devices at once: x[device] -> y[device], n floats, sum, root 0. Enqueues and does not
  // wait. Throws SimulationError with NCCL's text for a result other than success.
  void run(Op op, const float* const* x, float* const* y, std::size_t n,
           CUstream_st* const* streams) const;
  [[nodiscard]] int version() const { return version_; }

private:
  struct Functions;
  void check(int result, const char* call) const;
  Library library_;
  std::unique_ptr<Functions> functions_;
  std::unique_ptr<struct NcclCommunicator*[]> communicators_;
  int devices_;
  int version_ = 0;
};

} // namespace stepsim::calibrate::gpu
