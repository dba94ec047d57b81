#include "collectives/operators/codecs.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.hpp"

using namespace stepsim::collectives;
using stepsim::base::RandomStream;

namespace {

constexpr double kUnit = 0x1p-24; // rounding unit of float
constexpr std::size_t kRanks[] = {1, 2, 3, 4, 5, 7, 8, 13, 16};

// Magnitudes over many powers of two, both signs, some zeros.
std::vector<float> random_values(RandomStream& random, std::size_t count, int exponents) {
  std::vector<float> out(count);
  for (float& value : out) {
    const double mantissa = random.integer(0, 9) == 0 ? 0 : random.uniform(-1, 1);
    value = static_cast<float>(
        std::ldexp(mantissa, static_cast<int>(random.integer(-exponents, exponents))));
  }
  return out;
}

double largest(std::span<const float> values) {
  double out = 0;
  for (const float value : values) {
    out = std::max(out, std::abs(static_cast<double>(value)));
  }
  return out;
}

} // namespace

TEST_CASE("truncate16: keeps sign, exponent and 7 bits of the mantissa, towards zero") {
  CHECK(truncate16(std::vector<float>{1.0F}) == std::vector<std::uint16_t>{0x3f80});
  CHECK(truncate16(std::vector<float>{-2.0F}) == std::vector<std::uint16_t>{0xc000});
  const float almost_2 = 2 - 0x1p-23F; // largest below 2
  CHECK(untruncate16(truncate16(std::vector<float>{almost_2, -almost_2})) ==
        std::vector<float>{2 - 0x1p-7F, -2 + 0x1p-7F});
  CHECK(std::signbit(untruncate16(truncate16(std::vector<float>{-0.0F}))[0]));
}

TEST_CASE("truncate16: the relative error of 100,000 random values is below 2^-7") {
  RandomStream random({.seed = 1});
  double worst = 0;
  for (const float value : random_values(random, 100'000, 60)) {
    const float back = untruncate16(truncate16(std::vector<float>{value}))[0];
    REQUIRE(std::abs(back) <= std::abs(value));
    if (value != 0) {
      worst = std::max(worst, (value - static_cast<double>(back)) / value);
    }
  }
  CHECK(worst < 0x1p-7);
  CHECK(worst > 0.9 * 0x1p-7); // the bound is reached
}

TEST_CASE("truncate16: infinities, NaN and what is already short come back as they are") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(untruncate16(truncate16(std::vector<float>{infinity, -infinity, 0.5F})) ==
        std::vector<float>{infinity, -infinity, 0.5F});
  const auto low_payload = std::bit_cast<float>(0x7f80'0001U); // cut, it would be an infinity
  CHECK(std::isnan(untruncate16(truncate16(std::vector<float>{low_payload}))[0]));
}

TEST_CASE("quantize8: zero and the extremes are exact, the middle is rounded") {
  const Quantized8 part = quantize8(std::vector<float>{-4, 0, 4, 1});
  CHECK(part == Quantized8{4, {-127, 0, 127, 32}}); // 127 / 4 = 31.75
  CHECK(dequantize8(part) == std::vector<float>{-4, 0, 4, 32 / 127.F * 4});
  CHECK(quantize8(std::vector<float>{0, 0}) == Quantized8{0, {0, 0}});
  CHECK(dequantize8(quantize8(std::vector<float>{0, 0})) == std::vector<float>{0, 0});
  CHECK(quantize8({}).codes.empty());
}

TEST_CASE(
    "quantize8: the error of random parts is below scale / 254; coding again changes nothing") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    RandomStream random({.seed = seed});
    const std::vector<float> values =
        random_values(random, static_cast<std::size_t>(random.integer(1, 400)), 3);
    const Quantized8 part = quantize8(values);
    const std::vector<float> back = dequantize8(part);
    REQUIRE(static_cast<double>(part.scale) == largest(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE(std::abs(static_cast<double>(values[i]) - back[i]) <=
              part.scale * (1. / 254 + 4 * kUnit));
    }
    REQUIRE(quantize8(back) == part);
  }
}

TEST_CASE("quantize8: the largest and the smallest floats neither overflow nor vanish") {
  const float most = std::numeric_limits<float>::max();
  CHECK(dequantize8(quantize8(std::vector<float>{most, -most})) == std::vector<float>{most, -most});
  const float least = std::numeric_limits<float>::denorm_min();
  CHECK(dequantize8(quantize8(std::vector<float>{least, 0})) == std::vector<float>{least, 0});
}

TEST_CASE("codecs: codes take 1, 1/2 and 1/4 of the bytes of the values") {
  const std::vector<float> values(1000, 0.3F);
  const auto bytes = [](const auto& codes) { return codes.size() * sizeof(codes.front()); };
  const auto encoded = [&](Codec codec) { return encode(codec, values); };
  CHECK(bytes(std::get<std::vector<float>>(encoded(Codec::none))) == 4000);
  CHECK(bytes(std::get<std::vector<std::uint16_t>>(encoded(Codec::truncate16))) == 4000 / 2);
  CHECK(bytes(std::get<Quantized8>(encoded(Codec::quantize8)).codes) == 4000 / 4);
}

TEST_CASE("ring with a codec: replicas are bit-equal, for every rank count and size") {
  for (const std::size_t ranks : kRanks) {
    for (const std::size_t elements :
         {std::size_t{0}, std::size_t{1}, ranks - 1, ranks, std::size_t{1001}}) {
      for (const Codec codec : {Codec::none, Codec::truncate16, Codec::quantize8}) {
        CAPTURE(ranks);
        CAPTURE(elements);
        RandomStream random({.seed = ranks, .point = elements});
        std::vector<std::vector<float>> own;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          own.push_back(random_values(random, elements, 3));
        }
        const std::vector<std::vector<float>> all = ring_allreduce(own, codec);
        REQUIRE(all.size() == ranks);
        REQUIRE(all[0].size() == elements);
        for (const std::vector<float>& each : all) {
          REQUIRE(each == all[0]);
        }
      }
    }
  }
}

TEST_CASE("ring without a codec: sums of integers are exact") {
  for (const std::size_t ranks : kRanks) {
    CAPTURE(ranks);
    std::vector<std::vector<float>> own(ranks, std::vector<float>(37));
    std::vector<float> sum(37, 0);
    RandomStream random({.seed = ranks});
    for (std::vector<float>& each : own) {
      for (std::size_t i = 0; i < each.size(); ++i) {
        each[i] = static_cast<float>(random.integer(-1000, 1000));
        sum[i] += each[i];
      }
    }
    CHECK(ring_allreduce(own, Codec::none)[ranks - 1] == sum);
  }
}

TEST_CASE("ring with a codec: one rank sends nothing and loses nothing") {
  const std::vector<std::vector<float>> own{{0.1F, 3e-9F}};
  CHECK(ring_allreduce(own, Codec::quantize8) == own);
}

TEST_CASE("ring with a codec: what two ranks compute, by hand") {
  // Part 0 goes from rank 1 to rank 0, part 1 from rank 0 to rank 1: encoded, added, encoded.
  const std::vector<std::vector<float>> own{{1, 1 + 0x1p-8F}, {0x1p-8F, 1}};
  const std::vector<std::vector<float>> all = ring_allreduce(own, Codec::truncate16);
  CHECK(all[0] == std::vector<float>{1, 2}); // 1 + 2^-8 is cut after the addition, and before it
  CHECK(all[1] == all[0]);
}

// With u = 2^-7 and additions of relative error 2^-24 each value has at most P encodings and P-1
// additions behind it.
TEST_CASE("ring with truncate16: the error is below ((1 + 2^-7)(1 + 2^-24))^P - 1 of sum |x|") {
  for (const std::size_t ranks : kRanks) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      RandomStream random({.seed = seed, .point = ranks});
      std::vector<std::vector<float>> own;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        own.push_back(random_values(random, 101, 8));
      }
      const std::vector<float> result = ring_allreduce(own, Codec::truncate16)[0];
      const double factor = std::pow((1 + 0x1p-7) * (1 + kUnit), static_cast<double>(ranks)) - 1;
      for (std::size_t i = 0; i < result.size(); ++i) {
        double exact = 0;
        double magnitude = 0;
        for (const std::vector<float>& each : own) {
          exact += each[i];
          magnitude += std::abs(each[i]);
        }
        REQUIRE(std::abs(result[i] - exact) <= factor * magnitude);
      }
    }
  }
}

// E_j, the error after j encodings, grows by the rounding of a part whose largest magnitude is at
// most M_j + E_(j-1), with M_j the largest sum of j magnitudes in the part:
//     E_j = E_(j-1) + (M_j + E_(j-1)) (1/254 + 5u)
TEST_CASE("ring with quantize8: the error is below that of P encodings of the growing sum") {
  for (const std::size_t ranks : kRanks) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      RandomStream random({.seed = seed, .point = ranks});
      constexpr std::size_t kPart = 11;
      std::vector<std::vector<float>> own;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        own.push_back(random_values(random, kPart * ranks, 3));
      }
      const std::vector<float> result = ring_allreduce(own, Codec::quantize8)[0];
      for (std::size_t part = 0; part < ranks; ++part) {
        std::vector<double> exact(kPart, 0.0);
        std::vector<double> magnitude(kPart, 0.0);
        double error = 0;
        for (std::size_t j = 1; j <= ranks; ++j) { // part c starts at rank c+1 and ends at c
          const std::vector<float>& each = own[(part + j) % ranks];
          double most = 0;
          for (std::size_t i = 0; i < kPart; ++i) {
            exact[i] += each[part * kPart + i];
            magnitude[i] += std::abs(each[part * kPart + i]);
            most = std::max(most, magnitude[i]);
          }
          error += (most + error) * (1. / 254 + 5 * kUnit);
        }
        for (std::size_t i = 0; i < kPart; ++i) {
          REQUIRE(std::abs(result[part * kPart + i] - exact[i]) <= error);
        }
      }
    }
  }
}
