// Codecs beside those of the library, all bit by bit. Lengths that are no multiple of a word, of a
// bucket or of a vector of four values are among the sizes, since that is where packing goes wrong.
// The products of low-rank compression are compared on integers, whose sums are exact in every
// order.
#include "calibrate/cuda/kernel_bench.cuh"
#include "collectives/operators/codecs.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kVotes[] = {1, 3, 8}; // lists

void verify_halves(KernelBench& bench, const std::vector<float>& x, const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Buffer<std::uint16_t> halves(x.size());
  truncate16(bench.x.get(), n, halves.get(), bench.stream);
  untruncate16(halves.get(), n, bench.y.get(), bench.stream);
  const std::vector<std::uint16_t> expected = collectives::truncate16(x);
  bench.compare("truncate16" + where, halves.get(), expected);
  bench.compare("untruncate16" + where, bench.y.get(), collectives::untruncate16(expected));
}

void verify_one_scale(KernelBench& bench, const std::vector<float>& x, const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Buffer<std::uint32_t> scale(1);
  const Buffer<std::int8_t> codes(x.size());
  quantize8(bench.x.get(), n, scale.get(), codes.get(), bench.stream);
  dequantize8(codes.get(), n, scale.get(), bench.y.get(), bench.stream);
  const collectives::Quantized8 expected = collectives::quantize8(x);
  check(magnitude_of(value_of(scale.get(), bench.stream)) == expected.scale,
        "quantize8" + where + ": scale");
  bench.compare("quantize8" + where, codes.get(), expected.codes);
  bench.compare("dequantize8" + where, bench.y.get(), collectives::dequantize8(expected));
}

// The values of the codes are added to x itself.
void verify_buckets(KernelBench& bench, const std::vector<float>& x, int bits,
                    const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const QuantizedBuckets expected = quantize_buckets(x, bits);
  const Buffer<float> scales(expected.scales.size());
  const Buffer<std::uint32_t> words(expected.words.size());
  quantize_buckets(bench.x.get(), n, bits, scales.get(), words.get(), bench.stream);
  to_device(bench.y.get(), x);
  add_buckets(scales.get(), words.get(), n, bits, bench.y.get(), bench.stream);
  const std::string what = std::to_string(bits) + " bits" + where;
  bench.compare("scales of " + what, scales.get(), expected.scales);
  bench.compare("codes of " + what, words.get(), expected.words);
  std::vector<float> sum = dequantize_buckets(expected, x.size(), bits);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = x[i] + sum[i];
  }
  bench.compare("sum of " + what, bench.y.get(), sum);
}

// The signs of x and of x moved on by one, two, .. places vote.
void verify_signs(KernelBench& bench, std::vector<float> x, const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const std::int64_t length = words_for(n, 1);
  const int most = *std::ranges::max_element(kVotes);
  const Buffer<std::uint32_t> words(most * length);
  std::vector<int> negatives(x.size(), 0);
  for (int list = 0; list < most; ++list) {
    to_device(bench.y.get(), x);
    std::uint32_t* const to = words.get() + list * length;
    pack_signs(bench.y.get(), n, to, bench.stream);
    std::vector<std::uint32_t> expected(static_cast<std::size_t>(length), 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i / kWordBits] |= x[i] < 0 ? 1U << i % kWordBits : 0U;
      negatives[i] += x[i] < 0 ? 1 : 0;
    }
    bench.compare("pack_signs" + where, to, expected);
    if (std::ranges::find(kVotes, list + 1) != std::end(kVotes)) {
      vote_signs(words.get(), list + 1, n, bench.y.get(), bench.stream);
      std::vector<float> votes;
      for (const int each : negatives) {
        votes.push_back(vote(each, list + 1));
      }
      bench.compare("vote_signs of " + std::to_string(list + 1) + where, bench.y.get(), votes);
    }
    std::ranges::rotate(x, x.begin() + 1);
  }
}

// [rows x columns] the sums over `inner` of a(i, t) b(t, j).
template <class A, class B>
std::vector<float> product_of(int rows, int columns, int inner, const A& a, const B& b) {
  std::vector<float> out;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int t = 0; t < inner; ++t) {
        sum += a(i, t) * b(t, j);
      }
      out.push_back(sum);
    }
  }
  return out;
}

// The element of a matrix that is stored row by row.
auto element_of(const std::vector<float>& values, int columns) {
  return [&values, columns](int row, int column) {
    return values[static_cast<std::size_t>(std::int64_t{row} * columns + column)];
  };
}
auto transposed(auto element) {
  return [element](int row, int column) { return element(column, row); };
}

void verify_factors(KernelBench& bench, const LowRank& low_rank, const LowRankShape& shape) {
  const auto [rows, columns, rank] = shape;
  const std::string where = " " + std::to_string(rows) + " x " + std::to_string(columns) +
                            " rank " + std::to_string(rank);
  float* const left = bench.out.values.get();
  float* const right = bench.passed.values.get();
  std::vector<float> matrix =
      bench.fill(bench.x.get(), std::int64_t{rows} * columns, Data::integers, 1);
  const std::vector<float> q = bench.fill(right, std::int64_t{columns} * rank, Data::integers, 2);
  const auto m = element_of(matrix, columns);
  low_rank.left_factor(shape, bench.x.get(), right, left);
  std::vector<float> expected = product_of(rows, rank, columns, m, element_of(q, rank));
  bench.compare("powersgd_left" + where, left, expected);

  const std::vector<float> p = bench.fill(left, std::int64_t{rows} * rank, Data::integers, 3);
  low_rank.right_factor(shape, bench.x.get(), left, right);
  expected = product_of(columns, rank, rows, transposed(m), element_of(p, rank));
  bench.compare("powersgd_right" + where, right, expected);

  to_device(right, q);
  low_rank.restore(shape, left, right, bench.x.get(), bench.y.get());
  expected = product_of(rows, columns, rank, element_of(p, rank), transposed(element_of(q, rank)));
  bench.compare("powersgd_decode" + where, bench.y.get(), expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    matrix[i] -= expected[i];
  }
  bench.compare("powersgd_decode, residual," + where, bench.x.get(), matrix);
}

// A = Q R with Q^T Q = 1 and R upper triangular, with a positive diagonal. The columns are random
// and four times as long as they are many, so that they are far from dependent and errors of fp32
// stay far below the tolerance.
void verify_orthonormal(KernelBench& bench, const LowRank& low_rank, int rows, int rank) {
  constexpr double kTolerance = 1e-3;
  float* const columns = bench.x.get();
  const std::vector<float> before =
      bench.fill(columns, std::int64_t{rows} * rank, Data::gaussian, 4);
  low_rank.orthogonalize(rows, rank, columns);
  bench.stream.synchronize();
  const std::vector<float> after = to_host(columns, before.size());
  const auto q = element_of(after, rank);
  const auto a = element_of(before, rank);
  const std::vector<float> square = product_of(rank, rank, rows, transposed(q), q);
  const std::vector<float> r = product_of(rank, rank, rows, transposed(q), a);
  const std::vector<float> again = product_of(rows, rank, rank, q, element_of(r, rank));
  const std::string what =
      "powersgd_orthogonalize n=" + std::to_string(rows) + " rank " + std::to_string(rank);
  for (int i = 0; i < rank; ++i) {
    for (int j = 0; j < rank; ++j) {
      check(std::abs(element_of(square, rank)(i, j) - (i == j ? 1 : 0)) < kTolerance,
            what + ": the columns are not orthonormal");
      const double entry = element_of(r, rank)(i, j);
      check(i < j || (i == j ? entry > 0 : std::abs(entry) < kTolerance * std::sqrt(rows)),
            what + ": the factor is not triangular");
    }
  }
  for (std::size_t i = 0; i < again.size(); ++i) {
    check(std::abs(again[i] - before[i]) < kTolerance * std::sqrt(rows),
          what + ": the product is another matrix");
  }
  ++bench.cases;
}

} // namespace

void verify_low_rank(KernelBench& bench, const LowRank& low_rank) {
  constexpr int kSizes[][2] = {{3, 5}, {129, 33}, {255, 257}, {32, 2048}, {1024, 512}};
  for (const int rank : {1, 4, 32}) {
    for (const auto& [rows, columns] : kSizes) {
      if (rank <= std::min(rows, columns) && std::int64_t{rows} * columns <= bench.most) {
        verify_factors(bench, low_rank, {rows, columns, rank});
      }
    }
    for (const int rows : {4 * rank, 1027}) {
      verify_orthonormal(bench, low_rank, rows, rank);
    }
  }
}

void verify_codecs(KernelBench& bench, std::int64_t n) {
  for (const Data kind : kData) {
    const std::vector<float> x = bench.data(n, kind);
    const std::string where = case_text(n, kind);
    verify_halves(bench, x, where);
    verify_one_scale(bench, x, where);
    verify_buckets(bench, x, 4, where);
    verify_buckets(bench, x, 8, where);
    verify_signs(bench, x, where);
  }
}

} // namespace stepsim::calibrate::gpu
