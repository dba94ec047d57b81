#include "collectives/schedule/partition.hpp"

#include <cassert>
#include <cmath>

namespace stepsim::collectives {

Partition Partition::equal(double bytes, Index parts, const Options& options) {
  assert(parts >= 1 && bytes >= 0);
  Partition result;
  result.parts_ = parts;
  result.total_ = bytes;
  if (options.chunking == Chunking::real || parts == 1) {
    result.small_bytes_ = bytes / static_cast<double>(parts);
    return result;
  }
  // A message of less than one element is one part; one of no whole number of them is cut at any
  // byte, so that none is lost (COL 2.5).
  const auto whole = static_cast<double>(options.element_bytes);
  const double element = bytes > 0 && bytes < whole     ? bytes
                         : std::fmod(bytes, whole) == 0 ? whole
                                                        : 1;
  const auto elements = static_cast<Index>(std::llround(bytes / element));
  const Index small = elements / parts; // whole elements: the rest goes to the first parts
  result.small_bytes_ = static_cast<double>(small) * element;
  result.extra_bytes_ = element;
  result.large_parts_ = elements % parts;
  return result;
}

Partition Partition::sizes(std::span<const double> sizes) {
  Partition result;
  result.kind_ = Kind::sizes;
  result.parts_ = static_cast<Index>(sizes.size());
  result.begin_.push_back(0);
  for (const double size : sizes) {
    result.begin_.push_back(result.begin_.back() + size);
  }
  result.total_ = result.begin_.back();
  return result;
}

Partition Partition::blocks(std::array<double, 2> section_bytes, double block_bytes) {
  Partition result;
  result.kind_ = Kind::blocks;
  result.section_bytes_ = section_bytes;
  result.small_bytes_ = block_bytes;
  for (const std::size_t section : {0U, 1U}) {
    // A real block of n / m bytes makes m blocks, whatever the rounding of n / (n / m).
    const double count = std::ceil(section_bytes[section] / block_bytes * (1 - 1e-12));
    result.section_blocks_[section] = section_bytes[section] > 0 ? static_cast<Index>(count) : 0;
  }
  result.parts_ = result.section_blocks_[0] + result.section_blocks_[1];
  result.total_ = section_bytes[0] + section_bytes[1];
  return result;
}

double Partition::begin(Index part) const {
  switch (kind_) {
  case Kind::equal:
    return equal_bytes(0, part);
  case Kind::sizes:
    return begin_[static_cast<std::size_t>(part)];
  case Kind::blocks:
    return part < section_blocks_[0]
               ? static_cast<double>(part) * small_bytes_
               : section_bytes_[0] + static_cast<double>(part - section_blocks_[0]) * small_bytes_;
  }
  return 0;
}

// Sums of given sizes are differences of prefix sums, also around the end of the list.
double Partition::other_bytes(Index first, Index count) const {
  if (kind_ == Kind::sizes) {
    const auto at = [&](Index part) { return begin_[static_cast<std::size_t>(part)]; };
    return first + count <= parts_ ? at(first + count) - at(first)
                                   : total_ - at(first) + at(first + count - parts_);
  }
  assert(count == 1 && "blocks are sent one by one");
  const std::size_t section = first < section_blocks_[0] ? 0 : 1;
  const Index block = first - (section == 0 ? 0 : section_blocks_[0]);
  const bool last = block + 1 == section_blocks_[section];
  return last ? section_bytes_[section] - static_cast<double>(block) * small_bytes_ : small_bytes_;
}

} // namespace stepsim::collectives
