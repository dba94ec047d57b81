#pragma once
// Rules of phases that are not pipelined (COL 5.1 to 5.5): every send needs all that its rank
// received in earlier steps. P = size of the group, L = ceil(log2 P); ranks and parts count from 0.
//   BinomialTree     L steps    the whole range, from 0 to all or (reducing) from all to 0
//   NearTree         L steps    reducing, but neighbours first: distances 1, 2, 4, ..
//   FlatTree         P-1 steps  as BinomialTree, but 0 serves the others one after the other
//   BinomialSplit    L steps    part r from 0 to rank r, or back
//   FlatSplit        P-1 steps  as BinomialSplit, but 0 serves the others one after the other
//   RingPass         P-1 steps  parts go around: all-gather, or reduce-scatter ending with part r
//   Halving          log2 P     reduce-scatter over a power of two, by exchange with r xor d
//   Doubling         log2 P     all-gather over a power of two, by exchange with r xor d
//   FullExchange     log2 P     all ranks exchange and add the whole range, or (growing) a part
//                               whose size depends on the number of contributions in the sum
//   Bruck            L steps    all-gather for any P, or its reverse, a reduce-scatter. Rounds are
//                               blocking: a rank sends when the previous round is complete,
//                               although for P that is not a power of two it may not forward that
//                               data
//   Fold             1 step     ranks beyond the largest power of two q give rank r - q all their
//                               data, or get the result back
//   FunctionRule                functions of an algorithm in its own file
// `alike` says that every rank sends as many parts as every other in each step, and one message.
#include <algorithm>
#include <bit>
#include <cassert>

#include "collectives/collective.hpp"
#include "collectives/schedule/operation.hpp"

namespace stepsim::collectives {

[[nodiscard]] constexpr Index log2_up(Index size) {
  return size <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(size - 1));
}

enum class Direction : std::uint8_t { spread, collect };

// In a step every edge of the tree that is used goes from a parent to its child (spread), or back
// (collect). The edges span 1, 2, 4, .. ranks, or the other way around, or all begin at 0:
//     far_first   spread 0-1 | 0-2 1-3 | 0-4 1-5 2-6 3-7      collect the other way around
//     near_first  collect 0-1 2-3 4-5 6-7 | 0-2 4-6 | 0-4     spread the other way around
//     flat        0-1 | 0-2 | 0-3 | ..
// With `kSplit` an edge carries the parts of the ranks below it, else the whole range.
template <TreeShape kShape, bool kSplit> struct TreeRule {
  Index size{};
  Direction direction{}; // collect = reduce, or gather with kSplit
  [[nodiscard]] Index steps() const { return kShape == TreeShape::flat ? size - 1 : log2_up(size); }
  [[nodiscard]] Send send(Index step, Index rank) const {
    const bool spreads = direction == Direction::spread;
    const Index peer = spreads ? child(step, rank) : parent(step, rank);
    if constexpr (kSplit) {
      const Index first = spreads ? peer : rank;
      return {.peer = peer, .first = first, .count = std::min(distance(step), size - first)};
    }
    return {.peer = peer, .count = 1, .reduce = !spreads};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    return {.peer = direction == Direction::spread ? parent(step, rank) : child(step, rank)};
  }

private:
  // Returns the ranks that an edge of the step spans.
  [[nodiscard]] Index distance(Index step) const {
    if constexpr (kShape == TreeShape::flat) {
      return 1;
    }
    const bool grows = (kShape == TreeShape::near_first) == (direction == Direction::collect);
    return Index{1} << (grows ? step : steps() - 1 - step);
  }
  [[nodiscard]] Index child(Index step, Index rank) const {
    if constexpr (kShape == TreeShape::flat) {
      return rank == 0 ? step + 1 : kNobody;
    }
    const Index span = distance(step);
    const bool low = kShape == TreeShape::near_first ? rank % (2 * span) == 0 : rank < span;
    return low && rank + span < size ? rank + span : kNobody;
  }
  [[nodiscard]] Index parent(Index step, Index rank) const {
    if constexpr (kShape == TreeShape::flat) {
      return rank == step + 1 ? 0 : kNobody;
    }
    const Index span = distance(step);
    const bool high = kShape == TreeShape::near_first ? rank % (2 * span) == span
                                                      : rank >= span && rank < 2 * span;
    return high ? rank - span : kNobody;
  }
};
using BinomialTree = TreeRule<TreeShape::far_first, false>;
using NearTree = TreeRule<TreeShape::near_first, false>;
using FlatTree = TreeRule<TreeShape::flat, false>;
using BinomialSplit = TreeRule<TreeShape::near_first, true>;
using FlatSplit = TreeRule<TreeShape::flat, true>;

struct RingPass {
  Index size{};
  bool reduce{};
  [[nodiscard]] Index steps() const { return size - 1; }
  [[nodiscard]] Send send(Index step, Index rank) const {
    const Index part = rank - step - (reduce ? 1 : 0);
    return {.peer = rank + 1 < size ? rank + 1 : 0,
            .first = part < 0 ? part + size : part,
            .count = 1,
            .reduce = reduce};
  }
  [[nodiscard]] Receive receive(Index /*step*/, Index rank) const {
    return {.peer = rank > 0 ? rank - 1 : size - 1};
  }
};

struct Halving {
  static constexpr bool alike = true;
  Index size{}; // power of two
  [[nodiscard]] Index steps() const { return log2_up(size); }
  [[nodiscard]] Send send(Index step, Index rank) const {
    const Index distance = size >> (step + 1);
    const Index range = rank & ~(2 * distance - 1);
    const Index first = (rank & distance) == 0 ? range + distance : range;
    return {.peer = rank ^ distance, .first = first, .count = distance, .reduce = true};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    return {.peer = rank ^ (size >> (step + 1))};
  }
};

struct Doubling {
  static constexpr bool alike = true;
  Index size{}; // power of two
  [[nodiscard]] Index steps() const { return log2_up(size); }
  [[nodiscard]] Send send(Index step, Index rank) const {
    const Index distance = Index{1} << step;
    return {.peer = rank ^ distance, .first = rank & ~(distance - 1), .count = distance};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    return {.peer = rank ^ (Index{1} << step)};
  }
};

struct FullExchange {
  Index size{}; // power of two
  bool growing = false;
  Index folded = 0; // growing: ranks 0 .. folded - 1 start with two contributions
  [[nodiscard]] Index steps() const { return log2_up(size); }
  [[nodiscard]] Send send(Index step, Index rank) const {
    return {.peer = rank ^ (Index{1} << step),
            .first = growing ? contributions(step, rank) - 1 : 0,
            .count = 1,
            .reduce = true};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    return {.peer = rank ^ (Index{1} << step)};
  }

private:
  // Returns the contributions held before the step: of the ranks that differ in lower bits, and of
  // the ranks folded into these.
  [[nodiscard]] Index contributions(Index step, Index rank) const {
    const Index held = Index{1} << step;
    return held + std::clamp<Index>(folded - (rank & ~(held - 1)), 0, held);
  }
};

struct Bruck {
  static constexpr bool alike = true;
  Index size{};
  bool reduce{};
  [[nodiscard]] Index steps() const { return log2_up(size); }
  [[nodiscard]] Send send(Index step, Index rank) const {
    const Index distance = distance_of(step);
    const Index count = std::min(distance, size - distance);
    const Index up = rank + distance < size ? rank + distance : rank + distance - size;
    if (reduce) {
      return {.peer = up, .first = up, .count = count, .reduce = true};
    }
    return {.peer = down(distance, rank), .first = rank, .count = count};
  }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    const Index distance = distance_of(step);
    const Index up = rank + distance < size ? rank + distance : rank + distance - size;
    return {.peer = reduce ? down(distance, rank) : up};
  }

private:
  [[nodiscard]] Index distance_of(Index step) const {
    return Index{1} << (reduce ? steps() - 1 - step : step);
  }
  [[nodiscard]] Index down(Index distance, Index rank) const {
    return rank >= distance ? rank - distance : rank - distance + size;
  }
};

struct Fold {
  Index size{};
  Index core{};          // q
  Direction direction{}; // collect = the extra ranks give; spread = they get the result
  bool growing = false;  // as in FullExchange
  [[nodiscard]] static Index steps() { return 1; }
  [[nodiscard]] Send send(Index /*step*/, Index rank) const {
    if (direction == Direction::collect) {
      return {.peer = rank >= core ? rank - core : kNobody, .count = 1, .reduce = true};
    }
    return {.peer = rank < size - core ? rank + core : kNobody,
            .first = growing ? size - 1 : 0,
            .count = 1};
  }
  [[nodiscard]] Receive receive(Index /*step*/, Index rank) const {
    if (direction == Direction::collect) {
      return {.peer = rank < size - core ? rank + core : kNobody};
    }
    return {.peer = rank >= core ? rank - core : kNobody};
  }
};

// The total of a rank's sends in a phase: parts first .. first + count - 1 without its own parts,
// in `messages` messages.
struct SentParts {
  Index first{}, count{};         // may wrap around
  Index own_first{}, own_count{}; // parts of that range that are not sent
  Index messages{};
};

// A rule made of functions of its algorithm. They get the size of the group, and the size and cards
// of a node for algorithms that use nodes.
struct FunctionRule {
  Index size{};
  bool reduce{}; // a reduce-scatter; else the rule adds nothing
  bool alike = false;
  std::string_view name;
  Index node = 1;  // ranks per node
  Index cards = 1; // network cards per node
  Index (*steps_of)(const FunctionRule& rule) = nullptr;
  Send (*send_of)(const FunctionRule& rule, Index step, Index rank) = nullptr;
  // Returns the rank that sends to `rank` in the step.
  Index (*peer_of)(const FunctionRule& rule, Index step, Index rank) = nullptr;
  // Returns the rank that a part stays with (schedule.hpp, `owner`); null: asked rank by rank.
  Index (*owner_of)(const FunctionRule& rule, Index part) = nullptr;
  // Returns what the rank sends in all steps; null: the sends of all steps are added up.
  SentParts (*sent_by)(const FunctionRule& rule, Index rank) = nullptr;
  [[nodiscard]] Index steps() const { return steps_of(*this); }
  [[nodiscard]] Send send(Index step, Index rank) const { return send_of(*this, step, rank); }
  [[nodiscard]] Receive receive(Index step, Index rank) const {
    return {.peer = peer_of(*this, step, rank)};
  }
};

} // namespace stepsim::collectives
