#pragma once
// The two levels of a cluster as numbers (CLU 2): N nodes of G ranks and R network cards. Local
// index l in node k is rank k G + l, and uses card l mod R. R is at most G, because more cards
// would be idle. Without `two_level` every rank is a separate node.

#include "collectives/formula/closed_form.hpp"

namespace stepsim::collectives {

struct NodeShape {
  std::uint32_t nodes{};
  std::uint32_t gpus{};    // ranks of the largest node
  std::uint32_t cards{};   // per node, at most `gpus`
  std::uint32_t sharing{}; // c: local ranks on the busiest card
  bool equal_nodes{};      // every node has `gpus` ranks
  LinkCost intra;          // cost of a rank's link inside the node
  LinkCost inter;          // cost of one card
};
[[nodiscard]] NodeShape node_shape(const Collective& collective);
// Whether messages of a level in use arrive after their ports are free; the forms of CLU 3 do not
// hold then.
[[nodiscard]] bool has_delays(const NodeShape& shape);

// The time startup_s + per_byte_s n of a message of n bytes, in seconds.
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
// Returns the line that is not below the other for any bytes >= 0; empty if the lines cross there.
[[nodiscard]] std::optional<Line> upper_line(const Line& a, const Line& b);

} // namespace stepsim::collectives
