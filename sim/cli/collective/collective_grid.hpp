#pragma once
// A grid of collectives: one axis per flag, all combinations are taken, the first axis varying
// slowest. A combination is made from its number, so that a large grid costs no memory:
//
//     axes op = {allreduce}, ranks = {2, 4}, bytes = {1, 10, 100}: point 4 has ranks 4, bytes 10
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "coll/collective.hpp"
#include "coll/compress/compression.hpp"
#include "net/fabric/rank_fabric.hpp"

namespace stepsim::cli {

// On the axis `--algorithm` a dense algorithm is the value of its enumerator, and a compressed
// exchange this number plus that of its method.
inline constexpr int kFirstMethod = 1000;

// The method behind a value of the axis `--algorithm`; empty for an algorithm of a dense
// collective.
[[nodiscard]] std::optional<coll::CompressionMethod> compression_method(double algorithm);

struct CollectiveGrid {
  // One flag with its values; `apply` puts one into a collective, `compress` into a compression (or
  // null). Words are numbers here: their place in the enumeration.
  struct Axis {
    std::string_view flag;
    std::vector<double> values;
    void (*apply)(coll::Collective&, double);
    void (*compress)(coll::Compression&, double) = nullptr;
  };
  std::vector<Axis> axes;        // ops first
  coll::Collective common;       // what does not vary
  coll::Compression compression; // likewise
  std::vector<coll::MatrixShape> shapes;
  bool own_ratio = true;                            // of codecs
  std::shared_ptr<const net::RoutedFabric> network; // of --topology, or null

  // The product of the lengths of all axes. Throws UsageError above 10 million.
  [[nodiscard]] std::int64_t points() const;
  // The collective of a point, 0 .. points() - 1. On a topology the ranks are packed on its hosts;
  // throws UsageError where they have no room.
  [[nodiscard]] coll::Collective at(std::int64_t point) const;
  // Empty for a dense collective. With one, `at` is the ring on its ranks and links.
  [[nodiscard]] std::optional<coll::Compression> compression_at(std::int64_t point) const;
  // The compressions among the algorithms.
  [[nodiscard]] std::vector<coll::CompressionMethod> methods() const;
  [[nodiscard]] const Axis& axis(std::string_view flag) const; // of a flag that every grid has
  // The value of a flag at a point; empty for a flag that is no axis.
  [[nodiscard]] std::optional<double> value(std::int64_t point, std::string_view flag) const;
  [[nodiscard]] bool varies(std::string_view flag) const; // has two values or more
  // Whether the point has the first value of the flag; the points that differ from it in that flag
  // only (itself included).
  [[nodiscard]] bool is_first(std::int64_t point, std::string_view flag) const;
  [[nodiscard]] std::vector<std::int64_t> alike(std::int64_t point, std::string_view flag) const;
  // The value of every axis at this point, in axis order.
  [[nodiscard]] std::vector<double> values_at(std::int64_t point) const;
};

} // namespace stepsim::cli
