// The types with which functions of NCCL and cuBLAS are called, compared with those of the
// installed nccl.h and cublas_v2.h. Compiled where they are found; there is nothing to run.
#include <type_traits>

#include "calibrate/cuda/low_rank.cuh"

#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#endif

namespace {

using namespace stepsim::calibrate::gpu;

// What the binary interface knows of a type: pointers are alike, and so are enumerations and ints.
template <class T> struct Passed {
  static constexpr auto is() {
    if constexpr (std::is_enum_v<T>) {
      return int{};
    } else {
      return T{};
    }
  }
  using type = decltype(is());
};
template <class T> struct Passed<T*> { using type = void*; };
#if __has_include(<nccl.h>)
template <> struct Passed<ncclUniqueId> { using type = NcclId; };
#endif
template <class Result, class... Arguments>
auto passed(Result (*)(Arguments...)) ->
    typename Passed<Result>::type (*)(typename Passed<Arguments>::type...);

template <auto function, class Own>
constexpr bool is_same = std::is_same_v<decltype(passed(function)), decltype(passed(Own{}))>;

#if __has_include(<nccl.h>)
static_assert(sizeof(NcclId) == sizeof(ncclUniqueId) && alignof(NcclId) == alignof(ncclUniqueId));
static_assert(std::is_trivially_copyable_v<NcclId>);
static_assert(sizeof(ncclDataType_t) == sizeof(int) && sizeof(ncclResult_t) == sizeof(int));
static_assert(ncclSuccess == 0 && int{ncclSum} == kNcclSum &&
              int{ncclFloat} == kNcclTypes[0].number && int{ncclBfloat16} == kNcclTypes[1].number &&
              int{ncclHalf} == kNcclTypes[2].number);
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
static_assert(is_same<&ncclReduceScatter, decltype(NcclFunctions::reduce_scatter)>);
static_assert(is_same<&ncclAllGather, decltype(NcclFunctions::all_gather)>);
static_assert(is_same<&ncclSend, decltype(NcclFunctions::send)>);
static_assert(is_same<&ncclRecv, decltype(NcclFunctions::receive)>);
#endif

#if __has_include(<cublas_v2.h>)
static_assert(CUBLAS_STATUS_SUCCESS == 0 && CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1 &&
              CUBLAS_SIDE_LEFT == 0 && CUBLAS_FILL_MODE_LOWER == 0 && CUBLAS_DIAG_NON_UNIT == 0 &&
              int{CUBLAS_PEDANTIC_MATH} == kCublasPedantic);
static_assert(is_same<&cublasCreate_v2, decltype(CublasFunctions::create)>);
static_assert(is_same<&cublasDestroy_v2, decltype(CublasFunctions::destroy)>);
static_assert(is_same<&cublasSetStream_v2, decltype(CublasFunctions::set_stream)>);
static_assert(is_same<&cublasSetMathMode, decltype(CublasFunctions::set_math_mode)>);
static_assert(is_same<&cublasSgemm_v2, decltype(CublasFunctions::product)>);
static_assert(is_same<&cublasStrsm_v2, decltype(CublasFunctions::solve)>);
#endif

} // namespace
