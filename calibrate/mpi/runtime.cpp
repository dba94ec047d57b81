#include "calibrate/mpi/runtime.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>

namespace stepsim::calibrate::mpi {

namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// The value of every rank.
template <class T> std::vector<T> gathered(T mine, MPI_Datatype type, MPI_Comm group) {
  std::vector<T> all(ranks_in(group));
  MPI_Allgather(&mine, 1, type, all.data(), 1, type, group);
  return all;
}

std::vector<std::string> gathered(const std::string& text, MPI_Comm group) {
  const auto mine = static_cast<int>(text.size());
  const std::vector<int> lengths = gathered(mine, MPI_INT, group);
  std::vector<int> offsets(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
  MPI_Allgatherv(text.data(), mine, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                 group);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

} // namespace

std::uint32_t rank_in(MPI_Comm group) {
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  return static_cast<std::uint32_t>(rank);
}

std::uint32_t ranks_in(MPI_Comm group) {
  int ranks = 0;
  MPI_Comm_size(group, &ranks);
  return static_cast<std::uint32_t>(ranks);
}

Runtime::Runtime() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
}

void Runtime::abort(int code) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
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
    MPI_Datatype type{}; // what is null is not asked for
    MPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, &type, nullptr, nullptr, nullptr, nullptr,
                        nullptr);
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

double largest_of_all(double value, MPI_Comm group) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, group);
  return value;
}

// The lowest rank of a host is its label.
std::vector<std::uint32_t> hosts_of_ranks(MPI_Comm group) {
  MPI_Comm host{};
  std::uint32_t label = rank_in(group);
  MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Allreduce(MPI_IN_PLACE, &label, 1, MPI_UINT32_T, MPI_MIN, host);
  MPI_Comm_free(&host);
  std::vector<std::uint32_t> hosts;
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (const std::uint32_t each : gathered(label, MPI_UINT32_T, group)) {
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

gpu::Job job_of(MPI_Comm group, Watchdog& watchdog) {
  gpu::Job job;
  job.rank = rank_in(group);
  job.ranks = ranks_in(group);
  job.host_of = hosts_of_ranks(group);
  job.broadcast = [group](void* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, group);
  };
  job.largest = [group](double value) { return largest_of_all(value, group); };
  job.gather = [group](const std::string& text) { return gathered(text, group); };
  job.barrier = [group] { MPI_Barrier(group); };
  job.begin = [&watchdog](const std::string& what) { watchdog.begin(what); };
  return job;
}

} // namespace stepsim::calibrate::mpi
