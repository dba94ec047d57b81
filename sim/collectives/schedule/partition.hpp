#pragma once
// Splits a byte range into numbered parts (COL 2.5). No byte is dropped.
//   equal    k parts of n bytes. By the option `chunking`, a part is exactly n / k bytes (real), or
//            whole elements, the first R = elements mod k parts one element longer (integer)
//   sizes    given bytes per part (allgatherv)
//   blocks   one or two sections, each in blocks of b bytes with its own short last block; the
//            blocks of the second section follow the blocks of the first
// A range of parts may wrap around at the last part (not with blocks).
#include <algorithm>

#include "collectives/collective.hpp"
#include "collectives/schedule/operation.hpp"

namespace stepsim::collectives {

class Partition {
public:
  friend bool operator==(const Partition&, const Partition&) = default;
  [[nodiscard]] static Partition equal(double bytes, Index parts, const Options& options);
  [[nodiscard]] static Partition sizes(std::span<const double> sizes);
  [[nodiscard]] static Partition blocks(std::array<double, 2> section_bytes, double block_bytes);

  [[nodiscard]] Index parts() const { return parts_; }
  [[nodiscard]] double total() const { return total_; }
  // Returns the number of blocks of a section.
  [[nodiscard]] Index blocks_of(std::size_t section) const { return section_blocks_[section]; }
  [[nodiscard]] double begin(Index part) const; // first byte, counted from the range's start
  [[nodiscard]] double bytes(Index first, Index count) const {
    return kind_ == Kind::equal ? equal_bytes(first, count) : other_bytes(first, count);
  }
  // Whether the partition is `equal` and all parts have the same size.
  [[nodiscard]] bool uniform() const { return is_equal() && large_parts_ == 0; }
  [[nodiscard]] bool is_equal() const { return kind_ == Kind::equal; }
  // The number of parts, from the first one on, that are one element longer; 0 unless `equal`.
  [[nodiscard]] Index large_parts() const { return large_parts_; }
  // Returns the bytes of the largest range of `count` <= parts() parts. Needs is_equal().
  [[nodiscard]] double most_bytes(Index count) const { return equal_bytes(0, count); }

private:
  enum class Kind { equal, sizes, blocks };
  [[nodiscard]] double equal_bytes(Index first, Index count) const {
    const Index end = first + count;
    Index large = std::max<Index>(0, std::min(end, large_parts_) - first);
    if (end > parts_) {
      large += std::min(end - parts_, large_parts_);
    }
    return static_cast<double>(count) * small_bytes_ + static_cast<double>(large) * extra_bytes_;
  }
  [[nodiscard]] double other_bytes(Index first, Index count) const;

  Kind kind_ = Kind::equal;
  Index parts_ = 1;
  double total_{};
  double small_bytes_{};      // equal: bytes of a small part; blocks: bytes of a block
  double extra_bytes_{};      // difference between large and small parts: one element
  Index large_parts_{};       // R: number of large parts
  std::vector<double> begin_; // sizes: [parts + 1] first byte
  std::array<double, 2> section_bytes_{};
  std::array<Index, 2> section_blocks_{};
};

} // namespace stepsim::collectives
