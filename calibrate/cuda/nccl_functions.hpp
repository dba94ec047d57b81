#pragma once
// Prototypes of the functions of NCCL 2 that are used, without nccl.h: results and enumerations are
// ints (0 = success, ncclFloat = 7, ncclSum = 0), handles are pointers, and the identifier of a
// communicator is passed by value. These numbers do not change within NCCL 2. If nccl.h is
// installed, a test compares them with it (tests/calibrate/cuda/library_headers_check.cpp).
#include <array>
#include <cstddef>

struct CUstream_st;

namespace stepsim::calibrate::gpu {

struct NcclCommunicator;
struct NcclId {
  std::array<char, 128> bytes{};
};

inline constexpr int kNcclFloat = 7;
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
  int (*send)(const void*, std::size_t, int, int, Comm, CUstream_st*);
  int (*receive)(void*, std::size_t, int, int, Comm, CUstream_st*);
};

} // namespace stepsim::calibrate::gpu
