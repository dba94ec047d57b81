#include "calibrate/mpi/runtime.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <vector>

#include "base/error.hpp"

namespace stepsim::calibrate::mpi {

namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// The value of every rank.
template <class T> std::vector<T> gathered(T mine, MPI_Datatype type, MPI_Comm group) {
  int ranks = 0;
  MPI_Comm_size(group, &ranks);
  std::vector<T> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&mine, 1, type, all.data(), 1, type, group);
  return all;
}

} // namespace

Runtime::Runtime() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rank_ = static_cast<std::uint32_t>(rank);
  ranks_ = static_cast<std::uint32_t>(ranks);
}

Runtime::~Runtime() { MPI_Finalize(); }

void Runtime::abort(int code) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

Watchdog::Watchdog(std::uint32_t rank, double timeout_s)
    : rank_(rank), timeout_(timeout_s), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::begin(std::string operation) {
  const std::lock_guard lock(mutex_);
  operation_ = std::move(operation);
  started_ = std::chrono::steady_clock::now();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(200), [this] { return stop_; })) {
    if (!operation_.empty() && std::chrono::steady_clock::now() - started_ > timeout_) {
      std::fprintf(stderr, "error: rank %u did not finish %s\n", rank_, operation_.c_str());
      std::fflush(stderr);
      std::_Exit(1); // MPI may hold the other thread: mpirun ends the other ranks
    }
  }
}

std::string control_variable(const std::string& name) {
  int provided = 0;
  int index = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
    return "";
  }
  std::string value;
  MPI_T_cvar_handle handle{};
  int count = 0;
  if (MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    int name_length = 0;
    int text_length = 0;
    MPI_Datatype type{};
    MPI_T_enum enumeration{};
    MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &enumeration, nullptr,
                        &text_length, &binding, &scope);
    if (type == MPI_CHAR) {
      std::vector<char> text(static_cast<std::size_t>(count) + 1);
      MPI_T_cvar_read(handle, text.data());
      value = text.data();
    } else {
      std::uint64_t number = 0; // little-endian machines: smaller types fill the low bytes
      MPI_T_cvar_read(handle, &number);
      value = std::to_string(number);
    }
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

// The lowest rank of a host is its label.
std::vector<std::uint32_t> hosts_of_ranks(MPI_Comm group) {
  MPI_Comm host{};
  int label = 0;
  MPI_Comm_rank(group, &label);
  MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, label, MPI_INFO_NULL, &host);
  MPI_Allreduce(MPI_IN_PLACE, &label, 1, MPI_INT, MPI_MIN, host);
  MPI_Comm_free(&host);
  const std::vector<int> labels = gathered(label, MPI_INT, group);
  std::vector<std::uint32_t> hosts;
  std::map<int, std::uint32_t> numbers;
  for (const int each : labels) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    hosts.push_back(numbers.emplace(each, next).first->second);
  }
  return hosts;
}

Crowding crowding(MPI_Comm group) {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot; // same in all containers of a machine
  const std::vector<std::uint64_t> all =
      gathered(std::uint64_t{std::hash<std::string>{}(boot)}, MPI_UINT64_T, group);
  Crowding most;
  for (const std::uint64_t machine : all) {
    most.processes = std::max(most.processes, static_cast<int>(std::ranges::count(all, machine)));
  }
  const int cores = usable_cores();
  MPI_Allreduce(&cores, &most.cores, 1, MPI_INT, MPI_MIN, group);
  return most;
}

} // namespace stepsim::calibrate::mpi
