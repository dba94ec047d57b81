// Low-rank compression beside the host (low_rank.hpp): sums of small integers and what is made of
// two factors bit by bit, other sums within the bound of their rounding.
#include <algorithm>

#include "calibrate/cuda/kernel_bench.cuh"
#include "calibrate/cuda/low_rank.cuh"

namespace stepsim::calibrate::gpu {

namespace {

struct Size {
  std::int64_t rows, columns;
};
constexpr Size kVerifiedSizes[] = {{1, 1},    {3, 5},      {129, 33},   {64, 64},     {7, 4099},
                                   {4099, 7}, {257, 1023}, {1024, 512}, {32, 32'768}, {32'768, 32}};
constexpr int kFactorRanks[] = {1, 2, 3, 4, 7, 8, 16, 32};
// Columns to make orthonormal: blocks of one, a few and many rows; one more than in a power of 4.
constexpr std::int64_t kColumnRows[] = {1, 5, 33, 257, 4097, 65'539};

struct LowRankBench {
  explicit LowRankBench(KernelBench& of)
      : bench(of), matrix(static_cast<std::size_t>(of.most)),
        update(static_cast<std::size_t>(of.most)),
        left(static_cast<std::size_t>(kColumns * of.most)),
        right(static_cast<std::size_t>(kColumns * of.most)) {}
  static constexpr std::int64_t kColumns = 4; // values of a factor per value of a matrix, at most

  KernelBench& bench;
  LowRankSpace space;
  Buffer<float> matrix, update, left, right;
};

void expect_none(const std::string& what, const std::string& problem) {
  check(problem.empty(), what + ": " + problem);
}

void verify_factors(LowRankBench& low_rank, const LowRankShape& shape, Data kind) {
  KernelBench& bench = low_rank.bench;
  const cudaStream_t stream = bench.stream.get();
  const Sums sums = kind == Data::integers ? Sums::exact : Sums::rounded;
  const std::string where = " " + std::to_string(shape.rows) + " x " +
                            std::to_string(shape.columns) + " rank " + std::to_string(shape.rank) +
                            " data=" + std::to_string(static_cast<int>(kind));
  std::vector<float> matrix =
      bench.fill(low_rank.matrix.get(), shape.rows * shape.columns, kind, 1);
  const auto left_size = static_cast<std::size_t>(shape.rows * shape.rank);
  const auto right_size = static_cast<std::size_t>(shape.columns * shape.rank);

  std::vector<float> right = bench.fill(low_rank.right.get(), shape.columns * shape.rank, kind, 2);
  left_factor(shape, low_rank.matrix.get(), low_rank.right.get(), low_rank.left.get(), stream);
  bench.stream.synchronize();
  expect_none("powersgd_left" + where,
              left_problem(shape, matrix, right, to_host(low_rank.left.get(), left_size), sums));

  const std::vector<float> left = bench.fill(low_rank.left.get(), shape.rows * shape.rank, kind, 3);
  right_factor(shape, low_rank.matrix.get(), low_rank.left.get(), low_rank.space,
               low_rank.right.get(), stream);
  bench.stream.synchronize();
  right = to_host(low_rank.right.get(), right_size);
  expect_none("powersgd_right" + where, right_problem(shape, matrix, left, right, sums));

  restore(shape, low_rank.left.get(), low_rank.right.get(), low_rank.matrix.get(),
          low_rank.update.get(), stream);
  bench.stream.synchronize();
  const std::vector<float> update = restored(shape, left, right);
  check_equal("powersgd_decode" + where, to_host(low_rank.update.get(), update.size()), update);
  for (std::size_t i = 0; i < update.size(); ++i) {
    matrix[i] -= update[i];
  }
  check_equal("powersgd_decode, residual," + where, to_host(low_rank.matrix.get(), update.size()),
              matrix);
  bench.cases += 3;
}

void verify_orthonormal(LowRankBench& low_rank, std::int64_t rows, int rank) {
  KernelBench& bench = low_rank.bench;
  const auto size = static_cast<std::size_t>(rows * rank);
  const std::string what =
      "powersgd_orthogonalize n=" + std::to_string(rows) + " rank " + std::to_string(rank);
  for (const Data kind : {Data::gaussian, Data::heavy_tailed}) {
    const std::vector<float> before = bench.fill(low_rank.left.get(), rows * rank, kind, 4);
    orthogonalize(rows, rank, low_rank.left.get(), low_rank.space, bench.stream.get());
    bench.stream.synchronize();
    expect_none(what, orthonormal_problem(rows, rank, before, to_host(low_rank.left.get(), size)));
    ++bench.cases;
  }
  if (const ExactColumns exact = exact_columns(rows, rank); !exact.before.empty()) {
    to_device(low_rank.left.get(), exact.before);
    orthogonalize(rows, rank, low_rank.left.get(), low_rank.space, bench.stream.get());
    bench.stream.synchronize();
    check_equal(what + ", exact", to_host(low_rank.left.get(), size), exact.after);
    ++bench.cases;
  }
}

} // namespace

void verify_low_rank(KernelBench& bench) {
  LowRankBench low_rank(bench);
  for (const int rank : kFactorRanks) {
    for (const Size& size : kVerifiedSizes) {
      if (rank <= std::min(size.rows, size.columns) && size.rows * size.columns <= bench.most &&
          size.rows * kMostRank <= bench.most) {
        for (const Data kind : kData) {
          verify_factors(low_rank, {size.rows, size.columns, rank}, kind);
        }
      }
    }
    for (const std::int64_t rows : kColumnRows) {
      if (rank <= rows && rows * rank <= LowRankBench::kColumns * bench.most) {
        verify_orthonormal(low_rank, rows, rank);
      }
    }
  }
}

} // namespace stepsim::calibrate::gpu
