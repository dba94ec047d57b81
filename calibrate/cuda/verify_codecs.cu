// Codecs beside those of the library, all bit by bit. Lengths that are no multiple of a word, of a
// bucket or of a vector of four values are among the sizes, since that is where packing goes wrong.
#include <algorithm>

#include "calibrate/cuda/bucket_codec.hpp"
#include "calibrate/cuda/codecs.cuh"
#include "calibrate/cuda/kernel_bench.cuh"
#include "collectives/operators/codecs.hpp"

namespace stepsim::calibrate::gpu {

namespace {

constexpr int kVotes[] = {1, 3, 8}; // lists

void verify_halves(KernelBench& bench, const std::vector<float>& x, const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Buffer<std::uint16_t> halves(x.size());
  truncate16(bench.x.get(), n, halves.get(), bench.stream.get());
  untruncate16(halves.get(), n, bench.y.get(), bench.stream.get());
  bench.stream.synchronize();
  const std::vector<std::uint16_t> expected = collectives::truncate16(x);
  check_equal("truncate16" + where, to_host(halves.get(), x.size()), expected);
  check_equal("untruncate16" + where, to_host(bench.y.get(), x.size()),
              collectives::untruncate16(expected));
  bench.cases += 2;
}

void verify_one_scale(KernelBench& bench, const std::vector<float>& x, const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const Buffer<std::uint32_t> scale(1);
  const Buffer<std::int8_t> codes(x.size());
  quantize8(bench.x.get(), n, scale.get(), codes.get(), bench.stream.get());
  dequantize8(codes.get(), n, scale.get(), bench.y.get(), bench.stream.get());
  bench.stream.synchronize();
  const collectives::Quantized8 expected = collectives::quantize8(x);
  check(magnitude_of(to_host(scale.get(), 1).front()) == expected.scale,
        "quantize8" + where + ": scale");
  check_equal("quantize8" + where, to_host(codes.get(), x.size()), expected.codes);
  check_equal("dequantize8" + where, to_host(bench.y.get(), x.size()),
              collectives::dequantize8(expected));
  bench.cases += 2;
}

// The values of the codes are added to x itself.
void verify_buckets(KernelBench& bench, const std::vector<float>& x, int bits,
                    const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const QuantizedBuckets expected = quantize_buckets(x, bits);
  const Buffer<float> scales(expected.scales.size());
  const Buffer<std::uint32_t> words(expected.words.size());
  quantize_buckets(bench.x.get(), n, bits, scales.get(), words.get(), bench.stream.get());
  to_device(bench.y.get(), x);
  add_buckets(scales.get(), words.get(), n, bits, bench.y.get(), bench.stream.get());
  bench.stream.synchronize();
  const std::string what = std::to_string(bits) + " bits" + where;
  check_equal("scales of " + what, to_host(scales.get(), expected.scales.size()), expected.scales);
  check_equal("codes of " + what, to_host(words.get(), expected.words.size()), expected.words);
  std::vector<float> sum = dequantize_buckets(expected, x.size(), bits);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = x[i] + sum[i];
  }
  check_equal("sum of " + what, to_host(bench.y.get(), x.size()), sum);
  bench.cases += 2;
}

// The signs of x and of x moved on by one, two, .. places vote.
void verify_signs(KernelBench& bench, std::vector<float> x, const std::string& where) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto length = static_cast<std::size_t>(words_for(n, 1));
  const int most = *std::ranges::max_element(kVotes);
  const Buffer<std::uint32_t> words(static_cast<std::size_t>(most) * length);
  std::vector<int> negatives(x.size(), 0);
  for (int list = 0; list < most; ++list) {
    to_device(bench.y.get(), x);
    std::uint32_t* const to = words.get() + static_cast<std::size_t>(list) * length;
    pack_signs(bench.y.get(), n, to, bench.stream.get());
    bench.stream.synchronize();
    std::vector<std::uint32_t> expected(length, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i / kWordBits] |= x[i] < 0 ? 1U << i % kWordBits : 0U;
      negatives[i] += x[i] < 0 ? 1 : 0;
    }
    check_equal("pack_signs" + where, to_host(to, length), expected);
    if (std::ranges::find(kVotes, list + 1) != std::end(kVotes)) {
      vote_signs(words.get(), list + 1, n, bench.y.get(), bench.stream.get());
      bench.stream.synchronize();
      std::vector<float> votes;
      for (const int each : negatives) {
        votes.push_back(vote(each, list + 1));
      }
      check_equal("vote_signs of " + std::to_string(list + 1) + where,
                  to_host(bench.y.get(), x.size()), votes);
      bench.cases += 2;
    }
    std::ranges::rotate(x, x.begin() + 1);
  }
}

} // namespace

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
