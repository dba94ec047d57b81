// NCCL, played: the functions that gpu_bench and stepsim-calibrate load, by their binary interface.
// Ranks are processes of this machine, which exchange their vectors through shared memory while the
// played streams are executed, or the devices of one process. Times are 1 ms x (1 + rank) + 1 ns
// per byte for a collective, so that the slowest rank is known, and 1 ms + 1 ns per byte for a
// message, four times as much per byte between pairs of ranks (0, 1), (2, 3) .. .
//
// Messages of a group start at its end and follow each other. Sums are made in float and rounded to
// the type at the end.
//
// The variable PLAYED_NCCL makes a rank fail: "start=2" when it joins, "wrong=2" by a wrong sum,
// "truncates=2" by sums that are cut off instead of rounded, "swaps=2" by results whose blocks
// stand in another order, "call=2" by an all-reduce that cannot be enqueued, "id" in the identifier
// of rank 0, "dies=2" by ending when it joins.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shim/cuda_runtime.h"
#include "shim/streams.hpp"

namespace {

constexpr int kMostRanks = 8;
constexpr std::size_t kMost = std::size_t{1} << 19; // bytes
constexpr int kSystemError = 2;
constexpr int kInvalidArgument = 4;

struct Id {
  char internal[128];
};

struct Region {
  std::atomic<int> arrived;
  std::atomic<int> generation;
  std::atomic<int> full[kMostRanks][kMostRanks]; // [src][dst]: a message waits to be read
  char vectors[kMostRanks][kMost];
  char messages[kMostRanks][kMostRanks][kMost];
};

using Results = std::vector<std::function<void()>>;

struct Message {
  void* data;
  std::size_t bytes;
  int peer;
  bool sends;
};

struct Communicator {
  Region* region;
  int rank;
  int ranks;
  std::shared_ptr<Results> together{}; // in one process: the results of ranks that wait for others
  std::vector<Message> group{};        // of the group that is open
  CUstream_st* stream = nullptr;       // of these
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

std::size_t size_of(int type) { return type == 7 ? 4 : type == 6 || type == 9 ? 2 : 0; }

float value_at(const char* data, int type, std::size_t i) {
  if (type == 7) {
    return reinterpret_cast<const float*>(data)[i];
  }
  const std::uint16_t bits = reinterpret_cast<const std::uint16_t*>(data)[i];
  return type == 6 ? static_cast<float>(std::bit_cast<_Float16>(bits))
                   : std::bit_cast<float>(std::uint32_t{bits} << 16);
}

void put_value(char* data, int type, std::size_t i, float value, bool cut) {
  if (type == 7) {
    reinterpret_cast<float*>(data)[i] = value;
  } else if (type == 6) {
    auto half = static_cast<_Float16>(value);
    if (cut && static_cast<float>(half) > value) {
      half = std::bit_cast<_Float16>(
          static_cast<std::uint16_t>(std::bit_cast<std::uint16_t>(half) - 1));
    }
    reinterpret_cast<_Float16*>(data)[i] = half;
  } else {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t up = cut ? 0 : 0x7fffU + (bits >> 16 & 1U);
    reinterpret_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>((bits + up) >> 16);
  }
}

int submit(const Communicator& all, CUstream_st* stream, cuda_on_cpu::Work work) {
  int device = 0;
  cudaGetDevice(&device);
  if (all.together != nullptr) {
    cudaSetDevice(all.rank);
  }
  const int error = cuda_on_cpu::submit(stream, std::move(work));
  cudaSetDevice(device);
  return error;
}

// In one process the results of all ranks are given when the last one has brought its data.
void give_together(const Communicator& all, const std::function<void()>& give) {
  all.together->push_back(give);
  if (static_cast<int>(all.together->size()) == all.ranks) {
    for (const auto& each : *all.together) {
      each();
    }
    all.together->clear();
  }
}

// Every rank shows its vector to all; `give` then writes the result of a rank, of `out` bytes.
template <class Give>
int collective(const void* x, std::size_t in, void* y, std::size_t out, const Communicator* all,
               CUstream_st* stream, Give give) {
  if (in > kMost || out > kMost) {
    return kInvalidArgument;
  }
  cuda_on_cpu::Work work;
  work.what = "collective";
  work.reads = {{x, in}};
  if (out > 0) {
    work.writes = {{y, out}};
  }
  work.seconds = 1e-3 * (1 + all->rank) + 1e-9 * static_cast<double>(std::max(in, out));
  work.run = [=] {
    std::memcpy(all->region->vectors[all->rank], x, in);
    const auto result = [=] { give(static_cast<char*>(y)); };
    if (all->together == nullptr) {
      barrier(*all);
      result();
      barrier(*all);
    } else {
      give_together(*all, result);
    }
  };
  return submit(*all, stream, std::move(work));
}

// Elements first, first + 1, .. of the sum over all ranks.
auto sum_of(const Communicator* all, int type, std::size_t first, std::size_t n) {
  return [=, wrong = fails("wrong", all->rank), cut = fails("truncates", all->rank)](char* y) {
    for (std::size_t i = 0; i < n; ++i) {
      float sum = wrong ? 1 : 0;
      for (int rank = 0; rank < all->ranks; ++rank) {
        sum += value_at(all->region->vectors[rank], type, first + i);
      }
      put_value(y, type, i, sum, cut);
    }
  };
}

double message_seconds(int a, int b, std::size_t bytes) {
  return 1e-3 + (a / 2 == b / 2 ? 1e-9 : 4e-9) * static_cast<double>(bytes);
}

std::vector<Communicator*> in_group; // that have messages
int groups = 0;                      // that are open

// All that a rank sends is on its way before it waits for what it receives.
int start_messages(Communicator& all) {
  cuda_on_cpu::Work work;
  work.what = "messages";
  for (const Message& each : all.group) {
    (each.sends ? work.reads : work.writes).push_back({each.data, each.bytes});
    work.seconds += message_seconds(all.rank, each.peer, each.bytes);
  }
  const int shift = fails(all.group.size() > 2 ? "alltoall" : "sendrecv", all.rank) ? 1 : 0;
  work.run = [messages = std::exchange(all.group, {}), mine = &all, shift] {
    Region& region = *mine->region;
    for (const Message& each : messages) {
      std::atomic<int>& full = region.full[mine->rank][each.peer];
      while (each.sends && full.load() != 0) {
        sched_yield();
      }
      if (each.sends) {
        std::memcpy(region.messages[mine->rank][each.peer], each.data, each.bytes);
        full = 1;
      }
    }
    const auto receive = [messages, mine, &region, shift] {
      for (const Message& each : messages) {
        std::atomic<int>& full = region.full[each.peer][mine->rank];
        while (!each.sends && full.load() != 1) {
          sched_yield();
        }
        if (!each.sends) {
          const int from = (each.peer + shift) % mine->ranks;
          std::memcpy(each.data, region.messages[from][mine->rank], each.bytes);
        }
      }
      for (const Message& each : messages) {
        if (!each.sends) {
          region.full[each.peer][mine->rank] = 0;
        }
      }
    };
    mine->together == nullptr ? receive() : give_together(*mine, receive);
  };
  return submit(all, all.stream, std::move(work));
}

int add_message(const void* data, std::size_t n, int type, int peer, bool sends, void* comm,
                CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  const std::size_t bytes = n * size_of(type);
  if (bytes > kMost || (n > 0 && bytes == 0) || peer < 0 || peer >= all->ranks || groups == 0) {
    return kInvalidArgument;
  }
  if (all->group.empty()) {
    in_group.push_back(all);
    all->stream = stream;
  }
  all->group.push_back({const_cast<void*>(data), bytes, peer, sends});
  return 0;
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
  shm_unlink(id->internal); // what a process of this number left when it was killed
  return region_of(id->internal, true) != nullptr ? 0 : kSystemError;
}
int ncclCommInitRank(void** made, int ranks, Id id, int rank) {
  Region* region =
      id.internal[127] == 0x55 && ranks <= kMostRanks ? region_of(id.internal, false) : nullptr;
  if (region == nullptr || fails("start", rank)) {
    return kSystemError;
  }
  if (fails("dies", rank)) {
    std::_Exit(0);
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
int ncclGroupStart() {
  ++groups;
  return 0;
}
int ncclGroupEnd() {
  if (call_failed) {
    std::fputs("played NCCL: a group with a failed call was closed\n", stderr);
  }
  --groups;
  int error = 0;
  for (Communicator* each : std::exchange(in_group, {})) {
    error = std::max(error, start_messages(*each));
  }
  return error;
}
int ncclAllReduce(const void* x, void* y, std::size_t n, int type, int op, void* comm,
                  CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  if (fails("call", all->rank)) {
    call_failed = true;
    return kSystemError;
  }
  const std::size_t bytes = n * size_of(type);
  return bytes == 0 || op != 0
             ? kInvalidArgument
             : collective(x, bytes, y, bytes, all, stream, sum_of(all, type, 0, n));
}
int ncclReduce(const void* x, void* y, std::size_t n, int type, int op, int root, void* comm,
               CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  const std::size_t bytes = n * size_of(type);
  const bool gives = all->rank == root;
  return bytes == 0 || op != 0 ? kInvalidArgument
                               : collective(x, bytes, y, gives ? bytes : 0, all, stream,
                                            sum_of(all, type, 0, gives ? n : 0));
}
int ncclReduceScatter(const void* x, void* y, std::size_t part, int type, int op, void* comm,
                      CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  const std::size_t bytes = part * size_of(type);
  const std::size_t shift = fails("reduce_scatter", all->rank) ? 1 : 0;
  const auto ranks = static_cast<std::size_t>(all->ranks);
  const std::size_t first = (static_cast<std::size_t>(all->rank) + shift) % ranks * part;
  return bytes == 0 || op != 0
             ? kInvalidArgument
             : collective(x, ranks * bytes, y, bytes, all, stream, sum_of(all, type, first, part));
}
int ncclAllGather(const void* x, void* y, std::size_t part, int type, void* comm,
                  CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  const std::size_t bytes = part * size_of(type);
  const auto ranks = static_cast<std::size_t>(all->ranks);
  const std::size_t shift = fails("allgather", all->rank) ? 1 : 0;
  if (bytes == 0) {
    return kInvalidArgument;
  }
  return collective(x, bytes, y, ranks * bytes, all, stream, [=](char* to) {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::memcpy(to + rank * bytes, all->region->vectors[(rank + shift) % ranks], bytes);
    }
  });
}
int ncclBroadcast(const void* x, void* y, std::size_t n, int type, int root, void* comm,
                  CUstream_st* stream) {
  auto* all = static_cast<Communicator*>(comm);
  const std::size_t bytes = n * size_of(type);
  return bytes == 0 ? kInvalidArgument : collective(x, bytes, y, bytes, all, stream, [=](char* to) {
    std::memcpy(to, all->region->vectors[root], bytes);
  });
}
int ncclSend(const void* x, std::size_t n, int type, int peer, void* comm, CUstream_st* stream) {
  return add_message(x, n, type, peer, true, comm, stream);
}
int ncclRecv(void* y, std::size_t n, int type, int peer, void* comm, CUstream_st* stream) {
  return add_message(y, n, type, peer, false, comm, stream);
}

} // extern "C"
