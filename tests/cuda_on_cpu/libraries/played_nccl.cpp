// NCCL, played: the functions that gpu_bench and stepsim-calibrate load, by their binary interface.
// Ranks are processes of this machine, which exchange their vectors through shared memory while the
// played streams are executed, or the devices of one process. Times are 1 ms x (1 + rank) + 1 ns
// per byte for a collective, so that the slowest rank is known, and 1 ms + 1 ns per byte for a
// message, four times as much per byte between pairs of ranks (0, 1), (2, 3) .. .
//
// The variable PLAYED_NCCL makes a rank fail: "start=2" when it joins, "wrong=2" by a wrong sum,
// "call=2" by an all-reduce that cannot be enqueued, "id" in the identifier of rank 0.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shim/cuda_runtime.h"
#include "shim/streams.hpp"

namespace {

constexpr int kMostRanks = 8;
constexpr std::size_t kMost = std::size_t{1} << 17; // elements
constexpr int kSystemError = 2;
constexpr int kInvalidArgument = 4;

struct Id {
  char internal[128];
};

struct Region {
  std::atomic<int> arrived;
  std::atomic<int> generation;
  std::atomic<int> full[kMostRanks][kMostRanks]; // [src][dst]: a message waits to be read
  float vectors[kMostRanks][kMost];
  float messages[kMostRanks][kMostRanks][kMost];
};

using Results = std::vector<std::function<void()>>;

struct Communicator {
  Region* region;
  int rank;
  int ranks;
  std::shared_ptr<Results> together{}; // in one process: the results of ranks that wait for others
};

void barrier(const Communicator& all) {
  Region& region = *all.region;
  const int generation = region.generation.load();
  if (region.arrived.fetch_add(1) + 1 == all.ranks) {
    region.arrived = 0;
    ++region.generation;
  }
  while (region.generation.load() == generation) {
    sched_yield();
  }
}

bool fails(const std::string& how, int rank) {
  const char* text = std::getenv("PLAYED_NCCL");
  return text != nullptr && text == how + "=" + std::to_string(rank);
}

bool call_failed = false; // in a group of this process

Region* region_of(const char* name, bool make) {
  const int file = shm_open(name, O_RDWR | (make ? O_CREAT | O_EXCL : 0), 0600);
  if (file < 0 || (make && ftruncate(file, sizeof(Region)) != 0)) {
    return nullptr;
  }
  void* memory = mmap(nullptr, sizeof(Region), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Region*>(memory);
}

// Sends the vector of every rank to all, and what `result` makes of them to y.
template <class Result>
int collective(const void* x, void* y, std::size_t n, Communicator* all, CUstream_st* stream,
               bool has_result, Result result) {
  if (n > kMost) {
    return kInvalidArgument;
  }
  cuda_on_cpu::Work work;
  work.what = "collective";
  work.reads = {{x, n * sizeof(float)}};
  if (has_result) {
    work.writes = {{y, n * sizeof(float)}};
  }
  work.seconds = 1e-3 * (1 + all->rank) + 1e-9 * static_cast<double>(n * sizeof(float));
  work.run = [=] {
    std::memcpy(all->region->vectors[all->rank], x, n * sizeof(float));
    const auto give = [=] {
      for (std::size_t i = 0; has_result && i < n; ++i) {
        static_cast<float*>(y)[i] = result(all->region->vectors, i);
      }
    };
    if (all->together == nullptr) {
      barrier(*all);
      give();
      barrier(*all);
      return;
    }
    all->together->push_back(give);
    if (static_cast<int>(all->together->size()) == all->ranks) {
      for (const auto& each : *all->together) {
        each();
      }
      all->together->clear();
    }
  };
  int device = 0;
  cudaGetDevice(&device);
  if (all->together != nullptr) {
    cudaSetDevice(all->rank);
  }
  const int error = cuda_on_cpu::submit(stream, std::move(work));
  cudaSetDevice(device);
  return error;
}

auto sum_of(const Communicator* all) {
  return [ranks = all->ranks, wrong = fails("wrong", all->rank)](const float(*x)[kMost],
                                                                 std::size_t i) {
    float sum = wrong ? 1 : 0;
    for (int rank = 0; rank < ranks; ++rank) {
      sum += x[rank][i];
    }
    return sum;
  };
}

double message_seconds(int a, int b, std::size_t n) {
  return 1e-3 + (a / 2 == b / 2 ? 1e-9 : 4e-9) * static_cast<double>(n * sizeof(float));
}

} // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}
const char* ncclGetErrorString(int) { return "played error"; }
int ncclGetUniqueId(Id* id) {
  const char* text = std::getenv("PLAYED_NCCL");
  if (text != nullptr && std::string(text) == "id") {
    return kSystemError;
  }
  std::memset(id, 0x55, sizeof(Id)); // all bytes have to arrive
  std::snprintf(id->internal, 64, "/played_nccl_%d", static_cast<int>(getpid()));
  return region_of(id->internal, true) != nullptr ? 0 : kSystemError;
}
int ncclCommInitRank(void** made, int ranks, Id id, int rank) {
  Region* region =
      id.internal[127] == 0x55 && ranks <= kMostRanks ? region_of(id.internal, false) : nullptr;
  if (region == nullptr || fails("start", rank)) {
    return kSystemError;
  }
  auto* all = new Communicator{region, rank, ranks};
  barrier(*all);
  if (rank == 0) {
    shm_unlink(id.internal);
  }
  *made = all;
  return 0;
}
int ncclCommInitAll(void** made, int ranks, const int*) {
  if (ranks > kMostRanks) {
    return kInvalidArgument;
  }
  static Region region;
  const auto together = std::make_shared<Results>();
  for (int rank = 0; rank < ranks; ++rank) {
    made[rank] = new Communicator{&region, rank, ranks, together};
  }
  return 0;
}
int ncclCommDestroy(void* comm) {
  delete static_cast<Communicator*>(comm);
  return 0;
}
int ncclGroupStart() { return 0; }
int ncclGroupEnd() {
  if (call_failed) {
    std::fputs("played NCCL: a group with a failed call was closed\n", stderr);
  }
  return 0;
}
int ncclAllReduce(const void* x, void* y, std::size_t n, int type, int op, void* comm,
                  CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  if (fails("call", all->rank)) {
    call_failed = true;
    return kSystemError;
  }
  return type != 7 || op != 0 ? kInvalidArgument
                              : collective(x, y, n, all, stream, true, sum_of(all));
}
int ncclReduce(const void* x, void* y, std::size_t n, int type, int op, int root, void* comm,
               CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  return type != 7 || op != 0 ? kInvalidArgument
                              : collective(x, y, n, all, stream, all->rank == root, sum_of(all));
}
int ncclBroadcast(const void* x, void* y, std::size_t n, int type, int root, void* comm,
                  CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  return type != 7 ? kInvalidArgument
                   : collective(x, y, n, all, stream, true,
                                [root](const float(*vectors)[kMost], std::size_t i) {
                                  return vectors[root][i];
                                });
}
int ncclSend(const void* x, std::size_t n, int type, int peer, void* comm, CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  if (type != 7 || n > kMost) {
    return kInvalidArgument;
  }
  cuda_on_cpu::Work work;
  work.what = "send";
  work.reads = {{x, n * sizeof(float)}};
  work.seconds = message_seconds(all->rank, peer, n);
  work.run = [=] {
    std::atomic<int>& full = all->region->full[all->rank][peer];
    while (full.load() != 0) {
      sched_yield();
    }
    std::memcpy(all->region->messages[all->rank][peer], x, n * sizeof(float));
    full = 1;
  };
  return cuda_on_cpu::submit(stream, std::move(work));
}
int ncclRecv(void* y, std::size_t n, int type, int peer, void* comm, CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  if (type != 7 || n > kMost) {
    return kInvalidArgument;
  }
  cuda_on_cpu::Work work;
  work.what = "receive";
  work.writes = {{y, n * sizeof(float)}};
  work.seconds = message_seconds(all->rank, peer, n);
  work.run = [=] {
    std::atomic<int>& full = all->region->full[peer][all->rank];
    while (full.load() != 1) {
      sched_yield();
    }
    std::memcpy(y, all->region->messages[peer][all->rank], n * sizeof(float));
    full = 0;
  };
  return cuda_on_cpu::submit(stream, std::move(work));
}

} // extern "C"
