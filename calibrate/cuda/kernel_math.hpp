#pragma once
// The arithmetic of the kernels that is the same on host and device, so that the host tests it.
//
// Order of magnitudes: the bits of a finite |v| rise with |v|, so `magnitude_key` turns "the k
// largest |v|" into a radix select on 32-bit keys: four passes of 8 bits, most significant first.
// A selection is a key T and a number of ties: every key above T, and of those equal to T the first
// `ties` by index. Entry i then goes to position above_before + min(equal_before, ties).
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
// Whether the digits of earlier passes are those of `prefix`. The first pass has none, and a shift
// by 32 bits would be undefined.
[[nodiscard]] constexpr bool radix_matches(std::uint32_t key, std::uint32_t prefix, int pass) {
  return pass == 0 || (key ^ prefix) >> (32 - kRadixBits * pass) == 0;
}
[[nodiscard]] constexpr std::uint32_t radix_append(std::uint32_t prefix, std::uint32_t digit,
                                                   int pass) {
  return prefix | digit << (32 - kRadixBits * (pass + 1));
}

struct Selection {
  std::uint32_t threshold{}; // key
  std::uint32_t ties{};      // entries equal to the threshold that are taken
};
// Zeros are never entries. A threshold of 0 means that fewer than k values are not 0; its ties
// would be zeros.
[[nodiscard]] constexpr Selection exact_selection(std::uint32_t threshold, std::uint32_t ties) {
  return {threshold, threshold == 0 ? 0 : ties};
}

// How many keys lie above and at the threshold; of a thread, a tile or everything before.
struct Tally {
  std::uint32_t above{};
  std::uint32_t equal{};
};
// Two counts in one word, which one scan adds: a carry from the lower into the upper one would need
// 2^32 entries.
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
// Where the next selected entry goes; after everything: how many there are.
[[nodiscard]] constexpr std::uint32_t output_position(Tally before, const Selection& selection) {
  return before.above + (before.equal < selection.ties ? before.equal : selection.ties);
}

// First position in the ascending list whose value is not below (`above`: is above) `index`.
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
// Position in the merged list of entry i of list a, then of list b: equal indices stand side by
// side, a first.
[[nodiscard]] constexpr std::uint32_t merged_position_a(const std::int32_t* a, std::uint32_t i,
                                                        const std::int32_t* b,
                                                        std::uint32_t b_size) {
  return i + bound_in(b, b_size, a[i], false);
}
[[nodiscard]] constexpr std::uint32_t merged_position_b(const std::int32_t* a, std::uint32_t a_size,
                                                        const std::int32_t* b, std::uint32_t i) {
  return i + bound_in(a, a_size, b[i], true);
}
// What stands at a position after equal indices were added: the sum at the first of the two, 0 (no
// entry) at the second.
[[nodiscard]] constexpr float combined_value(const std::int32_t* indices, const float* values,
                                             std::uint32_t size, std::uint32_t position) {
  if (position > 0 && indices[position - 1] == indices[position]) {
    return 0;
  }
  const bool twice = position + 1 < size && indices[position + 1] == indices[position];
  return twice ? values[position] + values[position + 1] : values[position];
}

// Elements before the first 16-byte boundary, then groups of four; the rest one by one. Two
// pointers of different alignment have no groups.
struct VectorSplit {
  std::int64_t head{};
  std::int64_t vectors{};
};
[[nodiscard]] constexpr VectorSplit vector_split(std::uintptr_t a, std::uintptr_t b,
                                                 std::int64_t elements) {
  if ((a ^ b) % 16 != 0) {
    return {elements, 0};
  }
  const auto head = static_cast<std::int64_t>((16 - a % 16) % 16 / sizeof(float));
  return head < elements ? VectorSplit{head, (elements - head) / 4} : VectorSplit{elements, 0};
}

// Start of repetition i of a measurement inside a region of `region` elements: the windows of
// `elements` elements follow one another, at multiples of 64 elements, and start again where none
// is left.
[[nodiscard]] constexpr std::int64_t window_offset(std::int64_t repetition, std::int64_t elements,
                                                   std::int64_t region) {
  const std::int64_t stride = (elements + 63) / 64 * 64;
  const std::int64_t windows = stride > 0 ? (region - elements) / stride + 1 : 1;
  return windows > 1 ? repetition % windows * stride : 0;
}

} // namespace stepsim::calibrate::gpu
