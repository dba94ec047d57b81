#include "collectives/operators/codecs.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace stepsim::collectives {

namespace {

constexpr float kLevels = 127;
constexpr std::uint32_t kQuietBit = 0x0040'0000;

std::uint16_t upper_half(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    bits |= kQuietBit; // a payload in the lower half only would be cut to an infinity
  }
  return static_cast<std::uint16_t>(bits >> 16);
}

// Part c of a vector of m elements in P parts.
struct Part {
  std::size_t begin{};
  std::size_t size{};
};
Part part_of(std::size_t elements, std::size_t parts, std::size_t part) {
  const std::size_t small = elements / parts;
  const std::size_t longer = elements % parts;
  return {part * small + std::min(part, longer), small + (part < longer ? 1 : 0)};
}

} // namespace

std::vector<std::uint16_t> truncate16(std::span<const float> values) {
  std::vector<std::uint16_t> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(), upper_half);
  return halves;
}

std::vector<float> untruncate16(std::span<const std::uint16_t> halves) {
  std::vector<float> values(halves.size());
  std::transform(halves.begin(), halves.end(), values.begin(), [](std::uint16_t half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  });
  return values;
}

Quantized8 quantize8(std::span<const float> values) {
  Quantized8 part;
  for (const float value : values) {
    assert(std::isfinite(value) && "the scale must be finite");
    part.scale = std::max(part.scale, std::abs(value));
  }
  part.codes.resize(values.size(), 0);
  if (part.scale > 0) {
    std::transform(values.begin(), values.end(), part.codes.begin(), [&](float value) {
      return static_cast<std::int8_t>(std::lrint(value / part.scale * kLevels));
    });
  }
  return part;
}

std::vector<float> dequantize8(const Quantized8& part) {
  std::vector<float> values(part.codes.size());
  std::transform(part.codes.begin(), part.codes.end(), values.begin(),
                 [&](std::int8_t code) { return static_cast<float>(code) / kLevels * part.scale; });
  return values;
}

Encoded encode(Codec codec, std::span<const float> values) {
  switch (codec) {
  case Codec::none:
    return std::vector<float>(values.begin(), values.end());
  case Codec::truncate16:
    return truncate16(values);
  case Codec::quantize8:
    return quantize8(values);
  }
  return {};
}

std::vector<float> decode(const Encoded& part) {
  if (const auto* halves = std::get_if<std::vector<std::uint16_t>>(&part)) {
    return untruncate16(*halves);
  }
  if (const auto* quantized = std::get_if<Quantized8>(&part)) {
    return dequantize8(*quantized);
  }
  return std::get<std::vector<float>>(part);
}

std::vector<std::vector<float>> ring_allreduce(std::span<const std::vector<float>> ranks,
                                               Codec codec) {
  const std::size_t count = ranks.size();
  std::vector<std::vector<float>> out(ranks.begin(), ranks.end());
  if (count < 2) {
    return out;
  }
  const std::size_t elements = ranks.front().size();
  const auto own = [&](std::size_t rank, std::size_t part) {
    assert(ranks[rank].size() == elements && "vectors of equal length");
    const Part range = part_of(elements, count, part);
    return std::span<const float>(ranks[rank]).subspan(range.begin, range.size);
  };
  std::vector<std::vector<Encoded>> held(count); // [rank][part], what each rank has encoded
  for (std::size_t rank = 0; rank < count; ++rank) {
    for (std::size_t part = 0; part < count; ++part) {
      held[rank].push_back(encode(codec, own(rank, part)));
    }
  }
  // A rank never sends the part that it receives in the same step.
  for (std::size_t step = 0; step + 1 < count; ++step) {
    for (std::size_t rank = 0; rank < count; ++rank) {
      const std::size_t next = (rank + 1) % count;
      const std::size_t part = (rank + 2 * count - 1 - step) % count;
      std::vector<float> sum = decode(held[rank][part]);
      const std::span<const float> addend = own(next, part);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] += addend[i];
      }
      held[next][part] = encode(codec, sum);
    }
  }
  for (std::size_t step = 0; step + 1 < count; ++step) {
    for (std::size_t rank = 0; rank < count; ++rank) {
      const std::size_t part = (rank + count - step) % count;
      held[(rank + 1) % count][part] = held[rank][part];
    }
  }
  for (std::size_t rank = 0; rank < count; ++rank) {
    for (std::size_t part = 0; part < count; ++part) {
      const std::vector<float> values = decode(held[rank][part]);
      std::ranges::copy(values, out[rank].begin() + static_cast<std::ptrdiff_t>(
                                                        part_of(elements, count, part).begin));
    }
  }
  return out;
}

} // namespace stepsim::collectives
