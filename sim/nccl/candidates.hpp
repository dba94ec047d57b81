#pragma once
// The pairs of algorithm and protocol that the library may run (CLU 6.2): the pairs that operation,
// node type and version allow, without those that the user forbids, as with NCCL's environment
// variables.
#include <vector>

#include "nccl/node_links.hpp"
#include "nccl/pair_parts.hpp"

namespace stepsim::nccl {

// Version 2.23 is {2, 23}.
struct Version {
  int major = 2;
  int minor = 30;
  auto operator<=>(const Version&) const = default;
};

// The release from which published_constants.hpp is taken.
inline constexpr Version kPublishedVersion{2, 30};
// The first release with PAT (parallel aggregated trees).
inline constexpr Version kPatVersion{2, 23};

// Returns the version of "2.29", "2.29.2", or the release code in logs, "22902". Throws UsageError
// for other texts.
[[nodiscard]] Version parse_version(std::string_view text);

struct Restrictions {
  std::vector<Algorithm> algorithms{}; // empty = all
  std::vector<Protocol> protocols{};   // empty = all
  bool ll128 = true;
  bool collnet = false; // the network adds in its switches, and the library is set to use it
  bool switch_adds_type = true; // false: switches do not add the elements (library_words.hpp)
  Version version = kPublishedVersion;
};

// Pairs in the order that decides ties: the earlier pair wins.
class Candidates {
public:
  void add(Pair pair) { pairs_[count_++] = pair; }
  [[nodiscard]] std::span<const Pair> all() const& { return std::span(pairs_).first(count_); }
  void all() const&& = delete; // the pairs of a temporary end with it

private:
  std::array<Pair, 10> pairs_{};
  std::size_t count_ = 0;
};

// Returns the allowed pairs, possibly none; for alltoall always p2p alone.
[[nodiscard]] Candidates candidates(const Layout& layout, Operation operation,
                                    const Restrictions& restrictions);

// The time of one operation in the library, with one pair of algorithm and protocol (CLU 7.1):
//
//   T = max(floor, L + X + kappa sqrt(L X), bound)
//
// L is latency and X transfer. The cross term remains from a pipeline whose block is not optimal
// for every size; collnet has none, because its chunks are in L and X. `floor` is the shortest
// launch. The bound is the lower bound of CLU 4 at the calibrated rates.

struct OperationTime {
  double seconds{};
  double latency_s{};  // L
  double transfer_s{}; // X
  double cross_s{};
  NodeBound bound;
  Limit limited_by{};
};

// Returns the seconds that NCCL itself estimates, L + X from published constants (CLU 6.2).
[[nodiscard]] double published_seconds(const Layout& layout, Operation operation, double bytes,
                                       Pair pair);

[[nodiscard]] OperationTime operation_time(const Layout& layout, Operation operation, double bytes,
                                           Pair pair, const Multipliers& multipliers);

// Chooses the pair of algorithm and protocol (CLU 6): the pair with the smallest estimate by
// published constants, as in NCCL, which measures nothing; or the pair with the smallest calibrated
// cost. At equal times the earlier candidate wins.

// Inputs of the time of an operation, resolved once for many sizes.
struct LibraryModel {
  Multipliers multipliers{}; // must be set; multipliers_of(prior_means()) without measurements
  Choice choice = Choice::published;
  Restrictions restrictions;
};

struct PairChoice {
  Pair chosen;
  std::optional<Pair> runner_up; // second by the same estimate; empty if there is one pair
};

// Chooses the pair. Throws UsageError if the restrictions leave no pair.
[[nodiscard]] PairChoice choose_pair(const LibraryModel& model, const Layout& layout,
                                     Operation operation, double bytes);

} // namespace stepsim::nccl
