#pragma once
// The pairs of algorithm and protocol that the library may run (CLU 6.2): the pairs that operation,
// node type and version allow, without those that the user forbids, as with NCCL's environment
// variables.
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

} // namespace stepsim::nccl
