#pragma once
// Arithmetic of the kernels that host and device share, so that tests on the host cover it.
//
// The bits of a finite |v|, read as an integer, rise with |v|. magnitude_key() uses this to find
// the k largest |v| by a radix select on 32-bit keys: four passes of 8 bits, most significant
// first. A selection is a threshold key and a number of ties: every entry above the threshold, and
// the first `ties` of the entries equal to it, by index. Entry i is written to position
// above_before + min(equal_before, ties).
#include <bit>
#include <cstdint>

namespace stepsim::calibrate::gpu {

inline constexpr int kRadixPasses = 4;
inline constexpr int kRadixBits = 8;
inline constexpr int kRadixBins = 1 << kRadixBits;

[[nodiscard]] constexpr std::uint32_t magnitude_key(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffU;
}
[[nodiscard]] constexpr float magnitude_of(std::uint32_t key) { return std::bit_cast<float>(key); }
[[nodiscard]] constexpr bool is_finite_key(std::uint32_t key) { return key < 0x7f80'0000U; }

[[nodiscard]] constexpr std::uint32_t radix_digit(std::uint32_t key, int pass) {
  return key >> (32 - kRadixBits * (pass + 1)) & (kRadixBins - 1);
}
// Whether the digits of `key` in earlier passes equal `prefix`. The first pass has no earlier
// digits, and a shift by 32 bits would be undefined.
[[nodiscard]] constexpr bool radix_matches(std::uint32_t key, std::uint32_t prefix, int pass) {
  return pass == 0 || (key ^ prefix) >> (32 - kRadixBits * pass) == 0;
}
[[nodiscard]] constexpr std::uint32_t radix_append(std::uint32_t prefix, std::uint32_t digit,
                                                   int pass) {
  return prefix | digit << (32 - kRadixBits * (pass + 1));
}

struct Selection {
  std::uint32_t threshold{}; // magnitude_key()
  std::uint32_t ties{};      // number of entries equal to the threshold that are selected
};
// Zeros are never selected. A threshold of 0 means that fewer than k values are not 0; its ties
// would be zeros.
[[nodiscard]] constexpr Selection exact_selection(std::uint32_t threshold, std::uint32_t ties) {
  return {threshold, threshold == 0 ? 0 : ties};
}

// Number of keys above and equal to the threshold, for one thread, one tile, or all earlier keys.
struct Tally {
  std::uint32_t above{};
  std::uint32_t equal{};
};
// Packs both counts into one word, so that one scan adds both. A carry from the lower into the
// upper count would need 2^32 entries.
[[nodiscard]] constexpr std::uint64_t packed(Tally tally) {
  return std::uint64_t{tally.equal} << 32 | tally.above;
}
[[nodiscard]] constexpr Tally unpacked(std::uint64_t pair) {
  return {static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32)};
}
[[nodiscard]] constexpr Tally tally_of(std::uint32_t key, const Selection& selection) {
  return {key > selection.threshold ? 1U : 0U, key == selection.threshold ? 1U : 0U};
}
[[nodiscard]] constexpr bool is_selected(std::uint32_t key, const Selection& selection,
                                         std::uint32_t equal_before) {
  return key > selection.threshold || (key == selection.threshold && equal_before < selection.ties);
}
// Output index of the next selected entry; with the tally of all keys, the number of selected
// entries.
[[nodiscard]] constexpr std::uint32_t output_position(Tally before, const Selection& selection) {
  return before.above + (before.equal < selection.ties ? before.equal : selection.ties);
}

// First position in the ascending list whose value is >= `index`, or > `index` if `above`.
[[nodiscard]] constexpr std::uint32_t bound_in(const std::int32_t* list, std::uint32_t size,
                                               std::int32_t index, bool above) {
  std::uint32_t low = 0;
  std::uint32_t high = size;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (list[middle] < index || (above && list[middle] == index)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
// Positions in the merged list of entry i of list a, and of entry i of list b. Of two equal
// indices, the one of list a comes first.
[[nodiscard]] constexpr std::uint32_t merged_position_a(const std::int32_t* a, std::uint32_t i,
                                                        const std::int32_t* b,
                                                        std::uint32_t b_size) {
  return i + bound_in(b, b_size, a[i], false);
}
[[nodiscard]] constexpr std::uint32_t merged_position_b(const std::int32_t* a, std::uint32_t a_size,
                                                        const std::int32_t* b, std::uint32_t i) {
  return i + bound_in(a, a_size, b[i], true);
}
// The value at a position once equal indices are added: the sum at the first of two equal indices,
// 0 (no entry) at the second.
[[nodiscard]] constexpr float combined_value(const std::int32_t* indices, const float* values,
                                             std::uint32_t size, std::uint32_t position) {
  if (position > 0 && indices[position - 1] == indices[position]) {
    return 0;
  }
  const bool twice = position + 1 < size && indices[position + 1] == indices[position];
  return twice ? values[position] + values[position + 1] : values[position];
}

// Splits a loop over elements of `size` bytes: `head` elements before the first 16-byte boundary
// one by one, then `vectors` groups of 16 bytes, then the rest one by one. There are no groups if
// the alignments of the two pointers differ.
struct VectorSplit {
  std::int64_t head{};
  std::int64_t vectors{};
  std::int64_t grouped{}; // elements of all groups
};
[[nodiscard]] constexpr VectorSplit vector_split(std::uintptr_t a, std::uintptr_t b,
                                                 std::int64_t elements,
                                                 std::int64_t size = sizeof(float)) {
  if ((a ^ b) % 16 != 0) {
    return {elements};
  }
  const std::int64_t head = static_cast<std::int64_t>((16 - a % 16) % 16) / size;
  const std::int64_t vectors = head < elements ? (elements - head) * size / 16 : 0;
  return {head < elements ? head : elements, vectors, vectors * (16 / size)};
}

// Start of repetition `repetition` of a measurement in a region of `region` elements. The windows
// of `elements` elements begin at multiples of 64 elements, one after the other; after the last
// window that fits, the first one is used again.
[[nodiscard]] constexpr std::int64_t window_offset(std::int64_t repetition, std::int64_t elements,
                                                   std::int64_t region) {
  const std::int64_t stride = (elements + 63) / 64 * 64;
  const std::int64_t windows = stride > 0 ? (region - elements) / stride + 1 : 1;
  return windows > 1 ? repetition % windows * stride : 0;
}

} // namespace stepsim::calibrate::gpu
