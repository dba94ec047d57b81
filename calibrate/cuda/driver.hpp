#pragma once
// NVML and NCCL, loaded with dlopen and declared here for the few functions used: neither is needed
// to build or to start the program. low_rank.cuh has a third library.
#include <functional>
#include <initializer_list>

#include "calibrate/cuda/nccl_calls.hpp"
#include "calibrate/cuda/records.hpp"

struct CUstream_st;

namespace stepsim::calibrate::gpu {

// Prototypes of the functions of NCCL 2 that are used, without nccl.h: results and enumerations are
// ints (0 = success, ncclSum = 0, types in nccl_calls.hpp), handles are pointers, and the
// identifier of a communicator is passed by value. These numbers do not change within NCCL 2. If
// nccl.h is installed, a test compares them with it
// (tests/calibrate/cuda/library_headers_check.cpp).

struct NcclCommunicator;
struct NcclId {
  std::array<char, 128> bytes{};
};

inline constexpr int kNcclSum = 0;

struct NcclFunctions {
  using Comm = NcclCommunicator*;
  int (*get_version)(int*);
  const char* (*error_text)(int);
  int (*get_unique_id)(NcclId*);
  int (*init_all)(Comm*, int, const int*);
  int (*init_rank)(Comm*, int, NcclId, int);
  int (*destroy)(Comm);
  int (*group_start)();
  int (*group_end)();
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
  int (*broadcast)(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
  int (*reduce)(const void*, void*, std::size_t, int, int, int, Comm, CUstream_st*);
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
  int (*all_gather)(const void*, void*, std::size_t, int, Comm, CUstream_st*);
  int (*send)(const void*, std::size_t, int, int, Comm, CUstream_st*);
  int (*receive)(void*, std::size_t, int, int, Comm, CUstream_st*);
};

// A shared library that stays loaded until the program ends, so that functions found in it may be
// kept without the object.
class Library {
public:
  // Loads the first of `names` that there is. `who` is its name in errors.
  Library(const char* who, std::initializer_list<const char*> names);
  // The function of this name; null if the library is not loaded or has no such function.
  template <class Function> [[nodiscard]] Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  // Sets `function` to the function of this name. Throws NotAvailable where find() gives null.
  template <class Function> void load(Function*& function, const char* name) const {
    function = find<Function>(name);
    if (function == nullptr) {
      throw_missing(name);
    }
  }

private:
  [[nodiscard]] void* symbol(const char* name) const;
  [[noreturn]] void throw_missing(const char* name) const;
  const char* who_;
  void* handle_ = nullptr;
};

// Facts of a device that NVML reports. A device is named by its PCI bus address, because the device
// numbers of NVML ignore CUDA_VISIBLE_DEVICES. Values that NVML does not report are empty; nothing
// throws.
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
  // Whether the driver has the function and it succeeds.
  template <class... Arguments>
  bool is_answered(const char* function, Arguments... arguments) const;
  Library library_;
  bool ready_ = false;
};

// NCCL, with the communicators that this process drives: one per device after start(), or one after
// join(), in a job in which every process has one rank.
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
  // new_id() is called by rank 0; all ranks then call join() with the same identifier, each with
  // its own device current. join() waits for all ranks. Both throw SimulationError with NCCL's
  // text if NCCL fails.
  [[nodiscard]] NcclId new_id() const;
  void join(const NcclId& id, std::uint32_t rank, std::uint32_t ranks);

  struct Vectors {
    std::byte *x, *y;
    CUstream_st* stream;
  };
  // Enqueues the call on all communicators of this process at once and does not wait.
  // Communicator i reads x and writes y of vectors[i] on its stream; reductions are sums, the root
  // is rank 0. An all-to-all is a group of messages, as in nccl-tests and PyTorch: before NCCL 2.28
  // it had no function. Throws SimulationError with NCCL's text if a call fails.
  void run(const NcclCase& call, std::span<const Vectors> vectors) const;

  struct Message {
    std::byte* data;
    std::uint32_t peer;
    bool sends;
  };
  // Enqueues messages of n elements each on the first communicator, all at once, and does not wait.
  // Throws SimulationError with NCCL's text if a call fails.
  void exchange(std::span<const Message> messages, const NcclType& type, std::int64_t n,
                CUstream_st* stream) const;
  [[nodiscard]] int version() const { return version_; } // of ncclGetVersion: 22005 = 2.20.5

private:
  void in_group(const std::function<void()>& calls) const;
  void enqueue(const NcclCase& call, std::size_t communicator, const Vectors& vectors) const;
  void enqueue(std::span<const Message> messages, const NcclType& type, std::int64_t n,
               std::size_t communicator, CUstream_st* stream) const;
  void check(int result, const char* call) const;
  Library library_;
  NcclFunctions functions_{};
  std::vector<NcclCommunicator*> communicators_;
  std::uint32_t first_rank_ = 0; // of communicators_
  int version_ = 0;
};

} // namespace stepsim::calibrate::gpu
