// The types with which NCCL's functions are called, compared with those of the installed nccl.h.
// Compiled where that file and CUDA are found; there is nothing to run.
#include <nccl.h>

#include <type_traits>

#include "calibrate/cuda/nccl_functions.hpp"

namespace {

using stepsim::calibrate::gpu::NcclFunctions;
using stepsim::calibrate::gpu::NcclId;

// What the binary interface knows of a type: pointers are alike, and so are enumerations and ints.
template <class T> struct Passed { using type = T; };
template <class T> struct Passed<T*> { using type = void*; };
template <> struct Passed<ncclResult_t> { using type = int; };
template <> struct Passed<ncclDataType_t> { using type = int; };
template <> struct Passed<ncclRedOp_t> { using type = int; };
template <> struct Passed<ncclUniqueId> { using type = NcclId; };
template <class Result, class... Arguments>
auto passed(Result (*)(Arguments...)) ->
    typename Passed<Result>::type (*)(typename Passed<Arguments>::type...);

template <auto function, class Own>
constexpr bool is_same = std::is_same_v<decltype(passed(function)), decltype(passed(Own{}))>;

static_assert(sizeof(NcclId) == sizeof(ncclUniqueId) && alignof(NcclId) == alignof(ncclUniqueId));
static_assert(std::is_trivially_copyable_v<NcclId>);
static_assert(sizeof(ncclDataType_t) == sizeof(int) && sizeof(ncclResult_t) == sizeof(int));
static_assert(ncclSuccess == 0 && int{ncclFloat} == stepsim::calibrate::gpu::kNcclFloat &&
              int{ncclSum} == stepsim::calibrate::gpu::kNcclSum);
static_assert(is_same<&ncclGetVersion, decltype(NcclFunctions::get_version)>);
static_assert(is_same<&ncclGetErrorString, decltype(NcclFunctions::error_text)>);
static_assert(is_same<&ncclGetUniqueId, decltype(NcclFunctions::get_unique_id)>);
static_assert(is_same<&ncclCommInitAll, decltype(NcclFunctions::init_all)>);
static_assert(is_same<&ncclCommInitRank, decltype(NcclFunctions::init_rank)>);
static_assert(is_same<&ncclCommDestroy, decltype(NcclFunctions::destroy)>);
static_assert(is_same<&ncclGroupStart, decltype(NcclFunctions::group_start)>);
static_assert(is_same<&ncclGroupEnd, decltype(NcclFunctions::group_end)>);
static_assert(is_same<&ncclAllReduce, decltype(NcclFunctions::all_reduce)>);
static_assert(is_same<&ncclBroadcast, decltype(NcclFunctions::broadcast)>);
static_assert(is_same<&ncclReduce, decltype(NcclFunctions::reduce)>);
static_assert(is_same<&ncclSend, decltype(NcclFunctions::send)>);
static_assert(is_same<&ncclRecv, decltype(NcclFunctions::receive)>);

} // namespace
