// Codes of 4 and 8 bits with a scale per bucket, and votes on signs.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"
#include "calibrate/cuda/codec_math.hpp"
#include "collectives/operators/codecs.hpp"

using namespace stepsim;
using namespace stepsim::calibrate::gpu;

namespace {

std::vector<float> some_values(std::size_t n, std::uint64_t seed) {
  base::RandomStream random({.seed = seed});
  std::vector<float> values(n);
  for (float& value : values) {
    value = static_cast<float>(random.uniform(-1, 1) / random.uniform(0.01, 1));
  }
  return values;
}

} // namespace

TEST_CASE("codec arithmetic: halves and codes of 8 bits are those of the library") {
  std::vector<float> x = some_values(1000, 3);
  x.push_back(std::numeric_limits<float>::infinity());
  x.push_back(-0.0F);
  x.push_back(std::bit_cast<float>(0x7f80'0001U)); // a NaN whose payload is in the lower half
  const std::vector<std::uint16_t> halves = collectives::truncate16(x);
  const std::vector<float> back = collectives::untruncate16(halves);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(upper_half(x[i]) == halves[i]);
    CHECK(std::bit_cast<std::uint32_t>(from_upper_half(halves[i])) ==
          std::bit_cast<std::uint32_t>(back[i]));
  }
  x.resize(1000);
  const collectives::Quantized8 quantized = collectives::quantize8(x);
  const std::vector<float> values = collectives::dequantize8(quantized);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(dequantized(quantized.codes[i], quantized.scale, 8) == values[i]);
  }
}

TEST_CASE("codec arithmetic: the nearest bfloat16, ties to even, over all exponents") {
  const auto nearest = [](double value) {
    return from_upper_half(nearest_half(static_cast<float>(value)));
  };
  CHECK(nearest(1 + 0x1p-8) == 1); // ties: 1 and 1 + 2^-7 are neighbours
  CHECK(nearest(1 + 3 * 0x1p-8) == 1 + 4 * 0x1p-8);
  CHECK(nearest(1 + 0x1p-8 + 0x1p-20) == 1 + 0x1p-7);
  CHECK(nearest(0x1.ffp127) == std::numeric_limits<float>::infinity());
  CHECK(nearest(0x1.fep127) == 0x1.fep127);
  for (std::uint32_t half = 0; half < 0x7f80; ++half) { // and its neighbour
    const double low = from_upper_half(static_cast<std::uint16_t>(half));
    const double next =
        half + 1 < 0x7f80 ? from_upper_half(static_cast<std::uint16_t>(half + 1)) : 0x1p128;
    const double step = next - low;
    REQUIRE(nearest(low) == low);
    REQUIRE(nearest(-(low + 0.25 * step)) == -low);
    REQUIRE(nearest_half(static_cast<float>(low + 0.75 * step)) == half + 1);
    REQUIRE(nearest_half(static_cast<float>(low + 0.5 * step)) == half + half % 2);
  }
}

TEST_CASE("codec arithmetic: codes come back from their words") {
  for (const int bits : {4, 8}) {
    const auto most = static_cast<std::int32_t>(levels_of(bits));
    CHECK(most == (bits == 4 ? 7 : 127));
    for (int position = 0; position < kWordBits / bits; ++position) {
      for (std::int32_t code = -most; code <= most; ++code) {
        const std::uint32_t word = code_field(code, bits, position);
        CHECK(code_in(word, bits, position) == code);
        const std::uint32_t others = ~code_field(-1, bits, position);
        CHECK(code_in(word | others, bits, position) == code);
        CHECK((word & others) == 0);
      }
    }
  }
  CHECK(code_field(-3, 4, 1) == 0xd0);
  CHECK(words_for(0, 4) == 0);
  CHECK(words_for(1, 4) == 1);
  CHECK(words_for(8, 4) == 1);
  CHECK(words_for(9, 4) == 2);
  CHECK(words_for(33, 1) == 2);
  CHECK(buckets_for(512) == 1);
  CHECK(buckets_for(513) == 2);
}

TEST_CASE("bucket codec: a bucket in 8 bits is what the library makes of it alone") {
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{511}, std::size_t{512}, std::size_t{1030}}) {
    CAPTURE(n);
    const std::vector<float> x = some_values(n, n);
    const QuantizedBuckets got = quantize_buckets(x, 8);
    const std::vector<float> values = dequantize_buckets(got, n, 8);
    REQUIRE(got.scales.size() == (n + 511) / 512);
    std::vector<std::int8_t> bytes(4 * got.words.size());
    std::memcpy(bytes.data(), got.words.data(), bytes.size());
    for (std::size_t bucket = 0; bucket < got.scales.size(); ++bucket) {
      const std::size_t begin = 512 * bucket;
      const std::size_t size = std::min<std::size_t>(512, n - begin);
      const collectives::Quantized8 part =
          collectives::quantize8(std::span(x).subspan(begin, size));
      CHECK(got.scales[bucket] == part.scale);
      CHECK(std::equal(part.codes.begin(), part.codes.end(),
                       bytes.begin() + static_cast<std::ptrdiff_t>(begin)));
      const std::vector<float> expected = collectives::dequantize8(part);
      CHECK(std::equal(expected.begin(), expected.end(),
                       values.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
  }
}

TEST_CASE("bucket codec: errors are within half a level, zero and extremes are exact") {
  constexpr double kUnit = 0x1p-24;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const int bits : {4, 8}) {
      CAPTURE(seed);
      CAPTURE(bits);
      std::vector<float> x = some_values(1500, seed);
      x[3] = 0;
      std::fill(x.begin() + 1024, x.end(), 0.0F); // a bucket of zeros
      const QuantizedBuckets got = quantize_buckets(x, bits);
      const std::vector<float> values = dequantize_buckets(got, x.size(), bits);
      CHECK(got.scales[2] == 0);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double scale = got.scales[i / 512];
        const double bound = scale * (1 / (2 * static_cast<double>(levels_of(bits))) + 4 * kUnit);
        CHECK(std::abs(static_cast<double>(values[i]) - x[i]) <= bound);
        if (x[i] == 0 || std::abs(x[i]) == got.scales[i / 512]) {
          CHECK(values[i] == x[i]);
        }
      }
    }
  }
}

TEST_CASE("votes: the sign that most have, 0 where they are even") {
  CHECK(vote(0, 1) == 1);
  CHECK(vote(1, 1) == -1);
  CHECK(vote(1, 3) == 1);
  CHECK(vote(2, 3) == -1);
  CHECK(vote(4, 8) == 0);
  CHECK(vote(3, 8) == 1);
}
