#pragma once
// The two levels of a cluster as numbers (CLU 2): N nodes of G ranks, the rank of local index l in
// node k being k G + l, and R network cards a node, of which local index l uses card l mod R.
// More than G cards are of no use: R is at most G. Without `two_level` every rank is a node of its
// own.
#include <cstdint>
#include <optional>

#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

struct NodeShape {
  std::uint32_t nodes{};
  std::uint32_t gpus{};    // ranks of the largest node
  std::uint32_t cards{};   // of a node, at most `gpus`
  std::uint32_t sharing{}; // c: local ranks behind the busiest card
  bool equal_nodes{};      // every node has `gpus` ranks
  LinkCost intra;          // of a rank, inside its node
  LinkCost inter;          // of one card
};
[[nodiscard]] NodeShape node_shape(const Collective& collective);
// Whether messages of a level that is used arrive after their ports are free: the forms of CLU 3 do
// not hold then.
[[nodiscard]] bool has_delays(const NodeShape& shape);

// Seconds startup_s + per_byte_s n of a message of n bytes.
struct Line {
  double startup_s{};
  double per_byte_s{};
  [[nodiscard]] double at(double bytes) const { return startup_s + per_byte_s * bytes; }
  friend Line operator+(const Line& a, const Line& b) {
    return {a.startup_s + b.startup_s, a.per_byte_s + b.per_byte_s};
  }
  friend Line operator*(double factor, const Line& line) {
    return {factor * line.startup_s, factor * line.per_byte_s};
  }
};
// The line that is nowhere below the other one; empty where they cross.
[[nodiscard]] std::optional<Line> upper_line(const Line& a, const Line& b);

} // namespace stepsim::coll
