#include "collectives/schedule/swing.hpp"

namespace stepsim::collectives {

namespace {

// A range of parts, modulo their number.
struct Parts {
  Index first{};
  Index count{};
};

bool is_power_of_two(Index size) { return (size & (size - 1)) == 0; }

// Three or more of them per message: divisions would be most of the time.
Index modulo(Index value, Index size) {
  return is_power_of_two(size) ? value & (size - 1) : (value % size + size) % size;
}

Index distance(Index t) {
  const Index power = Index{1} << (t + 1);
  return (1 - (t % 2 == 0 ? -power : power)) / 3;
}

// The 64 bits of a value in reverse: pairs of bits, of pairs, of fours, then bytes change places.
Index reversed(Index value) {
  auto bits = static_cast<std::uint64_t>(value);
  bits = (bits >> 1 & 0x5555555555555555U) | (bits & 0x5555555555555555U) << 1;
  bits = (bits >> 2 & 0x3333333333333333U) | (bits & 0x3333333333333333U) << 2;
  bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0fU) | (bits & 0x0f0f0f0f0f0f0f0fU) << 4;
  return static_cast<Index>(__builtin_bswap64(bits));
}

// The inverse of 3 modulo 2^64, and so modulo every smaller power of two.
constexpr auto kThird = static_cast<Index>(0xaaaaaaaaaaaaaaabU);

// What `rank` gathers in the all-gather's exchange at distance d(t), and hands over in the
// reduce-scatter's: the parts that its peer is nearer to.
Parts exchanged(Index size, Index t, Index rank) {
  if (is_power_of_two(size)) {
    const Index count = size >> (t + 1);
    const Index part = swing_part(size, swing_peer(size, t, rank));
    return {part - part % count, count};
  }
  // Before this exchange an even rank r holds the parts r - left .. r + right, 2^t in all, an odd
  // one the mirror image; the peer holds as many on one side of them, up to the far end.
  const Index held = Index{1} << t;
  const Index count = std::min(held, size - held);
  Index left = 0;
  for (Index j = 1; j < t; j += 2) {
    left += Index{1} << j;
  }
  const Index right = held - 1 - left;
  const bool to_the_right = (rank % 2 == 0) == (t % 2 == 0);
  const Index after = rank % 2 == 0 ? right : left;
  const Index before = rank % 2 == 0 ? left : right;
  return {modulo(to_the_right ? rank + after + 1 : rank - before - count, size), count};
}

Index steps_of(const FunctionRule& rule) { return log2_up(rule.size); }

// t of a step: see the header for the order.
Index exponent(const FunctionRule& rule, Index step) {
  const bool ascending = is_power_of_two(rule.size) == rule.reduce;
  return ascending ? step : rule.steps() - 1 - step;
}

Send send_of(const FunctionRule& rule, Index step, Index rank) {
  const Index t = exponent(rule, step);
  const Index peer = swing_peer(rule.size, t, rank);
  const Parts parts = exchanged(rule.size, t, rule.reduce ? rank : peer);
  return {.peer = peer, .first = parts.first, .count = parts.count, .reduce = rule.reduce};
}

Index peer_of(const FunctionRule& rule, Index step, Index rank) {
  return swing_peer(rule.size, exponent(rule, step), rank);
}

// The inverse of swing_part for a power of two: every bit goes back to its place.
Index owner_of(const FunctionRule& rule, Index part) {
  const Index even = reversed(part & ~Index{1}) >> (63 - log2_up(rule.size));
  return part % 2 == 0 ? even : modulo(even + kThird, rule.size);
}

FunctionRule rule(Index size, bool reduce) {
  return {.size = size,
          .reduce = reduce,
          .alike = true,
          .name = reduce ? "swing reduce-scatter" : "swing all-gather",
          .steps_of = steps_of,
          .send_of = send_of,
          .peer_of = peer_of,
          .owner_of = is_power_of_two(size) ? owner_of : nullptr};
}

} // namespace

Index swing_peer(Index ranks, Index t, Index rank) {
  return modulo(rank % 2 == 0 ? rank + distance(t) : rank - distance(t), ranks);
}

Index swing_part(Index ranks, Index rank) {
  // Distances are 1/3 modulo 2^(t+1), so that an odd rank belongs to the even rank r - 1/3, and
  // even ranks that are equal modulo 2^(t+1) can reach each other. The lowest bit decides first.
  const Index even = rank % 2 == 0 ? rank : modulo(rank - kThird, ranks);
  return (reversed(even) >> (63 - log2_up(ranks))) | rank % 2;
}

std::optional<ClosedForm> swing_allreduce(const Collective& collective) {
  return collective.ranks % 2 == 0 ? bruck_form(collective) : std::nullopt;
}

bool swing_phases(FlatPhases& phases, Op op) {
  const Index size = phases.size();
  if (op != Op::allreduce || size % 2 != 0) {
    return false;
  }
  phases.add(rule(size, true), phases.parts(size), size);
  phases.add(rule(size, false), phases.parts(size), size);
  return true;
}

} // namespace stepsim::collectives
