// Every kernel, executed on the CPU and compared with sequential code: the verification that runs
// on a GPU before anything is timed (CAL 7.3), with blocks, warps and lanes in several orders.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "calibrate/cuda/gtopk.cuh"
#include "calibrate/cuda/kernel_bench.cuh"

using namespace stepsim::calibrate::gpu;

namespace {

constexpr std::int64_t kLarge = 65'539;

void verify(std::uint64_t order, std::initializer_list<std::int64_t> sizes) {
  cuda_on_cpu::set_machine({});
  cuda_on_cpu::set_order(order);
  KernelBench bench(std::max(sizes));
  for (const std::int64_t n : sizes) {
    CAPTURE(n);
    REQUIRE_NOTHROW(verify_selections(bench, n));
    REQUIRE_NOTHROW(verify_codecs(bench, n));
    REQUIRE_NOTHROW(verify_lists(bench, n));
  }
}

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

} // namespace

TEST_CASE(
    "cuda on cpu: selections, lists and codecs agree with sequential code, in ascending order") {
  verify(0, {1, 5, 31, 33, 1000, 2048, 2049});
}

TEST_CASE(
    "cuda on cpu: selections, lists and codecs do not depend on the order of blocks and warps") {
  for (const std::uint64_t order : {1, 2}) { // descending, shuffled
    CAPTURE(order);
    verify(order, {5, 1000, 2049, 4097});
  }
}

TEST_CASE(
    "cuda on cpu: every kernel is executed, up to 65,539 elements, low-rank products among them") {
  const double begin = seconds();
  verify(4, {kLarge});
  KernelBench bench(kLarge);
  REQUIRE_NOTHROW(verify_refusal(bench));
  REQUIRE_NOTHROW(verify_low_rank(bench, LowRank(bench.stream)));
  GtopkRanks gtopk(2, 1, 100, 10); // measure_test.cpp looks at its results
  gtopk.enqueue(100, 10);
  gtopk.main().synchronize();
  for (const std::string& kernel : cuda_on_cpu::kernels()) {
    CHECK_MESSAGE(cuda_on_cpu::was_executed(kernel), kernel);
  }
  const cuda_on_cpu::Counts counts = cuda_on_cpu::counts();
  CHECK(counts.launches > 1000);
  std::printf("%zu kernels, %lld launches, %lld blocks executed in %.1f s\n",
              cuda_on_cpu::kernels().size(), static_cast<long long>(counts.launches),
              static_cast<long long>(counts.blocks), seconds() - begin);
}
